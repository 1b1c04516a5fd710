"""The command line, ``hyperpod-cdk``. Never loads aws_cdk by itself, so that it fits into an editor."""

import os
import sys
from collections.abc import Sequence

from hyperpod_cdk.commands.exits import INTERRUPTED, WRONG_INPUT, CommandError
from hyperpod_cdk.commands.table import extra_of


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: without the program's name. Default: those of the process.

    Returns:
        0: all is well, 1: something was found, 2: wrong input, 130: interrupted.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
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
    print(f"hyperpod-cdk: {message}", file=sys.stderr)
    return WRONG_INPUT
