"""HP347: nodes that reach FSx for Lustre over EFA, and how many of them it takes."""

from collections.abc import Iterator

from hyperpod_cdk.rules.finding import Finding, Severity
from hyperpod_cdk.rules.look import groups, is_eks
from hyperpod_cdk.rules.paths import join
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service import fsx
from hyperpod_cdk.service.instance_types import find
from hyperpod_cdk.spec import FileSystem, HyperPodSpec, InstanceGroup, LustreFileSystem, Mount

_NO_CLIENT = "ml.trn2."
"""EFA of its own, but no client of file systems over it (configure-efa-clients.html)."""


@checks(
    Rule(
        code="HP347",
        title="more EFA connections than a Lustre file system takes",
        why="it takes 1024 over all of its nodes, and each EFA device that carries Lustre is one: 8 a "
        "p5.48xlarge, so that 128 of those use them up; which nodes get none is left to chance",
        fix="let some of the groups mount another file system, or take EFA devices from Lustre in a step of "
        "your own (`lnetctl net del --net efa --if <device>`)",
        source=f"{fsx.LUSTRE_GUIDE}configure-efa-clients.html",
        severity=Severity.WARNING,
    )
)
def efa_connections(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    if is_eks(spec):
        return
    for path, clients in _clients(spec).items():
        total = sum(count * devices for count, devices in clients)
        if total > fsx.LUSTRE_EFA_CONNECTIONS:
            nodes = sum(count for count, _ in clients)
            message = f"gets {total} EFA connections from {nodes} nodes"
            allowed = f"{fsx.LUSTRE_EFA_CONNECTIONS} connections"
            if len({devices for _, devices in clients}) == 1:
                most = fsx.LUSTRE_EFA_CONNECTIONS // clients[0][1]
                allowed += f": {most} of these nodes with {clients[0][1]} each"
            yield rule.finding(path, message, allowed=allowed)


def _clients(spec: HyperPodSpec) -> dict[str, list[tuple[int, int]]]:
    """Groups over EFA by the path of what they mount: how many nodes, and how many devices each."""
    clients: dict[str, list[tuple[int, int]]] = {}
    outside: dict[str, str] = {}
    for group_path, group in groups(spec):
        devices = _devices(group)
        if devices == 0 or unresolved(group.instance_count):
            continue
        reached = set()
        for index, mount in enumerate(group.mounts):
            if unresolved(mount.storage, mount.dns_name, mount.efa) or not _over_efa(spec, mount):
                continue
            if mount.storage:
                reached.add(join("storage", mount.storage))
            elif mount.dns_name:
                reached.add(outside.setdefault(mount.dns_name, f"{group_path}.mounts[{index}]"))
        for path in sorted(reached):
            clients.setdefault(path, []).append((group.instance_count, devices))
    return clients


def _over_efa(spec: HyperPodSpec, mount: Mount) -> bool:
    """Whether a mount is made over EFA where the node has it; `HyperPodStack` goes by the file system."""
    found: FileSystem | None = spec.storage.get(mount.storage) if mount.storage else None
    if isinstance(found, LustreFileSystem) and found.existing is None and not unresolved(found.efa_enabled):
        return found.efa_enabled or mount.efa
    return mount.efa


def _devices(group: InstanceGroup) -> int:
    """EFA devices of a node that carry Lustre, at most; 0 where the types do not tell."""
    return max(map(_devices_of, group.instance_types), default=0)


def _devices_of(name: str) -> int:
    known = find(name)
    if unresolved(name) or name.startswith(_NO_CLIENT) or known is None or known.efa_interfaces == 0:
        return 0
    limit = fsx.LUSTRE_EFA_INTERFACES.get(name, fsx.LUSTRE_EFA_INTERFACES_OF_OTHERS)
    return limit if known.efa_interfaces is None else min(known.efa_interfaces, limit)
