"""The cluster as it is: DescribeCluster's answer, also in the form of a CreateCluster request."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from botocore.model import ListShape, Shape, StructureShape

from ..clients import Aws
from ..core import thing
from ..errors import AWS_ERRORS, is_not_found
from .request import GROUP_LISTS

LIVE_NAMES: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("ClusterInstanceGroupSpecification", "InstanceCount"): ("TargetCount",),
    ("ClusterInstanceGroupSpecification", "MinInstanceCount"): ("MinCount",),
    ("ClusterInstanceGroupSpecification", "ImageId"): ("CurrentImageId",),
    ("ClusterInstanceGroupSpecification", "ImageReleaseVersion"): ("CurrentImageReleaseVersion",),
    ("ClusterRestrictedInstanceGroupSpecification", "InstanceCount"): ("TargetCount",),
    ("ClusterInstanceRequirements", "InstanceTypes"): ("DesiredInstanceTypes", "CurrentInstanceTypes"),
    ("ClusterKubernetesConfig", "Labels"): ("DesiredLabels", "CurrentLabels"),
    ("ClusterKubernetesConfig", "Taints"): ("DesiredTaints", "CurrentTaints"),
    ("ClusterAutoPatchConfig", "PatchSchedule"): ("DesiredPatchSchedule", "CurrentPatchSchedule"),
    ("ClusterSharedEnvironmentConfig", "FSxLustreConfig"): (
        "DesiredFSxLustreConfig",
        "CurrentFSxLustreConfig",
    ),
    ("ClusterSharedEnvironmentConfig", "FSxLustreDeletionPolicy"): (
        "DesiredFSxLustreDeletionPolicy",
        "CurrentFSxLustreDeletionPolicy",
    ),
}
"""Members that DescribeCluster calls otherwise than CreateCluster does, by the request's shape and member."""


@dataclass(frozen=True, kw_only=True)
class Live(thing.Live):
    """A cluster that exists; ``description`` is DescribeCluster's answer."""

    KEY = ARN = "ClusterArn"
    NAME = "ClusterName"
    STATUS = "ClusterStatus"

    @property
    def cluster_id(self) -> str:
        """The 12 characters at the end of the ARN."""
        return self.arn.rsplit("/", 1)[-1]

    @property
    def is_losing_groups(self) -> bool:
        """Whether an instance group is on its way out, as it may be while the cluster is in service."""
        groups = [group for key in GROUP_LISTS for group in self.description.get(key, ())]
        return any(_is_going(group) for group in groups)

    @property
    def log_group(self) -> str:
        """Where the nodes' logs are."""
        return f"/aws/sagemaker/Clusters/{self.name}/{self.cluster_id}"


def find(aws: Aws, name: str) -> Live | None:
    """Describe a cluster; None when there is no such cluster.

    Args:
        aws: the way to AWS.
        name: the cluster's; an ARN would do as well.
    """
    try:
        return Live(description=aws.sagemaker.describe_cluster(ClusterName=name))
    except AWS_ERRORS as error:
        if is_not_found(error):
            return None
        raise


def as_request(aws: Aws, live: Live) -> dict[str, Any]:
    """Give a living cluster in the form of the CreateCluster request that would describe it.

    Members that DescribeCluster does not tell are absent, and so are groups on their way out.
    """
    staying = {
        key: [group for group in live.description[key] if not _is_going(group)]
        for key in GROUP_LISTS
        if key in live.description
    }
    shown: dict[str, Any] = _project(aws.input_shape("CreateCluster"), {**live.description, **staying})
    return shown


def _is_going(group: Mapping[str, Any]) -> bool:
    return group.get("Status") == "Deleting"


def _project(shape: Shape, shown: Any) -> Any:
    if isinstance(shape, StructureShape) and isinstance(shown, Mapping):
        found = {
            name: _project(member, _pick(shown, LIVE_NAMES.get((shape.name, name), (name,))))
            for name, member in shape.members.items()
        }
        return {name: value for name, value in found.items() if value is not None}
    if isinstance(shape, ListShape) and isinstance(shown, list):
        return [_project(shape.member, item) for item in shown]
    return shown


def _pick(shown: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((shown[name] for name in names if shown.get(name) is not None), None)
