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
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    lock = base / f"{folder.name}{LOCK}"
    # locked before it bears the name that others look for
    draft = base / f"{folder.name}.draft"
    handle = os.open(draft, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        draft.rename(lock)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        lock.unlink(missing_ok=True)
        os.close(handle)


def _sweep(lock: Path) -> None:
    """Remove a folder and its lock unless somebody holds the lock."""
    try:
        handle = os.open(lock, os.O_RDWR)
    except FileNotFoundError:
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(lock.with_name(lock.name.removesuffix(LOCK)), ignore_errors=True)
        lock.unlink(missing_ok=True)
    except BlockingIOError:
        return
    finally:
        os.close(handle)
