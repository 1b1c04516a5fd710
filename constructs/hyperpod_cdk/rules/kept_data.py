"""HP35x: data, and the changes that would cost it."""

from collections.abc import Iterator

from hyperpod_cdk.rules.finding import Finding, Severity
from hyperpod_cdk.rules.look import (
    file_systems,
    groups,
    groups_of,
    lifecycle_mode,
    new_lustre,
    runs_our_scripts,
)
from hyperpod_cdk.rules.mounts import kind_of, mount_paths
from hyperpod_cdk.rules.paths import join
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service import fsx
from hyperpod_cdk.service.fsx_changes import replacing
from hyperpod_cdk.service.sources import GUIDE
from hyperpod_cdk.spec import (
    HyperPodSpec,
    InstanceGroup,
    LustreDeploymentType,
    LustreFileSystem,
    NodeType,
    OpenZfsFileSystem,
    RemovalPolicy,
)

_SCRATCH = (LustreDeploymentType.SCRATCH_1, LustreDeploymentType.SCRATCH_2)


@checks(
    Rule(
        code="HP350",
        title="data that a later change would delete",
        why="some changes make CloudFormation create the file system anew and empty, and delete the old one, "
        "which removal_policy: destroy lets it do",
        fix="use removal_policy: retain while the data matters, or acknowledge this",
        source=f"{fsx.CAPACITY_SOURCE}, {fsx.LUSTRE_SOURCE}, {fsx.OPENZFS_SOURCE}",
        severity=Severity.WARNING,
    )
)
def destroyed_when_replaced(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, file_system in file_systems(spec):
        if file_system.existing is not None or file_system.removal_policy != RemovalPolicy.DESTROY:
            continue
        yield rule.finding(
            f"{path}.removal_policy",
            f"deletes the data when one of these changes: {', '.join(replacing(file_system))}",
            given=file_system.removal_policy,
        )


@checks(
    Rule(
        code="HP351",
        title="home directories on scratch storage",
        why="a scratch file system loses what lay on a server that fails; nothing is replicated or backed up",
        fix="mount an OpenZFS file system for homes, or use PERSISTENT_2",
        source=f"{fsx.LUSTRE_GUIDE}using-fsx-lustre.html",
        severity=Severity.WARNING,
    )
)
def homes_on_scratch(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for name, lustre in spec.storage.items():
        if not isinstance(lustre, LustreFileSystem) or lustre.existing:
            continue
        if lustre.deployment_type in _SCRATCH and any(
            _home(spec, group) == name for _, group in groups(spec)
        ):
            yield rule.finding(join("storage", name), "has the homes of users", given=lustre.deployment_type)


@checks(
    Rule(
        code="HP352",
        title="a file system that can never grow",
        why="FSx refuses more capacity for SCRATCH_1, and the update of the stack fails",
        fix="use SCRATCH_2 or PERSISTENT_2",
        source=f"{fsx.LUSTRE_GUIDE}managing-storage-capacity.html",
        severity=Severity.WARNING,
    )
)
def never_grows(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, lustre in new_lustre(spec):
        if lustre.deployment_type == LustreDeploymentType.SCRATCH_1:
            given = lustre.deployment_type
            yield rule.finding(f"{path}.deployment_type", "keeps its first capacity", given=given)


@checks(
    Rule(
        code="HP353",
        title="home directories on the nodes' own disks",
        why="a node that is replaced or gets new software has them empty again, and each node has others",
        fix="mount a file system on every group; homes lie on OpenZFS where there is one, else on Lustre",
        source=f"{GUIDE}sagemaker-hyperpod-lifecycle-best-practices-slurm.html",
        severity=Severity.WARNING,
    )
)
def homes_on_nodes(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, group in groups(spec) if spec.lifecycle.users else ():
        mode = lifecycle_mode(spec, group)
        if not unresolved(mode, group.mounts) and not group.mounts and runs_our_scripts(spec, group):
            yield rule.finding(f"{path}.mounts", "has no place for the homes of lifecycle.users")


@checks(
    Rule(
        code="HP354",
        title="homes of the same people at different places",
        why="a job starts in the directory that it was submitted from, with its HOME: neither is there on "
        "nodes whose homes lie elsewhere",
        fix="mount the file system with the homes on every group, at one path; homes lie on OpenZFS where a "
        "group mounts one, else on Lustre",
        source="lifecycle_scripts/hyperpod_node/homes.py, https://slurm.schedmd.com/sbatch.html (--chdir)",
        severity=Severity.WARNING,
    )
)
def homes_at_different_places(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    if not spec.lifecycle.users:
        return
    logged_in = NodeType.LOGIN if groups_of(spec, NodeType.LOGIN) else NodeType.CONTROLLER
    first: tuple[str, str, str] | None = None
    for path, group in (*groups_of(spec, logged_in), *groups_of(spec, NodeType.COMPUTE)):
        place = _place(spec, group)
        if place is None or unresolved(lifecycle_mode(spec, group)) or not runs_our_scripts(spec, group):
            continue
        first = first or (group.instance_group_name, *place)
        if place != first[1:]:
            message = f"puts homes on {place[0]} at {place[1]}, and {first[0]} on {first[1]} at {first[2]}"
            yield rule.finding(f"{path}.mounts", message)


def _place(spec: HyperPodSpec, group: InstanceGroup) -> tuple[str, str] | None:
    """File system and path of the homes on a group's nodes; None where it has none, or that is not known."""
    found: dict[str, tuple[str, str]] = {}
    for mount, path in zip(group.mounts, mount_paths(spec, group), strict=True):
        kind, name = kind_of(spec, mount), mount.storage or mount.dns_name
        if kind is None or path is None or name is None or unresolved(name):
            return None
        found.setdefault(kind, (name, path))
    return found.get("OPENZFS") or found.get("LUSTRE")


def _home(spec: HyperPodSpec, group: InstanceGroup) -> str | None:
    """The file system with the homes of a group's nodes: OpenZFS before Lustre; None where unclear."""
    names = [mount.storage for mount in group.mounts]
    if any(name is None or unresolved(name) for name in names):
        return None
    found = [(name, spec.storage.get(name or "")) for name in names]
    zfs = [name for name, file_system in found if isinstance(file_system, OpenZfsFileSystem)]
    return next(iter(zfs or names), None)
