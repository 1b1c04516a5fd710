"""What the service would refuse, said before any call, with what to do instead."""

import json
from collections.abc import Callable
from typing import Any

from .difference import Change
from .policy import Policy

_LONGEST_VALUE = 80


def refusal(change: Change) -> str | None:
    """Say why a change can not reach the cluster; None when it can."""
    if change.new is None and not can_go(change):
        return _TEXTS.get(change.rule.policy, _kept)(change)
    text = _TEXTS.get(change.rule.policy)
    return text(change) if text else None


def controller_removal(group: str) -> str:
    """Say why the controller's group stays."""
    return (
        f"InstanceGroups[{group}] is the controller's group, which HyperPod never removes or renames: keep "
        "it under its name, or change ClusterName to make a new cluster"
    )


def can_go(change: Change) -> bool:
    """Whether a member that is no longer asked for can be taken away."""
    return change.rule.removable or change.rule.reset is not None


def _new_group(change: Change) -> str:
    group = change.path.partition("[")[2].partition("]")[0]
    return (
        f"{_what(change)}: HyperPod fixes it for the life of an instance group. Give the group another name "
        f"(for example {group}-2): the group is then made anew, and {group} deleted with its nodes"
    )


def _new_cluster(change: Change) -> str:
    return (
        f"{_what(change)}: HyperPod fixes it for the life of a cluster. Change ClusterName as well: a new "
        "cluster is then made, and this one deleted after it"
    )


def _kept(change: Change) -> str:
    return (
        f"{_what(change)}: the service keeps it once it is set, and has no way to take it back. Leave it in "
        "the request; a rollback that ends here is finished by continue-update-rollback, with this resource "
        "skipped"
    )


def _what(change: Change) -> str:
    if change.new is None:
        return f"{change.path} can not be taken away (it is {_shown(change.current)})"
    if change.current is None:
        return f"{change.path} can not be set to {_shown(change.new)} now"
    return f"{change.path} can not change from {_shown(change.current)} to {_shown(change.new)}"


def _shown(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, default=str)
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"


_TEXTS: dict[Policy, Callable[[Change], str]] = {
    Policy.NEW_GROUP: _new_group,
    Policy.NEW_CLUSTER: _new_cluster,
}
