"""Printing: with colours on a terminal, plain and unwrapped lines elsewhere."""

import os
import sys
from collections.abc import Callable, Iterable, Sequence

Segment = tuple[str, str]
"""Text and its style in rich's words; no style: ``""``."""
Line = Sequence[Segment]


def printer() -> Callable[[Iterable[Line]], None]:
    """What prints lines to standard output; rich is loaded for terminals alone, and heeds NO_COLOR."""
    if sys.stdout.isatty() or os.environ.get("FORCE_COLOR"):
        return _print_styled
    return _print_plain


def _print_plain(lines: Iterable[Line]) -> None:
    for line in lines:
        print("".join(text for text, _ in line))


def _print_styled(lines: Iterable[Line]) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console()
    for line in lines:
        # the terminal wraps better than we do: what is copied from it stays one line
        console.print(Text.assemble(*line), soft_wrap=True)
