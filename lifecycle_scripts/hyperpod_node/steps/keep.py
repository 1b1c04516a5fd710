"""Keeps these scripts on the node: whoever looks at it later, and what runs there by itself, needs them."""

from __future__ import annotations

from pathlib import Path

from hyperpod_node.context import Context

FOLDER = "/opt/hyperpod-cdk"
COMMAND = f"{FOLDER}/hyperpod-node"
AGAIN = "run the scripts again: `hyperpod-node --hook on_create`, or on_init_complete in extension mode"
PACKAGE = "hyperpod_node"
# made by the deployment, for root alone: users, secrets' names and own scripts are nobody else's business
PRIVATE = ("config.json", "provisioning_parameters.json", "extra/**/*")
MODULES = {
    "hyperpod-node": "hyperpod_node.main",
    "hyperpod-check-node": "hyperpod_node.check_node",
    "hyperpod-accounting": "hyperpod_node.accounting",
}
"""Commands for people and for systemd, by what they run."""
LINKS = "/usr/local/sbin"
WRAPPER = """#!/bin/bash
# by hyperpod-cdk
set -euo pipefail
cd "$(dirname "$(readlink -f "${{BASH_SOURCE[0]}}")")"
export HOME="${{HOME:-/root}}"
exec python3 -BS -m {module} "$@"
"""


def keep_scripts(context: Context) -> str:
    """Have the scripts and what the deployment gave them in a folder of their own, and nothing older."""
    if context.directory.resolve() == context.root.path(FOLDER).resolve():
        return f"running from {FOLDER}"
    own = _found(context.directory, f"{PACKAGE}/**/*.py")
    wanted = {**dict.fromkeys(own, 0o644), **dict.fromkeys(_found(context.directory, *PRIVATE), 0o600)}
    kept = context.root.path(FOLDER)
    old = [name for name in _found(kept, f"{PACKAGE}/**/*.py", *PRIVATE) if name not in wanted]
    for name in old:
        (kept / name).unlink()
    changed = [
        name
        for name, mode in wanted.items()
        if context.root.write(f"{FOLDER}/{name}", (context.directory / name).read_bytes(), mode=mode)
    ]
    for name, module in MODULES.items():
        context.root.write(f"{FOLDER}/{name}", WRAPPER.format(module=module), mode=0o755)
        _link(context, name)
    return f"{len(wanted)} files in {FOLDER}, {len(changed)} of them new, {len(old)} old ones removed"


def _found(folder: Path, *patterns: str) -> list[str]:
    paths = (path for pattern in patterns for path in folder.glob(pattern))
    return sorted(str(path.relative_to(folder)) for path in paths if path.is_file())


def _link(context: Context, name: str) -> None:
    link = context.root.path(f"{LINKS}/{name}")
    if not link.is_symlink():
        link.unlink(missing_ok=True)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(f"{FOLDER}/{name}")
