"""``hyperpod-cdk preflight``: whether an account has what a configuration needs."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hyperpod_cdk.commands.exits import OK, WRONG_INPUT, CommandError
from hyperpod_cdk.commands.output import printer

if TYPE_CHECKING:
    from hyperpod_cdk.config import Config
    from hyperpod_cdk.preflight import Report
    from hyperpod_cdk.rules import Finding


def command(
    file: Annotated[
        str | None, typer.Argument(metavar="FILE", help="YAML file of a cluster.", show_default=False)
    ] = None,
    *,
    profile: Annotated[
        str | None, typer.Option(metavar="NAME", help="Profile of the AWS CLI. Default: AWS_PROFILE.")
    ] = None,
    region: Annotated[
        str | None, typer.Option(metavar="REGION", help="Default: the file's, else the environment's.")
    ] = None,
    qualifier: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Of the account's CDK bootstrap, where it is not the CDK's own."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
    acknowledge: Annotated[
        list[str] | None,
        typer.Option(metavar="CODE", help="Do not tell this warning; may stand several times."),
    ] = None,
    print_policy: Annotated[
        bool,
        typer.Option("--print-policy", help="Print the IAM policy that it needs, with FILE for that alone."),
    ] = False,
) -> int:
    """Look whether an account has what a configuration needs; changes nothing there.

    Quotas, capacity, subnets, routes, security groups, file systems, roles, keys, scripts: all are looked at
    at once. Exit code 0: nothing fails, 1: something does, 2: nothing fails, but not all could be checked.
    """
    from hyperpod_cdk.preflight import policy

    config = _read(file) if file else None
    if print_policy:
        print(json.dumps(policy(config.spec if config else None), indent=2))
        return OK
    if config is None:
        raise CommandError("which configuration? Give a FILE, or --print-policy")
    if _breaks_rules(config, file or ""):
        return WRONG_INPUT
    codes = _codes(acknowledge or [])
    report = _asked(config, profile=profile, region=region, acknowledged=codes, qualifier=qualifier)
    _write(file or "", report, as_json=as_json)
    return report.exit_code


def _read(file: str) -> "Config":
    from hyperpod_cdk.config import ConfigError, read

    try:
        return read(file)
    except ConfigError as error:
        raise CommandError(str(error)) from None


def _breaks_rules(config: "Config", file: str) -> bool:
    """Whether it does; then every error is printed."""
    from hyperpod_cdk.commands.reports.report import FileReport
    from hyperpod_cdk.commands.reports.text import text_lines
    from hyperpod_cdk.rules import check, errors

    faults = errors(check(config.spec))
    if faults:
        report = FileReport(file=file, findings=config.placed(faults))
        printer()([*text_lines([report]), [("an account is looked at for a file without errors", "bold")]])
    return bool(faults)


def _codes(given: list[str]) -> set[str]:
    from hyperpod_cdk.commands.known import unknown
    from hyperpod_cdk.preflight import RULES
    from hyperpod_cdk.rules import Severity

    codes = {code.strip().upper() for one in given for code in one.split(",")}
    for code in sorted(codes):
        if code not in RULES:
            raise CommandError(f"--acknowledge: {unknown(code, RULES)}")
        if RULES[code].severity is Severity.ERROR:
            raise CommandError(f"--acknowledge: {code} is an error, and errors can not be acknowledged")
    return codes


def _asked(
    config: "Config",
    *,
    profile: str | None,
    region: str | None,
    acknowledged: set[str],
    qualifier: str | None,
) -> "Report":
    from botocore.exceptions import BotoCoreError
    from botocore.session import Session

    from hyperpod_cdk.preflight import Aws, run
    from hyperpod_cdk.preflight.look import DEFAULT_QUALIFIER

    try:
        session: Any = Session(profile=profile)
        session.get_scoped_config()  # a profile that is not there is wrong input
        where = region or config.spec.region or session.get_config_variable("region")
        if not where:
            raise CommandError("which Region? Give region in the file, --region, or AWS_REGION")
        report = run(
            config.spec,
            Aws(session, region=where),
            acknowledged=acknowledged,
            qualifier=qualifier or DEFAULT_QUALIFIER,
        )
    except BotoCoreError as error:
        # a profile or a configuration of the AWS CLI that can not be used
        raise CommandError(str(error)) from None
    placed = [replace(one, findings=_placed(config, one.findings)) for one in report.results]
    return replace(report, results=placed)


def _placed(config: "Config", findings: Sequence["Finding"]) -> list["Finding"]:
    """With their positions in the file, but for what is about the account as a whole."""
    here = config.placed([one for one in findings if one.path])
    return [*here, *(one for one in findings if not one.path)]


def _write(file: str, report: "Report", *, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"file": file, **report.to_json()}, indent=2))
        return
    from hyperpod_cdk.commands.reports.preflight import preflight_lines

    printer()(preflight_lines(file, report))
