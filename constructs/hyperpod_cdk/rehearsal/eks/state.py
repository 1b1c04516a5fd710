"""What the emulated Amazon EKS knows of its clusters."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hyperpod_cdk.rehearsal.kubernetes import KubernetesApi

Spec = dict[str, Any]
"""Part of a request or an answer, in the API's own camelCase."""

ACTIVE = "ACTIVE"


@dataclass(kw_only=True, eq=False)
class Entry:
    """An access entry.

    Args:
        about: as DescribeAccessEntry shows it.
        policies: associated access policies by ARN, as ListAssociatedAccessPolicies shows them.
    """

    about: Spec
    policies: dict[str, Spec] = field(default_factory=dict)


@dataclass(kw_only=True, eq=False)
class NodeGroup:
    """A managed node group.

    Args:
        about: as DescribeNodegroup shows it.
        nodes: names of its nodes in Kubernetes, each with its network interface.
    """

    about: Spec
    nodes: dict[str, str] = field(default_factory=dict)


@dataclass(kw_only=True, eq=False)
class Cluster:
    """A control plane.

    Args:
        about: as DescribeCluster shows it.
        api: its Kubernetes.
        interface_ids: network interfaces through which it reaches the VPC.
        entries: access entries by principal.
        add_ons: by name, as DescribeAddon shows them.
        node_groups: by name.
        identities: pod identity associations by id, as DescribePodIdentityAssociation shows them.
        updates: by id, as DescribeUpdate shows them.
        self_managed: add-ons that it was born with.
    """

    about: Spec
    api: KubernetesApi
    interface_ids: tuple[str, ...] = ()
    entries: dict[str, Entry] = field(default_factory=dict)
    add_ons: dict[str, Spec] = field(default_factory=dict)
    node_groups: dict[str, NodeGroup] = field(default_factory=dict)
    identities: dict[str, Spec] = field(default_factory=dict)
    updates: dict[str, Spec] = field(default_factory=dict)
    self_managed: set[str] = field(default_factory=set)

    @property
    def name(self) -> str:
        """Unique in account and Region."""
        return str(self.about["name"])

    @property
    def arn(self) -> str:
        """Its ARN."""
        return str(self.about["arn"])

    @property
    def authentication_mode(self) -> str:
        """``API``, ``API_AND_CONFIG_MAP`` or ``CONFIG_MAP``."""
        return str(self.about["accessConfig"]["authenticationMode"])

    @property
    def vpc(self) -> Spec:
        """resourcesVpcConfig as DescribeCluster shows it."""
        found: Spec = self.about["resourcesVpcConfig"]
        return found
