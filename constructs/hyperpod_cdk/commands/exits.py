"""How a command ends."""

OK, FOUND, WRONG_INPUT, INTERRUPTED = 0, 1, 2, 130
"""Exit codes: all is well; something was found in what was looked at; it, or the command line, can not be
understood, or the output not written; Ctrl-C."""

EXIT_CODES = "Exit code: 0 all is well, 1 something was found, 2 wrong input, 130 interrupted."
"""For the end of a help text."""


class CommandError(Exception):
    """The command can not do what is asked; the text says why, and what to do instead."""
