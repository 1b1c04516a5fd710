"""Data written as YAML is read back as it was, with its comments where they belong."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from hyperpod_cdk.config.document import parse
from hyperpod_cdk.config.writer import Noted, write

TEXTS = st.text(max_size=30) | st.sampled_from(
    (
        "yes",
        "no",
        "on",
        "Off",
        "null",
        "~",
        "1_000",
        "0o17",
        "2.10",
        "12:30",
        "2026-01-01",
        "a: b",
        "a # b",
        "- x",
    )
)
SCALARS = TEXTS | st.integers() | st.booleans() | st.none()
TREES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
COMMENTS = st.sampled_from(("", "one line", "two\nlines"))


@st.composite
def noted(draw: st.DrawFn, tree: Any, *, in_mapping: bool = False) -> Any:
    """The tree with comments here and there."""
    plain = not isinstance(tree, dict | list)
    if isinstance(tree, dict):
        tree = {key: draw(noted(value, in_mapping=True)) for key, value in tree.items()}
    elif isinstance(tree, list):
        tree = [draw(noted(value)) for value in tree]
    if draw(st.booleans()):
        return tree
    beside = draw(st.sampled_from(("", "beside"))) if plain and in_mapping else ""
    return Noted(value=tree, above=draw(COMMENTS), beside=beside, apart=draw(st.booleans()))


def uncommented(tree: Any) -> Any:
    """The data alone."""
    if isinstance(tree, Noted):
        return uncommented(tree.value)
    if isinstance(tree, dict):
        return {key: uncommented(value) for key, value in tree.items()}
    return [uncommented(value) for value in tree] if isinstance(tree, list) else tree


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(TEXTS, TREES, max_size=4).flatmap(noted), st.sampled_from(("", "a head\n\nmore")))
def test_everything_comes_back(tree: Any, head: str) -> None:
    content = tree.value if isinstance(tree, Noted) else tree
    text = write(content, head=head)
    assert text == text.rstrip("\n") + "\n"
    document = parse(text, file="x.yaml")
    assert document.findings == []
    assert document.data == uncommented(content) or (not content and document.data in (None, {}))


@pytest.mark.parametrize("word", ["yes", "No", "on", "OFF", "y"])
def test_words_that_older_readers_take_for_truth_are_quoted(word: str) -> None:
    assert f'key: "{word}"' in write({"key": word})


def test_comments_stand_where_they_belong() -> None:
    tree = {
        "first": Noted(value=1, beside="why"),
        "list": Noted(
            value=[
                {"a": Noted(value="x", beside="inner")},
                Noted(value={"b": None}, above="second", apart=True),
            ],
            above="about\nthe list",
            apart=True,
        ),
        "short": ["a", "b"],
    }
    assert write(tree, head="top\n\nmore").splitlines() == [
        "# top",
        "#",
        "# more",
        "",
        "first: 1  # why",
        "",
        "# about",
        "# the list",
        "list:",
        "  - a: x  # inner",
        "",
        "  # second",
        "  - b: null",
        "short: [a, b]",
    ]
    assert YAML(typ="safe", pure=True).load(write(tree)) == uncommented(tree)
