"""Which commands there are. A command's module loads when the command is called, its libraries even later."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A command: ``module`` holds its function ``command``, ``extra`` of the package brings its libraries.

    The module loads to show help and to complete words, too; its function imports what the extra brings.
    """

    module: str
    extra: str = "cli"


_HERE = "hyperpod_cdk.commands"

COMMANDS: Mapping[str, Entry] = {
    "init": Entry(module=f"{_HERE}.init"),
    "migrate": Entry(module=f"{_HERE}.migrate"),
    "validate": Entry(module=f"{_HERE}.validate"),
    "preflight": Entry(module=f"{_HERE}.preflight"),
    "bundle": Entry(module=f"{_HERE}.bundle"),
    "chart": Entry(module=f"{_HERE}.chart"),
    "check-node": Entry(module=f"{_HERE}.check_node"),
    "explain": Entry(module=f"{_HERE}.explain"),
    "rules": Entry(module=f"{_HERE}.rules"),
    "schema": Entry(module=f"{_HERE}.schema"),
    "rehearse": Entry(module=f"{_HERE}.rehearse", extra="rehearsal"),
}
"""In the order of the help."""


def extra_of(arguments: list[str]) -> str:
    """The extra that the command of a command line needs."""
    named = next((COMMANDS[word] for word in arguments if word in COMMANDS), None)
    return named.extra if named else "cli"
