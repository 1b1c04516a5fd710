"""HP46x: the external database of Slurm's accounting, and sizes of Slurm groups that seldom fit."""

import re
from collections.abc import Iterator

from hyperpod_cdk.rules.finding import Finding, Severity
from hyperpod_cdk.rules.look import groups_of, is_continuous
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service.sources import API, GUIDE
from hyperpod_cdk.spec import HyperPodSpec, NodeType

_SLURM = "cluster.orchestrator.slurm"
_DATABASE = f"{_SLURM}.accounting_database"
_SOURCE = f"{API}API_ClusterAccountingDatabase.html"
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?")
_COMPLETE_SECRET = re.compile(r".*:secret:.+-[A-Za-z0-9]{6}")


@checks(
    Rule(
        code="HP460",
        title="a database's address with more than its host name",
        why="slurmdbd joins host and port by itself, and finds no host of such a name",
        fix="give the host name in endpoint and the port in port",
        source=_SOURCE,
    )
)
def database_host(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, host in _hosts(spec):
        if not unresolved(host) and host and not _HOST.fullmatch(host):
            nearest = re.sub(r"^\w+://|[:/].*$", "", host)
            offered = (nearest,) if _HOST.fullmatch(nearest) else ()
            yield rule.finding(path, "is no host name", given=host, nearest=offered)


@checks(
    Rule(
        code="HP461",
        title="a secret's ARN without its end",
        why="Secrets Manager ends each ARN with a hyphen and six characters; permissions to it need them",
        fix="copy the whole ARN; `aws secretsmanager describe-secret` shows it",
        source="https://docs.aws.amazon.com/secretsmanager/latest/userguide/whats-in-a-secret.html",
    )
)
def whole_secret_arn(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    slurm = spec.cluster.orchestrator.slurm
    arns = []
    if slurm.accounting_database is not None:
        arns.append((f"{_DATABASE}.secret_arn", slurm.accounting_database.secret_arn))
    if slurm.multi_head is not None:
        where = f"{_SLURM}.multi_head.slurm_database_secret_arn"
        arns.append((where, slurm.multi_head.slurm_database_secret_arn))
    for path, arn in arns:
        if not unresolved(arn) and ":secret:" in arn and not _COMPLETE_SECRET.fullmatch(arn):
            yield rule.finding(path, "lacks the six characters at its end", given=arn)


@checks(
    Rule(
        code="HP462",
        title="one database name for every cluster that comes",
        why="a cluster that is made anew meets the rows of the one before, and slurmctld stops with "
        "CLUSTER ID MISMATCH",
        fix="leave name out: the service's own has the cluster's id in it; or empty the database first",
        source=_SOURCE,
        severity=Severity.WARNING,
    )
)
def database_name_is_fixed(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    database = spec.cluster.orchestrator.slurm.accounting_database
    if database is not None and database.name is not None and not unresolved(database.name):
        yield rule.finding(f"{_DATABASE}.name", "stays the same for each new cluster", given=database.name)


@checks(
    Rule(
        code="HP463",
        title="a login group without nodes",
        why="with Continuous provisioning a new cluster is in service once a controller is up and, if there "
        "is a login group, a login node too",
        fix="set instance_count to 1, or leave the group out",
        source=f"{GUIDE}sagemaker-hyperpod-scaling-slurm.html",
        severity=Severity.WARNING,
    )
)
def login_group_of_none(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    if not is_continuous(spec):
        return
    for path, group in groups_of(spec, NodeType.LOGIN):
        if group.instance_count == 0:
            yield rule.finding(f"{path}.instance_count", "leaves the cluster waiting", given=0, nearest=(1,))


def _hosts(spec: HyperPodSpec) -> Iterator[tuple[str, str]]:
    slurm = spec.cluster.orchestrator.slurm
    if slurm.accounting_database is not None:
        yield f"{_DATABASE}.endpoint", slurm.accounting_database.endpoint
    if slurm.multi_head is not None:
        yield f"{_SLURM}.multi_head.slurm_database_endpoint", slurm.multi_head.slurm_database_endpoint
