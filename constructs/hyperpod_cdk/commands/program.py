"""The command line as typer sees it: a group whose commands load when they are called."""

import sys
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from importlib import import_module
from typing import Annotated, Any, Literal, cast

import typer
from typer.core import TyperGroup

from hyperpod_cdk.commands.exits import EXIT_CODES, INTERRUPTED, OK, WRONG_INPUT, CommandError
from hyperpod_cdk.commands.table import COMMANDS
from hyperpod_cdk.commands.version import version

NAME = "hyperpod-cdk"
"""Of the program."""


def run(arguments: Sequence[str]) -> int:
    """Run one command.

    Args:
        arguments: without the program's name; none: the help, which counts as wrong input.

    Raises:
        CommandError: the command line is wrong.
    """
    program = typer.main.get_command(_program())
    try:
        code = program.main(list(arguments) or ["--help"], prog_name=NAME, standalone_mode=False)
    except typer.TyperException as error:
        command = next((f"{NAME} {word}" for word in arguments[:1] if word in COMMANDS), NAME)
        raise CommandError(f"{error.format_message()} `{command} --help` shows what there is.") from None
    except SystemExit:
        # without standalone mode typer exits for one reason alone
        raise BrokenPipeError from None
    except typer.Abort:
        typer.echo("\ninterrupted", err=True)
        return INTERRUPTED
    return (int(code) if code else OK) if arguments else WRONG_INPUT


def _program() -> typer.Typer:
    app = typer.Typer(cls=_Group, rich_markup_mode=_markup())
    app.callback(epilog=EXIT_CODES)(_main)
    return app


def _tell(wanted: bool) -> None:
    if wanted:
        typer.echo(f"{NAME} {version()}")
        raise typer.Exit


def _main(
    _version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", is_eager=True, callback=_tell),
    ] = False,
) -> None:
    """Amazon SageMaker HyperPod clusters by AWS CDK: everything round the deployment."""


def _markup() -> Literal["rich"] | None:
    """Panels and colours are for terminals; elsewhere help is plain text."""
    return "rich" if sys.stdout.isatty() else None


class _Commands(Mapping[str, Any]):
    """Commands by name, each built when it is asked for."""

    def __getitem__(self, name: str) -> Any:
        entry = COMMANDS[name]
        function = import_module(entry.module).command
        app = typer.Typer(add_completion=False, rich_markup_mode=_markup())
        app.command(name, epilog=EXIT_CODES, short_help=entry.brief)(function)
        return typer.main.get_command(app)

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


class _Group(TyperGroup):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = cast(MutableMapping[str, Any], _Commands())

    def list_commands(self, _ctx: Any) -> list[str]:
        # typer's own would build every command to know their names
        return list(COMMANDS)
