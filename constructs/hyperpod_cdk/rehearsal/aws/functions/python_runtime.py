"""What Lambda's Python runtime does, as a process: events in on stdin, results out on a descriptor.

Started by `process.py` with two arguments: the handler (`package.module.function`) and the number of the
descriptor that takes the results. Standard library only: the function's own packages come first.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
import traceback
from typing import Any

CLOCK_VARIABLE = "EMBEDDED_AWS_CLOCK"
"""Names when the functions' clock began, in seconds since 1970, and how much faster than real time it is."""
_real_time = time.time


class Context:
    """The second argument of a handler."""

    def __init__(self, request: dict[str, Any]) -> None:
        self._deadline: float = request["deadline"]
        self.aws_request_id: str = request["request_id"]
        self.invoked_function_arn: str = request["arn"]
        self.function_name = os.environ["AWS_LAMBDA_FUNCTION_NAME"]
        self.function_version = os.environ["AWS_LAMBDA_FUNCTION_VERSION"]
        self.memory_limit_in_mb = os.environ["AWS_LAMBDA_FUNCTION_MEMORY_SIZE"]
        self.log_group_name = os.environ["AWS_LAMBDA_LOG_GROUP_NAME"]
        self.log_stream_name = os.environ["AWS_LAMBDA_LOG_STREAM_NAME"]
        self.identity = None
        self.client_context = None

    def get_remaining_time_in_millis(self) -> int:
        """Milliseconds until the function is stopped."""
        return max(0, int((self._deadline - _real_time()) * 1000))


def _error(error: BaseException) -> dict[str, Any]:
    return {
        "errorMessage": str(error),
        "errorType": type(error).__name__,
        "stackTrace": traceback.format_list(traceback.extract_tb(error.__traceback__)[1:]),
    }


def _load(handler: str) -> Any:
    module, _, name = handler.rpartition(".")
    return getattr(importlib.import_module(module.replace("/", ".")), name)


def _run(handler: str, request: dict[str, Any]) -> dict[str, Any]:
    try:
        result = _load(handler)(request["event"], Context(request))
        return {"result": json.loads(json.dumps(result))}
    except Exception as error:
        traceback.print_exc()
        return {"error": _error(error)}


def _run_clock(began: float, speed: float) -> None:
    """Let the function live as fast as what it waits for; its time limit stays in real seconds."""
    sleep = time.sleep
    time.time = lambda: began + (_real_time() - began) * speed
    time.sleep = lambda seconds: sleep(float(seconds) / speed)


def main() -> None:
    """Serve invocations, one at a time, until stdin closes."""
    handler, descriptor = sys.argv[1], int(sys.argv[2])
    began, speed = map(float, os.environ[CLOCK_VARIABLE].split())
    _run_clock(began, speed)
    # Python puts this file's folder first on the path, where Lambda has the task root.
    sys.path[0] = os.environ["LAMBDA_TASK_ROOT"]
    with os.fdopen(descriptor, "w", encoding="utf-8") as results:
        for line in sys.stdin:
            answer = _run(handler, json.loads(line))
            sys.stdout.flush()
            sys.stderr.flush()
            results.write(json.dumps(answer) + "\n")
            results.flush()


if __name__ == "__main__":
    main()
