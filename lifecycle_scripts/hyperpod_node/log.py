"""The lifecycle log: every line goes to standard output and to the file that CloudWatch ships."""

from __future__ import annotations

import sys
import threading
import time
from contextlib import suppress
from typing import TextIO

from hyperpod_node.root import Root

# The only path the node's CloudWatch agent ships (sagemaker_cwagent_config.json).
PATH = "/var/log/provision/provisioning.log"


class Log:
    """Writes one line at a time, with the time and the step.

    Args:
        root: where the log file lies.
        stream: the second place; standard output unless given.
        to_file: whether there is a first one; what only looks at a node leaves nothing there.
    """

    def __init__(self, root: Root, stream: TextIO | None = None, *, to_file: bool = True) -> None:
        self._streams = [stream or sys.stdout]
        if to_file:
            path = root.path(PATH)
            # on a disk that is full or read-only it is still told why the set-up fails
            with suppress(OSError):
                path.parent.mkdir(parents=True, exist_ok=True)
                self._streams.append(path.open("a", encoding="utf-8"))
        self._lock = threading.Lock()
        self._last_command: dict[str, str] = {}

    def command(self, text: str, *, step: str) -> None:
        """Write the line of a command; one that is only tried again is not repeated."""
        if text != self._last_command.get(step):
            self._last_command[step] = text
            self.line(f"$ {text}", step=step)

    def line(self, text: str, *, step: str = "") -> None:
        """Write one line; `step` names the step it belongs to."""
        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        whole = f"{moment} {step + ': ' if step else ''}{text}\n"
        with self._lock:
            for stream in self._streams:
                # a full disk must not end a step that has nothing to do with it
                with suppress(OSError):
                    stream.write(whole)
                    stream.flush()
