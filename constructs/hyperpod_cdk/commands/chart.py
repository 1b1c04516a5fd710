"""``hyperpod-cdk chart``: gets the chart that HyperPod needs on Amazon EKS, whole."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from hyperpod_cdk.commands.charts.source import ADDRESS_VARIABLE, ARCHIVE, FOLDER, PINNED
from hyperpod_cdk.commands.exits import FOUND, OK, CommandError


def command(
    *,
    output: Annotated[str, typer.Option("--output", "-o", metavar="FOLDER", help="Where it goes.")] = FOLDER,
    ref: Annotated[
        str | None, typer.Option(metavar="TAG", help=f"Which release is fetched. Default: {PINNED}.")
    ] = None,
    origin: Annotated[
        str | None,
        typer.Option("--from", metavar="PLACE", help="Zip, tar.gz or folder with it; nothing is fetched."),
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            envvar=ADDRESS_VARIABLE,
            help=f"Archive to fetch, {{ref}} stands for the tag. Default: {ARCHIVE}.",
        ),
    ] = None,
    sha256: Annotated[
        str | None, typer.Option(metavar="DIGEST", help="What the archive has to have. Default: unchecked.")
    ] = None,
    mirror: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FROM=TO",
            help="Take dependencies from another repository: beginnings of addresses; may stand several "
            "times.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a chart that is there already.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> int:
    """Get the chart that HyperPod needs on Amazon EKS, with its dependencies.

    Fetches helm_chart/HyperPodHelmChart of github.com/aws/sagemaker-hyperpod-cli, runs the real helm
    dependency update, and checks the outcome; the folder is there whole, or not at all. Name it in
    orchestrator.eks.helm_chart.path. Proxies are the environment's. Exit code 1: it could not be had whole.
    """
    from hyperpod_cdk.commands.charts import ChartError, Plan, get

    if origin is not None and ref is not None:
        raise CommandError("--ref means nothing with --from, which fetches nothing")
    plan = Plan(
        output=Path(output),
        ref=ref or PINNED,
        address=address or ARCHIVE,
        origin=Path(origin) if origin is not None else None,
        sha256=sha256,
        mirrors=_mirrors(mirror or ()),
        force=force,
    )
    try:
        got = get(plan, say=_silent if as_json else print)
    except ChartError as error:
        print(f"{error}\n{output}: nothing was made or changed", file=sys.stderr)
        return FOUND
    print(json.dumps(got, indent=2) if as_json else _told(got))
    return OK


def _mirrors(given: Sequence[str]) -> dict[str, str]:
    wrong = [one for one in given if not all(one.partition("=")[::2])]
    if wrong:
        raise CommandError(f"--mirror {wrong[0]}: write it as FROM=TO")
    return dict(one.split("=", 1) for one in given)


def _silent(_line: str) -> None:
    """Progress is for people."""


def _told(got: dict[str, Any]) -> str:
    lines = [f"{got['chart']}: whole, {len(got['parts'])} parts"]
    if got["sha256"]:
        lines.append(f"sha256 {got['sha256']}" + (f", commit {got['commit']}" if got["commit"] else ""))
    if got["unknown_parts"]:
        lines.append(
            f"newer than this hyperpod-cdk: {', '.join(got['unknown_parts'])}, switched by helm_chart.values"
        )
    lines += [f"warning: {one}" for one in got["warnings"]]
    lines.append(f"next: orchestrator.eks.helm_chart: {{path: {got['chart']}}}, relative to your file")
    return "\n".join(lines)
