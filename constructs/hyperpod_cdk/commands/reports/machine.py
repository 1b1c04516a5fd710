"""Findings for programs."""

from collections.abc import Sequence
from typing import Any

from hyperpod_cdk.commands.reports.report import FileReport
from hyperpod_cdk.rules.finding import errors


def json_report(reports: Sequence[FileReport]) -> dict[str, Any]:
    """Counts, then every finding, file by file."""
    every = [finding for report in reports for finding in report.findings]
    faults = len(errors(every))
    return {
        "errors": faults,
        "warnings": len(every) - faults,
        "files": [
            {
                "file": report.file,
                "findings": [finding.to_json() for finding in report.findings],
                "acknowledged": [finding.to_json() for finding in report.acknowledged],
            }
            for report in reports
        ],
    }
