"""Findings for code hosts: SARIF 2.1.0, https://docs.oasis-open.org/sarif/sarif/v2.1.0/."""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from hyperpod_cdk.commands.reports.report import FileReport
from hyperpod_cdk.commands.version import DISTRIBUTION, version
from hyperpod_cdk.rules.finding import Finding, Position
from hyperpod_cdk.rules.rule import Rule

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
"""Where the format's own schema is published."""
_SUPPRESSED: dict[str, Any] = {"suppressions": [{"kind": "external"}]}


def sarif(reports: Sequence[FileReport], rules: Mapping[str, Rule], *, folder: Path) -> dict[str, Any]:
    """A SARIF log with one run.

    Args:
        reports: what was found; acknowledged warnings are results that are suppressed.
        rules: by code; the log describes those that have a result.
        folder: the repository's root; files below it are named relative to it, as code hosts want.
    """
    told = [(finding, report.file) for report in reports for finding in report.findings]
    silent = [(finding, report.file) for report in reports for finding in report.acknowledged]
    used = sorted({finding.code for finding, _ in (*told, *silent)} & set(rules))
    results = [
        *(_result(finding, used, file=file, folder=folder) for finding, file in told),
        *(_SUPPRESSED | _result(finding, used, file=file, folder=folder) for finding, file in silent),
    ]
    driver = {
        "name": DISTRIBUTION,
        "version": version(),
        "rules": [_rule(rules[code]) for code in used],
    }
    run = {
        "tool": {"driver": driver},
        # what ruamel.yaml counts
        "columnKind": "unicodeCodePoints",
        "artifacts": [{"location": _artifact(report.file, folder)} for report in reports],
        "results": results,
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(rule: Rule) -> dict[str, Any]:
    described: dict[str, Any] = {
        "id": rule.code,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": f"{rule.title}: {rule.why}"},
        "help": {"text": f"{rule.why}\n\n{rule.fix}\n\nSource: {rule.source}"},
        "defaultConfiguration": {"level": str(rule.severity)},
    }
    link = rule.source.split(",")[0].strip()
    return {**described, "helpUri": link} if link.startswith("https://") else described


def _result(finding: Finding, used: Sequence[str], *, file: str, folder: Path) -> dict[str, Any]:
    location: dict[str, Any] = {"physicalLocation": _place(finding.position, file, folder)}
    if finding.path:
        location["logicalLocations"] = [{"fullyQualifiedName": finding.path}]
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "level": str(finding.severity),
        "message": {"text": _message(finding)},
        "locations": [location],
        "partialFingerprints": {"codeAndPath/v1": _fingerprint(finding, file, folder)},
    }
    if finding.code in used:
        result["ruleIndex"] = used.index(finding.code)
    return result


def _message(finding: Finding) -> str:
    """The finding without its place, which has a member of its own."""
    _, *lines = str(finding).splitlines()
    return "\n".join([finding.path or "the file", *(line.strip() for line in lines)])


def _place(position: Position | None, file: str, folder: Path) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": _artifact(position.file if position else file, folder)}
    if position:
        place["region"] = {"startLine": position.line, "startColumn": position.column}
    return place


def _artifact(file: str, folder: Path) -> dict[str, str]:
    path = Path(file).absolute()
    if path.is_relative_to(folder):
        return {"uri": _quoted(path.relative_to(folder).parts), "uriBaseId": "%SRCROOT%"}
    return {"uri": path.as_uri()}


def _quoted(parts: Iterable[str]) -> str:
    from urllib.parse import quote

    return "/".join(map(quote, parts))


def _fingerprint(finding: Finding, file: str, folder: Path) -> str:
    """The same for a finding that only moved to another line."""
    stable = "\n".join((_artifact(file, folder)["uri"], finding.code, finding.path))
    return sha256(stable.encode()).hexdigest()
