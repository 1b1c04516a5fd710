"""The package database."""

from fnmatch import fnmatchcase

from .machine import Machine

INSTALLED = ("bash", "linux-aws", "linux-image-6.8.0-1040-aws", "lustre-client-modules-aws", "openssh-server")
"""What a node's image has, as far as it matters here."""


def dpkg_query(_machine: Machine, arguments: list[str]) -> int:
    """``dpkg-query --show --showformat=... PATTERN...``: 1 when a pattern matches nothing."""
    patterns = [argument for argument in arguments if not argument.startswith("--")]
    unmatched = False
    for pattern in patterns:
        found = [package for package in INSTALLED if fnmatchcase(package, pattern)]
        unmatched = unmatched or not found
        for package in found:
            print(f"ii  {package}")
    return 1 if unmatched else 0


def apt_mark(machine: Machine, arguments: list[str]) -> int:
    """``apt-mark showhold`` and ``apt-mark hold PACKAGE...``."""
    held = machine.texts("held")
    if arguments[0] == "showhold":
        print("\n".join(held))
        return 0
    machine.remember("held", sorted({*held, *arguments[1:]}))
    return 0
