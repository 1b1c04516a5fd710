"""Which commands there are. A command's module loads when the command is called, its libraries even later."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A command: ``module`` holds its function ``command``, ``extra`` of the package brings its libraries.

    ``brief`` is its line in the list of commands, in one line of 80 columns with its name.

    The module loads to show help and to complete words, too; its function imports what the extra brings.
    """

    module: str
    brief: str
    extra: str = "cli"


_HERE = "hyperpod_cdk.commands"

COMMANDS: Mapping[str, Entry] = {
    "init": Entry(module=f"{_HERE}.init", brief="Write a commented configuration to start from."),
    "migrate": Entry(
        module=f"{_HERE}.migrate", brief="Make a configuration of a request, a template, or a cluster."
    ),
    "validate": Entry(module=f"{_HERE}.validate", brief="Check configurations, with no AWS account."),
    "preflight": Entry(
        module=f"{_HERE}.preflight", brief="Look whether an account has what a configuration needs."
    ),
    "bundle": Entry(
        module=f"{_HERE}.bundle", brief="Gather what nodes on Slurm download, for closed networks."
    ),
    "chart": Entry(module=f"{_HERE}.chart", brief="Get the chart that HyperPod needs on Amazon EKS, whole."),
    "check-node": Entry(
        module=f"{_HERE}.check_node", brief="Have nodes on Slurm look at what their scripts have set up."
    ),
    "explain": Entry(module=f"{_HERE}.explain", brief="Say why a rule is there and what to do."),
    "rules": Entry(module=f"{_HERE}.rules", brief="List all rules."),
    "schema": Entry(module=f"{_HERE}.schema", brief="Print the JSON Schema of configurations, for editors."),
    "rehearse": Entry(
        module=f"{_HERE}.rehearse",
        brief="Deploy to an embedded AWS on this machine, change, destroy.",
        extra="rehearsal",
    ),
}
"""In the order of the help."""


def extra_of(arguments: list[str]) -> str:
    """The extra that the command of a command line needs."""
    named = next((COMMANDS[word] for word in arguments if word in COMMANDS), None)
    return named.extra if named else "cli"
