"""The output of `aws sagemaker describe-cluster`, as the request that would make such a cluster."""

from collections.abc import Mapping
from typing import Any

from hyperpod_cdk.migration.notes import Kind, Note
from hyperpod_cdk.rules.paths import join
from hyperpod_cdk.service.shapes import shape

_COUNT = "how many nodes there are now"
_IMAGE = "the image in use; set image_id or image_release_version to hold on to one, else the newest is taken"
_STATE: Mapping[str, str] = {
    "ClusterStatus": "how the cluster is",
    "CreationTime": "when the cluster was made",
    "FailureMessage": "what went wrong last",
    "CurrentCount": _COUNT,
    "TargetStateCount": _COUNT,
    "Status": "how the group is",
    "TrainingPlanStatus": "how the plan is",
    "InstanceTypeDetails": _COUNT,
    "CurrentImageId": _IMAGE,
    "DesiredImageId": _IMAGE,
    "CurrentImageReleaseVersion": _IMAGE,
    "DesiredImageReleaseVersion": _IMAGE,
    "ImageVersionStatus": _IMAGE,
    "ActiveOperations": "what is under way",
    "SoftwareUpdateStatus": "how an update went",
    "ActiveSoftwareUpdateConfig": "how an update goes on",
}
_RENAMED = {"TargetCount": "InstanceCount", "MinCount": "MinInstanceCount"}


def as_request(described: Mapping[str, Any]) -> tuple[dict[str, Any], list[Note]]:
    """The request, and notes on what was the cluster's state.

    Args:
        described: as the AWS CLI prints it.
    """
    known = shape("sagemaker", "CreateClusterRequest").members
    request = {key: value for key, value in described.items() if key not in (*_STATE, "ClusterArn")}
    notes = [_state(key, key) for key in described if key in _STATE and key not in known]
    groups = described.get("InstanceGroups")
    if isinstance(groups, list):
        made = [_group(group, join("InstanceGroups", index), notes) for index, group in enumerate(groups)]
        request["InstanceGroups"] = made
    taken = "a cluster of that name is there: delete it before you deploy, or choose another cluster_name"
    notes.append(Note(kind=Kind.STATE, path="ClusterArn", text=taken))
    notes.append(Note(kind=Kind.STATE, path="Tags", text="not in this output; add that of `list-tags`"))
    return request, notes


def _group(group: Any, path: str, notes: list[Note]) -> Any:
    if not isinstance(group, dict):
        return group
    notes += [_state(join(path, key), key) for key in group if key in _STATE]
    return {_RENAMED.get(key, key): value for key, value in group.items() if key not in _STATE}


def _state(path: str, key: str) -> Note:
    return Note(kind=Kind.STATE, path=path, text=_STATE[key])
