"""The nodes' log streams in the emulated CloudWatch Logs."""

from collections.abc import Iterable
from datetime import UTC, datetime

from hyperpod_cdk.rehearsal.hyperpod.aws import Account
from hyperpod_cdk.rehearsal.hyperpod.state import Cluster, Node


def stream_name(node: Node) -> str:
    """Give the name of the log stream of a node's lifecycle script."""
    return f"LifecycleConfig/{node.group_name}/{node.instance_id}"


def create_group(account: Account, cluster: Cluster) -> None:
    """Make the log group of a new cluster."""
    account.logs.ensure_log_group(cluster.log_group)


def write(account: Account, cluster: Cluster, node: Node, lines: Iterable[str], *, at: datetime) -> None:
    """Append lines to a node's log stream, whose group and stream are made when they are missing.

    Args:
        account: where the cluster is.
        cluster: the node's cluster.
        node: the node that wrote them.
        lines: one event each; CloudWatch refuses empty ones, so they are left out.
        at: instant of every line, naive UTC.
    """
    timestamp = int(at.replace(tzinfo=UTC).timestamp() * 1000)
    events = [{"timestamp": timestamp, "message": line} for line in lines if line]
    account.logs.ensure_log_group(cluster.log_group)
    account.logs.ensure_log_stream(cluster.log_group, stream_name(node))
    if events:
        account.logs.groups[cluster.log_group].put_log_events(stream_name(node), events)
