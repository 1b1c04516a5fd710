"""An emulated account with a network and roles, and Amazon EKS in it, its time moved by hand."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from moto import mock_aws

from hyperpod_cdk.rehearsal import eks
from hyperpod_cdk.rehearsal.eks import AmazonEks
from hyperpod_cdk.rehearsal.eks.errors import EksError
from hyperpod_cdk.rehearsal.eks.operations import operations
from tests.rehearsal.eks.samples import REGION, Call, Network


@pytest.fixture(autouse=True)
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("MOTO_EC2_LOAD_DEFAULT_AMIS", "false")
    with mock_aws():
        yield


@pytest.fixture
def service(aws: None) -> AmazonEks:
    return eks.service(region=REGION)


@pytest.fixture
def network(service: AmazonEks) -> Network:
    ec2, iam = service.account.ec2, service.account.iam
    vpc = ec2.create_vpc("10.0.0.0/16")
    subnets = [
        ec2.create_subnet(vpc.id, cidr, availability_zone=zone).id
        for cidr, zone in (("10.0.0.0/24", "us-west-2a"), ("10.0.1.0/24", "us-west-2b"))
    ]
    for name, principal in (("plane", "eks"), ("nodes", "ec2"), ("pods", "pods.eks"), ("scientist", "")):
        trust = {"Statement": [{"Effect": "Allow", "Principal": {"Service": f"{principal}.amazonaws.com"}}]}
        iam.create_role(name, json.dumps(trust), "/", None, "", [], None)
    return Network(vpc_id=vpc.id, subnet_ids=subnets)


@pytest.fixture
def call(service: AmazonEks) -> Call:
    """Calls an operation by its name in the API."""

    def answer(operation: str, **request: Any) -> dict[str, Any]:
        return service.call(operations()[operation], request, name=operation)

    return answer


@pytest.fixture
def plane(service: AmazonEks, network: Network, call: Call) -> eks.Cluster:
    """An active control plane without add-ons of its own."""
    call("CreateCluster", **network.cluster(bootstrapSelfManagedAddons=False))
    service.clock.advance(service.durations.create_cluster)
    service.catch_up()
    return service.cluster("plane")


@pytest.fixture
def with_nodes(service: AmazonEks, network: Network, call: Call, plane: eks.Cluster) -> eks.Cluster:
    """The same with a network plugin and two nodes."""
    call("CreateAddon", clusterName="plane", addonName="vpc-cni")
    service.clock.advance(service.durations.add_on)
    call("CreateNodegroup", **network.node_group())
    service.clock.advance(service.durations.create_nodes)
    service.catch_up()
    return plane


@pytest.fixture
def refused(call: Call) -> Callable[..., tuple[str, str]]:
    """Calls an operation that must be refused; gives code and message."""

    def answer(operation: str, **request: Any) -> tuple[str, str]:
        with pytest.raises(EksError) as caught:
            call(operation, **request)
        return caught.value.code, caught.value.message

    return answer
