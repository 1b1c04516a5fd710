"""The longest chain of steps of one run that really waited for one another, by the run's own stamps."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

FIRST = "facts"
"""The step that every other one follows, without a word of it."""


@dataclass(frozen=True, kw_only=True)
class CriticalPath:
    """The longest chain.

    Args:
        steps: their names, in their order.
        seconds: that they took together.
    """

    steps: tuple[str, ...]
    seconds: float


def critical_path(result: Mapping[str, Any]) -> CriticalPath:
    """Find it in a result.json.

    A step that had nothing to do waits for nobody and holds nobody up, so it is in no chain. What only shared
    a lock, a processor or the runner's attention is in none either: that is what a run may take longer for.

    Args:
        result: its content; steps stand behind those that they wait for.
    """
    longest: dict[str, CriticalPath] = {}
    for step in result["steps"]:
        if not step["attempts"]:
            continue
        waited_for = {*step["needs"], *step["after"], FIRST} - {step["name"]}
        before = max(
            (longest[name] for name in waited_for if name in longest),
            key=lambda path: path.seconds,
            default=CriticalPath(steps=(), seconds=0.0),
        )
        longest[step["name"]] = CriticalPath(
            steps=(*before.steps, step["name"]), seconds=before.seconds + step["seconds"]
        )
    return max(longest.values(), key=lambda path: path.seconds)
