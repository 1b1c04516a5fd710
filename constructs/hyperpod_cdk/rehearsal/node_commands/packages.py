"""The package database."""

from fnmatch import fnmatchcase

from hyperpod_cdk.rehearsal.node_commands.machine import Answer, Call, Machine

INSTALLED = ("bash", "linux-aws", "linux-image-6.8.0-1040-aws", "lustre-client-modules-aws", "openssh-server")
"""What a node's image has, as far as it matters here."""


def dpkg_query(_machine: Machine, call: Call) -> Answer:
    """``dpkg-query --show --showformat=... PATTERN...``: 1 when a pattern matches nothing."""
    patterns = [argument for argument in call.arguments if not argument.startswith("--")]
    matches = [[package for package in INSTALLED if fnmatchcase(package, each)] for each in patterns]
    rows = [f"ii  {package}" for found in matches for package in found]
    return (0 if all(matches) else 1), "\n".join(rows)


def apt_mark(machine: Machine, call: Call) -> Answer:
    """``apt-mark showhold`` and ``apt-mark hold PACKAGE...``."""
    verb, *packages = call.arguments
    held = machine.texts("held")
    if verb == "showhold":
        return 0, "\n".join(held)
    machine.remember("held", sorted({*held, *packages}))
    return 0, ""
