"""What a step raises: a failure with advice, a reason to be skipped, or the end of the whole run."""

from __future__ import annotations

from collections.abc import Sequence


class NodeError(Exception):
    """A failure that a person can act on.

    Args:
        message: what was wrong, in one lower-case line.
        command: the command that failed, as it would be typed.
        last_lines: the last lines that the command printed.
        advice: what to do about it; empty leaves the advice to the step.
    """

    def __init__(
        self, message: str, *, command: str = "", last_lines: Sequence[str] = (), advice: str = ""
    ) -> None:
        super().__init__(message)
        self.message = message
        self.command = command
        self.last_lines = tuple(last_lines)
        self.advice = advice


class StepSkippedError(Exception):
    """The step has nothing to do on this node; the text says why."""


class NotYetError(Exception):
    """A condition that is waited for does not hold yet; the text says why."""


class TerminatedError(BaseException):
    """The run was told to end by a signal; no step may catch this."""


class GivenUpError(BaseException):
    """The run ends because a required step failed; no step may catch this."""
