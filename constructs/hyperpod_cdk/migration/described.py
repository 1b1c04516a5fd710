"""The output of `aws sagemaker describe-cluster`, as the request that would make such a cluster."""

from collections.abc import Mapping
from typing import Any

from hyperpod_cdk.migration.notes import Kind, Note
from hyperpod_cdk.rules.paths import join
from hyperpod_cdk.service.shapes import shape

_GROUPS = ("InstanceGroups", "RestrictedInstanceGroups")

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
_DESIRED, _CURRENT, _LABELS = "Desired", "Current", "Labels"
_UNDER_WAY = "how far the nodes are with what is asked for"
_PARTS: Mapping[str, Mapping[str, str]] = {
    "AutoScaling": {"Status": "how autoscaling is", "FailureMessage": "what went wrong last"},
    "EnvironmentConfig": {"S3OutputPath": "where the service writes"},
}
"""State in parts that a request has, too."""


def as_request(described: Mapping[str, Any]) -> tuple[dict[str, Any], list[Note]]:
    """The request, and notes on what was the cluster's state.

    Args:
        described: as the AWS CLI prints it.
    """
    known = shape("sagemaker", "CreateClusterRequest").members
    notes = [_state(key, _STATE[key]) for key in described if key in _STATE and key not in known]
    request: dict[str, Any] = {
        key: value if key in _GROUPS else _wanted(value, key, key, notes)
        for key, value in described.items()
        if key not in (*_STATE, "ClusterArn")
    }
    for member in _GROUPS:
        groups = described.get(member)
        if isinstance(groups, list):
            request[member] = [_group(one, join(member, index), notes) for index, one in enumerate(groups)]
        if request.get(member) == []:
            # the output has the list even where the cluster has none such
            del request[member]
    taken = "a cluster of that name is there: delete it before you deploy, or choose another cluster_name"
    notes.append(Note(kind=Kind.STATE, path="ClusterArn", text=taken))
    notes.append(Note(kind=Kind.STATE, path="Tags", text="not in this output; add that of `list-tags`"))
    return request, notes


def _group(group: Any, path: str, notes: list[Note]) -> Any:
    if not isinstance(group, dict):
        return group
    notes += [_state(join(path, key), _STATE[key]) for key in group if key in _STATE]
    return {
        _RENAMED.get(key, key): _wanted(value, key, join(path, key), notes)
        for key, value in group.items()
        if key not in _STATE
    }


def _wanted(value: Any, name: str, path: str, notes: list[Note]) -> Any:
    """A part as it was asked for: what is desired, where the output tells it beside what is there."""
    if isinstance(value, list):
        return [_wanted(item, name, join(path, index), notes) for index, item in enumerate(value)]
    if not isinstance(value, dict) or name == _LABELS:
        return value
    state = _PARTS.get(name, {})
    wanted: dict[str, Any] = {}
    for key, item in value.items():
        where = join(path, key)
        if key in state:
            notes.append(_state(where, state[key]))
            continue
        plain = key.removeprefix(_DESIRED).removeprefix(_CURRENT)
        if key.startswith(_CURRENT) and f"{_DESIRED}{plain}" in value:
            notes.append(_state(where, _UNDER_WAY))
            continue
        wanted[plain] = _wanted(item, plain, where, notes)
    return wanted


def _state(path: str, text: str) -> Note:
    return Note(kind=Kind.STATE, path=path, text=text)
