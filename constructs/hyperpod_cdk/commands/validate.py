"""``hyperpod-cdk validate``: every finding about configurations, without an AWS account."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hyperpod_cdk.commands.acknowledged import codes_of
from hyperpod_cdk.commands.exits import FOUND, OK, WRONG_INPUT, CommandError
from hyperpod_cdk.commands.output import printer
from hyperpod_cdk.commands.reports.report import FileReport

if TYPE_CHECKING:
    from hyperpod_cdk.rules import Finding
    from hyperpod_cdk.spec import HyperPodSpec

STANDARD_INPUT = "-"
"""Instead of a file's name."""


class Format(StrEnum):
    """How findings are written."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"


def command(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE", help="YAML files of clusters; - is standard input.")
    ],
    *,
    format: Annotated[
        Format, typer.Option(help="text for people, json for programs, sarif for code hosts.")
    ] = Format.TEXT,
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    acknowledge: Annotated[
        list[str] | None,
        typer.Option(metavar="CODE", help="Do not tell this warning; may stand several times."),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 for warnings, too.")] = False,
    before: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="The configuration as it is deployed: tell what a change costs."),
    ] = None,
) -> int:
    """Check configurations, with no AWS account.

    Errors come before warnings, each with its line, what is allowed and what to do. Warnings can be
    acknowledged here, or in the file under `acknowledge`. With --before also what of the change is refused,
    and which file systems it would make anew, and empty. Several files are looked at beside each other, too.
    """
    if before is not None and len(files) != 1:
        raise CommandError("--before goes with one FILE: the configuration that follows it")
    codes = codes_of(acknowledge or ())
    reports, code = [], OK
    looked_at: dict[str, HyperPodSpec] = {}
    for file in dict.fromkeys(files):
        report, spec = _validated(file, codes, before, looked_at)
        reports.append(report)
        if spec is not None:
            looked_at[report.file] = spec
        code = max(code, WRONG_INPUT if spec is None else _code(report, strict=strict))
    _write(reports, Format.JSON if as_json else format)
    return code


def _validated(
    file: str, codes: frozenset[str], before: str | None, others: "Mapping[str, HyperPodSpec]"
) -> "tuple[FileReport, HyperPodSpec | None]":
    """What was found in a file, beside others too, and what it asks for; None: it could not be read."""
    from hyperpod_cdk.config import ConfigError, read, read_text
    from hyperpod_cdk.rules import check
    from hyperpod_cdk.rules.changes import check_change
    from hyperpod_cdk.rules.finding import ordered
    from hyperpod_cdk.rules.together import check_together

    is_input = file == STANDARD_INPUT
    file = "<stdin>" if is_input else file
    try:
        config = read_text(sys.stdin.read(), file=file) if is_input else read(file)
        deployed = read(before).spec if before is not None else None
    except ConfigError as error:
        return FileReport(file=file, findings=error.findings), None
    told = [
        *check(config.spec, acknowledged=codes),
        *check_together(config.spec, others, acknowledged=codes),
    ]
    if deployed is not None:
        told = [*told, *check_change(deployed, config.spec, acknowledged=codes)]
    silent: list[Finding] = []
    if codes or config.spec.acknowledge:
        acknowledged = {*codes, *config.spec.acknowledge}
        every = check(replace(config.spec, acknowledge=()))
        silent = [one for one in every if one.code in acknowledged and one not in told]
    findings = ordered(config.placed(told))
    return FileReport(file=file, findings=findings, acknowledged=config.placed(silent)), config.spec


def _code(report: FileReport, *, strict: bool) -> int:
    from hyperpod_cdk.rules import errors

    return FOUND if errors(report.findings) or (strict and report.findings) else OK


def _write(reports: Sequence[FileReport], format: Format) -> None:
    if format is Format.TEXT:
        from hyperpod_cdk.commands.reports.text import text_lines

        printer()(text_lines(reports))
    elif format is Format.JSON:
        from hyperpod_cdk.commands.reports.machine import json_report

        print(json.dumps(json_report(reports), indent=2))
    else:
        from hyperpod_cdk.commands.reports.sarif import sarif
        from hyperpod_cdk.rules import RULES

        print(json.dumps(sarif(reports, RULES, folder=Path.cwd()), indent=2))
