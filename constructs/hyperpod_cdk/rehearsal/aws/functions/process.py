"""One warm process of a function: started once, asked many times, as Lambda keeps its environments."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What an invocation came to.

    Args:
        payload: The handler's result, or Lambda's error object.
        failed: Whether `payload` is an error object (Lambda's ``FunctionError``).
        log: What the function printed.
    """

    payload: Any
    failed: bool
    log: str


class UnsupportedRuntimeError(Exception):
    """A Lambda runtime for which no local interpreter stands in."""


def _command(runtime: str) -> list[str]:
    if runtime.startswith("python"):
        return [sys.executable, "-s", str(_HERE / "python_runtime.py")]
    if runtime.startswith("nodejs"):
        return ["node", str(_HERE / "node_runtime.cjs")]
    raise UnsupportedRuntimeError(f"Lambda runtime {runtime!r} does not run here; python* and nodejs* do")


class FunctionProcess:
    """A process that serves one invocation at a time.

    Args:
        runtime: Lambda's name of the runtime, such as ``python3.13`` or ``nodejs22.x``.
        handler: The handler, in the runtime's own notation.
        environment: The process's whole environment.
        folder: The working directory.
        log: The file that takes what the function prints.
    """

    def __init__(
        self, *, runtime: str, handler: str, environment: Mapping[str, str], folder: Path, log: Path
    ) -> None:
        reader, results = os.pipe()
        self._results = os.fdopen(reader, "rb", buffering=0)
        self._log = log
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                [*_command(runtime), handler, str(results)],
                cwd=folder,
                env=dict(environment),
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                pass_fds=[results],
                # Ctrl-C at the terminal is for the rehearsal, which then stops its functions in order.
                start_new_session=True,
            )
        os.close(results)
        self._pending = b""

    @property
    def alive(self) -> bool:
        """Whether the process can serve another invocation."""
        return self._process.poll() is None

    def invoke(self, event: Any, *, arn: str, timeout_seconds: float) -> Outcome:
        """Run the handler once.

        Args:
            event: The event, as plain JSON data.
            arn: The function's ARN.
            timeout_seconds: The function's time limit; the process is killed when it is over.
        """
        printed = self._log.stat().st_size
        request_id = str(uuid.uuid4())
        deadline = time.time() + timeout_seconds
        request = {"event": event, "request_id": request_id, "deadline": deadline, "arn": arn}
        try:
            assert self._process.stdin is not None
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
            answer = self._read(deadline)
        except TimeoutError:
            self.kill()
            message = f"{request_id} Task timed out after {timeout_seconds:.2f} seconds"
            answer = {"error": {"errorType": "Sandbox.Timedout", "errorMessage": message}}
        except OSError:
            status = self._process.wait()
            message = f"RequestId: {request_id} Error: Runtime exited with error: exit status {status}"
            answer = {"error": {"errorType": "Runtime.ExitError", "errorMessage": message}}
        return Outcome(
            payload=answer.get("error", answer.get("result")),
            failed="error" in answer,
            log=self._log.read_bytes()[printed:].decode("utf-8", errors="replace"),
        )

    def kill(self) -> None:
        """End the process and all that it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _read(self, deadline: float) -> dict[str, Any]:
        while b"\n" not in self._pending:
            ready, _, _ = select.select([self._results], [], [], max(0.0, deadline - time.time()))
            if not ready:
                raise TimeoutError
            chunk = self._results.read(1 << 16)
            if not chunk:
                raise OSError("the process ended without a result")
            self._pending += chunk
        line, _, self._pending = self._pending.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        return answer
