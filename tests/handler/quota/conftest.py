"""A cluster on Amazon EKS, and a stack with a quota in it."""

import pytest

from hyperpod_cdk.rehearsal.hyperpod import HyperPodService
from tests.handler.cloudformation import Stack
from tests.handler.conftest import Calls
from tests.handler.quota.samples import eks_cluster, quota, quota_stack
from tests.handler.samples import Request


@pytest.fixture
def cluster_arn(service: HyperPodService) -> str:
    return eks_cluster(service)


@pytest.fixture
def request_(cluster_arn: str, calls: Calls) -> Request:
    calls.clear()
    return quota(cluster_arn, Tags=[{"Key": "team", "Value": "v"}])


@pytest.fixture
def team(stack: Stack) -> Stack:
    """A stack with nothing in it yet."""
    return quota_stack(stack)


@pytest.fixture
def made(team: Stack, request_: Request, calls: Calls) -> Stack:
    """A stack whose quota is there."""
    assert team.create(request_).ok
    calls.clear()
    return team
