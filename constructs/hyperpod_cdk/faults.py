"""What a construct says when it cannot be built as asked."""

from collections.abc import Sequence


class ConstructError(ValueError):
    """A construct cannot be built as asked.

    Args:
        path: Path of the construct in the tree.
        faults: Every fault at once, each in the user's terms: what, what was given, what is allowed.
    """

    def __init__(self, path: str, faults: Sequence[str]) -> None:
        self.path = path
        self.faults = tuple(faults)
        super().__init__("\n".join(f"{path}: {fault}" for fault in self.faults))


def refuse(path: str, faults: Sequence[str]) -> None:
    """Raise all faults as one error, or nothing when there are none."""
    if faults:
        raise ConstructError(path, faults)
