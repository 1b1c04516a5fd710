"""Whether an emulated cluster is the one that a request asks for, by the service's own state."""

from typing import Any

from hyperpod_cdk.rehearsal.hyperpod.state import Cluster, Group
from tests.handler.samples import Request

OWN = "hyperpod-cdk:"
OUTSIDE = "outside:"
"""Begins the keys of tags that somebody else put on a cluster."""

_SHOWN_OTHERWISE = frozenset({"InstanceCount", "MinInstanceCount", "ImageReleaseVersion"})
_KEPT = frozenset({"InstanceType", "ExecutionRole", "SlurmConfig"})


def differences(request: Request, cluster: Cluster) -> list[str]:
    """What is not as it should be; empty when all is."""
    found = [
        f"{member}: {cluster.settings.get(member, default)}"
        for member, default in (("NodeRecovery", "Automatic"), ("Orchestrator", {}), ("VpcConfig", None))
        if cluster.settings.get(member, default) != request.get(member, default)
    ]
    wanted = {entry["InstanceGroupName"]: entry for entry in request["InstanceGroups"]}
    if set(wanted) != set(cluster.groups):
        return [*found, f"groups: {sorted(cluster.groups)}, not {sorted(wanted)}"]
    for name, entry in wanted.items():
        found += [f"{name}.{text}" for text in _group_differences(entry, cluster.groups[name])]
    return found + _tag_differences(request, cluster)


def tags_of(cluster: Cluster) -> dict[str, str]:
    """A cluster's tags."""
    return {tag["Key"]: tag["Value"] for tag in cluster.tags}


def _group_differences(wanted: Request, group: Group) -> list[str]:
    shown: dict[str, Any] = {
        "InstanceCount": group.target,
        "MinInstanceCount": group.minimum,
        "ImageReleaseVersion": group.image_release,
    }
    found = [
        f"{name}: {shown[name]}" for name in _SHOWN_OTHERWISE & set(wanted) if wanted[name] != shown[name]
    ]
    members = (set(wanted) | set(group.spec)) - _SHOWN_OTHERWISE
    for name in members - (_KEPT - set(wanted)):
        if _unordered(wanted.get(name)) != _unordered(group.spec.get(name)):
            found.append(f"{name}: {group.spec.get(name)}")
    return found


def _unordered(value: Any) -> Any:
    return sorted(value) if isinstance(value, list) else value


def _tag_differences(request: Request, cluster: Cluster) -> list[str]:
    tags = tags_of(cluster)
    wanted = {tag["Key"]: tag["Value"] for tag in request.get("Tags", ())}
    users = {key: value for key, value in tags.items() if not key.startswith((OWN, OUTSIDE))}
    found = [] if users == wanted else [f"tags: {users}"]
    return found + (["a note of a pending update"] if f"{OWN}pending-update" in tags else [])
