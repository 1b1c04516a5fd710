"""What the account uses already, and what of it is the stack's own."""

from collections.abc import Callable
from dataclasses import replace
from unittest.mock import patch

import pytest

from hyperpod_cdk.preflight import Aws, Outcome, Report, apis, run
from hyperpod_cdk.preflight.calls import UnansweredError
from hyperpod_cdk.preflight.look import Look
from hyperpod_cdk.service import quotas
from hyperpod_cdk.service.quotas import Quota
from hyperpod_cdk.spec import HyperPodSpec
from tests.preflight import specs
from tests.preflight.account import PLAN, PLAN_ARN, Account
from tests.preflight.changes import (
    change_quota,
    deploy_cluster,
    other_cluster,
    patched,
    without_own_quota,
)
from tests.preflight.test_conditions import not_passed

C5 = "ml.c5.xlarge for cluster usage"


def messages(report: Report) -> str:
    return "\n".join(finding.message for finding in report.findings)


def test_nodes_of_other_clusters_count(account: Account, ask: Callable[[], Aws]) -> None:
    change_quota(account, C5, 3)
    other_cluster(account, count=3)
    report = run(specs.existing(account), ask())
    assert not_passed(report) == {"quota-instance-type": Outcome.FAIL}
    assert messages(report) == f"takes 1, and 3 are there already, of the quota {C5!r}"


BOUGHT: dict[str, dict[str, object]] = {
    "spot": {"CapacityRequirements": {"Spot": {}}},
    "plan": {"TrainingPlanArn": PLAN_ARN},
}


@pytest.mark.parametrize("group", BOUGHT.values(), ids=BOUGHT)
def test_nodes_bought_otherwise_do_not(
    account: Account, ask: Callable[[], Aws], group: dict[str, object]
) -> None:
    change_quota(account, C5, 3)
    cluster = {
        "ClusterName": "other",
        "ClusterArn": "arn:aws:sagemaker:us-west-2:123456789012:cluster/abc",
        "InstanceGroups": [{"InstanceType": "ml.c5.xlarge", "CurrentCount": 3, "TargetCount": 3, **group}],
    }
    with patch.object(Look, "clusters", lambda _: [cluster]):
        assert not_passed(run(specs.existing(account), ask())) == {}


def test_flexible_groups_count_by_their_types(account: Account, ask: Callable[[], Aws]) -> None:
    change_quota(account, C5, 3)
    details = [{"InstanceType": "ml.c5.xlarge", "CurrentCount": 3}]
    cluster = {
        "ClusterName": "other",
        "ClusterArn": "arn:aws:sagemaker:us-west-2:123456789012:cluster/abc",
        "InstanceGroups": [{"CurrentCount": 3, "InstanceTypeDetails": details}],
    }
    with patch.object(Look, "clusters", lambda _: [cluster]):
        assert not_passed(run(specs.existing(account), ask())) == {"quota-instance-type": Outcome.FAIL}


@pytest.fixture
def deployed(account: Account) -> HyperPodSpec:
    """The spec whose stack and cluster are there, as large as the quotas and the training plan allow."""
    deploy_cluster(account, InstanceType="ml.p5.48xlarge", InstanceCount=2, TrainingPlanArn=PLAN_ARN)
    return specs.existing(account)


def test_the_stacks_own_cluster_counts_once(
    account: Account, ask: Callable[[], Aws], deployed: HyperPodSpec
) -> None:
    plan = account.hyperpod.training_plans[PLAN]
    plan["AvailableInstanceCount"] = 0
    account.undo.append(lambda: plan.update(AvailableInstanceCount=2))
    for quota in (quotas.INSTANCES_PER_CLUSTER, quotas.INSTANCES_OF_ALL_CLUSTERS):
        change_quota(account, quota.name, 4)
    report = run(deployed, ask())
    assert not_passed(report) == {}, messages(report)


def test_whose_a_cluster_is_can_be_unknown(
    account: Account, ask: Callable[[], Aws], deployed: HyperPodSpec
) -> None:
    patched(account, "cloudformation", "list_stack_resources", "AccessDenied")
    outcomes = not_passed(run(deployed, ask()))
    assert outcomes["cluster-name"] is Outcome.UNKNOWN
    assert outcomes["quota-instance-type"] is Outcome.UNKNOWN
    assert Outcome.FAIL not in outcomes.values()


# -- quotas by their names -----------------------------------------------------------------------------


@pytest.fixture
def look(account: Account, ask: Callable[[], Aws]) -> Look:
    return Look(spec=specs.new(), aws=ask())


def test_a_quota_of_the_account_comes_before_the_default(account: Account, look: Look) -> None:
    change_quota(account, quotas.VPCS.name, 17)
    assert look.quota(quotas.VPCS) == 17


def test_the_default_holds_where_the_account_has_no_value(account: Account, look: Look) -> None:
    without_own_quota(account, quotas.VPCS.name)
    assert look.quota(quotas.VPCS) == 5


@pytest.mark.parametrize("code", [None, "L-F678F1CE", "L-NOSUCH"], ids=["none", "another's", "unknown"])
def test_the_name_counts_and_not_the_code(account: Account, look: Look, code: str | None) -> None:
    assert account.aws.quotas.codes["L-F678F1CE"] == quotas.VPCS
    change_quota(account, quotas.ADDRESSES.name, 42)
    assert look.quota(replace(quotas.ADDRESSES, code=code)) == 42
    without_own_quota(account, quotas.ADDRESSES.name)


def test_a_name_may_be_spelled_another_way() -> None:
    assert quotas.VPCS.is_named("VPCs per  region")
    assert not quotas.VPCS.is_named("VPCs per Region and account")


def test_a_quota_that_nobody_knows(look: Look) -> None:
    with pytest.raises(UnansweredError, match="knows no quota named 'Wishes'"):
        look.quota(Quota(service="vpc", name="Wishes"))


def test_known_codes_need_no_list(account: Account, ask: Callable[[], Aws]) -> None:
    for operation in ("list_service_quotas", "list_aws_default_service_quotas"):
        patched(account, "service-quotas", operation, "AccessDenied")
    names = {"quota-vpcs", "quota-elastic-ips", "quota-instances-per-cluster"}
    results = {one.check.name: one.outcome for one in run(specs.new(), ask()).results}
    assert {results[name] for name in names} == {Outcome.PASS}
    assert apis.LIST_QUOTAS.action
