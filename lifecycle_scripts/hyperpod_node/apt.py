"""The only place that touches apt and dpkg: on a fresh node something else often holds their lock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from hyperpod_node.clock import wait_for
from hyperpod_node.commands import Completed
from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError, NotYetError
from hyperpod_node.spreading import spread

LOCK_WAIT_SECONDS = 300
# over how long the nodes of a large cluster come to one mirror
SPREAD_SECONDS = 60
QUIET = {"DEBIAN_FRONTEND": "noninteractive", "NEEDRESTART_MODE": "l"}
# what dpkg wants with a package that is there, and that it is there
PLAIN, HELD = "ii", "hi"
LOCKED = "locked by another process"
ADVICE = "see who holds the lock (`fuser -v /var/lib/dpkg/lock-frontend`), and run the script again"


def available(context: Context) -> bool:
    """Whether the node has apt and dpkg at all."""
    return all(context.commands.available(name) for name in ("dpkg", "dpkg-query"))


def installed(context: Context, patterns: Sequence[str]) -> dict[str, bool]:
    """The installed packages whose names match one of the patterns (`*` and `?`), sorted.

    Returns:
        By name, whether the package stays at its version.
    """
    done = context.commands.run(
        "dpkg-query", "--show", "--showformat=${db:Status-Abbrev} ${Package}\\n", *patterns, accept=(0, 1)
    )
    rows = [line.split() for line in done.lines]
    found = {row[1]: row[0] == HELD for row in rows if len(row) == 2 and row[0] in (PLAIN, HELD)}
    return dict(sorted(found.items()))


def hold(context: Context, packages: Mapping[str, bool]) -> list[str]:
    """Keep packages at their version, and return those that were not held before.

    Args:
        context: the node.
        packages: as :func:`installed` gives them.
    """
    missing = [name for name, is_held in packages.items() if not is_held]
    if missing:
        # what apt-mark does in the end, after it has read all of apt's lists
        selections = "".join(f"{name} hold\n" for name in missing)
        _with_lock(context, "dpkg", "--set-selections", given=selections)
    return missing


def _with_lock(context: Context, *arguments: str, given: str = "") -> Completed:
    """Run a command that takes dpkg's lock itself.

    DPkg::Lock::Timeout makes apt-get wait, but not dpkg: so the wait is here.
    """

    def attempt() -> Completed:
        try:
            return context.commands.run(*arguments, given=given, timeout_seconds=120, extra_environment=QUIET)
        except NodeError as error:
            if LOCKED in " ".join(error.last_lines):
                raise NotYetError(error.message) from error
            raise

    return wait_for(
        attempt,
        what="getting the lock of dpkg",
        deadline=context.deadline,
        say=context.say,
        limit_seconds=LOCK_WAIT_SECONDS,
        advice=ADVICE,
    )


def install(context: Context, packages: Sequence[str]) -> list[str]:
    """Install packages of the distribution that are missing, and return those; its own signatures count."""
    present = installed(context, packages)
    missing = [name for name in packages if name not in present]
    if missing:
        spread(context, "apt", longest_seconds=SPREAD_SECONDS)
        wait = f"DPkg::Lock::Timeout={LOCK_WAIT_SECONDS}"
        # short, since a network without a way out does not answer at all, and slurmd waits meanwhile
        patience = (f"Acquire::{kind}::Timeout=20" for kind in ("http", "https"))
        options = [part for one in (wait, "Acquire::Retries=3", *patience) for part in ("-o", one)]
        options.append("--assume-yes")
        context.commands.run("apt-get", *options, "update", timeout_seconds=600, extra_environment=QUIET)
        context.commands.run(
            "apt-get",
            *options,
            "--no-install-recommends",
            "install",
            *missing,
            timeout_seconds=900,
            extra_environment=QUIET,
            advice="the node needs a way to its distribution's packages, or an image that has them already",
        )
    return missing


def install_files(context: Context, files: Sequence[Path]) -> None:
    """Install package files that lie on this node."""
    _with_lock(context, "dpkg", "--install", *(str(path) for path in files))
