"""A preflight for people: a table of the checks, then every finding."""

from collections.abc import Iterator

from hyperpod_cdk.commands.output import Line
from hyperpod_cdk.preflight import Outcome, Report, Result

_STYLES = {
    Outcome.PASS: "green",
    Outcome.WARN: "bold yellow",
    Outcome.FAIL: "bold red",
    Outcome.UNKNOWN: "bold magenta",
}
_COUNTED = {
    Outcome.PASS: "passed",
    Outcome.WARN: "with a warning",
    Outcome.FAIL: "failed",
    Outcome.UNKNOWN: "could not be checked",
}


def preflight_lines(file: str, report: Report) -> Iterator[Line]:
    """The table, what was found, why something could not be checked, and the counts.

    Args:
        file: that was looked at.
        report: what came of it.
    """
    where = f"account {report.account}" if report.account else "an account that is not known"
    yield [(f"{file} in {report.region}, {where}", "bold")]
    if report.caller:
        yield [(f"asked as {report.caller}", "dim")]
    yield []
    notes = _notes(report)
    width = max((len(result.check.name) for result in report.results), default=0)
    for result in report.results:
        yield _row(result, width, notes)
    for finding in report.findings:
        head, *details = str(finding).splitlines()
        yield []
        yield [(head, "bold red" if finding.severity == "error" else "bold yellow")]
        for detail in details:
            yield [(detail, "green" if detail.startswith("    fix: ") else "")]
    if notes:
        yield []
        yield [("could not check:", _STYLES[Outcome.UNKNOWN])]
    for reason, number in notes.items():
        yield [(f"  [{number}] {reason}", ""), (_places(report, reason), "dim")]
    yield []
    yield [(_counts(report), "bold")]


def _notes(report: Report) -> dict[str, int]:
    """Reasons, each with a number: one often holds for many checks."""
    reasons = dict.fromkeys(one.reason for result in report.results for one in result.unchecked)
    return {reason: number for number, reason in enumerate(reasons, start=1)}


def _places(report: Report, reason: str) -> str:
    """Where in the file; nothing for what is about the account as a whole."""
    every = [one for result in report.results for one in result.unchecked if one.reason == reason]
    paths = list(dict.fromkeys(one.path for one in every))
    return "" if "" in paths else f" ({', '.join(paths)})"


def _row(result: Result, width: int, notes: dict[str, int]) -> Line:
    outcome, rule = result.outcome, result.check.rule
    numbers = dict.fromkeys(notes[one.reason] for one in result.unchecked)
    told = [rule.title] if result.findings else []
    more = " ".join([*told, *(f"[{number}]" for number in numbers)])
    return [
        (f"{outcome:15}  ", _STYLES[outcome]),
        (f"{rule.code}  {result.check.name:{width}}  {more}".rstrip(), ""),
    ]


def _counts(report: Report) -> str:
    told = [f"{report.count(one)} {word}" for one, word in _COUNTED.items() if report.count(one)]
    left = f"; {len(report.left_out)} not needed" if report.left_out else ""
    return f"{', '.join(told)}{left}; {report.seconds:.1f} s"
