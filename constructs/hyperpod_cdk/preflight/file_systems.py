"""HP940-HP942: file systems that are there already."""

from collections.abc import Iterator
from dataclasses import dataclass

from hyperpod_cdk.preflight import apis, places
from hyperpod_cdk.preflight.calls import Call, RefusedError, UnansweredError
from hyperpod_cdk.preflight.capacity import zones_of
from hyperpod_cdk.preflight.check import Check, Unchecked
from hyperpod_cdk.preflight.look import Item, Look
from hyperpod_cdk.rules import Finding, Rule, Severity
from hyperpod_cdk.rules.look import file_systems, groups
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service.fsx import LUSTRE_GUIDE
from hyperpod_cdk.spec import HyperPodSpec

_USABLE = frozenset({"AVAILABLE", "UPDATING"})
"""https://docs.aws.amazon.com/fsx/latest/APIReference/API_FileSystem.html: UPDATING is one that serves while
it is changed."""


_TOO_OLD = frozenset({"2.10"})
"""For clients of Lustre 2.15, as nodes have (https://github.com/amazonlinux/amazon-linux-2023/issues/723)."""


@dataclass(frozen=True, kw_only=True)
class Named:
    """An existing file system as a spec names it, and which groups mount it."""

    path: str
    file_system_id: str
    file_system_type: str | None
    mount_name: str | None
    group_paths: frozenset[str]

    @property
    def call(self) -> Call:
        """Each by itself: one that is not there would fail the call for all."""
        return apis.DESCRIBE_FILE_SYSTEMS(FileSystemIds=[self.file_system_id])


def named(spec: HyperPodSpec) -> list[Named]:
    """Every existing file system: in the storage section, or by its name at a mount."""
    found: list[tuple[str, str, str | None, str | None, frozenset[str]]] = []
    # pods with a claim may run on any node
    claimed = {volume.storage for _, volume in places.volumes(spec)}
    for (path, one), key in zip(file_systems(spec), spec.storage, strict=True):
        if one.existing is not None:
            mounted = frozenset(
                group_path
                for group_path, group in groups(spec)
                if key in claimed or any(mount.storage == key for mount in group.mounts)
            )
            file_system_id = one.existing.file_system_id or one.existing.dns_name.partition(".")[0]
            found.append(
                (f"{path}.existing", file_system_id, one.file_system_type, one.existing.mount_name, mounted)
            )
    for group_path, group in groups(spec):
        for index, mount in enumerate(group.mounts):
            if mount.dns_name:
                where, mounted = f"{group_path}.mounts[{index}]", frozenset({group_path})
                file_system_id = mount.dns_name.partition(".")[0]
                found.append((where, file_system_id, mount.file_system_type, mount.mount_name, mounted))
    return [
        Named(
            path=path, file_system_id=name, file_system_type=kind, mount_name=mount_name, group_paths=mounted
        )
        for path, name, kind, mount_name, mounted in found
        if not unresolved(name)
    ]


def described(look: Look) -> Iterator[tuple[Named, Item | Unchecked | None]]:
    """Every existing file system, None where it is not there."""
    for one in named(look.spec):
        try:
            found = look.ask(one.call, absent=["FileSystemNotFound"])
            yield one, found[0] if found else None
        except (UnansweredError, RefusedError) as reason:
            yield one, Unchecked(path=one.path, reason=str(reason))


def has_file_systems(spec: HyperPodSpec) -> bool:
    """Whether the spec names existing file systems."""
    return bool(named(spec))


def ask_file_systems(look: Look) -> list[Call]:
    """What every check of file systems asks first."""
    return [one.call for one in named(look.spec)]


def _usable(look: Look, rule: Rule) -> Iterator[Finding | Unchecked]:
    for one, found in described(look):
        if isinstance(found, Unchecked):
            yield found
        elif found is None:
            yield rule.finding(one.path, f"is no file system in {look.aws.region}", given=one.file_system_id)
        else:
            yield from _as_named(rule, one, found)


def _as_named(rule: Rule, one: Named, found: Item) -> Iterator[Finding]:
    if found["Lifecycle"] not in _USABLE:
        yield rule.finding(
            one.path, f"is {found['Lifecycle']}", given=one.file_system_id, allowed="AVAILABLE"
        )
    kind = found["FileSystemType"]
    if one.file_system_type and kind != one.file_system_type:
        yield rule.finding(
            f"{one.path}", f"is of type {kind}", given=one.file_system_id, allowed=one.file_system_type
        )
    version = found.get("FileSystemTypeVersion")
    if kind == "LUSTRE" and version in _TOO_OLD:
        yield rule.finding(
            one.path, f"runs Lustre {version}", given=one.file_system_id, allowed="2.12 or newer"
        )
    mount_name = found.get("LustreConfiguration", {}).get("MountName")
    if one.mount_name and mount_name and one.mount_name != mount_name and not unresolved(one.mount_name):
        yield rule.finding(
            f"{one.path}.mount_name", "is not its mount name", given=one.mount_name, allowed=mount_name
        )


def _same_vpc(look: Look, rule: Rule) -> Iterator[Finding | Unchecked]:
    for one, found in described(look):
        if isinstance(found, Unchecked):
            yield found
        elif found is not None:
            vpc_id = look.vpc_id()
            if vpc_id is None and look.spec.network.existing is None:
                yield rule.finding(
                    one.path, f"is in {found['VpcId']}, and the nodes in a new VPC", given=one.file_system_id
                )
            elif vpc_id != found["VpcId"]:
                yield rule.finding(
                    one.path, f"is in {found['VpcId']}, and the nodes in {vpc_id}", given=one.file_system_id
                )


def _same_zone(look: Look, rule: Rule) -> Iterator[Finding | Unchecked]:
    for one, found in described(look):
        if isinstance(found, Unchecked):
            yield found
        elif found is not None:
            zones = _zones(look, found)
            for placement in places.placements(look.spec):
                nodes = zones_of(look, placement)
                if placement.path in one.group_paths and zones and nodes and not zones & nodes:
                    yield rule.finding(
                        placement.path,
                        f"is in {', '.join(sorted(nodes))}, its file system in {', '.join(sorted(zones))}",
                        given=one.file_system_id,
                    )


def interfaces_of(look: Look, file_system: Item) -> list[Item]:
    """Network interfaces of a file system, out of all of the Region: that list is asked for anyway."""
    ids = set(file_system.get("NetworkInterfaceIds", ()))
    answer = look.aws.answer(apis.DESCRIBE_NETWORK_INTERFACES())
    return [one for one in answer if one["NetworkInterfaceId"] in ids]


def _zones(look: Look, file_system: Item) -> set[str]:
    interfaces = interfaces_of(look, file_system)
    zones = {one.get("AvailabilityZoneId") for one in interfaces}
    if None in zones:
        known = {one["ZoneName"]: one["ZoneId"] for one in look.aws.answer(apis.DESCRIBE_ZONES())}
        zones |= {known.get(one.get("AvailabilityZone", "")) for one in interfaces}
    return {zone for zone in zones if zone}


CHECKS = (
    Check(
        name="file-systems",
        rule=Rule(
            code="HP940",
            title="a file system that can not be mounted as the spec says",
            why="nodes mount it at their first start, and fail",
            fix="correct the name; `aws fsx describe-file-systems` shows Lifecycle, DNSName and MountName",
            source="https://docs.aws.amazon.com/fsx/latest/APIReference/API_FileSystem.html",
        ),
        apis=(apis.DESCRIBE_FILE_SYSTEMS,),
        asks=ask_file_systems,
        needed=has_file_systems,
        find=_usable,
    ),
    Check(
        name="file-system-vpc",
        rule=Rule(
            code="HP941",
            title="a file system in another VPC than the nodes",
            why="they do not reach it, and it takes no rule for their security group",
            fix="use the file system's VPC as network.existing, or another file system",
            source="https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html",
        ),
        apis=(apis.DESCRIBE_FILE_SYSTEMS, apis.DESCRIBE_SUBNETS),
        asks=ask_file_systems,
        needed=has_file_systems,
        find=_same_vpc,
    ),
    Check(
        name="file-system-zone",
        rule=Rule(
            code="HP942",
            title="a file system in another zone than the nodes that mount it",
            why="every read crosses zones: slower, charged by the gigabyte, and never over EFA",
            fix="put the group into the file system's zone",
            source=f"{LUSTRE_GUIDE}performance-tips.html",
            severity=Severity.WARNING,
        ),
        apis=(
            *(apis.DESCRIBE_FILE_SYSTEMS, apis.DESCRIBE_NETWORK_INTERFACES, apis.DESCRIBE_SUBNETS),
            apis.DESCRIBE_ZONES,
        ),
        asks=lambda look: [*ask_file_systems(look), apis.DESCRIBE_NETWORK_INTERFACES()],
        needed=has_file_systems,
        find=_same_zone,
    ),
)
