"""The user's own steps: what lies in extra/before.d and extra/after.d, in the order of the names."""

from __future__ import annotations

from pathlib import Path

from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError
from hyperpod_node.idle import INTERPRETERS, own_scripts

SYNTAX_CHECKS = {
    ".sh": ("-n",),
    ".py": ("-c", "import ast, pathlib, sys; ast.parse(pathlib.Path(sys.argv[1]).read_text(), sys.argv[1])"),
}
# Outside a real node a user's script would act on the machine it was tried on, so it is only checked there.
RUN_ANYWAY = "HYPERPOD_CDK_RUN_EXTRA"
TIMEOUT_SECONDS = 3600


def run_before(context: Context) -> str:
    """Run extra/before.d."""
    return _run(context, "before.d")


def run_after(context: Context) -> str:
    """Run extra/after.d."""
    return _run(context, "after.d")


def _run(context: Context, name: str) -> str:
    scripts = own_scripts(context, name)
    really = context.root.is_machine or context.environment.get(RUN_ANYWAY) == "1"
    for script in scripts:
        _check_line_endings(script, name)
        options = () if really else SYNTAX_CHECKS[script.suffix]
        context.commands.run(
            INTERPRETERS[script.suffix],
            *options,
            str(script),
            timeout_seconds=TIMEOUT_SECONDS,
            echo=True,
            extra_environment=environment_of(context),
            advice=f"this is a script of your own, extra/{name}/{script.name}: its last lines are above",
        )
    names = ", ".join(script.name for script in scripts)
    return names if really else f"{names}: only checked, not run, as this is no real node"


def _check_line_endings(script: Path, name: str) -> None:
    if b"\r\n" in script.read_bytes():
        raise NodeError(
            f"extra/{name}/{script.name} has Windows line endings",
            advice="save it with LF line endings (.gitattributes: `* text=auto eol=lf`) and deploy again",
        )


def environment_of(context: Context) -> dict[str, str]:
    """What a script of the user's finds in its environment."""
    node = context.node
    return {
        "HYPERPOD_CLUSTER_NAME": node.cluster.name,
        "HYPERPOD_INSTANCE_GROUP": node.instance.group,
        "HYPERPOD_INSTANCE_ID": node.instance.instance_id,
        "HYPERPOD_ADDRESS": node.instance.address,
        "HYPERPOD_NODE_TYPE": node.node_type,
        "HYPERPOD_MODE": node.mode,
    }
