"""Temporary folders that do not outlive a process that was killed for longer than until the next one."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LOCK = ".lock"


@contextmanager
def scratch(prefix: str) -> Iterator[Path]:
    """Make a temporary folder, remove it at the end, and first those that killed processes have left.

    Args:
        prefix: of its name; the same prefix finds what was left.
    """
    base = Path(tempfile.gettempdir())
    for lock in base.glob(f"{prefix}*{LOCK}"):
        _sweep(lock)
    handle, draft = tempfile.mkstemp(prefix=prefix, suffix=".draft")
    folder = Path(draft.removesuffix(".draft"))
    lock = base / f"{folder.name}{LOCK}"
    try:
        # locked before it bears the name that others look for, and there before the folder is
        fcntl.flock(handle, fcntl.LOCK_EX)
        Path(draft).rename(lock)
        folder.mkdir(mode=0o700)
        yield folder
    finally:
        _remove(lock)
        os.close(handle)


def _sweep(lock: Path) -> None:
    """Remove a folder and its lock unless somebody holds the lock."""
    try:
        handle = os.open(lock, os.O_RDWR)
    except FileNotFoundError:
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _remove(lock)
    except BlockingIOError:
        return
    finally:
        os.close(handle)


def _remove(lock: Path) -> None:
    """Remove a folder, and its lock unless something of it is left, which is then for the next one."""
    folder = lock.with_name(lock.name.removesuffix(LOCK))
    shutil.rmtree(folder, ignore_errors=True)
    if not folder.exists():
        lock.unlink(missing_ok=True)
