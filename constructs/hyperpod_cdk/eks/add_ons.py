"""Add-ons of Amazon EKS: what is installed, and in which order."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from aws_cdk import aws_eks as eks
from constructs import Construct, IDependable

from hyperpod_cdk.eks.values import merged
from hyperpod_cdk.service.eks_add_ons import CERTIFICATES, DNS, KUBE_PROXY, POD_IDENTITY, VPC_CNI
from hyperpod_cdk.spec.add_on import AddOn

__all__ = ["AFTER", "CERTIFICATES", "DNS", "KUBE_PROXY", "POD_IDENTITY", "VPC_CNI", "add_on", "install"]

AFTER: Mapping[str, str] = {CERTIFICATES: DNS}
"""An add-on by the one that its pods need."""


def add_on(
    scope: Construct,
    name: str,
    *,
    cluster_name: str,
    settings: AddOn | None = None,
    configuration: Mapping[str, Any] | None = None,
    service_account_role_arn: str | None = None,
    depends_on: Sequence[IDependable] = (),
) -> eks.CfnAddon:
    """Install an add-on.

    A copy that is there already is taken over (OVERWRITE): a cluster may come with its own (field report
    134). Identities are associated apart from the add-on, which refuses them in some versions (field report
    126).

    Args:
        scope: the construct that it is part of.
        name: such as ``vpc-cni``; its construct id too.
        cluster_name: of the EKS cluster.
        settings: version and configuration. Default: those of Amazon EKS.
        configuration: what ``settings`` are laid over; may hold tokens. Default: nothing.
        service_account_role_arn: a role by the cluster's own tokens. Default: none.
        depends_on: what must be there before it.
    """
    chosen = settings or AddOn()
    values = merged(configuration or {}, chosen.configuration)
    resource = eks.CfnAddon(
        scope,
        name,
        addon_name=name,
        cluster_name=cluster_name,
        addon_version=chosen.version,
        configuration_values=json.dumps(values) if values else None,
        service_account_role_arn=service_account_role_arn,
        resolve_conflicts="OVERWRITE",
    )
    resource.node.add_dependency(*depends_on)
    return resource


def install(
    scope: Construct,
    *,
    cluster_name: str,
    settings: Mapping[str, AddOn],
    names: Sequence[str],
    depends_on: Sequence[IDependable] = (),
) -> dict[str, eks.CfnAddon]:
    """Install several add-ons.

    Args:
        scope: the construct that they are part of.
        cluster_name: of the EKS cluster.
        settings: by name.
        names: of the add-ons, those that others need before them.
        depends_on: what must be there before all of them.
    """
    made: dict[str, eks.CfnAddon] = {}
    for name in names:
        before = made.get(AFTER.get(name, ""))
        made[name] = add_on(
            scope,
            name,
            cluster_name=cluster_name,
            settings=settings.get(name),
            depends_on=[*depends_on, *([before] if before else [])],
        )
    return made
