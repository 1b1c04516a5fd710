"""All-or-nothing provisioning: every node comes up, or nothing stays changed."""

from collections.abc import Callable, Sequence

from hyperpod_cdk.rehearsal.hyperpod import nodes
from hyperpod_cdk.rehearsal.hyperpod.simulation import Simulation
from hyperpod_cdk.rehearsal.hyperpod.state import Cluster, ClusterStatus, Group, Node


class Rollout:
    """One creation or update of a cluster.

    Args:
        sim: the simulation.
        cluster: the cluster; its status is Creating or Updating.
        launches: how many nodes to launch in which group.
        removals: nodes to take away once every launch has succeeded.
        succeed: called at the end when all went well.
        fail: called with the reason when the rollback has ended.
        refusal: fail with this reason instead of launching anything.
    """

    def __init__(
        self,
        sim: Simulation,
        cluster: Cluster,
        *,
        launches: Sequence[tuple[Group, int]],
        removals: Sequence[Node] = (),
        succeed: Callable[[], None],
        fail: Callable[[str], None],
        refusal: str = "",
    ) -> None:
        self._sim = sim
        self._cluster = cluster
        self._launches = launches
        self._removals = removals
        self._succeed = succeed
        self._fail = fail
        self._refusal = refusal
        self._before = frozenset(cluster.nodes)
        self._awaited = sum(count for _, count in launches)
        self._failed = False

    def begin(self) -> None:
        """Start; everything further happens in simulated time."""
        touches_nodes = self._launches or self._removals
        durations = self._sim.durations
        self._sim.timeline.after(durations.prepare if touches_nodes else durations.settings, self._provision)

    def _provision(self) -> None:
        if self._refusal:
            self._node_failed(None, self._refusal)
            return
        for group, count in self._launches:
            for number in nodes.free_numbers(self._cluster, group, count):
                nodes.launch(
                    self._sim, self._cluster, group, number, ready=self._node_ready, failed=self._node_failed
                )
        if not self._awaited:
            self._remove()

    def _node_ready(self, _node: Node) -> None:
        self._awaited -= 1
        if not self._awaited:
            self._remove()

    def _remove(self) -> None:
        durations = self._sim.durations
        for node in self._removals:
            nodes.remove(self._sim, self._cluster, node)
        rest = (durations.terminate if self._removals else 0) + (durations.finish if self._launches else 0)
        self._sim.timeline.after(rest, self._succeed)

    def _node_failed(self, _node: Node | None, reason: str) -> None:
        if self._failed:
            return
        self._failed = True
        self._cluster.status = ClusterStatus.ROLLING_BACK
        for launched in [node for node in self._cluster.nodes if node not in self._before]:
            nodes.terminate(self._sim, self._cluster, launched)
        rest = max(self._sim.durations.roll_back, self._sim.durations.terminate)
        self._sim.timeline.after(rest, lambda: self._fail(reason))
