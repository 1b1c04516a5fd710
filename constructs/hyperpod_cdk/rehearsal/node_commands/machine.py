"""The pretended machine under a temporary root: its files, what it remembers, and the faults it was given."""
# Each call is a process, and importing pathlib takes as long as all the rest.
# ruff: noqa: PTH103, PTH113, PTH118, PTH120, PTH123

import json
import os

STATE = ".node"
"""Directory of the root for what no real machine keeps in a file."""


class Machine:
    """A temporary root, as the stand-ins see it.

    Args:
        root: the directory that stands for ``/``.
    """

    def __init__(self, root: str) -> None:
        self.root = root

    def path(self, absolute: str) -> str:
        """Give where a path of the machine really lies."""
        return os.path.join(self.root, absolute.lstrip("/"))

    def read(self, absolute: str) -> str:
        """Give the text of a file; empty when there is none."""
        path = self.path(absolute)
        if not os.path.isfile(path):
            return ""
        with open(path, encoding="utf-8") as stream:
            return stream.read()

    def write(self, absolute: str, text: str, *, mode: str = "w") -> None:
        """Put a file; its directory is made when missing."""
        path = self.path(absolute)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, mode, encoding="utf-8") as stream:
            stream.write(text)

    def append(self, absolute: str, line: str) -> None:
        """Add a line to a file."""
        self.write(absolute, line + "\n", mode="a")

    def recall(self, name: str, default: object) -> object:
        """Give what the machine remembers under a name."""
        text = self.read(f"{STATE}/{name}.json")
        return json.loads(text) if text else default

    def remember(self, name: str, value: object) -> None:
        """Remember something under a name, for later commands."""
        self.write(f"{STATE}/{name}.json", json.dumps(value))

    def record_call(self, command: str, arguments: list[str]) -> None:
        """Note that a command was called."""
        self.append(f"{STATE}/calls.jsonl", json.dumps([command, *arguments]))

    def calls(self) -> list[list[str]]:
        """Give every call so far, each with its arguments."""
        return [json.loads(line) for line in self.read(f"{STATE}/calls.jsonl").splitlines()]

    def texts(self, name: str) -> list[str]:
        """Give a list of texts that the machine remembers; empty when it does not."""
        found = self.recall(name, [])
        return [str(entry) for entry in found] if isinstance(found, list) else []

    def take_fault(self, command: str, arguments: list[str]) -> tuple[int, str] | None:
        """Give exit code and output of the fault that this call meets, and count it; None for none."""
        faults = self.recall("faults", [])
        whole = " ".join([command, *arguments])
        for fault in faults if isinstance(faults, list) else []:
            if fault["command"] == command and fault["contains"] in whole and fault["times"] != 0:
                fault["times"] -= 1
                self.remember("faults", faults)
                return fault["exit_code"], fault["output"]
        return None
