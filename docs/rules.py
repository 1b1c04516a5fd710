"""The page of rules."""

from collections.abc import Iterable

from hyperpod_cdk.rules import Rule

_HEAD = """\
# Rules

What is checked before anything is deployed: by `hyperpod-cdk validate`, at `cdk synth` and in the constructs.
`hyperpod-cdk explain HP301` prints one of them. Errors stop the synthesis; warnings can be acknowledged by
their code. Written from the code by `make docs`.

| code | what | why | what to do | source |
|---|---|---|---|---|
"""


def table(rules: Iterable[Rule]) -> str:
    """All rules as a Markdown page."""
    return _HEAD + "".join(map(_row, rules))


def _row(rule: Rule) -> str:
    code = rule.code if rule.severity == "error" else f"{rule.code} ({rule.severity})"
    cells = (code, rule.title, rule.why, rule.fix, rule.source)
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |\n"
