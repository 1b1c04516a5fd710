"""``hyperpod-cdk init``: a configuration to start from."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from hyperpod_cdk.commands.exits import OK, CommandError
from hyperpod_cdk.commands.output import printer
from hyperpod_cdk.commands.storing import SCHEMA_FILE, findings_of, store

_Text = str | None
_Truth = bool | None


def command(
    name: Annotated[_Text, typer.Argument(metavar="NAME", help="Of the cluster and of the file.")] = None,
    *,
    region: Annotated[_Text, typer.Option(help="Such as us-west-2.")] = None,
    zone: Annotated[_Text, typer.Option(help="Availability Zone id, such as usw2-az2.")] = None,
    instance_type: Annotated[_Text, typer.Option(help="Of the nodes that run jobs.")] = None,
    instance_count: Annotated[_Text, typer.Option(metavar="NUMBER", help="How many of them.")] = None,
    training_plan_arn: Annotated[_Text, typer.Option(metavar="ARN", help="What reserves them.")] = None,
    login: Annotated[_Truth, typer.Option("--login/--no-login", help="A login node.")] = None,
    lustre: Annotated[_Text, typer.Option(metavar="GIB", help="Shared Lustre storage; 0: none.")] = None,
    home: Annotated[_Truth, typer.Option("--home/--no-home", help="Homes on OpenZFS.")] = None,
    vpc_id: Annotated[_Text, typer.Option(metavar="ID", help="Use this VPC.")] = None,
    vpc_cidr: Annotated[_Text, typer.Option(metavar="RANGE", help="Its addresses.")] = None,
    subnet_id: Annotated[_Text, typer.Option(metavar="ID", help="A private subnet of it.")] = None,
    security_group_id: Annotated[_Text, typer.Option(metavar="ID", help="A group of it.")] = None,
    internet: Annotated[
        _Truth, typer.Option("--internet/--no-internet", help="A NAT gateway in a new VPC.")
    ] = None,
    defaults: Annotated[bool, typer.Option("--defaults", help="Ask nothing.")] = False,
    output: Annotated[
        _Text,
        typer.Option("--output", "-o", metavar="FILE", help="Default: NAME.yaml; - is standard output."),
    ] = None,
) -> int:
    """Write a commented configuration to start from.

    On a terminal it asks for what no option answers; elsewhere, and with --defaults, it takes defaults.
    """
    from hyperpod_cdk.commands.starter.answers import answer
    from hyperpod_cdk.commands.starter.tree import starter

    texts = {
        "name": name,
        "region": region,
        "zone": zone,
        "instance_type": instance_type,
        "instance_count": instance_count,
        "training_plan_arn": training_plan_arn,
        "login": _said(login),
        "lustre": lustre,
        "home": _said(home),
        "vpc_id": vpc_id,
        "vpc_cidr": vpc_cidr,
        "subnet_id": subnet_id,
        "security_group_id": security_group_id,
        "internet": _said(internet),
    }
    given = {key: text for key, text in texts.items() if text is not None}
    asks = sys.stdin.isatty() and sys.stdout.isatty() and not defaults
    try:
        answers = answer(given, _ask if asks else None)
    except ValueError as faults:
        raise CommandError(str(faults)) from None
    text = starter(answers, schema=SCHEMA_FILE)
    if output == "-":
        print(text, end="")
        return OK
    path = Path(output or f"{answers['name']}.yaml")
    store(path, text)
    print(f"wrote {path}, and {SCHEMA_FILE} for your editor; next: hyperpod-cdk validate {path}")
    _warn(path, text)
    return OK


def _said(flag: bool | None) -> str | None:
    return None if flag is None else "yes" if flag else "no"


def _ask(question: Any, default: str | None, fault: str | None) -> str:
    if fault:
        typer.echo(f"  {fault}")
    return str(typer.prompt(question.text, default=default, show_default=bool(default)))


def _warn(path: Path, text: str) -> None:
    """Tell what the rules have to say, such as of an instance type that they do not know."""
    from hyperpod_cdk.commands.reports.report import FileReport
    from hyperpod_cdk.commands.reports.text import text_lines

    findings = findings_of(text, name=str(path))
    if findings:
        printer()(text_lines([FileReport(file=str(path), findings=findings)]))
