"""Calling AWS again while what stands in the way is expected to go away by itself."""

from collections.abc import Callable
from itertools import chain, repeat
from typing import Any, TypeVar

from .clients import Aws
from .errors import AWS_ERRORS, code_of, is_permission_delay, is_transient
from .log import log

PATIENCE_SECONDS = 120.0
"""How long after an invocation began IAM may still be spreading a new role or policy."""

UNANSWERED_SECONDS = PATIENCE_SECONDS + 125.0
"""How long an invocation that has not answered may still make something: the last call begins when its
patience ends, and repeats itself (clients.CONFIG: six times 15 s of silence, and 31 s between them)."""

_Answer = TypeVar("_Answer")


def _never(_error: Exception) -> bool:
    return False


def patiently(
    aws: Aws, call: Callable[..., _Answer], /, *, also: Callable[[Exception], bool] = _never, **arguments: Any
) -> _Answer:
    """Make a call; throttled, faulted or not yet permitted, repeat it while :data:`PATIENCE_SECONDS` last.

    The time is that of the invocation, whatever the number of calls, so that on_event comes to an end.

    Args:
        aws: whose clock is used.
        call: a client's method.
        also: tells a further error that is expected to go away.
        arguments: of the call.

    Raises:
        ClientError, BotoCoreError: any other error at once; the last one when time is up.
    """
    for pause in chain((2.0, 4.0, 8.0, 16.0), repeat(30.0)):
        try:
            return call(**arguments)
        except AWS_ERRORS as error:
            expected = is_transient(error) or is_permission_delay(error) or also(error)
            if not expected or aws.now() + pause - aws.started > PATIENCE_SECONDS:
                raise
            log("call will be repeated", level="WARNING", code=code_of(error), reason=str(error), pause=pause)
        aws.sleep(pause)
    raise AssertionError("unreachable: the pauses never end")
