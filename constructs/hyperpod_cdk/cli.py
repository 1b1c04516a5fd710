"""The command line, ``hyperpod-cdk``. Never loads aws_cdk by itself, so that it fits into an editor."""

import argparse
import json
import os
import re
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import Any

from hyperpod_cdk.rules import RULES, Finding, Severity, check, errors

OK, FOUND, WRONG_INPUT = 0, 1, 2
"""Exit codes: all is well; the spec breaks rules; the input can not be read."""

_STACK_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,62}")
_SCHEMA_FILE = "hyperpod.schema.json"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: without the program's name. Default: those of the process.

    Returns:
        0: all is well, 1: the spec breaks rules, 2: wrong input.
    """
    parsed = _parser().parse_args(arguments)
    try:
        code: int = parsed.run(parsed)
        sys.stdout.flush()
    except ModuleNotFoundError as error:
        if (error.name or "hyperpod_cdk").startswith("hyperpod_cdk"):
            raise
        extra = f"pip install 'hyperpod-cdk[{parsed.extra}]'"
        return _refuse(f"this needs {error.name}, which is not installed: {extra}")
    except BrokenPipeError:
        # the reader of a pipe has seen enough; Python would complain again when it exits
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    return code


def _validate(parsed: argparse.Namespace) -> int:
    from hyperpod_cdk import config

    code, by_file = OK, {}
    for file in parsed.files:
        try:
            found = config.read(file)
            by_file[file] = found.placed(check(found.spec, acknowledged=parsed.acknowledge))
            code = max(code, FOUND if errors(by_file[file]) else OK)
        except config.ConfigError as error:
            by_file[file] = list(error.findings)
            code = WRONG_INPUT
    (_print_json if parsed.json else _print_text)(by_file)
    return code


def _print_text(by_file: dict[str, list[Finding]]) -> None:
    for file, findings in by_file.items():
        for finding in findings:
            print(finding, file=sys.stderr)
        print(f"{file}: {_counts(findings)}")


def _counts(findings: Sequence[Finding]) -> str:
    if not findings:
        return "ok"
    counts = {one: sum(finding.severity is one for finding in findings) for one in Severity}
    return ", ".join(f"{count} {name}{'s'[: count != 1]}" for name, count in counts.items() if count)


def _print_json(by_file: dict[str, list[Finding]]) -> None:
    every = [finding for findings in by_file.values() for finding in findings]
    report: dict[str, Any] = {
        "errors": len(errors(every)),
        "warnings": len(every) - len(errors(every)),
        "files": [
            {"file": file, "findings": [finding.to_json() for finding in findings]}
            for file, findings in by_file.items()
        ],
    }
    print(json.dumps(report, indent=2))


def _schema(_parsed: argparse.Namespace) -> int:
    from hyperpod_cdk.config import schema

    print(json.dumps(schema(), indent=2))
    return OK


def _rules(_parsed: argparse.Namespace) -> int:
    for rule in RULES.values():
        print(f"{rule.code}  {rule.severity:7}  {rule.title}")
    return OK


def _explain(parsed: argparse.Namespace) -> int:
    rule = RULES.get(parsed.code.upper())
    if rule is None:
        nearest = get_close_matches(parsed.code.upper(), RULES, n=3)
        offered = f"; nearest: {', '.join(nearest)}" if nearest else ""
        return _refuse(f"no rule has the code {parsed.code}{offered}; `hyperpod-cdk rules` lists them")
    print(f"{rule.code} ({rule.severity}): {rule.title}")
    print(f"why: {rule.why}\nfix: {rule.fix}\nsource: {rule.source}")
    return OK


def _init(parsed: argparse.Namespace) -> int:
    from hyperpod_cdk.config import schema

    name = parsed.name
    if not _STACK_NAME.fullmatch(name):
        return _refuse(
            f"{name!r} can not name a cluster: use a letter, then up to 62 letters, digits, hyphens"
        )
    path = Path(f"{name}.yaml")
    text = files("hyperpod_cdk").joinpath("starter.yaml").read_text(encoding="utf-8")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text.replace("__NAME__", name))
        Path(_SCHEMA_FILE).write_text(json.dumps(schema(), indent=2) + "\n", encoding="utf-8")
    except FileExistsError:
        return _refuse(f"{path} is there already, and is left as it is; choose another name")
    except OSError as error:
        return _refuse(f"{error.filename}: {error.strerror}")
    print(f"wrote {path}, and {_SCHEMA_FILE} for your editor; next: hyperpod-cdk validate {path}")
    return OK


def _rehearse(parsed: argparse.Namespace) -> int:
    from hyperpod_cdk.rehearsal import rehearse

    return rehearse(parsed.config, keep=parsed.keep, fault=parsed.fault)


def _refuse(message: str) -> int:
    print(f"hyperpod-cdk: {message}", file=sys.stderr)
    return WRONG_INPUT


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="hyperpod-cdk",
        description="Amazon SageMaker HyperPod clusters by AWS CDK: everything round the deployment.",
        epilog="exit code: 0 all is well, 1 the configuration breaks rules, 2 wrong input",
    )
    parser.set_defaults(extra="cli")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    validate = commands.add_parser("validate", help="check configurations, with no AWS account")
    validate.add_argument("files", nargs="+", metavar="FILE", help="YAML file of a cluster")
    validate.add_argument("--json", action="store_true", help="machine-readable report on stdout")
    validate.add_argument(
        "--acknowledge", action="append", default=[], metavar="CODE", help="do not tell this warning again"
    )
    validate.set_defaults(run=_validate)

    schema = commands.add_parser("schema", help="print the JSON Schema of configurations, for editors")
    schema.set_defaults(run=_schema)

    rules = commands.add_parser("rules", help="list all rules")
    rules.set_defaults(run=_rules)

    explain = commands.add_parser("explain", help="say why a rule is there and what to do")
    explain.add_argument("code", metavar="CODE", help="code of a finding, such as HP301")
    explain.set_defaults(run=_explain)

    init = commands.add_parser("init", help="write a commented configuration to start from")
    init.add_argument("name", nargs="?", default="my-cluster", metavar="NAME", help="default: my-cluster")
    init.set_defaults(run=_init)

    rehearse = commands.add_parser("rehearse", help="deploy to an embedded AWS on this machine, and destroy")
    rehearse.add_argument("config", metavar="FILE", help="YAML file of a cluster")
    rehearse.add_argument("--keep", action="store_true", help="leave the embedded AWS running")
    rehearse.add_argument(
        "--fault",
        metavar="FAULT",
        help="make something go wrong: capacity, conflict, foreign-cluster, lifecycle, rollback",
    )
    rehearse.set_defaults(run=_rehearse, extra="rehearsal")
    return parser
