"""The accounting database's security group, opened to the controller."""

from collections.abc import Iterator, Sequence

from aws_cdk import CfnResource
from constructs import Construct

from hyperpod_cdk.network.interface import IHyperPodNetwork
from hyperpod_cdk.network.security_group import Ports, allow_in
from hyperpod_cdk.spec import Cluster, NodeType

_PORT = 3306
"""Of the service's own choice, where the spec names none."""


def open_accounting_database(
    scope: Construct, *, cluster: Cluster, network: IHyperPodNetwork
) -> Sequence[CfnResource]:
    """Let the controllers in, if the spec names the database's security group.

    Args:
        scope: gets the rules.
        cluster: whose Slurm accounts there.
        network: where its nodes live.

    Returns:
        The rules, for which the cluster has to wait: its controller asks the database at once.
    """
    database = cluster.orchestrator.slurm.accounting_database
    if database is None or database.security_group_id is None:
        return ()
    return [
        rule
        for number, source in enumerate(dict.fromkeys(_sources(cluster, network)))
        for rule in allow_in(
            scope,
            f"AccountingDatabase{number or ''}",
            group=database.security_group_id,
            source=source,
            ports=[Ports(protocol="tcp", first=database.port or _PORT)],
            why="Slurm accounting, from a HyperPod cluster's controller",
        )
    ]


def _sources(cluster: Cluster, network: IHyperPodNetwork) -> Iterator[str]:
    """A security group of each controller; its nodes are members of all of theirs, so that one will do."""
    for group in cluster.instance_groups:
        if group.slurm_config is not None and group.slurm_config.node_type is NodeType.CONTROLLER:
            place = group.override_vpc_config
            own = place.security_group_ids if place is not None else ()
            yield own[0] if own else network.security_groups[0].security_group_id
