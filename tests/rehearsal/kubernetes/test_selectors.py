"""Selectors."""

import pytest

from hyperpod_cdk.rehearsal.kubernetes import StatusError
from hyperpod_cdk.rehearsal.kubernetes.selectors import fields_match, labels_match

LABELS = {"app": "web", "tier": "front", "example.com/team": "a-b.c"}


@pytest.mark.parametrize(
    ("selector", "matches"),
    [
        ("", True),
        ("app=web", True),
        ("app==web,tier=front", True),
        ("app=web,tier=back", False),
        ("app!=db", True),
        ("absent!=x", True),
        ("app in (db, web)", True),
        ("app notin (db,web)", False),
        ("example.com/team=a-b.c", True),
        ("app", True),
        ("absent", False),
        ("!absent", True),
        ("!app", False),
    ],
)
def test_labels(selector: str, matches: bool) -> None:
    assert labels_match(selector, LABELS) is matches


def test_a_selector_that_can_not_be_read() -> None:
    with pytest.raises(StatusError, match="unable to parse"):
        labels_match("app in web", LABELS)


@pytest.mark.parametrize(
    ("selector", "matches"),
    [("metadata.name=a", True), ("metadata.name!=a", False), ("status.phase==Running", False), ("", True)],
)
def test_fields(selector: str, matches: bool) -> None:
    assert fields_match(selector, {"metadata": {"name": "a"}}) is matches
