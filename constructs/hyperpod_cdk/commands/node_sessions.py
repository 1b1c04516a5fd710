"""Runs a command on nodes over Session Manager, many nodes at a time; none of its processes outlives it."""

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from threading import Lock
from types import TracebackType
from typing import NamedTuple, Self, TypeVar

# the node's agent starts the first word of the command as a program, with no shell (aws/amazon-ssm-agent,
# plugins/sessionplugin)
DOCUMENT = "AWS-StartNonInteractiveCommand"
AT_A_TIME = 8
Item = TypeVar("Item")
Result = TypeVar("Result")
FRAME = ("Starting session with SessionId:", "Exiting session with sessionId:")


class Said(NamedTuple):
    """What a session printed.

    Args:
        text: of the command on the node; a session has no exit code of it.
        trouble: of the AWS CLI, why there was no session; empty when there was one.
    """

    text: str
    trouble: str


class NodeSessions:
    """Sessions with nodes; a context manager, at whose end those that are left are ended.

    Args:
        options: of every call of the AWS CLI, as ``--profile`` and its value.
        time_limit_seconds: for each session.
    """

    def __init__(self, options: Sequence[str], *, time_limit_seconds: float) -> None:
        self._options = tuple(options)
        self._limit = time_limit_seconds
        self._live: set[subprocess.Popen[str]] = set()
        self._lock = Lock()
        self._ended = False
        self._threads = ThreadPoolExecutor(AT_A_TIME)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._ended = True
            for process in self._live:
                _kill(process)
        self._threads.shutdown(cancel_futures=True)

    def map(self, work: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
        """Do something for each of some, several at a time; results come in their order."""
        return self._threads.map(work, items)

    def run(self, target: str, command: str) -> Said:
        """Run a command on a node.

        Args:
            target: the node, as ``sagemaker-cluster:ID_GROUP-INSTANCE``.
            command: a program and its arguments.

        Raises:
            TimeoutError: no end within the time limit.
        """
        call = ["aws", "ssm", "start-session", "--target", target, "--document-name", DOCUMENT]
        call += ["--parameters", json.dumps({"command": [command]}), *self._options]
        with _endless_input() as given, self._started(call, given) as process:
            try:
                text, trouble = process.communicate(timeout=self._limit)
            except subprocess.TimeoutExpired:
                _kill(process)
                raise TimeoutError(f"no answer within {self._limit:.0f} s") from None
        return Said(text=_unframed(text), trouble=trouble.strip() if process.returncode else "")

    @contextmanager
    def _started(self, call: Sequence[str], given: int) -> Iterator[subprocess.Popen[str]]:
        """The AWS CLI and its plugin in a process group of their own, since neither heeds Ctrl-C."""
        with self._lock:
            if self._ended:
                raise TimeoutError("given up")
            process = subprocess.Popen(
                call,
                stdin=given,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
                start_new_session=True,
            )
            self._live.add(process)
        try:
            with process:
                yield process
        finally:
            with self._lock:
                self._live.discard(process)


@contextmanager
def _endless_input() -> Iterator[int]:
    """Standard input that says nothing and does not end.

    At its end the plugin ends the session, "Cannot perform start session: EOF", whatever runs on the node
    (aws/session-manager-plugin, shellsession_unix.go).
    """
    reading, writing = os.pipe()
    try:
        yield reading
    finally:
        os.close(reading)
        os.close(writing)


def _kill(process: subprocess.Popen[str]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _unframed(text: str) -> str:
    """What the command printed, without what the plugin says of the session."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith(FRAME)]
    return "\n".join(lines).strip()
