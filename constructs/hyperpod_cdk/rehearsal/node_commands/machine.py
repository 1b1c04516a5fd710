"""The pretended machine under a temporary root: its files, what it remembers, and the faults it was given."""

import json
import threading
from dataclasses import dataclass
from pathlib import Path

STATE = ".node"
"""Directory of the root for what no real machine keeps in a file."""

Answer = tuple[int, str]
"""Exit code and output of a command."""


@dataclass(frozen=True, kw_only=True)
class CommandFault:
    """A command that fails on the pretended machine.

    Args:
        command: its name, for example ``mount``.
        contains: only calls whose line has this text; every call when empty.
        times: how many such calls fail; -1 for all of them.
        exit_code: what they end with.
        output: what they print.
    """

    command: str
    contains: str = ""
    times: int = -1
    exit_code: int = 1
    output: str = "pretended failure"


@dataclass(frozen=True, kw_only=True)
class Call:
    """A call of a command.

    Args:
        command: its name.
        arguments: after the name.
        given: standard input.
    """

    command: str
    arguments: tuple[str, ...]
    given: str = ""

    @property
    def last(self) -> str:
        """The last argument; empty when there is none."""
        return self.arguments[-1] if self.arguments else ""

    def option(self, name: str) -> str:
        """Give the argument after an option; empty when the option is not given."""
        return self.arguments[self.arguments.index(name) + 1] if name in self.arguments else ""


class Machine:
    """A temporary root, as the stand-ins see it.

    Args:
        root: the directory that stands for ``/``.
        faults: commands that fail.
    """

    def __init__(self, root: Path, faults: tuple[CommandFault, ...] = ()) -> None:
        self.root = root
        self._faults = {fault: fault.times for fault in faults}

    def path(self, absolute: str) -> Path:
        """Give where a path of the machine really lies."""
        return self.root / absolute.lstrip("/")

    def read(self, absolute: str) -> str:
        """Give the text of a file; empty when there is none."""
        path = self.path(absolute)
        return path.read_text(encoding="utf-8") if path.is_file() else ""

    def write(self, absolute: str, text: str, *, mode: str = "w") -> None:
        """Put a file; its directory is made when missing."""
        path = self.path(absolute)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open(mode, encoding="utf-8") as stream:
            stream.write(text)

    def append(self, absolute: str, line: str) -> None:
        """Add a line to a file."""
        self.write(absolute, line + "\n", mode="a")

    def recall(self, name: str, default: object) -> object:
        """Give what the machine remembers under a name."""
        text = self.read(f"{STATE}/{name}.json")
        return json.loads(text) if text else default

    def texts(self, name: str) -> list[str]:
        """Give a list of texts that the machine remembers; empty when it does not."""
        found = self.recall(name, [])
        return [str(entry) for entry in found] if isinstance(found, list) else []

    def remember(self, name: str, value: object) -> None:
        """Remember something under a name, beyond this process; in one move, as steps ask side by side."""
        draft = f"{STATE}/{name}.json.{threading.get_ident()}"
        self.write(draft, json.dumps(value))
        self.path(draft).replace(self.path(f"{STATE}/{name}.json"))

    def record(self, call: Call) -> None:
        """Note that a command was called."""
        self.append(f"{STATE}/calls.jsonl", json.dumps([call.command, *call.arguments]))

    def calls(self) -> list[list[str]]:
        """Give every call so far, each with its arguments."""
        return [json.loads(line) for line in self.read(f"{STATE}/calls.jsonl").splitlines()]

    def take_fault(self, call: Call) -> Answer | None:
        """Give the answer of the fault that this call meets, and count it; None when it shall succeed."""
        whole = " ".join([call.command, *call.arguments])
        for fault, left in self._faults.items():
            if fault.command == call.command and fault.contains in whole and left != 0:
                self._faults[fault] = left - 1
                return fault.exit_code, fault.output
        return None
