"""``hyperpod-cdk init``: a configuration to start from."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from hyperpod_cdk.commands.exits import OK, CommandError
from hyperpod_cdk.commands.output import printer
from hyperpod_cdk.commands.storing import SCHEMA_FILE, findings_of, store

CHART_NOT_WHOLE = "HP512"
_Text = str | None
_Truth = bool | None


def command(
    name: Annotated[_Text, typer.Argument(metavar="NAME", help="Of the cluster and of the file.")] = None,
    *,
    orchestrator: Annotated[_Text, typer.Option(metavar="NAME", help="slurm (default) or eks.")] = None,
    region: Annotated[_Text, typer.Option(help="Such as us-west-2.")] = None,
    zone: Annotated[_Text, typer.Option(help="Availability Zone id, such as usw2-az2.")] = None,
    second_zone: Annotated[_Text, typer.Option(help="Another one, for the control plane (eks).")] = None,
    instance_type: Annotated[_Text, typer.Option(help="Of the nodes that run jobs.")] = None,
    instance_count: Annotated[_Text, typer.Option(metavar="NUMBER", help="How many of them.")] = None,
    training_plan_arn: Annotated[_Text, typer.Option(metavar="ARN", help="What reserves them.")] = None,
    login: Annotated[_Truth, typer.Option("--login/--no-login", help="A login node.")] = None,
    lustre: Annotated[_Text, typer.Option(metavar="GIB", help="Shared Lustre storage; 0: none.")] = None,
    home: Annotated[_Truth, typer.Option("--home/--no-home", help="Homes on OpenZFS.")] = None,
    chart: Annotated[
        _Text, typer.Option(metavar="FOLDER", help="HyperPod's chart, from `hyperpod-cdk chart` (eks).")
    ] = None,
    training_operator: Annotated[
        _Truth,
        typer.Option("--training-operator/--no-training-operator", help="Jobs that recover (eks)."),
    ] = None,
    task_governance: Annotated[
        _Truth, typer.Option("--task-governance/--no-task-governance", help="Queues of teams (eks).")
    ] = None,
    admin_role_arn: Annotated[
        _Text, typer.Option(metavar="ARN", help="Role that administers Kubernetes (eks).")
    ] = None,
    vpc_id: Annotated[_Text, typer.Option(metavar="ID", help="Use this VPC.")] = None,
    vpc_cidr: Annotated[_Text, typer.Option(metavar="RANGE", help="Its addresses.")] = None,
    subnet_id: Annotated[_Text, typer.Option(metavar="ID", help="A private subnet of it.")] = None,
    second_subnet_id: Annotated[
        _Text, typer.Option(metavar="ID", help="Another one, in the other zone (eks).")
    ] = None,
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
        "orchestrator": orchestrator,
        "region": region,
        "zone": zone,
        "second_zone": second_zone,
        "instance_type": instance_type,
        "instance_count": instance_count,
        "training_plan_arn": training_plan_arn,
        "login": _said(login),
        "lustre": lustre,
        "home": _said(home),
        "chart": chart,
        "training_operator": _said(training_operator),
        "task_governance": _said(task_governance),
        "admin_role_arn": admin_role_arn,
        "vpc_id": vpc_id,
        "vpc_cidr": vpc_cidr,
        "subnet_id": subnet_id,
        "second_subnet_id": second_subnet_id,
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
    missing = _missing_chart(path, answers["chart"])
    first = f"hyperpod-cdk chart --output {missing}, then " if missing else ""
    print(f"wrote {path}, and {SCHEMA_FILE} for your editor; next: {first}hyperpod-cdk validate {path}")
    _warn(path, text, silent=(CHART_NOT_WHOLE,) if missing else ())
    return OK


def _missing_chart(path: Path, chart: str | None) -> Path | None:
    """Where the chart that a configuration names is still to be put."""
    place = path.parent / chart if chart else None
    return place if place is not None and not place.exists() else None


def _said(flag: bool | None) -> str | None:
    return None if flag is None else "yes" if flag else "no"


def _ask(question: Any, default: str | None, fault: str | None) -> str:
    if fault:
        typer.echo(f"  {fault}")
    return str(typer.prompt(question.text, default=default, show_default=bool(default)))


def _warn(path: Path, text: str, *, silent: Sequence[str]) -> None:
    """Tell what the rules have to say, such as of an instance type that they do not know."""
    from hyperpod_cdk.commands.reports.report import FileReport
    from hyperpod_cdk.commands.reports.text import text_lines

    findings = [one for one in findings_of(text, name=str(path)) if one.code not in silent]
    if findings:
        printer()(text_lines([FileReport(file=str(path), findings=findings)]))
