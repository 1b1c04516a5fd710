"""What is looked up of a cluster: every group, restricted ones too."""

from types import SimpleNamespace
from typing import Any

import pytest

from hyperpod_cdk.rehearsal.driver import checks
from hyperpod_cdk.rehearsal.driver.outcome import RehearsalError

SCRIPTS = {"SourceS3Uri": "s3://b/one/"}


def description(*, nova: int = 2) -> dict[str, Any]:
    """DescribeCluster's answer for a cluster with an ordinary and a restricted group."""
    return {
        "ClusterName": "ml",
        "ClusterStatus": "InService",
        "InstanceGroups": [{"InstanceGroupName": "cpu", "TargetCount": 1, "LifeCycleConfig": SCRIPTS}],
        "RestrictedInstanceGroups": [{"InstanceGroupName": "nova", "TargetCount": nova}],
    }


def nodes(**counts: int) -> list[dict[str, Any]]:
    """ListClusterNodes' entries."""
    up = {"InstanceStatus": {"Status": "Running"}}
    return [{"InstanceGroupName": name, **up} for name, count in counts.items() for _ in range(count)]


def expect(described: dict[str, Any], listed: list[dict[str, Any]]) -> checks.ClusterView:
    """Compare with a configuration that wants one and two."""

    class SageMaker:
        def get_paginator(self, _: str) -> Any:
            return SimpleNamespace(paginate=lambda **_: [{"ClusterNodeSummaries": listed}])

        def describe_cluster(self, **_: str) -> Any:
            return described

    variant: Any = SimpleNamespace(counts={"cpu": 1, "nova": 2})
    return checks.expect_cluster(lambda _: SageMaker(), variant, "ml", patience=0)


def test_restricted_groups_count() -> None:
    found = expect(description(), nodes(cpu=1, nova=2))
    assert (found.running, found.script_uris) == ({"cpu": 1, "nova": 2}, {"s3://b/one/"})


@pytest.mark.parametrize(
    ("described", "listed", "told"),
    [
        (description(nova=3), nodes(cpu=1, nova=2), "has the groups {'cpu': 1, 'nova': 3}"),
        (description(), nodes(cpu=1, nova=1), "runs the nodes {'cpu': 1, 'nova': 1}"),
        ({**description(), "ClusterStatus": "Failed"}, nodes(cpu=1, nova=2), "cluster ml is Failed"),
    ],
)
def test_what_differs_is_told(described: dict[str, Any], listed: list[dict[str, Any]], told: str) -> None:
    with pytest.raises(RehearsalError) as caught:
        expect(described, listed)
    assert told in str(caught.value)


def test_where_no_group_runs_scripts_there_are_no_new_ones() -> None:
    bare = checks.ClusterView(description={**description(), "InstanceGroups": []}, nodes=[])
    assert checks.expect_new_scripts(lambda _: None, bare, bare, added=None) == ""
