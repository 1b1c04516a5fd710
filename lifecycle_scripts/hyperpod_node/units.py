"""systemd's units: what is enabled and masked is read from its links, and only a difference starts systemctl.

A call of systemctl that changes nothing takes a tenth of a second alone, and several where many hosts share
a processor (measured); a second run makes a dozen of them. And whenever systemd reads all its units again it
runs two dozen generators: that was half of the processor time of a node's set-up (measured), so nothing asks
for it unless systemd has something stale in memory. What is enabled or masked counts at the next boot anyway.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError
from hyperpod_node.root import Root

FOLDER = "/etc/systemd/system"
DEFAULT_KIND = ".service"
NO_RELOAD = "--no-reload"
# asked for these, systemd reads a unit that it does not have in memory
KNOWN = ("FragmentPath", "DropInPaths", "NeedDaemonReload")
# a database that recovers from a crash takes its time
START_SECONDS = 120


def is_active(context: Context, unit: str) -> bool:
    """Whether a unit runs; 3 is systemctl's way to say that it does not."""
    return context.commands.run("systemctl", "is-active", "--quiet", unit, accept=(0, 3, 4)).exit_code == 0


def active_ones(context: Context, units: Sequence[str]) -> list[str]:
    """Those of several units that run."""
    done = context.commands.run("systemctl", "is-active", *units, accept=(0, 3, 4))
    return [unit for unit, state in zip(units, done.lines, strict=False) if state == "active"]


def is_enabled(root: Root, unit: str) -> bool:
    """Whether anything that systemd starts by itself wants the unit."""
    return any((folder / _whole(unit)).is_symlink() for folder in root.path(FOLDER).glob("*.wants"))


def is_masked(root: Root, unit: str) -> bool:
    """Whether the unit cannot be started by anybody."""
    path = root.path(f"{FOLDER}/{_whole(unit)}")
    return path.is_symlink() and str(path.readlink()) == "/dev/null"


def start(context: Context, unit: str) -> None:
    """Have a unit run now."""
    if not is_active(context, unit):
        context.commands.run("systemctl", "start", unit, timeout_seconds=START_SECONDS)


def enable(context: Context, unit: str, *, start: bool = False) -> None:
    """Have a unit start at boot, and now as well where that is asked for."""
    if not is_enabled(context.root, unit):
        now = ("--now",) if start else ()
        context.commands.run("systemctl", "enable", NO_RELOAD, *now, unit, timeout_seconds=START_SECONDS)
    elif start and not is_active(context, unit):
        context.commands.run("systemctl", "start", unit, timeout_seconds=START_SECONDS)


def disable(context: Context, unit: str) -> None:
    """Have a unit not start at boot; one that the image lacks is not there to start."""
    if is_enabled(context.root, unit):
        context.commands.run("systemctl", "disable", NO_RELOAD, unit, accept=(0, 1))


def mask(context: Context, units: Sequence[str]) -> bool:
    """Stop units and have nobody start them again, and say whether any was not masked before.

    An upgrade in the middle of its work may take a quarter of an hour to stop: that is not waited for.
    """
    new = [unit for unit in units if not is_masked(context.root, unit)]
    if not new:
        return False
    # Units that the image lacks cannot be stopped, and need not be.
    context.commands.run("systemctl", "mask", NO_RELOAD, "--now", "--no-block", *new, accept=(0, 1, 5))
    left = [unit for unit in new if not is_masked(context.root, unit)]
    if left:
        raise NodeError(f"systemd does not mask {', '.join(left)}", advice="see `systemctl status` of them")
    return True


def read_again(context: Context, files: Mapping[str, str]) -> None:
    """Have systemd know units by their files as these are now.

    Args:
        context: the node.
        files: a file that was written, unit or drop-in, by the unit that it belongs to.
    """
    names = [_whole(unit) for unit in files]
    known = context.commands.run("systemctl", "show", f"--property={','.join(KNOWN)}", *names, accept=(0, 1))
    fresh = sum(line == "NeedDaemonReload=no" for line in known.lines) == len(names)
    paths = {path for line in known.lines for path in line.partition("=")[2].split()}
    if not fresh or not paths.issuperset(files.values()):
        context.commands.run("systemctl", "daemon-reload")


def _whole(unit: str) -> str:
    return unit if "." in unit else unit + DEFAULT_KIND
