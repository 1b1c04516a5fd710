"""How many calls each operation makes: a big cluster must not cost more than a small one."""

import pytest

from hyperpod_cdk.rehearsal.hyperpod import HyperPodService
from tests.handler.cloudformation import Stack
from tests.handler.conftest import Calls
from tests.handler.samples import NEW_SCRIPTS, Request, cluster, group, regroup

GROUPS = [group(f"compute-{number:03d}", count=2) for number in range(99)]
SMALL = cluster(group("controller", "Controller"), GROUPS[0])
BIG = cluster(group("controller", "Controller"), *GROUPS)


@pytest.mark.parametrize("request_", [SMALL, BIG], ids=["2 groups", "100 groups"])
def test_calls_of_a_life(stack: Stack, service: HyperPodService, calls: Calls, request_: Request) -> None:
    def calls_of(*, polls: int) -> list[str]:
        """What was called, but for the polls that found the cluster busy."""
        made = list(calls.names)
        calls.clear()
        end = len(made) - len(done)
        assert made[end - polls + 1 : end] == ["DescribeCluster"] * (polls - 1)
        return made[: end - polls + 1] + made[end:]

    done = ["DescribeCluster", "ListTags", "ListClusterNodes"]
    # whose it is; the mark that this is the newest update; no newer one's
    begun = ["DescribeCluster", "ListTags", "ListTags", "AddTags", "ListTags"]
    response = stack.create(request_)
    assert calls_of(polls=response.polls) == ["DescribeCluster", "CreateCluster", *done]
    response = stack.update(request_)
    assert response.polls == 1
    assert calls_of(polls=1) == [*begun, *done]
    response = stack.update(regroup(request_, "compute-000", InstanceCount=3))
    assert calls_of(polls=response.polls) == [*begun, "UpdateCluster", *done]
    scripts = {"SourceS3Uri": NEW_SCRIPTS, "OnCreate": "on_create.sh"}
    response = stack.update(regroup(request_, "compute-000", LifeCycleConfig=scripts))
    assert calls_of(polls=response.polls) == [*begun, "UpdateCluster", *done]
    response = stack.delete()
    asked, polled = ["DescribeCluster", "ListTags", "DeleteCluster"], ["DescribeCluster", "ListTags"]
    assert calls.names == asked + polled * (response.polls - 1) + ["DescribeCluster"]
    assert not service.clusters
