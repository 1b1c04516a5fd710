"""What was read of a source, and what is left."""

from typing import Any

import pytest

from hyperpod_cdk.migration.part import Part


def left(value: Any, *taken: str) -> list[str]:
    """Paths that are left when some were taken."""
    return [part.path for part in Part(value, "", set(taken)).left()]


@pytest.mark.parametrize(
    ("value", "taken", "expected"),
    [
        ({"a": 1, "b": 2}, ["a"], ["b"]),
        ({"a": {"b": 1, "c": 2}}, ["a.b"], ["a.c"]),
        ({"a": {"b": 1, "c": 2}, "d": 1}, ["d"], ["a"]),
        ({"a": [{"b": 1}, {"b": 2}], "d": 1}, ["a[0].b"], ["a[1]", "d"]),
        ({"a": {"b": 1}}, ["a"], []),
        ({"a": {}, "b": 1}, ["b"], ["a"]),
        ({"a": {"b": None}, "c": None, "d": [None], "e": 1}, ["e"], []),
        ({"a": {"b": None, "c": {"d": 1}}, "e": 1}, ["e"], ["a"]),
        ({'x"y': 1, "b": 1}, ["b"], ['["x\\"y"]']),
    ],
)
def test_whatever_was_not_taken_is_left(value: Any, taken: list[str], expected: list[str]) -> None:
    assert left(value, *taken) == expected


def test_taking_and_looking_below() -> None:
    part = Part({"a": {"b": 1, "c": None}, "l": [{"x": 1}], "s": "text"})
    assert part.below("a").take("b") == 1
    assert part.below("a").take("c") is None
    assert [item.take("x") for item in part.items("l")] == [1]
    assert part.items("s") == []
    assert part.below("s").take("x") is None
    assert [one.path for one in part.left()] == ["s"]
