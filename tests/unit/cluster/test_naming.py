"""Names of clusters that have none: the same as long as the cluster can be, another one when it can not."""

import re
from collections.abc import Iterator
from typing import Any

import aws_cdk as cdk
import pytest
from botocore.model import StructureShape
from constructs import Construct

from hyperpod_cdk.cluster.handler.cluster.policy import TABLE, Policy
from hyperpod_cdk.cluster.naming import FORCES_NEW_CLUSTER, MAX_LENGTH, generated_names, named
from tests.api_shapes import input_shape, walk

VPC = {"Subnets": ["subnet-0a", "subnet-0b"], "SecurityGroupIds": ["sg-0a"]}
EKS = {"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:111122223333:cluster/one"}}


def scope(path: str = "Stack/Cluster") -> Construct:
    """A construct at a path."""
    first, *rest = path.split("/")
    construct: Construct = cdk.Stack(cdk.App(), first)
    for construct_id in rest:
        construct = Construct(construct, construct_id)
    return construct


def name(path: str = "Stack/Cluster", **members: Any) -> str:
    """The name of a cluster."""
    return str(named(scope(path), {"VpcConfig": VPC, **members})["ClusterName"])


def fixed_members() -> Iterator[str]:
    """Members that the handler's table calls fixed for the life of a cluster."""
    for member in walk(input_shape("CreateCluster")):
        if TABLE[member.parent.name][member.name].policy is Policy.NEW_CLUSTER:
            yield member.path


def test_what_forces_a_new_name_is_what_the_handler_calls_fixed_for_a_cluster() -> None:
    assert set(fixed_members()) == {*FORCES_NEW_CLUSTER, "Orchestrator.Slurm"}


def test_they_are_fixed_as_a_whole() -> None:
    """So that any change in them is one of the cluster; what is within Slurm changes in place."""
    shapes = {member.path: member.shape for member in walk(input_shape("CreateCluster"))}

    def policies(path: str) -> set[Policy]:
        shape = shapes[path]
        assert isinstance(shape, StructureShape)
        return {TABLE[shape.name][member].policy for member in shape.members}

    assert {policy for path in FORCES_NEW_CLUSTER for policy in policies(path)} == {Policy.AS_PARENT}
    assert policies("Orchestrator.Slurm") == {Policy.IN_PLACE}


@pytest.mark.parametrize(
    "members",
    [
        {},
        {"InstanceGroups": [{"InstanceGroupName": "gpu", "InstanceCount": 9}]},
        {"Tags": [{"Key": "a", "Value": "b"}]},
        {"Orchestrator": {"Slurm": {"SlurmConfigStrategy": "Merge"}}},
        {"VpcConfig": {"Subnets": ["subnet-0b", "subnet-0a"], "SecurityGroupIds": ["sg-0a"]}},
    ],
    ids=["nothing", "scale", "tags", "slurm by the API", "order"],
)
def test_what_can_change_in_place_keeps_the_name(members: dict[str, Any]) -> None:
    assert name(**members) == name()


@pytest.mark.parametrize(
    "members",
    [
        {"VpcConfig": {**VPC, "Subnets": ["subnet-0a"]}},
        {"VpcConfig": {**VPC, "SecurityGroupIds": ["sg-0b"]}},
        {"VpcConfig": None},
        {"Orchestrator": EKS},
    ],
    ids=["subnets", "security groups", "no vpc", "orchestrator"],
)
def test_what_is_fixed_changes_the_name(members: dict[str, Any]) -> None:
    assert name(**members) != name()


def test_two_eks_clusters_are_two_names() -> None:
    other = {"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:111122223333:cluster/two"}}
    assert name(Orchestrator=EKS) != name(Orchestrator=other)


def test_a_release_never_changes_the_names_of_clusters_that_live() -> None:
    """Another name would replace them."""
    assert name() == "Stack-Cluster-F0EB02FA-bd51455b"


def test_tokens_count_by_what_they_refer_to() -> None:
    """And not by their numbers, which change with everything that is made before them."""

    def with_subnet(construct_id: str, *, before: int) -> str:
        stack = cdk.Stack(cdk.App(), "Stack")
        for i in range(before):
            cdk.Token.as_string({"Ref": f"Other{i}"})
        subnet = cdk.CfnResource(stack, construct_id, type="AWS::EC2::Subnet")
        vpc = {"Subnets": [subnet.ref], "SecurityGroupIds": [subnet.get_att("Any").to_string()]}
        return str(named(Construct(stack, "Cluster"), {"VpcConfig": vpc})["ClusterName"])

    assert with_subnet("Private", before=0) == with_subnet("Private", before=7)
    assert with_subnet("Private", before=0) != with_subnet("Other", before=0)


@pytest.mark.parametrize(
    "path",
    [
        "S",
        "Stack/Cluster",
        "With-Hyphen/-Cluster-/under_score/ünïcode",
        "/".join(f"AVeryLongConstructId{i}" for i in range(12)),
    ],
)
def test_every_path_yields_a_valid_name(path: str) -> None:
    rules = input_shape("CreateCluster").members["ClusterName"].metadata
    assert rules["max"] == MAX_LENGTH
    found = name(path)
    assert len(found) <= MAX_LENGTH
    assert re.fullmatch(rules["pattern"], found)


def test_paths_that_differ_at_their_far_end_have_different_names() -> None:
    long = "/".join(f"AVeryLongConstructId{i}" for i in range(12))
    assert name(f"{long}/a") != name(f"{long}/b")


def test_a_name_of_the_users_own_stays() -> None:
    assert named(scope(), {"ClusterName": "mine", "VpcConfig": VPC})["ClusterName"] == "mine"


@pytest.mark.parametrize("vpc", [VPC, {**VPC, "Subnets": ["subnet-0c"]}])
def test_the_handler_may_read_logs_under_every_name_that_is_generated(vpc: dict[str, Any]) -> None:
    """A replaced cluster is deleted under the policies of its successor."""
    pattern = generated_names(scope()).replace("?", ".")
    assert re.fullmatch(pattern, name(VpcConfig=vpc))
