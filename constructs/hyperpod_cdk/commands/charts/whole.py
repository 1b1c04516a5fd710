"""The whole way from an address, a file or a folder to a chart that can be deployed."""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hyperpod_cdk.commands.bundling import digest
from hyperpod_cdk.commands.charts import fetching, folder, helm
from hyperpod_cdk.commands.charts.errors import ChartError
from hyperpod_cdk.commands.charts.source import ARCHIVE, COMMITS, PINNED
from hyperpod_cdk.commands.exits import CommandError

Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is wanted.

    ``output`` is where the chart goes; ``ref`` the tag that is fetched from ``address``, in which ``{ref}``
    stands for it; ``origin`` a file or folder instead. ``sha256`` is what the archive has to have, None: not
    checked. ``mirrors`` are other repositories for dependencies, by the beginnings that they stand for.
    ``force``: a chart that is there already may be replaced.
    """

    output: Path
    ref: str = PINNED
    address: str = ARCHIVE
    origin: Path | None = None
    sha256: str | None = None
    mirrors: Mapping[str, str] = field(default_factory=dict)
    force: bool = False

    @property
    def url(self) -> str:
        """Where the archive is fetched from."""
        return self.address.replace("{ref}", self.ref)


@dataclass(kw_only=True)
class _Got:
    """What is known of where the chart came from."""

    origin: str
    sha256: str | None = None
    commit: str | None = None


def get(plan: Plan, *, say: Say) -> dict[str, Any]:
    """Get the chart, and tell what was got.

    Args:
        plan: what is wanted.
        say: told each line of progress.

    Returns:
        ``chart``, ``origin``, ``ref``, ``sha256``, ``commit``, ``parts`` (versions by names),
        ``unknown_parts``, names that have no switch here, and ``warnings``, what validate will say.

    Raises:
        CommandError: the place is taken, or nothing can be done here.
        ChartError: the chart can not be had whole.
    """
    folder.refuse_occupied(plan.output, force=plan.force)
    with folder.workplace(plan.output) as work:
        program = helm.find(work / "layer")
        got, root = _fetched(plan, work, say)
        chart = work / "chart"
        shutil.copytree(folder.find(root), chart)
        folder.mirrored(chart, plan.mirrors)
        helm.update(program, chart, say=say)
        _refuse_torn(chart)
        folder.place(chart, plan.output)
    return _result(plan, got)


def _fetched(plan: Plan, work: Path, say: Say) -> tuple[_Got, Path]:
    if plan.origin is not None and plan.origin.is_dir():
        return _Got(origin=str(plan.origin)), plan.origin
    archive, root = plan.origin, work / "unpacked"
    if archive is None:
        archive = work / "archive"
        fetching.download(plan.url, archive, say=say)
    elif not archive.is_file():
        raise CommandError(f"{archive}: no such file or directory")
    got = _Got(origin=str(plan.origin or plan.url), sha256=digest(archive))
    if plan.sha256 is not None and got.sha256 != plan.sha256.lower():
        raise ChartError(f"sha256 is {got.sha256} instead of {plan.sha256}: nothing of it was used")
    root.mkdir()
    got.commit = fetching.unpack(archive, root)
    expected = COMMITS.get(plan.ref) if plan.origin is None else None
    if expected and got.commit and not got.commit.startswith(expected):
        raise ChartError(
            f"tag {plan.ref} is commit {got.commit} instead of {expected}…: it was moved, or the address is "
            "another repository's. Look at the difference; --from takes an archive as it is"
        )
    return got, root


def _refuse_torn(chart: Path) -> None:
    """What the deployment would say, before the chart is put in place."""
    from hyperpod_cdk.rules.helm_chart import check_chart
    from hyperpod_cdk.spec import HelmChart

    findings = check_chart(HelmChart(path=str(chart)))
    if findings:
        # the path is one that is gone by the time anybody reads it
        fix = "get another release with --ref, or look into what --from names"
        raise ChartError("\n".join(str(replace(one, given=None, fix=fix)) for one in findings))


def _result(plan: Plan, got: _Got) -> dict[str, Any]:
    from hyperpod_cdk.rules.helm_chart_release import age
    from hyperpod_cdk.service.hyperpod_chart import SUB_CHARTS

    parts = {
        str(one.get("name")): str(one.get("version"))
        for one in folder.described(plan.output).get("dependencies") or ()
    }
    return {
        "chart": str(plan.output),
        "origin": got.origin,
        "ref": plan.ref if plan.origin is None else None,
        "sha256": got.sha256,
        "commit": got.commit,
        "parts": parts,
        "unknown_parts": [name for name in parts if name not in SUB_CHARTS],
        "warnings": [text for text in [age(plan.output)] if text],
    }
