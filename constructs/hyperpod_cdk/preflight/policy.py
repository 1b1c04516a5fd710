"""The IAM policy of whoever runs a preflight."""

from collections.abc import Sequence
from typing import Any

from hyperpod_cdk.preflight.check import Check
from hyperpod_cdk.preflight.registry import CHECKS
from hyperpod_cdk.spec import HyperPodSpec


def actions(spec: HyperPodSpec | None = None, checks: Sequence[Check] = CHECKS) -> list[str]:
    """Every action that checks need, sorted.

    Args:
        spec: only for the checks that it needs. Default: for all.
        checks: which. Default: all.
    """
    needed = [check for check in checks if spec is None or check.needed(spec)]
    return sorted({api.action for check in needed for api in check.apis})


def policy(spec: HyperPodSpec | None = None) -> dict[str, Any]:
    """The smallest policy under which every check can look; it lets nothing be changed.

    Args:
        spec: only for the checks that it needs. Default: for all.
    """
    statement = {
        "Sid": "HyperPodPreflight",
        "Effect": "Allow",
        "Action": actions(spec),
        "Resource": "*",
    }
    return {"Version": "2012-10-17", "Statement": [statement]}
