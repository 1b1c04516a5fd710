"""What a newcomer gives a construct by mistake is told in the words of its arguments, at once."""

from collections.abc import Callable
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3

from hyperpod_cdk import HyperPodCluster, HyperPodNetwork, HyperPodStack, LustreStorage
from hyperpod_cdk.arguments import checked_arguments
from hyperpod_cdk.eks import EksControlPlane
from hyperpod_cdk.faults import ConstructError
from hyperpod_cdk.spec import Cluster, ExistingSubnet, InstanceGroup, NodeType, SlurmConfig

ZONES = ["usw2-az4"]
GROUPS = [
    InstanceGroup(
        instance_group_name="controller",
        instance_type="ml.c5.xlarge",
        instance_count=1,
        slurm_config=SlurmConfig(node_type=NodeType.CONTROLLER),
    )
]
CLUSTER = Cluster(instance_groups=GROUPS)
NODE_ROLE = "arn:aws:iam::111122223333:role/nodes"


def a_stack() -> cdk.Stack:
    """In no Region."""
    return cdk.Stack(cdk.App(), "Stack")


def faults(make: Callable[[cdk.Stack], Any]) -> tuple[str, ...]:
    """What is said of a mistake in a stack; nothing was made, so that the id is free again."""
    stack = a_stack()
    with pytest.raises(ConstructError) as caught:
        make(stack)
    assert caught.value.path == "Stack/It"
    return caught.value.faults


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (
            {"availability_zone_ids": "usw2-az4"},
            "availability_zone_ids must be a list of text, got: 'usw2-az4'",
        ),
        ({"availability_zone_ids": None}, "availability_zone_ids must be a list of text, got: None"),
        ({"availability_zone_ids": [4]}, "availability_zone_ids[0] must be text, got: 4"),
        ({"availability_zone_ids": ["us-west-2a"]}, "got: us-west-2a, which is a zone's name, not its id"),
        ({"availability_zone_ids": ["somewhere"]}, "got: somewhere, which is no zone id"),
        ({"cidr": 10}, "cidr must be text, got: 10"),
        ({"flow_logs": "yes"}, "flow_logs must be True or False, got: 'yes'"),
        (
            {"nat_gateways": "none"},
            "NatGateways.ONE or NatGateways.PER_ZONE or NatGateways.NONE, got: 'none'",
        ),
        ({"instance_groups": CLUSTER}, "must be a list of hyperpod_cdk.spec.InstanceGroup, got: a Cluster"),
        ({"flow_logs_retention": 30}, "flow_logs_retention must be one of RetentionDays, got: 30"),
        ({"encryption_key": "alias/mine"}, "must be a construct, IKey; from_… of its class"),
    ],
)
def test_of_a_network(given: dict[str, Any], told: str) -> None:
    """Each stands for a kind of argument."""
    (fault,) = faults(lambda stack: HyperPodNetwork(stack, "It", **{"availability_zone_ids": ZONES, **given}))
    assert told in fault


def test_all_mistakes_are_told_at_once() -> None:
    """In the order in which they are given."""
    found = faults(lambda stack: HyperPodCluster(stack, "It", cluster={}, network=None))  # type: ignore[arg-type]
    assert [fault.split()[0] for fault in found] == ["cluster", "network"]


@pytest.mark.parametrize("kind", [ec2.Vpc, s3.Bucket])
def test_a_construct_of_the_cdk_is_no_network(kind: Any) -> None:
    """The way in is named."""
    (fault,) = faults(lambda stack: LustreStorage(stack, "It", network=kind(stack, "Other")))
    assert f"got: a {kind.__name__}" in fault
    assert "HyperPodNetwork.from_attributes(…) takes a VPC that is there" in fault


def test_of_a_control_plane() -> None:
    """The parts of Amazon EKS look at theirs, too."""

    def make(stack: cdk.Stack) -> None:
        vpc = ec2.Vpc(stack, "Vpc")
        EksControlPlane(stack, "It", orchestrator={"helm_chart": "chart"}, network=vpc)  # type: ignore[arg-type]

    orchestrator, network = faults(make)
    assert orchestrator == "orchestrator must be hyperpod_cdk.spec.EksOrchestrator, got: a dict"
    assert network.endswith("got: a Vpc")


def test_of_an_existing_network() -> None:
    """A text is a sequence too: of letters, each of which would become a security group."""
    subnet = ExistingSubnet(subnet_id="subnet-0123456789abcdef0", availability_zone_id=ZONES[0])

    def make(stack: cdk.Stack) -> None:
        HyperPodNetwork.from_attributes(
            stack, "It", subnets=[subnet], security_group_ids="sg-0123456789abcdef0"
        )

    (fault,) = faults(make)
    assert fault.endswith("must be a list of text, got: 'sg-0123456789abcdef0'; put it into [ ]")


def test_of_a_stack() -> None:
    """The spec's own fields are the rules' business, the spec is not."""
    with pytest.raises(
        ConstructError, match=r"spec must be hyperpod_cdk\.spec\.HyperPodSpec, got: a Cluster"
    ):
        HyperPodStack(cdk.App(), "It", spec=CLUSTER)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (
            {"execution_roles": {"controller": NODE_ROLE}},
            "execution_roles['controller'] must be a construct, IRole; from_… of its class takes",
        ),
        (
            {"lifecycle_bucket": object()},
            "must be of type LifecycleBucket (LifecycleBucket.from_bucket(…) takes a bucket of S3)",
        ),
        ({"execution_roles": 3}, "execution_roles must be a dict, by name, of a construct, IRole"),
    ],
)
def test_of_a_cluster(given: dict[str, Any], told: str) -> None:
    """Roles and buckets."""

    def make(stack: cdk.Stack) -> None:
        network = HyperPodNetwork(stack, "Network", availability_zone_ids=ZONES)
        HyperPodCluster(stack, "It", cluster=CLUSTER, network=network, **given)

    (fault,) = faults(make)
    assert told in fault


def test_a_role_of_a_group_that_is_not_there() -> None:
    """A misspelt name would leave the group with a role made here."""

    def make(stack: cdk.Stack) -> None:
        network = HyperPodNetwork(stack, "Network", availability_zone_ids=ZONES)
        role = iam.Role.from_role_arn(stack, "Role", NODE_ROLE)
        HyperPodCluster(stack, "It", cluster=CLUSTER, network=network, execution_roles={"head": role})

    assert faults(make) == ("execution_roles names no instance group: head; there are: controller",)


def test_a_group_is_named_at_synth() -> None:
    """The CDK would say that a key of a map must resolve to a string, and not which."""

    def make(stack: cdk.Stack) -> None:
        network = HyperPodNetwork(stack, "Network", availability_zone_ids=ZONES)
        name = cdk.CfnParameter(stack, "Name").value_as_string
        group = InstanceGroup(
            instance_group_name=name,
            instance_type="ml.c5.xlarge",
            instance_count=1,
            slurm_config=SlurmConfig(node_type=NodeType.CONTROLLER),
        )
        HyperPodCluster(stack, "It", cluster=Cluster(instance_groups=[group]), network=network)

    (fault,) = faults(make)
    assert fault.startswith("instance_group_name must be known at synth")


def test_tokens_and_nothing_fit() -> None:
    """What is known at deployment only is looked at there; None is a default."""
    seen: dict[str, Any] = {}

    class Thing:
        @checked_arguments
        def __init__(
            self, _scope: Any, _construct_id: str, *, count: int, names: list[str] | None, either: int | str
        ) -> None:
            seen.update(count=count, names=names, either=either)

    stack = a_stack()
    count = cdk.CfnParameter(stack, "Count", type="Number").value_as_number
    Thing(stack, "It", count=count, names=None, either="x")  # type: ignore[arg-type]
    assert seen == {"count": count, "names": None, "either": "x"}
