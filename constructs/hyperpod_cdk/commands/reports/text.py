"""Findings for people."""

from collections.abc import Iterator, Sequence

from hyperpod_cdk.commands.output import Line
from hyperpod_cdk.commands.reports.report import FileReport
from hyperpod_cdk.rules.finding import Finding, Severity, by_part
from hyperpod_cdk.rules.form import BAD_YAML, FORM

_UNCLEAR = frozenset(rule.code for rule in FORM if rule is not BAD_YAML)
_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow"}

_LATER = "what hangs on a key or value that can not be read is looked at once it can"


def text_lines(reports: Sequence[FileReport]) -> Iterator[Line]:
    """Every finding under a heading for what it is about, then one line a file with the counts.

    A finding begins with ``file:line:column: severity code path``, which editors and CI systems recognise.
    """
    for report in reports:
        for part, findings in by_part(report.findings):
            name = findings[0].instance_group
            yield [(f"instance group {name}" if name else part or "the file", "bold")]
            for finding in findings:
                yield from finding_lines(finding)
            yield []
    for report in reports:
        yield [(f"{report.file}: ", ""), _counts(report)]


def finding_lines(finding: Finding) -> Iterator[Line]:
    """One finding, in two to four lines."""
    head, *details = str(finding).splitlines()
    place, told, rest = head.partition(f"{finding.severity} {finding.code}")
    yield [(place, "dim"), (told, _STYLES[finding.severity]), (rest, "")]
    for detail in details:
        yield [(detail, "green" if detail.startswith("    fix: ") else "")]


def _counts(report: FileReport) -> tuple[str, str]:
    counts = {one: sum(finding.severity is one for finding in report.findings) for one in Severity}
    told = [f"{count} {name}{'s'[: count != 1]}" for name, count in counts.items() if count]
    if report.acknowledged:
        told.append(f"{len(report.acknowledged)} acknowledged")
    style = next((_STYLES[one] for one in Severity if counts[one]), "bold green")
    counted = ", ".join(told if report.findings else ["ok", *told])
    unclear = any(finding.code in _UNCLEAR for finding in report.findings)
    return f"{counted}; {_LATER}" if unclear else counted, style
