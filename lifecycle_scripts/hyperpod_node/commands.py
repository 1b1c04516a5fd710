"""The one place that starts other programs: found on PATH, bounded in time, retried, logged."""

from __future__ import annotations

import contextlib
import shlex
import shutil
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from hyperpod_node.clock import Clock, Deadline
from hyperpod_node.errors import NodeError, TerminatedError
from hyperpod_node.halt import kill_group
from hyperpod_node.log import Log
from hyperpod_node.root import Root

# As a shell would say it.
NOT_FOUND = 127
TIMED_OUT = 124
SLURM_PATHS = ("/opt/slurm/bin", "/opt/slurm/sbin")


class Completed(NamedTuple):
    """How a command ended.

    Args:
        arguments: the command and its arguments.
        exit_code: 124 when it ran out of time, 127 when there is no such command.
        lines: what it printed on both streams.
    """

    arguments: tuple[str, ...]
    exit_code: int
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        """The output as one text."""
        return "\n".join(self.lines)

    @property
    def as_typed(self) -> str:
        """The command as one would type it."""
        return shlex.join(self.arguments)

    def error(self, *, advice: str = "") -> NodeError:
        """The failure that this end of the command is."""
        reasons = {NOT_FOUND: "is not on this node", TIMED_OUT: "ran out of time"}
        reason = reasons.get(self.exit_code, f"ended with exit code {self.exit_code}")
        message = f"{self.arguments[0]} {reason}" + (f": {self.lines[-1]}" if self.lines else "")
        return NodeError(message, command=self.as_typed, last_lines=self.lines[-10:], advice=advice)


class Commands:
    """Starts commands for one step.

    Args:
        clock: what time limits are counted on.
        deadline: when the step has to be done; no command outlives it.
        environment: the whole environment of the commands.
        log: where each command is noted.
        step: the step they are noted under.
        directory: their working directory; the one of this process unless given.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        deadline: Deadline,
        environment: Mapping[str, str],
        log: Log,
        step: str = "",
        directory: Path | None = None,
    ) -> None:
        self.clock = clock
        self.deadline = deadline
        self.environment = environment
        self.log = log
        self.step = step
        self.directory = directory or Path.cwd()

    def bound(self, *, deadline: Deadline, step: str) -> Commands:
        """The same for one step."""
        return self._changed(deadline=deadline, step=step)

    def telling(self, log: Log) -> Commands:
        """The same, but noted elsewhere."""
        return self._changed(log=log)

    def _changed(self, **members: object) -> Commands:
        new = object.__new__(type(self))
        new.__dict__ = {**self.__dict__, **members}
        return new

    def available(self, name: str) -> bool:
        """Whether there is such a command on PATH."""
        return shutil.which(name, path=self.environment.get("PATH")) is not None

    def run(
        self,
        *arguments: str,
        accept: Sequence[int] = (0,),
        timeout_seconds: float = 60.0,
        attempts: int = 1,
        pause_seconds: float = 2.0,
        given: str = "",
        echo: bool = False,
        extra_environment: Mapping[str, str] | None = None,
        advice: str = "",
    ) -> Completed:
        """Run a command to its end.

        Args:
            arguments: the command and its arguments; no shell.
            accept: exit codes that are no failure.
            timeout_seconds: for each attempt; the step's deadline counts as well.
            attempts: how often to try while it fails.
            pause_seconds: between attempts, doubled each time.
            given: standard input; never logged, so a place for secrets.
            echo: log the output line by line as it comes.
            extra_environment: on top of the environment.
            advice: what to do when it fails.

        Raises:
            NodeError: the last attempt failed.
        """
        environment = {**self.environment, **(extra_environment or {})}
        for attempt in range(1, attempts + 1):
            self.log.command(shlex.join(arguments), step=self.step)
            done = self._once(arguments, environment, timeout_seconds, given, echo)
            if done.exit_code in accept:
                return done
            if attempt < attempts and self.deadline.remaining() > 0:
                self.log.line(f"exit code {done.exit_code}, attempt {attempt} of {attempts}", step=self.step)
                self.clock.sleep(min(pause_seconds * 2 ** (attempt - 1), self.deadline.remaining()))
        raise done.error(advice=advice)

    def _once(
        self,
        arguments: tuple[str, ...],
        environment: Mapping[str, str],
        timeout_seconds: float,
        given: str,
        echo: bool,
    ) -> Completed:
        limit = self.clock.real(min(timeout_seconds, self.deadline.remaining()))
        executable = shutil.which(arguments[0], path=environment.get("PATH"))
        if executable is None:
            return Completed(arguments=arguments, exit_code=NOT_FOUND, lines=())
        process = subprocess.Popen(
            [executable, *arguments[1:]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment,
            cwd=self.directory,
            start_new_session=True,
            text=True,
            errors="replace",
        )
        lines: list[str] = []
        # Reading goes on beside the wait: a daemon that the command left behind may hold the pipe for ever.
        reader = threading.Thread(target=self._read, args=(process, lines, echo), daemon=True)
        reader.start()
        self.clock.halt.started(process.pid)
        try:
            exit_code = _finish(process, given, limit)
        finally:
            self.clock.halt.ended(process.pid)
        reader.join(timeout=1.0)
        if self.clock.halt.terminated:
            raise TerminatedError(self.clock.halt.reason)
        return Completed(arguments=arguments, exit_code=exit_code, lines=tuple(lines))

    def _read(self, process: subprocess.Popen[str], lines: list[str], echo: bool) -> None:
        assert process.stdout is not None
        with process.stdout as stream:
            for raw in stream:
                lines.append(raw.rstrip())
                if echo:
                    self.log.line(f"| {raw.rstrip()}", step=self.step)


def command_environment(given: Mapping[str, str], root: Root) -> dict[str, str]:
    """The environment of every command: the entry's own, in a language that can be parsed, Slurm on PATH."""
    path = given.get("PATH") or "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    if root.is_machine:
        path = ":".join([path, *SLURM_PATHS])
    return {**given, "PATH": path, "LC_ALL": "C.UTF-8", "HOME": given.get("HOME") or "/root"}


def _finish(process: subprocess.Popen[str], given: str, limit: float) -> int:
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError), process.stdin as stream:
        stream.write(given)
    try:
        return process.wait(timeout=limit)
    except subprocess.TimeoutExpired:
        kill_group(process.pid)
        # A process that hangs in a dead mount cannot be killed; it is left behind rather than waited for.
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=1.0)
        return TIMED_OUT
