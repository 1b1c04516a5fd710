"""The machine's file system, under a prefix: `/` on a node, a directory in tests and rehearsals."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

VARIABLE = "HYPERPOD_CDK_ROOT"


class Root(NamedTuple):
    """Every path of the machine goes through here.

    Args:
        prefix: the directory that stands for `/`.
    """

    prefix: Path

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Root:
        """The prefix that HYPERPOD_CDK_ROOT names; `/` when it is unset or empty."""
        return cls(Path(environment.get(VARIABLE) or "/").resolve())

    @property
    def is_machine(self) -> bool:
        """True on a real node, false in a temporary root."""
        return self.prefix == Path("/")

    def path(self, absolute: str) -> Path:
        """Where a path of the machine really lies; `absolute` begins with `/`."""
        if not absolute.startswith("/"):
            raise ValueError(f"not an absolute path: {absolute}")
        return self.prefix / absolute.lstrip("/")

    def read(self, absolute: str) -> str:
        """The text of a file; empty when there is none."""
        try:
            return self.path(absolute).read_text(encoding="utf-8", errors="replace")
        except (FileNotFoundError, NotADirectoryError):
            return ""

    def write(self, absolute: str, text: str | bytes, *, mode: int = 0o644) -> bool:
        """Put a file in place in one move and say whether anything changed.

        Args:
            absolute: the file; its directory is made when missing.
            text: the whole content.
            mode: permission bits, also corrected on a file whose content was right.
        """
        target = self._behind_links(self.path(absolute))
        content = text.encode() if isinstance(text, str) else text
        present = _look(target)
        if present == (content, mode):
            return False
        if present is not None and present[0] == content:
            target.chmod(mode)
            return True
        if present is None:
            target.parent.mkdir(parents=True, exist_ok=True)
        # several controllers may write the same file of a shared directory
        draft = target.with_name(f".{target.name}.hyperpod-cdk.{os.uname().nodename}")
        try:
            handle = _new_file(draft, mode)
        except FileExistsError:
            # what a run that was ended left behind
            draft.unlink()
            handle = _new_file(draft, mode)
        with os.fdopen(handle, "wb") as stream:
            os.fchmod(handle, mode)
            stream.write(content)
        draft.replace(target)
        return True

    def replace(self, absolute: str, before: str, after: str) -> bool:
        """Change a file, unless another program has done so since `before` was read."""
        if before == after or self.read(absolute) != before:
            return False
        found = self.path(absolute).stat()
        self.write(absolute, after, mode=found.st_mode & 0o7777)
        self.own(self._behind_links(self.path(absolute)), found.st_uid, found.st_gid)
        return True

    def _behind_links(self, target: Path) -> Path:
        # configuration that several controllers share is linked to, and the links have to stay
        return target.resolve() if target.is_symlink() else target

    def own(self, path: Path | int, uid: int, gid: int) -> None:
        """Give a file (or an open one) to a user, without following a symbolic link.

        In a temporary root an ordinary user cannot give files away, so there it does nothing.
        """
        if not self.is_machine and os.geteuid() != 0:
            return
        if isinstance(path, int):
            os.fchown(path, uid, gid)
        else:
            os.chown(path, uid, gid, follow_symlinks=False)


def _look(target: Path) -> tuple[bytes, int] | None:
    """Content and permission bits of a file; None when there is none."""
    try:
        handle = os.open(target, os.O_RDONLY)
    except (FileNotFoundError, NotADirectoryError):
        return None
    with os.fdopen(handle, "rb") as stream:
        return stream.read(), os.fstat(handle).st_mode & 0o7777


def _new_file(draft: Path, mode: int) -> int:
    # Made with the final mode: a secret is at no moment readable by others.
    return os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
