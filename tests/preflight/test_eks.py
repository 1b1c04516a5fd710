"""Amazon EKS: what can not be looked at, and what is the stack's own."""

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest

from hyperpod_cdk.preflight import CHECKS, Aws, Outcome, Report, eks_plan, helm_chart, run
from hyperpod_cdk.rehearsal.eks.catalogue import ADD_ONS
from hyperpod_cdk.spec import (
    AccessEntry,
    HelmChart,
)
from tests.preflight import eks_account, eks_governance, eks_specs
from tests.preflight.account import Account
from tests.preflight.changes import every_call, other_cluster, patched
from tests.preflight.row import Spec
from tests.preflight.test_conditions import not_passed

BOTH: dict[str, Spec] = {"there": eks_specs.there, "new": eks_specs.new}


# -- no answer -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", BOTH.values(), ids=BOTH)
@pytest.mark.parametrize("code", ["AccessDeniedException", "ThrottlingException", "NeverHeardOf"])
def test_an_account_that_refuses_everything(
    account: Account, ask: Callable[[], Aws], make: Spec, code: str
) -> None:
    every_call(account, code)
    wanted = make(account)
    report = run(wanted, ask())
    needed = {check.name for check in CHECKS if check.needed(wanted) and check.apis}
    assert {one.check.name for one in report.results if one.outcome is Outcome.UNKNOWN} == needed
    assert report.exit_code == 2


NO_ANSWER = [
    ("there", "eks", "describe_cluster", {"eks-cluster", "eks-authentication", "eks-version", "eks-network"}),
    ("there", "eks", "describe_addon", {"eks-network-plugin", "eks-needed-add-ons", "eks-taken-add-ons"}),
    ("there", "grafana", "describe_workspace", {"grafana-workspace"}),
    ("there", "sagemaker", "list_compute_quotas", {"compute-quotas"}),
    ("there", "sagemaker", "list_cluster_scheduler_configs", {"cluster-policy"}),
    ("new", "eks", "describe_addon_versions", {"eks-add-on-versions"}),
    ("new", "eks", "describe_cluster_versions", {"kubernetes-offered", "kubernetes-support"}),
    ("new", "eks", "list_clusters", {"quota-control-planes", "control-plane-name"}),
    ("new", "ec2", "describe_instances", {"quota-vcpus"}),
    ("new", "ec2", "describe_instance_types", {"quota-vcpus"}),
    ("new", "iam", "get_user", {"access-principals"}),
    ("new", "logs", "describe_log_groups", {"control-plane-name"}),
]


@pytest.mark.parametrize("code", ["AccessDenied", "Throttling"])
@pytest.mark.parametrize("row", NO_ANSWER, ids=lambda row: f"{row[1]}:{row[2]}")
def test_one_call_without_an_answer(
    account: Account, ask: Callable[[], Aws], row: tuple[str, str, str, set[str]], code: str
) -> None:
    make, client, operation, checks = row
    patched(account, client, operation, code)
    results = not_passed(run(BOTH[make](account), ask()))
    assert set(results.values()) == {Outcome.UNKNOWN}
    assert checks <= set(results)
    if operation != "describe_cluster":
        also = {"unseen-in-kubernetes"} if operation == "describe_addon" else set()
        assert set(results) == checks | also


def test_a_region_without_amazon_eks(account: Account, ask: Callable[[], Aws]) -> None:
    patched(account, "eks", "describe_cluster_versions", "UnknownOperationException")
    report = run(eks_specs.new(account), ask())
    assert not_passed(report) == {
        "kubernetes-offered": Outcome.FAIL,
        "kubernetes-support": Outcome.UNKNOWN,
    }
    assert [one.path for one in result(report, "kubernetes-offered").findings] == ["region"]


def test_the_list_of_principals_goes_on_behind_one_that_is_denied(
    account: Account, ask: Callable[[], Aws]
) -> None:
    patched(account, "iam", "get_role", "AccessDenied", arguments={"RoleName": "admins"})
    access = (AccessEntry(principal_arn=account.admins), AccessEntry(principal_arn=f"{account.ann}e"))
    report = run(eks_specs.new(account, eks={"access": access}), ask())
    assert [one.path[-23:] for one in result(report, "access-principals").findings] == [
        "access[1].principal_arn"
    ]
    assert [one.path[-23:] for one in result(report, "access-principals").unchecked] == [
        "access[0].principal_arn"
    ]


def result(report: Report, name: str) -> Any:
    return next(one for one in report.results if one.check.name == name)


@pytest.mark.parametrize(
    ("check", "settings", "reason"),
    [
        (
            "access-principals",
            {"access": (AccessEntry(principal_arn="arn:aws:iam::111122223333:role/admin"),)},
            "another account",
        ),
        (
            "helm-chart",
            {"helm_chart": HelmChart(oci_uri="oci://public.ecr.aws/a/b", version="1")},
            "helm pull",
        ),
        (
            "helm-chart",
            {
                "helm_chart": HelmChart(
                    oci_uri="oci://123456789012.dkr.ecr.eu-west-1.amazonaws.com/charts/hyperpod", version="1"
                )
            },
            "us-west-2 are asked",
        ),
    ],
)
def test_what_is_elsewhere_is_not_asked(
    account: Account, ask: Callable[[], Aws], check: str, settings: dict[str, Any], reason: str
) -> None:
    report = run(eks_specs.new(account, eks=settings), ask())
    assert not_passed(report) == {check: Outcome.UNKNOWN}
    assert reason in result(report, check).unchecked[0].reason


def test_a_large_chart_is_not_read(account: Account, ask: Callable[[], Aws]) -> None:
    with patch.object(helm_chart, "_MOST", 100):
        assert not_passed(run(eks_specs.new(account), ask())) == {"helm-chart": Outcome.UNKNOWN}


def test_a_network_plugin_that_is_no_add_on_is_not_known(account: Account, ask: Callable[[], Aws]) -> None:
    eks_account.without_add_on(account, "vpc-cni")
    report = run(eks_specs.there(account), ask())
    assert not_passed(report) == {"eks-network-plugin": Outcome.UNKNOWN}
    assert "aws-node" in result(report, "eks-network-plugin").unchecked[0].reason


# -- what is the stack's own ---------------------------------------------------------------------------


def test_the_stacks_own_cluster_does_not_occupy(account: Account, ask: Callable[[], Aws]) -> None:
    eks_governance.deployed(account)
    wanted = eks_specs.there(account, acknowledge=())
    report = run(wanted, ask())
    assert not_passed(report) == {"unseen-in-kubernetes": Outcome.WARN}
    # its chart is there, or the service would not have made it
    assert [one.path for one in result(report, "unseen-in-kubernetes").findings] == [
        "cluster.orchestrator.eks.task_governance"
    ]


def test_a_cluster_that_is_elsewhere_does_not_occupy(account: Account, ask: Callable[[], Aws]) -> None:
    other_cluster(account)
    assert not_passed(run(eks_specs.there(account), ask())) == {}


def test_quotas_of_other_teams_are_no_fault(account: Account, ask: Callable[[], Aws]) -> None:
    eks_governance.existing_quota(account, team="language")
    assert not_passed(run(eks_specs.there(account), ask())) == {}


@pytest.mark.parametrize("version", ["1.32", "1.33"])
def test_a_control_plane_may_go_one_version_further(
    account: Account, ask: Callable[[], Aws], version: str
) -> None:
    eks_account.deploy_plane(account, version, "v1.5.0-eksbuild.1")
    report = run(eks_specs.new(account), ask())
    # what the stack has already takes nothing more
    assert not_passed(report) == {}


def test_every_add_on_that_the_stack_makes_is_looked_up(account: Account) -> None:
    names = {one.name for one in eks_plan.add_ons(eks_specs.new(account))}
    assert names == set(ADD_ONS) - {"aws-ebs-csi-driver"}
    on_plane = {one.name for one in eks_plan.add_ons(eks_specs.there(account))}
    assert on_plane == {name for name in names if name.startswith("amazon-sagemaker-hyperpod-")}
