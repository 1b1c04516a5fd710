"""A node whose commands answer as a test says, for steps whose programs no pretended machine has."""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hyperpod_node import downloads, features
from hyperpod_node.commands import NOT_FOUND, Commands, Completed
from hyperpod_node.context import Context
from hyperpod_node.reading import Reader
from tests.lifecycle.helpers import Bench, bench

Answer = tuple[int, str] | Callable[[tuple[str, ...]], tuple[int, str]]


class ScriptedCommands(Commands):
    """Commands that are answered by the longest beginning that a test has an answer for.

    Args:
        answers: exit code and output by the beginning of the command line; others end well and print nothing.
        present: the commands that the node has.
        calls: every call so far.
    """

    def __init__(
        self, *, answers: Mapping[str, Answer], present: Sequence[str], calls: list[str], **members: Any
    ) -> None:
        super().__init__(**members)
        self.answers = answers
        self.present = present
        self.calls = calls

    def available(self, name: str) -> bool:
        return name in self.present

    def _once(
        self,
        arguments: tuple[str, ...],
        environment: Mapping[str, str],
        timeout_seconds: float,
        given: str,
        echo: bool,
    ) -> Completed:
        line = " ".join(arguments)
        self.calls.append(line)
        known = sorted((key for key in self.answers if line.startswith(key)), key=len)
        if not known:
            gone = arguments[0] not in self.present
            return Completed(arguments=arguments, exit_code=NOT_FOUND if gone else 0, lines=())
        answer = self.answers[known[-1]]
        code, text = answer(arguments) if callable(answer) else answer
        return Completed(arguments=arguments, exit_code=code, lines=tuple(text.splitlines()))


@dataclass(kw_only=True)
class Scripted:
    """A node and what its commands were asked."""

    context: Context
    bench: Bench
    calls: list[str]

    @property
    def log(self) -> str:
        return self.bench.log

    def read(self, path: str) -> str:
        return self.context.root.read(path)

    def mount(self, path: str, kind: str = "ext4", source: str = "/dev/nvme1n1") -> None:
        with self.context.root.path("/proc/mounts").open("a") as file:
            file.write(f"{source} {path} {kind} rw 0 0\n")
        self.context.root.path(path).mkdir(parents=True, exist_ok=True)


USUAL = (
    "systemctl",
    "groupadd",
    "usermod",
    "apt-get",
    "apt-mark",
    "dpkg-query",
    "dpkg",
    "aws",
    "pam-auth-update",
)


def scripted(
    directory: Path,
    software: Mapping[str, Any] | None = None,
    *,
    answers: Mapping[str, Answer] | None = None,
    present: Sequence[str] = (),
    **arguments: Any,
) -> Scripted:
    """A node with this `software` member of config.json."""
    made = bench(directory, **arguments)
    calls: list[str] = []
    old = made.context.commands
    commands = ScriptedCommands(
        clock=old.clock,
        deadline=old.deadline,
        environment=old.environment,
        log=old.log,
        step="test",
        directory=old.directory,
        answers=answers or {},
        present=(*USUAL, *present),
        calls=calls,
    )
    parsed = features.parse(Reader(dict(software or {}), "config.json: software"))
    config = made.context.config._replace(features=parsed)
    context = made.context._replace(commands=commands, config=config)
    return Scripted(context=context, bench=made, calls=calls)


def archive(**files: str) -> bytes:
    """A release: an archive with a folder of its name."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w:gz") as content:
        for name, text in files.items():
            member = tarfile.TarInfo(name.replace("__", "/"))
            member.size, member.mode = len(text), 0o755
            content.addfile(member, io.BytesIO(text.encode()))
    return raw.getvalue()


def served(content: bytes) -> Answer:
    """The AWS CLI with one object."""

    def copy(arguments: tuple[str, ...]) -> tuple[int, str]:
        Path(arguments[-1]).write_bytes(content)
        return 0, ""

    return copy


def pinned(name: str, content: bytes, **more: Any) -> dict[str, Any]:
    full = f"{name}-{downloads.processor()}"
    one = {
        "file": f"{name}.tar.gz",
        "url": "https://example.invalid/x",
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    return {"artifacts": {full: one}, "sources": ["s3://own/bundle"], "internet": False, **more}
