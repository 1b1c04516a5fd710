"""Keeps these scripts on the node: whoever looks at it later, and what runs there by itself, needs them."""

from __future__ import annotations

from pathlib import Path

from hyperpod_node.context import Context

FOLDER = "/opt/hyperpod-cdk"
COMMAND = f"{FOLDER}/hyperpod-node"
PACKAGE = "hyperpod_node"
# made by the deployment; users and secrets' names are nobody else's business
DOCUMENTS = ("config.json", "provisioning_parameters.json")
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
    """Have the scripts and their configuration in a folder of their own, and nothing older."""
    if context.directory.resolve() == context.root.path(FOLDER).resolve():
        return f"running from {FOLDER}"
    sources = {
        f"{FOLDER}/{path.relative_to(context.directory)}": path
        for path in sorted((context.directory / PACKAGE).rglob("*.py"))
    }
    changed = [
        target
        for target, path in sources.items()
        if context.root.write(target, path.read_text(encoding="utf-8"))
    ]
    changed += [name for name in DOCUMENTS if _keep_document(context, name)]
    for name, module in MODULES.items():
        context.root.write(f"{FOLDER}/{name}", WRAPPER.format(module=module), mode=0o755)
        _link(context, name)
    old = _remove_old(context, set(sources))
    return f"{len(sources)} files in {FOLDER}, {len(changed)} of them new, {old} old ones removed"


def _link(context: Context, name: str) -> None:
    link = context.root.path(f"{LINKS}/{name}")
    if not link.is_symlink():
        link.unlink(missing_ok=True)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(f"{FOLDER}/{name}")


def _keep_document(context: Context, name: str) -> bool:
    path = context.directory / name
    if not path.is_file():
        context.root.path(f"{FOLDER}/{name}").unlink(missing_ok=True)
        return False
    return context.root.write(f"{FOLDER}/{name}", path.read_text(encoding="utf-8"), mode=0o600)


def _remove_old(context: Context, kept: set[str]) -> int:
    wanted = {context.root.path(target) for target in kept}
    present: list[Path] = sorted(context.root.path(f"{FOLDER}/{PACKAGE}").rglob("*.py"))
    old = [path for path in present if path not in wanted]
    for path in old:
        path.unlink()
    return len(old)
