"""``hyperpod-cdk explain``: why a rule is there and what to do."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from hyperpod_cdk.commands.exits import OK, CommandError
from hyperpod_cdk.commands.known import known_rules, unknown
from hyperpod_cdk.commands.output import Line, printer
from hyperpod_cdk.commands.rules import rule_json, rule_lines

if TYPE_CHECKING:
    from hyperpod_cdk.rules import Rule


def _complete(incomplete: str) -> list[tuple[str, str]]:
    return [(code, rule.title) for code, rule in known_rules().items() if code.startswith(incomplete.upper())]


def command(
    codes: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="CODE",
            help="Codes of findings, such as HP301. None: list them all.",
            autocompletion=_complete,
        ),
    ] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> int:
    """Say why a rule is there and what to do."""
    rules = known_rules()
    wanted = [code.upper() for code in codes or ()]
    strangers = [code for code in wanted if code not in rules]
    if strangers:
        raise CommandError("; ".join(unknown(code, rules) for code in strangers))
    chosen = [rules[code] for code in wanted] or list(rules.values())
    if as_json:
        print(json.dumps([rule_json(rule) for rule in chosen], indent=2))
    else:
        printer()(rule_lines(chosen) if not wanted else _explained(chosen))
    return OK


def _explained(rules: list["Rule"]) -> Iterator[Line]:
    for number, rule in enumerate(rules):
        if number:
            yield []
        yield [(f"{rule.code} ({rule.severity}): ", "bold"), (rule.title, "bold")]
        for name, text in (("why", rule.why), ("fix", rule.fix), ("source", rule.source)):
            yield [(f"{name}: ", "dim"), (text, "green" if name == "fix" else "")]
