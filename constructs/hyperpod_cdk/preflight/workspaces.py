"""HP966, HP968: workspaces for metrics and dashboards that are there already."""

from collections.abc import Iterator

from hyperpod_cdk.preflight import apis, places
from hyperpod_cdk.preflight.calls import Call, RefusedError, UnansweredError
from hyperpod_cdk.preflight.check import Check, Unchecked
from hyperpod_cdk.preflight.look import Look
from hyperpod_cdk.rules import Finding, Rule

_ABSENT = ["ResourceNotFoundException"]
_ELSEWHERE = "is in another Region, which is not asked"
_SERVING = ("ACTIVE", "UPDATING", "UPGRADING", "VERSION_UPDATING")


def _metrics_call(arn: str) -> Call:
    return apis.DESCRIBE_WORKSPACE(workspaceId=arn.rpartition("/")[2])


def _metrics_there(look: Look, rule: Rule) -> Iterator[Finding | Unchecked]:
    for path, arn in places.prometheus_workspaces(look.spec):
        if f":{look.aws.region}:" not in arn:
            yield Unchecked(path=path, reason=_ELSEWHERE)
            continue
        try:
            answer = look.ask(_metrics_call(arn), absent=_ABSENT)
        except (UnansweredError, RefusedError) as reason:
            yield Unchecked(path=path, reason=str(reason))
            continue
        if answer is None or answer["workspace"]["arn"] != arn:
            yield rule.finding(path, f"is no workspace of this account in {look.aws.region}", given=arn)
        elif answer["workspace"]["status"]["statusCode"] not in _SERVING:
            yield rule.finding(path, f"is {answer['workspace']['status']['statusCode']}", given=arn)


def _dashboards_call(arn: str) -> Call:
    return apis.DESCRIBE_GRAFANA(workspaceId=arn.rpartition("/")[2])


def _dashboards_there(look: Look, rule: Rule) -> Iterator[Finding | Unchecked]:
    for path, arn in places.grafana_workspaces(look.spec):
        if f":{look.aws.region}:" not in arn or arn.split(":")[4] != look.account():
            yield Unchecked(path=path, reason="is in another Region or account, which is not asked")
            continue
        answer = look.ask(_dashboards_call(arn), absent=_ABSENT)
        if answer is None:
            yield rule.finding(path, f"is no workspace of this account in {look.aws.region}", given=arn)
        elif answer["workspace"]["status"] not in _SERVING:
            yield rule.finding(path, f"is {answer['workspace']['status']}", given=arn, allowed="ACTIVE")


CHECKS = (
    Check(
        name="prometheus-workspace",
        rule=Rule(
            code="HP966",
            title="a workspace for metrics that is not there",
            why="nodes write their metrics nowhere, and nobody is told",
            fix="correct the ARN; `aws amp list-workspaces` shows them, where a Region has the service",
            source="https://docs.aws.amazon.com/prometheus/latest/APIReference/API_DescribeWorkspace.html",
        ),
        apis=(apis.DESCRIBE_WORKSPACE,),
        asks=lambda look: [_metrics_call(arn) for _, arn in places.prometheus_workspaces(look.spec)],
        needed=lambda spec: bool(places.prometheus_workspaces(spec)),
        find=_metrics_there,
    ),
    Check(
        name="grafana-workspace",
        rule=Rule(
            code="HP968",
            title="a workspace for dashboards that is not there",
            why="the add-on is told of dashboards that nobody can open",
            fix="correct name and arn; `aws grafana list-workspaces` shows them",
            source="https://docs.aws.amazon.com/grafana/latest/APIReference/API_DescribeWorkspace.html",
        ),
        apis=(apis.DESCRIBE_GRAFANA,),
        asks=lambda look: [_dashboards_call(arn) for _, arn in places.grafana_workspaces(look.spec)],
        needed=lambda spec: bool(places.grafana_workspaces(spec)),
        find=_dashboards_there,
    ),
)
