"""The network round the cluster: made here, or an existing VPC."""

from collections.abc import Sequence
from dataclasses import dataclass

from hyperpod_cdk.spec.kinds import NatGateways


@dataclass(frozen=True, kw_only=True)
class ExistingSubnet:
    """A private subnet that is already there."""

    subnet_id: str
    availability_zone_id: str | None = None
    """Zone id, such as ``usw2-az4``; needed when groups or file systems name zones."""
    route_table_id: str | None = None
    """Needed for a MULTI_AZ_1 OpenZFS file system, whose routes go there."""


@dataclass(frozen=True, kw_only=True)
class ExistingNetwork:
    """A VPC that is already there; only the rules that file systems need are added to it."""

    subnets: Sequence[ExistingSubnet]
    """1-16 private subnets for the nodes."""
    security_group_ids: Sequence[str]
    """1-5 groups for the nodes; one must allow all traffic to and from itself (EFA)."""
    vpc_id: str | None = None
    """Needed when a file system is created in it."""
    vpc_cidr: str | None = None
    """Needed when an OpenZFS file system is created in it: its clients."""


@dataclass(frozen=True, kw_only=True)
class Network:
    """The network of the cluster."""

    availability_zone_ids: Sequence[str] = ()
    """Zone ids, such as ``usw2-az4``; the first is the default of groups and file systems. Needed unless
    ``existing``."""
    cidr: str = "10.0.0.0/16"
    """Address range of the new VPC, /16 to /28."""
    nat_gateways: NatGateways = NatGateways.ONE
    """``one`` for all zones, one ``per-zone``, or ``none``: no internet, and the endpoints nodes need."""
    flow_logs: bool = True
    """Log rejected and accepted traffic to CloudWatch Logs."""
    flow_logs_retention_days: int = 30
    """Days; a value CloudWatch Logs allows."""
    existing: ExistingNetwork | None = None
    """Use this one; nothing is created but rules."""


@dataclass(frozen=True, kw_only=True)
class OverrideVpcConfig:
    """Another place for one group: a zone of the network, or subnets and security groups.

    Fixed for the group's life.
    """

    availability_zone_id: str | None = None
    """Zone id among the network's."""
    subnet_ids: Sequence[str] = ()
    """1-16; instead of the zone."""
    security_group_ids: Sequence[str] = ()
    """1-5. Default: the network's."""
