"""Every rule that there is, those of all commands together."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hyperpod_cdk.rules import Rule

_SHOWN = 5


def known_rules() -> Mapping[str, "Rule"]:
    """Rules by their codes, in order."""
    from hyperpod_cdk import preflight
    from hyperpod_cdk.rules import RULES

    return {**RULES, **preflight.RULES}


def unknown(code: str, rules: Mapping[str, "Rule"]) -> str:
    """That there is no such code, and which come closest: by their digits, or by a word of their titles."""
    word = code.casefold()
    nearest = [one for one in rules if one.startswith(code.upper())]
    nearest = nearest or sorted(
        get_close_matches(code.upper(), rules, n=len(rules)), key=lambda one: -_same(one, code.upper())
    )
    by_title = [one for one, rule in rules.items() if word in rule.title.casefold()]
    offered = ", ".join((nearest or by_title)[:_SHOWN])
    near = f"; nearest: {offered}" if offered else ""
    return f"no rule has the code {code}{near}; `hyperpod-cdk rules` lists them"


def _same(one: str, other: str) -> int:
    """How many places of two codes hold the same character."""
    return sum(mine == theirs for mine, theirs in zip(one, other, strict=False))
