"""The package database."""

from fnmatch import fnmatchcase

from hyperpod_cdk.rehearsal.node_commands.machine import Answer, Call, Machine

INSTALLED = ("bash", "linux-aws", "linux-image-6.8.0-1040-aws", "lustre-client-modules-aws", "openssh-server")
"""What a node's image has, as far as it matters here."""


def dpkg_query(machine: Machine, call: Call) -> Answer:
    """``dpkg-query --show --showformat=... PATTERN...``: 1 when a pattern matches nothing."""
    patterns = [argument for argument in call.arguments if not argument.startswith("--")]
    matches = [[package for package in INSTALLED if fnmatchcase(package, each)] for each in patterns]
    held = machine.texts("held")
    rows = [f"{'hi' if package in held else 'ii'}  {package}" for found in matches for package in found]
    return (0 if all(matches) else 1), "\n".join(rows)


def dpkg(machine: Machine, call: Call) -> Answer:
    """``dpkg --set-selections``, with lines ``PACKAGE hold`` on standard input."""
    if call.arguments != ("--set-selections",):
        return 2, "dpkg: error: need an action option"
    rows = [line.split() for line in call.given.splitlines()]
    held = {row[0] for row in rows if row[1:] == ["hold"]}
    machine.remember("held", sorted({*machine.texts("held"), *held}))
    return 0, ""
