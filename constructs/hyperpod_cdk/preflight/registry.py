"""All checks."""

from collections.abc import Mapping

from hyperpod_cdk.preflight import (
    account,
    capacity,
    deployed,
    eks_add_ons,
    eks_deployed,
    eks_existing,
    eks_identity,
    eks_new,
    eks_traffic,
    file_system_ports,
    file_systems,
    governance,
    helm_chart,
    instance_quotas,
    keys,
    network_quotas,
    region_options,
    roles,
    routes,
    scripts,
    security_groups,
    subnets,
    system_nodes,
    things,
    workspaces,
)
from hyperpod_cdk.preflight.check import Check
from hyperpod_cdk.rules import Rule

_MODULES = (
    *(account, region_options, instance_quotas, network_quotas, subnets, routes, security_groups),
    *(capacity, file_systems, file_system_ports, scripts, roles, keys, things, deployed),
    *(eks_existing, eks_identity, eks_traffic, eks_add_ons, eks_new, eks_deployed),
    *(system_nodes, helm_chart, governance, workspaces),
)

CHECKS: tuple[Check, ...] = tuple(
    sorted((check for module in _MODULES for check in module.CHECKS), key=lambda check: check.rule.code)
)
"""Every check, in the order of their codes."""

RULES: Mapping[str, Rule] = {check.rule.code: check.rule for check in CHECKS}
"""What the codes stand for."""
