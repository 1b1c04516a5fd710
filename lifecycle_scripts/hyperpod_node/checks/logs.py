"""Looks at the rotation of logs."""

from __future__ import annotations

from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError, StepSkippedError
from hyperpod_node.steps import logs


def log_rotation(context: Context) -> str:
    """Whether logrotate understands what it is told of Slurm's logs."""
    if not context.root.path(logs.CONF).is_file():
        raise StepSkippedError("something else rotates them, or nothing does")
    if not context.commands.available("logrotate"):
        raise NodeError("no logrotate on this node", advice="install it: logs fill the root volume")
    done = context.commands.run("logrotate", "--debug", str(context.root.path(logs.CONF)), accept=(0, 1))
    errors = [line for line in done.lines if line.startswith("error:")]
    if errors:
        raise NodeError(errors[0], advice=f"see {logs.CONF}")
    return "understood"
