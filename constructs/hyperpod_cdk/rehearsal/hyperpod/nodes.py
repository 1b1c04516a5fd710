"""One node's way: launch, set-up, termination."""

from collections.abc import Callable

from hyperpod_cdk.rehearsal.hyperpod import events, logs, setup_runner
from hyperpod_cdk.rehearsal.hyperpod.faults import (
    InsufficientCapacity,
    LifecycleFailure,
    LingeringInterfaces,
)
from hyperpod_cdk.rehearsal.hyperpod.network import NoAddressError
from hyperpod_cdk.rehearsal.hyperpod.node_setup import NodeSetupResult, describe_setup, trigger_of
from hyperpod_cdk.rehearsal.hyperpod.simulation import Simulation
from hyperpod_cdk.rehearsal.hyperpod.state import Cluster, Group, Node, NodeStatus, Placement

Ready = Callable[[Node], None]
Failed = Callable[[Node | None, str], None]
"""Called with the node, or None when there never was one, and the reason."""


def launch(
    sim: Simulation, cluster: Cluster, group: Group, number: int, *, ready: Ready, failed: Failed
) -> None:
    """Launch a node and set it up; exactly one of the callbacks follows, unless it is terminated.

    Args:
        sim: the simulation.
        cluster: the node's cluster.
        group: the node's group.
        number: the node's number in the group, from 1.
        ready: called when its set-up has succeeded.
        failed: called when there is no capacity or no address, or when its set-up fails.
    """
    instance_type = group.instance_types[0]
    refusal, placement = _place(sim, cluster, group, number, instance_type)
    if placement is None:
        sim.timeline.after(sim.durations.capacity_refused, lambda: failed(None, refusal))
        return
    node = Node(
        instance_id=sim.new_id("i-"),
        logical_id=sim.new_id("node-", 12),
        group_name=group.name,
        number=number,
        instance_type=instance_type,
        launched_at=sim.timeline.now(),
        placement=placement,
        life_cycle_config=group.spec.get("LifeCycleConfig"),
        image_id=group.image_id,
        image_release=group.image_release,
    )
    cluster.nodes.append(node)
    events.record(sim, cluster, f"Launching instance {node.instance_id}.", node=node)
    sim.timeline.after(sim.durations.launch, lambda: set_up(sim, cluster, node, ready=ready, failed=failed))


def set_up(sim: Simulation, cluster: Cluster, node: Node, *, ready: Ready, failed: Failed) -> None:
    """Configure a booted node: HyperPod's own part, then the lifecycle script.

    Args:
        sim: the simulation.
        cluster: the node's cluster.
        node: the node.
        ready: called when all of it has succeeded.
        failed: called when it has not.
    """

    def finish(result: NodeSetupResult) -> None:
        if is_leaving(cluster, node):
            return
        _write_log(sim, cluster, node, result)
        if result.exit_code == 0:
            _come_up(sim, cluster, node)
            ready(node)
        else:
            node.status = NodeStatus.FAILURE
            node.message = "Lifecycle scripts did not run successfully."
            reason = script_failure(cluster, node)
            events.record(sim, cluster, node.message, level="Error", node=node, failure=reason)
            failed(node, reason)

    def start_script() -> None:
        if is_leaving(cluster, node):
            return
        seconds = sim.durations.lifecycle_script
        setup = describe_setup(sim.account, cluster, node)
        fault = sim.faults.strike_node(LifecycleFailure, group=node.group_name, number=node.number)
        if fault is not None:
            result = NodeSetupResult(exit_code=fault.exit_code, log_lines=fault.lines)
            sim.timeline.after(seconds, lambda: finish(result))
        elif setup is None:
            finish(NodeSetupResult())
        else:
            setup_runner.run(sim, setup, usual_seconds=seconds, done=finish)

    own_part = 0.0 if trigger_of(node.life_cycle_config) == "OnCreate" else sim.durations.ami_configuration
    sim.timeline.after(own_part, start_script)


def terminate(
    sim: Simulation, cluster: Cluster, node: Node, *, gone: Callable[[], None] | None = None
) -> None:
    """Shut a node down; its network interfaces outlive it for a while.

    Args:
        sim: the simulation.
        cluster: the node's cluster.
        node: the node; one that shuts down already is left alone.
        gone: called when the node is gone.
    """
    if is_leaving(cluster, node):
        return
    node.status = NodeStatus.SHUTTING_DOWN

    def disappear() -> None:
        cluster.nodes.remove(node)
        fault = sim.faults.strike(LingeringInterfaces) if node.placement.interface_ids else None
        linger = fault.seconds if fault else sim.durations.interface_linger
        sim.timeline.after(linger, lambda: sim.network.release(node.placement))
        if gone is not None:
            gone()

    sim.timeline.after(sim.durations.terminate, disappear)


def remove(sim: Simulation, cluster: Cluster, node: Node, *, gone: Callable[[], None] | None = None) -> None:
    """Terminate a node that is wanted no more, also one on its way: its number is free again.

    Args:
        sim: the simulation.
        cluster: the node's cluster.
        node: the node.
        gone: called when the node is gone.
    """
    cluster.groups[node.group_name].launching.discard(node.number)
    terminate(sim, cluster, node, gone=gone)


def free_numbers(cluster: Cluster, group: Group, count: int) -> list[int]:
    """Give the lowest ``count`` numbers that no node of a group has."""
    taken = taken_numbers(cluster, group)
    return [number for number in range(1, count + len(taken) + 1) if number not in taken][:count]


def taken_numbers(cluster: Cluster, group: Group) -> set[int]:
    """Give the numbers of a group's nodes, of those on their way too."""
    return {node.number for node in cluster.staying(group.name)} | group.launching


def is_leaving(cluster: Cluster, node: Node) -> bool:
    """Tell whether a node shuts down or is gone."""
    return node.status is NodeStatus.SHUTTING_DOWN or node not in cluster.nodes


def script_failure(cluster: Cluster, node: Node) -> str:
    """Word the failure of a node's set-up, as FailureMessage has it."""
    return (
        f'Instance {node.instance_id} failed to provision with the following error: "Lifecycle scripts did '
        f"not run successfully. To view lifecycle script logs, visit log group '{cluster.log_group}' and log "
        f"stream '{logs.stream_name(node)}' in CloudWatch.\" Note that multiple instances may be impacted."
    )


def _place(
    sim: Simulation, cluster: Cluster, group: Group, number: int, instance_type: str
) -> tuple[str, Placement | None]:
    if sim.faults.strike_node(InsufficientCapacity, group=group.name, number=number):
        return (
            f"We currently do not have sufficient capacity to launch new {instance_type} instances. "
            "Please try again.",
            None,
        )
    try:
        return "", sim.network.place(cluster, group, instance_type)
    except NoAddressError as error:
        return f"Instance group {group.name} failed to provision: {error}", None


def _write_log(sim: Simulation, cluster: Cluster, node: Node, result: NodeSetupResult) -> None:
    if not result.log_lines and node.life_cycle_config is None:
        return
    outcome = "succeeded" if result.exit_code == 0 else f"failed with exit code {result.exit_code}"
    lines = [*result.log_lines, f"[SageMaker] The lifecycle scripts {outcome}."]
    logs.write(sim.account, cluster, node, lines, at=sim.timeline.now())


def _come_up(sim: Simulation, cluster: Cluster, node: Node) -> None:
    node.message = ""
    checks = cluster.groups[node.group_name].spec.get("OnStartDeepHealthChecks", [])
    if not checks or node.attempt > 1:
        node.status = NodeStatus.RUNNING
        return
    node.status = NodeStatus.DEEP_HEALTH_CHECK

    def pass_checks() -> None:
        if node.status is NodeStatus.DEEP_HEALTH_CHECK:
            node.status = NodeStatus.RUNNING

    sim.timeline.after(sum(sim.durations.deep_health_checks[check] for check in checks), pass_checks)
