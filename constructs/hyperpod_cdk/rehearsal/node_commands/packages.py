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


def apt_mark(machine: Machine, call: Call) -> Answer:
    """``apt-mark hold PACKAGE...``."""
    _, *packages = call.arguments
    machine.remember("held", sorted({*machine.texts("held"), *packages}))
    return 0, ""
