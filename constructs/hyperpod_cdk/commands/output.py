"""Printing: with colours on a terminal, plain lines elsewhere, and never wrapped."""

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TextIO

Segment = tuple[str, str]
"""Text and its style in rich's words; no style: ``""``."""
Line = Sequence[Segment]


def printer(stream: TextIO | None = None) -> Callable[[Iterable[Line]], None]:
    """What prints lines; rich is loaded where there are to be styles: on terminals, without NO_COLOR.

    Args:
        stream: where to. Default: standard output.
    """
    to = stream or sys.stdout
    styled = (to.isatty() or os.environ.get("FORCE_COLOR")) and not os.environ.get("NO_COLOR")
    return partial(_print_styled if styled else _print_plain, to)


def _print_plain(to: TextIO, lines: Iterable[Line]) -> None:
    for line in lines:
        print("".join(text for text, _ in line), file=to)


def _print_styled(to: TextIO, lines: Iterable[Line]) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(file=to)
    for line in lines:
        # the terminal wraps better than we do: what is copied from it stays one line
        console.print(Text.assemble(*line), soft_wrap=True)
