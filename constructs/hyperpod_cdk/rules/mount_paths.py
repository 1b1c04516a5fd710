"""HP36x: where file systems are mounted, and existing ones that are not what they are called."""

import re
from collections.abc import Iterator

from hyperpod_cdk.rules.finding import Finding, Severity
from hyperpod_cdk.rules.look import file_systems, groups
from hyperpod_cdk.rules.mounts import mount_paths
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service.sources import GUIDE
from hyperpod_cdk.spec import HyperPodSpec

_SYSTEM = (
    *("/", "/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/proc", "/root", "/run", "/sbin"),
    *("/snap", "/sys", "/tmp", "/usr", "/var"),
)
"""Neither these nor anything below them (filesystem hierarchy standard)."""
_SERVICE = ("/opt", "/opt/aws", "/opt/dlami", "/opt/ml", "/opt/sagemaker", "/opt/slurm")
"""Neither these nor, but for /opt, anything below them: the service's own, the second disk's, NVMe's."""
_DNS_REGION = re.compile(r"\.fsx\.([a-z0-9-]+)\.amazonaws\.com(\.cn)?$")


@checks(
    Rule(
        code="HP360",
        title="a mount that hides what the node runs on",
        why="the file system would cover files of the system, of Slurm or of the service, and the node fails",
        fix="use a path such as /fsx, /home or /data",
        source=f"{GUIDE}sagemaker-hyperpod-ref.html, hier(7)",
    )
)
def mount_hides_the_system(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, group in groups(spec):
        for index, where in enumerate(mount_paths(spec, group)):
            if where is not None and is_system_path(where):
                yield rule.finding(f"{path}.mounts[{index}].mount_path", "is the system's own", given=where)


@checks(
    Rule(
        code="HP361",
        title="one mount inside another",
        why="whichever is mounted last hides the other's directory, and the service tells no order",
        fix="mount both side by side",
        source=f"{GUIDE}sagemaker-hyperpod-ref.html",
        severity=Severity.WARNING,
    )
)
def mount_inside_another(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, group in groups(spec):
        places = mount_paths(spec, group)
        for index, where in enumerate(places):
            outer = [one for one in places if one is not None and where is not None and _below(where, one)]
            if outer:
                message = f"is inside the mount at {outer[0]}"
                yield rule.finding(f"{path}.mounts[{index}].mount_path", message, given=where)


@checks(
    Rule(
        code="HP362",
        title="a file system of another Region",
        why="nodes do not reach its addresses, unless you have joined the two networks",
        fix="use a file system of the cluster's Region, or acknowledge this",
        source="https://docs.aws.amazon.com/fsx/latest/LustreGuide/mounting-on-premises.html",
        severity=Severity.WARNING,
    )
)
def file_system_of_another_region(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    if spec.region is None or unresolved(spec.region):
        return
    for path, name in _dns_names(spec):
        found = None if unresolved(name) else _DNS_REGION.search(name)
        if found and found[1] != spec.region:
            yield rule.finding(path, f"is in {found[1]}, the cluster in {spec.region}", given=name)


@checks(
    Rule(
        code="HP363",
        title="an id and a name of two file systems",
        why="the name begins with the id; one of the two is another file system's",
        fix="correct the one that is wrong, or leave file_system_id out",
        source="https://docs.aws.amazon.com/fsx/latest/APIReference/API_FileSystem.html",
    )
)
def id_and_name_agree(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, file_system in file_systems(spec):
        existing = file_system.existing
        if existing is None or existing.file_system_id is None:
            continue
        wanted = existing.dns_name.split(".", 1)[0]
        if not unresolved(existing.dns_name, existing.file_system_id) and existing.file_system_id != wanted:
            where, given = f"{path}.existing.file_system_id", existing.file_system_id
            yield rule.finding(where, f"is not that of {existing.dns_name}", given=given, nearest=(wanted,))


def is_system_path(path: str) -> bool:
    return (
        path in (*_SYSTEM, *_SERVICE)
        or any(_below(path, one) for one in _SYSTEM if one != "/")
        or any(_below(path, one) for one in _SERVICE if one != "/opt")
    )


def _below(path: str, folder: str) -> bool:
    return path.startswith(f"{folder.rstrip('/')}/") and path != folder


def _dns_names(spec: HyperPodSpec) -> Iterator[tuple[str, str]]:
    for path, file_system in file_systems(spec):
        if file_system.existing is not None:
            yield f"{path}.existing.dns_name", file_system.existing.dns_name
    for path, group in groups(spec):
        for index, mount in enumerate(group.mounts):
            if mount.dns_name is not None:
                yield f"{path}.mounts[{index}].dns_name", mount.dns_name
