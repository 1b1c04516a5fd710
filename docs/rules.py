"""The page of rules."""

from collections.abc import Iterable

from hyperpod_cdk.rules import Rule

_HEAD = """\
# Rules

What is checked before anything is deployed: by `hyperpod-cdk validate`, at `cdk synth` and in the constructs.
`hyperpod-cdk explain HP301` prints one of them. Errors stop the synthesis. Warnings can be acknowledged by
their code: in the file (`acknowledge: [HP223]`), on the command line (`--acknowledge HP223`), and in a stack
of your own (`Validations.of(construct).acknowledge(Acknowledgment(id="hyperpod-cdk:HP223", reason="…"))`).
HP170 to HP176, HP370 to HP372 and HP590 to HP597 are told by `hyperpod-cdk validate --before DEPLOYED.yaml
NEW.yaml`. Written from the code by `make docs`.

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
