"""HP44x: files of your own that are deployed to the nodes."""

import ast
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from hyperpod_cdk.rules.finding import Finding, Severity
from hyperpod_cdk.rules.look import groups, is_legacy, lifecycle_mode, runs_our_scripts
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service.sources import GUIDE
from hyperpod_cdk.spec import HyperPodSpec, LifecycleMode

_FOLDER = "lifecycle.extra_files"
_LEGACY_FILE = "provisioning_parameters.json"
_RUN_FOLDERS = ("before.d", "after.d")
_RUN_SUFFIXES = (".sh", ".py")
_LARGE_MIB = 100
_READ_AT_MOST = 1 << 20

_TRAPS: Mapping[str, str] = {
    r"task/cgroup": "sets TaskPlugin=task/cgroup, which ends auto-resume without a word",
    r"plugstack\.conf\.d/\*": "includes plugstack.conf.d by a wildcard, on which Slurm hangs without local "
    "configuration files",
    r"systemctl\s+(re)?start\s+slurmctld": "starts or restarts slurmctld, which the scripts do in its turn",
    r"\baws\s+configure\b": "runs aws configure, after which the node's role is no longer used",
    r"^\s*apt(-get)?\s+(-\S+\s+)*(dist-upgrade|full-upgrade|upgrade)\b": "upgrades all packages, among them "
    "the kernel that the Lustre client is made for",
}
"""What breaks something that the service or the scripts rely on, and how it is told."""


@checks(
    Rule(
        code="HP440",
        title="provisioning_parameters.json beside Slurm described by the API",
        why="the service refuses a cluster with such a file anywhere under a group's scripts",
        fix="remove the file from extra_files, or use lifecycle.mode: legacy, which writes it",
        source=f"{GUIDE}sagemaker-hyperpod-slurm-api-config-migration.html",
    )
)
def stray_legacy_file(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    modes = [lifecycle_mode(spec, group) for _, group in groups(spec)]
    if unresolved(*modes) or is_legacy(spec):
        return
    for path in _files(spec):
        if path.name == _LEGACY_FILE:
            yield rule.finding(_FOLDER, f"holds {_shown(spec, path)}", given=spec.lifecycle.extra_files)


@checks(
    Rule(
        code="HP441",
        title="a file that looks like a step and is none",
        why="of extra_files the nodes run *.sh and *.py that lie in before.d and after.d, and nothing else",
        fix="give it the ending .sh or .py, or put it into another folder for your scripts to read",
        source="lifecycle_scripts/README.md",
        severity=Severity.WARNING,
    )
)
def never_run(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path in _files(spec):
        folder = _shown(spec, path).split("/")[:-1]
        if folder and folder[0] in _RUN_FOLDERS and (path.suffix not in _RUN_SUFFIXES or folder[1:]):
            yield rule.finding(_FOLDER, f"holds {_shown(spec, path)}, which is not run")


@checks(
    Rule(
        code="HP442",
        title="a script of yours that Python can not read",
        why="the node fails on it, after the ten minutes that it takes to get there",
        fix="correct the line",
        source="lifecycle_scripts/README.md",
    )
)
def unreadable_script(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path in _files(spec):
        if path.suffix != ".py" or path.parent.name not in _RUN_FOLDERS:
            continue
        try:
            ast.parse(path.read_bytes(), feature_version=(3, 10))
        except (SyntaxError, ValueError) as error:
            line = getattr(error, "lineno", None) or 1
            message = f"holds {_shown(spec, path)}, line {line}: {getattr(error, 'msg', None) or error}"
            yield rule.finding(_FOLDER, message)


@checks(
    Rule(
        code="HP443",
        title="a script of yours that undoes what the cluster relies on",
        why="it works on the day it is written, and costs a job or a node later",
        fix="leave it to the service and to the scripts, or acknowledge this",
        source=f"{GUIDE}sagemaker-hyperpod-lifecycle-best-practices-slurm.html",
        severity=Severity.WARNING,
    )
)
def script_trap(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path in _files(spec):
        if path.suffix not in _RUN_SUFFIXES:
            continue
        for number, line in enumerate(_lines(path), 1):
            for wanted, what in _TRAPS.items():
                if not line.lstrip().startswith("#") and re.search(wanted, line):
                    yield rule.finding(_FOLDER, f"holds {_shown(spec, path)}, line {number} {what}")


@checks(
    Rule(
        code="HP444",
        title="more to download than a node should at each start",
        why="every node of every group downloads all of it, each time that it is set up or replaced",
        fix="put large files on a file system or into a bucket of their own",
        source="hyperpod_cdk.spec.Lifecycle",
        severity=Severity.WARNING,
    )
)
def large_files(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    size = sum(path.stat().st_size for path in _files(spec))
    if size > _LARGE_MIB << 20:
        allowed = f"up to {_LARGE_MIB} MiB to be quick"
        yield rule.finding(_FOLDER, f"holds {size >> 20} MiB and more", allowed=allowed)


@checks(
    Rule(
        code="HP445",
        title="users or files for nodes that run none of these scripts",
        why="users and extra_files come with the scripts of this library, which ami mode and groups with "
        "life_cycle_config do without",
        fix="use lifecycle.mode: extension, or remove what no node would get",
        source="hyperpod_cdk.spec.Lifecycle",
    )
)
def nobody_gets_it(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    every = [group for _, group in groups(spec)]
    modes = [lifecycle_mode(spec, group) for group in every]
    if not every or unresolved(*modes) or any(runs_our_scripts(spec, group) for group in every):
        return
    for name in ("users", "extra_files"):
        if getattr(spec.lifecycle, name):
            yield rule.finding(f"lifecycle.{name}", "reaches no node, since no group runs the scripts")


@checks(
    Rule(
        code="HP446",
        title="users who are missing on some nodes",
        why="Slurm starts a job as the user who submitted it, and fails on a node without that user",
        fix="use lifecycle_mode: extension for every group",
        source="hyperpod_cdk.spec.Lifecycle",
        severity=Severity.WARNING,
    )
)
def users_on_some_nodes(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    every = list(groups(spec))
    if not spec.lifecycle.users or unresolved(*(lifecycle_mode(spec, group) for _, group in every)):
        return
    for path, group in every if any(runs_our_scripts(spec, group) for _, group in every) else ():
        if lifecycle_mode(spec, group) == LifecycleMode.AMI and group.life_cycle_config is None:
            yield rule.finding(path, "runs no scripts that make lifecycle.users")


def _files(spec: HyperPodSpec) -> list[Path]:
    """The files of extra_files; none where there is no such folder, which another rule tells."""
    folder = spec.lifecycle.extra_files
    if folder is None or unresolved(folder):
        return []
    found = (Path(root) / name for root, _, names in os.walk(folder) for name in names)
    return sorted(path for path in found if path.is_file())


def _lines(path: Path) -> list[str]:
    with path.open("rb") as file:
        return file.read(_READ_AT_MOST).decode("utf-8", errors="replace").splitlines()


def _shown(spec: HyperPodSpec, path: Path) -> str:
    return path.relative_to(spec.lifecycle.extra_files or "").as_posix()
