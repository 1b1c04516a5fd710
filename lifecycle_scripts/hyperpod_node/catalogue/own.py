"""The user's own steps, as the deployment declares them: each one a step of its own, with its own bounds."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from hyperpod_node.context import Context
from hyperpod_node.features import OwnStep
from hyperpod_node.step import Later, Step

PREFIX = "own-"


def own_steps(
    declared: Sequence[OwnStep], *, when: str, needs: Sequence[str], after: Sequence[str]
) -> list[Step]:
    """The declared steps of one place, one behind the other.

    Args:
        declared: all of them.
        when: `before` or `after`.
        needs: what must have done its work before the first one.
        after: what must have ended before the first one.
    """
    found: list[Step] = []
    for one in declared:
        if one.when != when:
            continue
        earlier = tuple(step.name for step in found)
        found.append(
            Step(
                name=f"{PREFIX}{one.name}",
                run=Later("steps.own.run", one),
                idle=partial(not_here, one),
                needs=tuple(needs),
                after=(*after, *earlier),
                required=one.required,
                time_limit_seconds=one.time_limit_seconds,
                attempts=one.attempts,
            )
        )
    return found


def not_here(one: OwnStep, context: Context) -> str:
    """Why a step is not for this node; empty when it is."""
    node = context.node
    if one.node_types and node.node_type not in one.node_types:
        return f"not on a {node.node_type.lower()} node"
    if one.instance_groups and node.instance.group not in one.instance_groups:
        return f"not in group {node.instance.group}"
    return ""
