"""UpdateClusterSoftware: a new image for the nodes of some groups, in batches.

docs.aws.amazon.com/sagemaker/latest/APIReference/API_UpdateClusterSoftware.html: the root volume is
replaced and the lifecycle script runs again. That a failed group goes back to its old image and leaves
the cluster in service is assumed.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hyperpod_cdk.rehearsal.hyperpod import events, nodes
from hyperpod_cdk.rehearsal.hyperpod.simulation import Simulation
from hyperpod_cdk.rehearsal.hyperpod.state import (
    Cluster,
    ClusterStatus,
    Group,
    GroupStatus,
    Node,
    NodeStatus,
    Spec,
)


@dataclass(frozen=True, kw_only=True)
class Image:
    """What the nodes of a group shall run.

    Args:
        image_id: AMI, or ``default`` for HyperPod's own.
        release: release of HyperPod's own.
    """

    image_id: str
    release: str


def begin(sim: Simulation, cluster: Cluster, images: Sequence[tuple[Group, Image]], deployment: Spec) -> None:
    """Update groups side by side, each in batches.

    Args:
        sim: the simulation.
        cluster: the cluster; its status is SystemUpdating until every group is done.
        images: the groups, and what their nodes shall run.
        deployment: DeploymentConfig of the request.
    """
    cluster.status = ClusterStatus.SYSTEM_UPDATING
    cluster.failure_message = ""
    left = [group.name for group, _ in images]

    def done(group: Group, reason: str) -> None:
        left.remove(group.name)
        cluster.failure_message = reason or cluster.failure_message
        if not left:
            cluster.status = ClusterStatus.IN_SERVICE

    for group, image in images:
        update = _GroupUpdate(sim, cluster, group=group, image=image, deployment=deployment, done=done)
        update.begin()


def take(group: Group, image: Image) -> None:
    """Let a group run an image from now on; a later UpdateCluster finds it in the group's specification.

    Args:
        group: the group.
        image: what its nodes run.
    """
    group.image_id, group.image_release = image.image_id, image.release
    shown = {"ImageId": image.image_id, "ImageReleaseVersion": image.release}
    group.spec = {member: shown.get(member, value) for member, value in group.spec.items()}


class _GroupUpdate:
    def __init__(
        self,
        sim: Simulation,
        cluster: Cluster,
        *,
        group: Group,
        image: Image,
        deployment: Spec,
        done: Callable[[Group, str], None],
    ) -> None:
        self._sim = sim
        self._cluster = cluster
        self._group = group
        self._image = image
        self._before = Image(image_id=group.image_id, release=group.image_release)
        self._done = done
        self._wait = float(deployment.get("WaitIntervalInSeconds", 0))
        self._left = cluster.staying(group.name)
        self._batch_size = batch_size(deployment, len(self._left))
        self._updated: list[Node] = []
        self._awaited = 0

    def begin(self) -> None:
        self._group.status = GroupStatus.SYSTEM_UPDATING
        self._group.software_update = "InProgress"
        self._sim.timeline.after(self._sim.durations.settings, self._next_batch)

    def _next_batch(self) -> None:
        batch, self._left = self._left[: self._batch_size], self._left[self._batch_size :]
        batch = [node for node in batch if not nodes.is_leaving(self._cluster, node)]
        self._awaited = len(batch)
        if not batch:
            self._succeed()
        for node in batch:
            self._updated.append(node)
            self._rebuild(node)

    def _rebuild(self, node: Node) -> None:
        node.status = NodeStatus.SYSTEM_UPDATING
        node.attempt += 1
        node.life_cycle_config = self._group.spec.get("LifeCycleConfig")
        self._sim.timeline.after(
            self._sim.durations.root_volume,
            lambda: nodes.set_up(
                self._sim, self._cluster, node, ready=self._node_ready, failed=self._node_failed
            ),
        )

    def _node_ready(self, node: Node) -> None:
        node.software_updated_at = self._sim.timeline.now()
        node.image_id, node.image_release = self._image.image_id, self._image.release
        self._awaited -= 1
        if self._awaited == 0 and self._group.software_update == "InProgress":
            self._sim.timeline.after(self._wait if self._left else 0, self._next_batch)

    def _succeed(self) -> None:
        take(self._group, self._image)
        self._end("Succeeded", "")

    def _node_failed(self, _node: Node | None, reason: str) -> None:
        if self._group.software_update != "InProgress":
            return
        self._group.software_update = "RollbackInProgress"
        durations = self._sim.durations
        seconds = durations.root_volume + durations.lifecycle_script
        self._sim.timeline.after(seconds, lambda: self._restore(reason))

    def _restore(self, reason: str) -> None:
        for node in self._updated:
            if not nodes.is_leaving(self._cluster, node):
                node.status, node.message = NodeStatus.RUNNING, ""
                node.image_id, node.image_release = self._before.image_id, self._before.release
        self._end("RollbackComplete", reason)

    def _end(self, outcome: str, reason: str) -> None:
        self._group.software_update = outcome
        self._group.status = GroupStatus.IN_SERVICE
        level = "Error" if reason else "Info"
        description = f"Software update of instance group {self._group.name}: {outcome}."
        events.record(self._sim, self._cluster, description, level=level, group=self._group, failure=reason)
        self._done(self._group, reason)


def batch_size(deployment: Spec, node_count: int) -> int:
    """Give how many nodes of a group are updated at a time.

    Args:
        deployment: DeploymentConfig of the request; without a rolling policy it is all of them.
        node_count: nodes of the group.
    """
    policy = deployment.get("RollingUpdatePolicy", {}).get("MaximumBatchSize")
    if policy is None:
        return max(node_count, 1)
    if policy["Type"] == "CAPACITY_PERCENTAGE":
        share: int = math.floor(node_count * policy["Value"] / 100)
        return max(1, share)
    size: int = policy["Value"]
    return size
