"""What keeps a chart from being had."""


class ChartError(Exception):
    """The chart can not be had whole; nothing was put in its place. The text says why, and what to do."""
