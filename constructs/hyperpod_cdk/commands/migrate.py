"""``hyperpod-cdk migrate``: what others use becomes a configuration of ours."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hyperpod_cdk.commands.exits import FOUND, OK, CommandError
from hyperpod_cdk.commands.output import Line, printer
from hyperpod_cdk.commands.storing import SCHEMA_FILE, findings_of, store

if TYPE_CHECKING:
    from hyperpod_cdk.migration import Migration

_STYLES = {"not carried over": "bold red", "to be filled in": "bold yellow", "changed": "cyan"}


def command(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE",
            help="A CreateCluster request, provisioning_parameters.json, a CloudFormation template with "
            "AWS::SageMaker::Cluster, the output of `aws sagemaker describe-cluster` or `list-tags`.",
        ),
    ],
    *,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Default: standard output.")
    ] = None,
    own_scripts: Annotated[
        bool,
        typer.Option(
            "--own-scripts",
            help="Let the API describe Slurm, and the scripts of this library set up the nodes.",
        ),
    ] = False,
    parameter: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="Of the template; may stand several times.")
    ] = None,
    resource: Annotated[
        str | None, typer.Option(metavar="LOGICAL_ID", help="Which cluster of the template.")
    ] = None,
    region: Annotated[str | None, typer.Option(help="Default: what the files tell.")] = None,
) -> int:
    """Make a configuration of a request, a template, or a cluster that is there.

    Networks, file systems, roles and scripts that are there are referred to, not made anew. What could not be
    carried over is told item by item, and stands at the top of the configuration.
    """
    from hyperpod_cdk.migration import SourceError, migrate, read_sources

    to_file = output not in (None, "-")
    try:
        sources = read_sources(
            files, parameters=_parameters(parameter or ()), resource=resource, region=region
        )
        made = migrate(sources, schema=SCHEMA_FILE if to_file else None, own_scripts=own_scripts)
    except SourceError as error:
        raise CommandError(str(error)) from None
    if to_file:
        path = Path(str(output))
        store(path, made.text)
        print(f"wrote {path}, and {SCHEMA_FILE} for your editor")
    else:
        print(made.text, end="")
    return _told(made, name=str(output) if to_file else "<stdout>", to_file=to_file)


def _parameters(given: Sequence[str]) -> dict[str, str]:
    wrong = [one for one in given if "=" not in one]
    if wrong:
        raise CommandError(f"--parameter {wrong[0]}: write it as NAME=VALUE")
    return dict(one.split("=", 1) for one in given)


def _told(made: "Migration", *, name: str, to_file: bool) -> int:
    """Tell the notes and the findings; standard output is for the YAML when no file takes it."""
    from hyperpod_cdk.commands.reports.report import FileReport
    from hyperpod_cdk.commands.reports.text import text_lines
    from hyperpod_cdk.rules import errors

    show = printer(sys.stdout if to_file else sys.stderr)
    show(_note_lines(made))
    findings = findings_of(made.text, name=name)
    if findings:
        show(text_lines([FileReport(file=name, findings=findings)]))
    return OK if made.is_complete and not errors(findings) else FOUND


def _note_lines(made: "Migration") -> Iterator[Line]:
    for note in made.notes:
        yield [
            (f"{note.kind}: ", _STYLES.get(str(note.kind), "")),
            (f"{note.path}: ", "bold"),
            (note.text, ""),
        ]
    if made.is_complete:
        yield [("everything was carried over", "bold green")]
