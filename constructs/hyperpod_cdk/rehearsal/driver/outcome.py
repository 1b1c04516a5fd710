"""What a rehearsal says while it goes, and how it ends."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

WIDTH = 1000
"""Columns when the output is no terminal: tables are as wide as their content, and no id is cut."""


class RehearsalError(Exception):
    """Something did not go as it should; the text says what, and where to read more."""


class Stage:
    """The console, with the seconds since the beginning in front of every line.

    Args:
        console: where lines go; default: standard output.
    """

    def __init__(self, console: Console | None = None) -> None:
        terminal = Console()
        self.console = console or (terminal if terminal.is_terminal else Console(width=WIDTH))
        self._began = time.monotonic()

    @property
    def seconds(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self._began

    def say(self, text: str, *, style: str = "") -> None:
        """Print a line, its markup left as it is.

        Args:
            text: the line.
            style: a style of rich's; default: none.
        """
        self.console.print(
            f"{self.seconds:6.1f} s  {text}", style=style, markup=False, highlight=False, soft_wrap=True
        )

    @contextmanager
    def act(self, title: str) -> Iterator[None]:
        """Announce a part of the rehearsal, and say how long it took.

        Args:
            title: what is about to be done.
        """
        began = time.monotonic()
        self.console.print()
        self.say(title, style="bold")
        yield
        self.say(f"done in {time.monotonic() - began:.1f} s", style="green")
