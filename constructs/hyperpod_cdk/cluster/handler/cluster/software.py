"""Software updates: images and release versions, by UpdateClusterSoftware."""

import json
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

from .difference import Change
from .policy import Policy
from .request import Desired
from .step import Step


def software_steps(changes: tuple[Change, ...], desired: Desired) -> Iterator[Step]:
    """Give the calls that bring groups to their images, one for each image and rolling policy.

    The API takes one image and one rolling policy a call, and a release version a group. It updates the
    groups of a call side by side.

    Args:
        changes: of the whole request; those that are no software are passed over.
        desired: for the rolling policies.
    """
    batches: dict[str, dict[str, Any]] = {}
    for path, members in _by_group(changes).items():
        arguments = _arguments(path, members, desired)
        group = arguments.pop("group")
        together = json.dumps([arguments, path if desired.group_by_group else ""], sort_keys=True)
        batch = batches.setdefault(together, {**arguments, "InstanceGroups": []})
        batch["InstanceGroups"].append(group)
    for arguments in batches.values():
        digest = zlib.crc32(json.dumps(arguments, sort_keys=True).encode())
        key = f"software-{digest:08x}"
        yield Step(key=key, operation="update_cluster_software", arguments=arguments)


def _by_group(changes: tuple[Change, ...]) -> dict[str, dict[str, Any]]:
    groups: dict[str, dict[str, Any]] = {}
    for change in changes:
        if change.rule.policy is Policy.SOFTWARE:
            value = change.rule.reset if change.new is None else change.new
            groups.setdefault(change.path.rpartition(".")[0], {})[change.name] = value
    return groups


def _arguments(path: str, members: Mapping[str, Any], desired: Desired) -> dict[str, Any]:
    name = path.partition("[")[2].rstrip("]")
    group = {"InstanceGroupName": name}
    if "ImageReleaseVersion" in members:
        group["ImageReleaseVersion"] = members["ImageReleaseVersion"]
    arguments: dict[str, Any] = {"group": group}
    if "ImageId" in members:
        arguments["ImageId"] = members["ImageId"]
    deployment = desired.deployment or _scheduled(name, desired)
    if deployment:
        arguments["DeploymentConfig"] = deployment
    return arguments


def _scheduled(name: str, desired: Desired) -> Mapping[str, Any] | None:
    """The rolling policy that the group has for its scheduled updates holds for this one too."""
    groups = {group["InstanceGroupName"]: group for group in desired.request.get("InstanceGroups", ())}
    deployment: Mapping[str, Any] | None = (
        groups[name].get("ScheduledUpdateConfig", {}).get("DeploymentConfig")
    )
    return deployment
