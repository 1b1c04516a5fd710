"""The command line, ``hyperpod-cdk``. Never loads aws_cdk by itself, so that it fits into an editor."""

import errno
import io
import os
import sys
from collections.abc import Sequence
from typing import TextIO

from hyperpod_cdk.commands.exits import INTERRUPTED, OK, WRONG_INPUT, CommandError
from hyperpod_cdk.commands.table import extra_of

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Why an output takes no more."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: without the program's name. Default: those of the process.

    Returns:
        0: all is well, 1: something was found, 2: wrong input, or no way to write the output, 130:
        interrupted.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    # what Python makes of a descriptor that is closed
    if sys.stdout is None:
        return _refuse("standard output is closed")
    if isinstance(sys.stdout, io.TextIOWrapper):
        # a terminal that knows ASCII alone gets what it can show
        sys.stdout.reconfigure(errors="replace")
    try:
        code = _run(given)
        sys.stdout.flush()
    except BrokenPipeError:
        # the reader of a pipe has seen enough
        _write_no_more(sys.stdout)
        return OK
    except OSError as error:
        if error.errno not in _FULL:
            raise
        _write_no_more(sys.stdout)
        return _refuse(f"the output can not be written: {os.strerror(error.errno).lower()}")
    return code


def _run(given: list[str]) -> int:
    # else pydantic looks through every package that is installed, at each start
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    try:
        from hyperpod_cdk.commands.program import run

        return run(given)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "hyperpod_cdk":
            raise
        extra = f"pip install 'hyperpod-cdk[{extra_of(given)}]'"
        return _refuse(f"this needs {error.name}, which is not installed: {extra}")
    except CommandError as refusal:
        return _refuse(str(refusal))
    except KeyboardInterrupt:
        return INTERRUPTED


def _refuse(message: str) -> int:
    try:
        print(f"hyperpod-cdk: {message}", file=sys.stderr, flush=True)
    except OSError:
        _write_no_more(sys.stderr)
    return WRONG_INPUT


def _write_no_more(stream: TextIO) -> None:
    """Drop what is still to be written: Python would try, and complain, when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
