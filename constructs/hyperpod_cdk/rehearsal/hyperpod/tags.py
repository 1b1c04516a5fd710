"""Tags of clusters: the SageMaker operations, and moto's own view of them for other services."""

import re
from collections.abc import Iterator, MutableMapping
from typing import Any

from hyperpod_cdk.rehearsal.hyperpod import model
from hyperpod_cdk.rehearsal.hyperpod.errors import ValidationError
from hyperpod_cdk.rehearsal.hyperpod.operations import lookup
from hyperpod_cdk.rehearsal.hyperpod.service import HyperPodService
from hyperpod_cdk.rehearsal.hyperpod.state import Cluster, Spec

MAXIMUM = 50
"""Tags of a resource: docs.aws.amazon.com/sagemaker/latest/APIReference/API_AddTags.html."""

_CLUSTER_ARN = re.compile(r"arn:[^:]+:sagemaker:[^:]*:[^:]*:cluster/.+")


def is_about_cluster(body: Any) -> bool:
    """Tell whether a tag request's ResourceArn is a cluster's."""
    arn = body.get("ResourceArn") if isinstance(body, dict) else None
    return isinstance(arn, str) and _CLUSTER_ARN.fullmatch(arn) is not None


def add_tags(service: HyperPodService, request: Any) -> Spec:
    """Answer AddTags; a tag replaces the one of the same key.

    Args:
        service: the emulated service.
        request: the parsed JSON body.

    Raises:
        ValidationError: the model does not allow the request, or the cluster would have too many tags.
        NotFoundError: there is no such cluster.
    """
    cluster = _cluster(service, "AddTags", request)
    merged = {tag["Key"]: tag for tag in [*cluster.tags, *request["Tags"]]}
    if len(merged) > MAXIMUM:
        raise ValidationError(f"A resource can have at most {MAXIMUM} tags, but would have {len(merged)}.")
    cluster.tags = list(merged.values())
    return {"Tags": cluster.tags}


def list_tags(service: HyperPodService, request: Any) -> Spec:
    """Answer ListTags; a cluster's tags fit on one page."""
    return {"Tags": _cluster(service, "ListTags", request).tags}


def delete_tags(service: HyperPodService, request: Any) -> Spec:
    """Answer DeleteTags; a key that is not there is no error."""
    cluster = _cluster(service, "DeleteTags", request)
    cluster.tags = [tag for tag in cluster.tags if tag["Key"] not in request["TagKeys"]]
    return {}


def _cluster(service: HyperPodService, operation: str, request: Any) -> Cluster:
    with service.lock:
        service.timeline.run_due()
        error = service.faults.strike_operation(operation)
        if error is not None:
            raise error
        model.check(operation, request)
        return lookup.cluster(service, request["ResourceArn"])


class ClusterTable(MutableMapping[str, Any]):
    """The clusters as moto's resource tagging sees them: by the last part of their ARN.

    Args:
        service: the emulated service, whose clusters they are.
    """

    def __init__(self, service: HyperPodService) -> None:
        self._service = service

    def __getitem__(self, cluster_id: str) -> Cluster:
        for cluster in self._service.clusters.values():
            if cluster.cluster_id == cluster_id:
                return cluster
        raise KeyError(cluster_id)

    def __setitem__(self, cluster_id: str, cluster: Any) -> None:
        raise TypeError("clusters are made by CreateCluster")

    def __delitem__(self, cluster_id: str) -> None:
        raise TypeError("clusters are deleted by DeleteCluster")

    def __iter__(self) -> Iterator[str]:
        return iter([cluster.cluster_id for cluster in self._service.clusters.values()])

    def __len__(self) -> int:
        return len(self._service.clusters)
