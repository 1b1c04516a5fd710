"""All checks."""

from collections.abc import Mapping

from hyperpod_cdk.preflight import (
    account,
    capacity,
    deployed,
    file_system_ports,
    file_systems,
    instance_quotas,
    keys,
    network_quotas,
    region_options,
    roles,
    routes,
    scripts,
    security_groups,
    subnets,
    things,
)
from hyperpod_cdk.preflight.check import Check
from hyperpod_cdk.rules import Rule

_MODULES = (
    *(account, region_options, instance_quotas, network_quotas, subnets, routes, security_groups),
    *(capacity, file_systems, file_system_ports, scripts, roles, keys, things, deployed),
)

CHECKS: tuple[Check, ...] = tuple(
    sorted((check for module in _MODULES for check in module.CHECKS), key=lambda check: check.rule.code)
)
"""Every check, in the order of their codes."""

RULES: Mapping[str, Rule] = {check.rule.code: check.rule for check in CHECKS}
"""What the codes stand for."""
