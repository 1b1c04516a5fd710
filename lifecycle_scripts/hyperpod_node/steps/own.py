"""What runs a step that the deployment declares."""

from __future__ import annotations

from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError
from hyperpod_node.features import OwnStep
from hyperpod_node.idle import INTERPRETERS
from hyperpod_node.steps.extra import RUN_ANYWAY, SYNTAX_CHECKS, environment_of


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
