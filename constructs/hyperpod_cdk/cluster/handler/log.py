"""Structured logs: one JSON object a line. Properties and the ResponseURL never go in."""

import json
import traceback
from typing import Any


def log(message: str, *, level: str = "INFO", **fields: Any) -> None:
    """Write one line to standard output, which Lambda sends to CloudWatch Logs.

    Args:
        message: what happened; constant text, so that lines can be counted by it.
        level: ``INFO``, ``WARNING`` or ``ERROR``.
        fields: what it happened to; values that JSON does not know are written as text.
    """
    line = json.dumps({"level": level, "message": message, **fields}, default=str)
    print(line, flush=True)


def log_exception(message: str, error: BaseException, **fields: Any) -> None:
    """Write one ERROR line with the exception's type, text and stack."""
    stack = traceback.format_exception(type(error), error, error.__traceback__)
    log(message, level="ERROR", error=type(error).__name__, reason=str(error), stack=stack, **fields)
