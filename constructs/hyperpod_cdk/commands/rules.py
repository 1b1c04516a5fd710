"""``hyperpod-cdk rules``: everything that is checked."""

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hyperpod_cdk.commands.exits import OK
from hyperpod_cdk.commands.known import known_rules
from hyperpod_cdk.commands.output import Line, printer

if TYPE_CHECKING:
    from hyperpod_cdk.rules import Rule

_STYLES = {"error": "red", "warning": "yellow"}


def command(*, as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False) -> int:
    """List all rules."""
    rules = known_rules().values()
    if as_json:
        print(json.dumps([rule_json(rule) for rule in rules], indent=2))
    else:
        printer()(rule_lines(rules))
    return OK


def rule_lines(rules: Iterable["Rule"]) -> Iterator[Line]:
    """One line a rule."""
    for rule in rules:
        severity = str(rule.severity)
        yield [(f"{rule.code}  ", "bold"), (f"{severity:7}  ", _STYLES.get(severity, "")), (rule.title, "")]


def rule_json(rule: "Rule") -> dict[str, Any]:
    """A rule as plain data."""
    return {
        "code": rule.code,
        "severity": str(rule.severity),
        "title": rule.title,
        "why": rule.why,
        "fix": rule.fix,
        "source": rule.source,
    }
