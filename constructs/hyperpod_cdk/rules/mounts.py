"""HP33x: existing file systems, and what groups mount."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from difflib import get_close_matches

from hyperpod_cdk.rules.defaults import is_default
from hyperpod_cdk.rules.finding import Finding, Severity
from hyperpod_cdk.rules.look import file_systems, groups, lifecycle_mode
from hyperpod_cdk.rules.paths import join
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service.sources import API, GUIDE
from hyperpod_cdk.spec import FileSystem, HyperPodSpec, InstanceGroup, LifecycleMode, Mount

_REFERENCE = f"{GUIDE}sagemaker-hyperpod-ref.html"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_DEFAULT_PATHS: Mapping[str, str] = {"LUSTRE": "/fsx", "OPENZFS": "/home"}


@checks(
    Rule(
        code="HP330",
        title="a name of a file system that can not be",
        why="the name becomes part of names in the stack",
        fix="use a letter, then letters, digits, hyphens and underscores",
        source="hyperpod_cdk.spec.HyperPodSpec",
    )
)
def storage_name(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for name in spec.storage:
        if not unresolved(name) and not _NAME.fullmatch(name):
            yield rule.finding(join("storage", name), "is no name for a file system", given=name)


@checks(
    Rule(
        code="HP331",
        title="an existing file system and settings of a new one",
        why="nothing of an existing file system is changed, so that the settings would do nothing",
        fix="remove the setting, or remove existing to create a file system",
        source="hyperpod_cdk.spec",
    )
)
def existing_excludes_settings(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, file_system in file_systems(spec):
        if file_system.existing is None:
            continue
        for field in fields(file_system):
            value = getattr(file_system, field.name)
            if field.name not in ("existing", "file_system_type") and not is_default(value, field):
                yield rule.finding(f"{path}.{field.name}", "is a setting of a new file system", given=value)


@checks(
    Rule(
        code="HP332",
        title="a mount name where it does not belong, or none where it does",
        why="Lustre is mounted by DNS name and mount name, OpenZFS by DNS name alone",
        fix="give mount_name for Lustre (`aws fsx describe-file-systems` shows MountName), not for OpenZFS",
        source=_REFERENCE,
    )
)
def mount_name(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    named: list[tuple[str, str | None, str | None]] = [
        (f"{path}.existing.mount_name", file_system.file_system_type, file_system.existing.mount_name)
        for path, file_system in file_systems(spec)
        if file_system.existing is not None
    ]
    named += [
        (f"{path}.mount_name", mount.file_system_type, mount.mount_name)
        for path, mount in _mounts(spec)
        if mount.storage is None
    ]
    for path, kind, value in named:
        if kind == "LUSTRE" and value is None:
            yield rule.finding(path, "is missing for a Lustre file system")
        elif kind == "OPENZFS" and value is not None:
            yield rule.finding(path, "is for Lustre only", given=value)


@checks(
    Rule(
        code="HP333",
        title="a mount of a file system that is not there",
        why="a group mounts what storage names",
        fix="use a name from storage, or add the file system there",
        source="hyperpod_cdk.spec.Mount",
    )
)
def mount_of_unknown(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    if unresolved(*spec.storage):
        return
    for path, mount in _mounts(spec):
        name = mount.storage
        if name is not None and not unresolved(name) and name not in spec.storage:
            yield rule.finding(
                f"{path}.storage",
                "is no file system of storage",
                given=name,
                allowed=", ".join(spec.storage) or "none, since storage is empty",
                nearest=get_close_matches(name, spec.storage, n=1),
            )


@checks(
    Rule(
        code="HP334",
        title="a mount that names its file system twice, or not at all",
        why="either storage says which file system, or file_system_type and dns_name do",
        fix="keep storage alone, or give file_system_type and dns_name without it",
        source="hyperpod_cdk.spec.Mount",
    )
)
def mount_is_clear(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, mount in _mounts(spec):
        for field in ("file_system_type", "dns_name", "mount_name"):
            value = getattr(mount, field)
            if mount.storage is not None and value is not None:
                yield rule.finding(f"{path}.{field}", "follows from storage, which is given too", given=value)
            elif mount.storage is None and value is None and field != "mount_name":
                yield rule.finding(f"{path}.{field}", "is missing, and so is storage")


@checks(
    Rule(
        code="HP335",
        title="more file systems of one kind than a group can mount",
        why="the API takes one Lustre and one OpenZFS file system a group; this library's scripts mount the "
        "others, and do not run in ami mode nor beside scripts of your own",
        fix="keep one of each, or use lifecycle mode extension, custom or legacy without life_cycle_config",
        source=_REFERENCE,
    )
)
def one_of_eachkind_of(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, group in groups(spec):
        mode = lifecycle_mode(spec, group)
        if unresolved(mode) or (mode != LifecycleMode.AMI and group.life_cycle_config is None):
            continue
        seen: set[str] = set()
        for index, mount in enumerate(group.mounts):
            kind = kind_of(spec, mount)
            if kind in seen:
                yield rule.finding(f"{path}.mounts[{index}]", f"is the group's second {kind} file system")
            elif kind is not None:
                seen.add(kind)


@checks(
    Rule(
        code="HP336",
        title="two mounts at one path",
        why="the second would hide the first",
        fix="give each a mount_path of its own; without one Lustre is at /fsx and OpenZFS at /home",
        source=f"{API}API_ClusterFsxLustreConfig.html, {API}API_ClusterFsxOpenZfsConfig.html",
    )
)
def mount_paths_differ(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, group in groups(spec):
        seen: set[str] = set()
        for index, where in enumerate(mount_paths(spec, group)):
            if where in seen:
                yield rule.finding(f"{path}.mounts[{index}].mount_path", "is taken already", given=where)
            elif where is not None:
                seen.add(where)


@checks(
    Rule(
        code="HP337",
        title="a file system that nothing mounts",
        why="it costs money and nobody can reach it from the cluster",
        fix="mount it from a group, on Amazon EKS by a volume, or remove it from storage",
        source="hyperpod_cdk.spec.HyperPodSpec",
        severity=Severity.WARNING,
    )
)
def unused_storage(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    eks = spec.cluster.orchestrator.eks
    volumes = eks.volumes.values() if eks is not None and not unresolved(eks.volumes) else ()
    used = {*(mount.storage for _, mount in _mounts(spec)), *(volume.storage for volume in volumes)}
    for name in spec.storage:
        if name not in used and not unresolved(name, *(one for one in used if one)):
            yield rule.finding(join("storage", name), f"is mounted by no {'volume' if eks else 'group'}")


@checks(
    Rule(
        code="HP338",
        title="EFA for a file system that has none",
        why="only Lustre has clients for EFA",
        fix="remove efa from the mount",
        source="https://docs.aws.amazon.com/fsx/latest/LustreGuide/configure-efa-clients.html",
    )
)
def efa_is_lustre(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, mount in _mounts(spec):
        if mount.efa and not unresolved(mount.efa) and kind_of(spec, mount) == "OPENZFS":
            yield rule.finding(f"{path}.efa", "is for Lustre only", given=mount.efa)


def mount_paths(spec: HyperPodSpec, group: InstanceGroup) -> list[str | None]:
    """Where a group's mounts are on its nodes; None where that can not be told."""
    paths = []
    for mount in group.mounts:
        path = mount.mount_path or _DEFAULT_PATHS.get(kind_of(spec, mount) or "")
        paths.append(None if path is None or unresolved(path) else path.rstrip("/") or "/")
    return paths


def _mounts(spec: HyperPodSpec) -> Iterator[tuple[str, Mount]]:
    for path, group in groups(spec):
        for index, mount in enumerate(group.mounts):
            yield f"{path}.mounts[{index}]", mount


def kind_of(spec: HyperPodSpec, mount: Mount) -> str | None:
    """``LUSTRE`` or ``OPENZFS``; None where that can not be told."""
    found: FileSystem | None = spec.storage.get(mount.storage) if mount.storage is not None else None
    kind = found.file_system_type if found else mount.file_system_type
    return None if kind is None or unresolved(kind) else kind
