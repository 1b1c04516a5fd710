"""The user's own steps, as the deployment declares them: each one a step of its own, with its own bounds."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError
from hyperpod_node.features import OwnStep
from hyperpod_node.step import Step
from hyperpod_node.steps.extra import INTERPRETERS, RUN_ANYWAY, SYNTAX_CHECKS, environment_of

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
                run=partial(run, one),
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


def run(one: OwnStep, context: Context) -> str:
    """Run the script; outside a real node it is only checked."""
    script = context.directory / "extra" / one.script
    if not script.is_file():
        raise NodeError(f"no {one.script} among the extra files", advice="see lifecycle.extra_files")
    really = context.root.is_machine or context.environment.get(RUN_ANYWAY) == "1"
    options = () if really else SYNTAX_CHECKS[script.suffix]
    context.commands.run(
        INTERPRETERS[script.suffix],
        *options,
        str(script),
        *(one.arguments if really else ()),
        timeout_seconds=one.time_limit_seconds,
        echo=True,
        extra_environment={**environment_of(context), **one.environment},
        advice=f"this is a script of your own, {one.script}: its last lines are above",
    )
    return one.script if really else f"{one.script}: only checked, not run, as this is no real node"
