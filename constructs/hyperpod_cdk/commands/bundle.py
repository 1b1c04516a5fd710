"""``hyperpod-cdk bundle``: what nodes would download, gathered for a network without internet."""

import sys
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer

from hyperpod_cdk.commands.exits import FOUND, OK, CommandError

DEFAULT_FOLDER = "bundle"


def command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="YAML file of a cluster.")],
    *,
    to: Annotated[
        str | None,
        typer.Option(
            metavar="PLACE",
            help="Folder or s3://bucket/prefix. Default: lifecycle.downloads.folder of the file, else its "
            "source, else a folder named bundle beside it.",
        ),
    ] = None,
    only_list: Annotated[
        bool, typer.Option("--list", help="Print names, addresses and checksums, and download nothing.")
    ] = False,
) -> int:
    """Gather what the nodes of a cluster on Slurm would download, each file checked.

    Name the folder in lifecycle.downloads.folder: it is deployed with the stack, and nodes need no internet.
    """
    from hyperpod_cdk.commands import bundling
    from hyperpod_cdk.config import ConfigError, read

    try:
        spec = read(Path(file)).spec
    except ConfigError as error:
        raise CommandError(str(error)) from None
    if spec.cluster.orchestrator.eks is not None:
        raise CommandError(
            "nodes on Amazon EKS download nothing of ours; `hyperpod-cdk chart` gets the chart, and "
            "helm_chart.values and add_ons say where images come from"
        )
    wanted = bundling.needed(spec)
    if not wanted:
        print(f"the nodes of {file} download nothing", file=sys.stderr)
        return OK
    if only_list:
        for name, one in wanted.items():
            print(f"{name}  {one.url}  {one.sha256}")
        return OK
    downloads = spec.lifecycle.downloads
    place = to or downloads.folder or downloads.source or str(Path(file).resolve().parent / DEFAULT_FOLDER)
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        with tempfile.TemporaryDirectory(prefix="hyperpod-cdk-") as folder:
            faults = bundling.gather(wanted, _target(place), Path(folder), say=print)
    except (BotoCoreError, ClientError, OSError) as error:
        # a bucket that may not be written to, a disk that is full: no file after this one fares better
        raise CommandError(f"{place} can not be filled: {error}") from None
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"{len(wanted) - len(faults)} of {len(wanted)} files in {place}")
    return FOUND if faults else OK


def _target(place: str) -> Any:
    from hyperpod_cdk.commands import bundling

    if not place.startswith("s3://"):
        return bundling.Folder(Path(place))
    from botocore.session import get_session

    return bundling.Bucket(place, get_session().create_client("s3"))
