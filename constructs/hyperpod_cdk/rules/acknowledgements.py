"""HP109: what a spec acknowledges."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from importlib import import_module

from hyperpod_cdk.rules.finding import Finding, Severity
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.spec import HyperPodSpec


@checks(
    Rule(
        code="HP109",
        title="an acknowledgement that silences nothing",
        why="errors are always told, and a code that no rule has is a slip of the pen",
        fix="keep codes of warnings alone; `hyperpod-cdk rules` lists them",
        source="hyperpod_cdk.spec.HyperPodSpec",
    )
)
def acknowledges_warnings(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    rules = _rules()
    warnings = [code for code, one in rules.items() if one.severity is Severity.WARNING]
    for index, code in enumerate(spec.acknowledge):
        if unresolved(code) or code in warnings or code.startswith(_PREFLIGHT):
            continue
        message = "is the code of an error" if code in rules else "is no code of a rule"
        nearest = get_close_matches(code, warnings, n=2)
        yield rule.finding(
            f"acknowledge[{index}]", message, given=code, allowed="codes of warnings", nearest=nearest
        )


_PREFLIGHT = "HP9"
"""Codes that preflight tells, which knows the account and its own warnings."""


@cache
def _rules() -> Mapping[str, Rule]:
    # the registry loads this module first
    rules: Mapping[str, Rule] = import_module("hyperpod_cdk.rules.registry").RULES
    return rules
