"""Where a life takes place: a quick emulated service, and what all lives share."""

from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType

from handler.clients import Clients

from hyperpod_cdk.rehearsal.hyperpod import Durations, HyperPodService, NodeSetupResult
from hyperpod_cdk.rehearsal.hyperpod.state import Cluster
from tests.handler.cloudformation import STACK_ID
from tests.handler.comparison import OUTSIDE, OWN, tags_of
from tests.handler.samples import Request

# A quarter of the usual, so that a life fits many operations; deletions are as slow as they are.
QUICK = Durations(
    prepare=15,
    launch=60,
    capacity_refused=30,
    ami_configuration=30,
    lifecycle_script=40,
    finish=15,
    roll_back=30,
    terminate=40,
    delete=80,
    root_volume=60,
    retry=60,
    min_count_timeout=1800,
    ready_timeout=900,
    deep_health_checks=MappingProxyType({"InstanceStress": 600, "InstanceConnectivity": 100}),
)


@dataclass(kw_only=True)
class World:
    """What every life shares: hypothesis makes the machines, without arguments.

    Args:
        clients: the handler's.
        vpc: a VpcConfig whose subnet and security group exist.
    """

    clients: Clients = field(init=False)
    vpc: Request = field(init=False)


WORLD = World()


def new_service() -> HyperPodService:
    """An account without clusters."""
    service = HyperPodService("123456789012", "us-west-2")
    service.clock.start = datetime(2026, 11, 30)
    service.check_references = False
    service.node_setup = lambda node: NodeSetupResult()
    service.durations = QUICK
    return service


def is_mine(one: Cluster) -> bool:
    """Whether a cluster carries the tags of the resource."""
    tags = tags_of(one)
    return (tags.get(f"{OWN}stack-id"), tags.get(f"{OWN}logical-id")) == (STACK_ID, "Cluster")


def is_disowned(one: Cluster) -> bool:
    """Whether somebody took a tag from a cluster of the resource."""
    tags = tags_of(one)
    return tags.get(f"{OWN}stack-id") == STACK_ID and f"{OWN}logical-id" not in tags


def meddling(what: str, one: Cluster) -> tuple[str, Request]:
    """What somebody does to a cluster, as an API call."""
    groups = [dict(group.spec) for group in one.groups.values()]
    groups[-1]["InstanceCount"] += groups[-1]["InstanceGroupName"] != "controller"
    tag = {"Key": f"{OUTSIDE}note", "Value": "seen"}
    requests: dict[str, tuple[str, Request]] = {
        "delete": ("DeleteCluster", {"ClusterName": one.name}),
        "scale": ("UpdateCluster", {"ClusterName": one.name, "InstanceGroups": groups}),
        "tag": ("AddTags", {"ResourceArn": one.arn, "Tags": [tag]}),
        "disown": ("DeleteTags", {"ResourceArn": one.arn, "TagKeys": [f"{OWN}logical-id"]}),
        "patch": ("UpdateClusterSoftware", {"ClusterName": one.name}),
    }
    return requests[what]
