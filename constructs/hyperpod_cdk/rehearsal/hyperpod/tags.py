"""Tags of clusters: the SageMaker operations, and moto's own view of them for other services."""

import re
from collections.abc import Iterator, MutableMapping
from typing import Any

from hyperpod_cdk.rehearsal.hyperpod.errors import ValidationError
from hyperpod_cdk.rehearsal.hyperpod.operations import lookup
from hyperpod_cdk.rehearsal.hyperpod.simulation import Simulation
from hyperpod_cdk.rehearsal.hyperpod.state import Cluster, Spec

MAXIMUM = 50
"""Tags of a resource: docs.aws.amazon.com/sagemaker/latest/APIReference/API_AddTags.html."""

_CLUSTER_ARN = re.compile(r"arn:[^:]+:sagemaker:[^:]*:[^:]*:cluster/.+")


def is_about_cluster(body: Any) -> bool:
    """Tell whether a tag request's ResourceArn is a cluster's."""
    arn = body.get("ResourceArn") if isinstance(body, dict) else None
    return isinstance(arn, str) and _CLUSTER_ARN.fullmatch(arn) is not None


def add_tags(sim: Simulation, request: Spec) -> Spec:
    """Answer AddTags; a tag replaces the one of the same key.

    Args:
        sim: the simulation.
        request: a request that the API model allows.

    Raises:
        ValidationError: the cluster would have too many tags.
        NotFoundError: there is no such cluster.
    """
    cluster = lookup.cluster(sim, request["ResourceArn"])
    merged = {tag["Key"]: tag for tag in [*cluster.tags, *request["Tags"]]}
    if len(merged) > MAXIMUM:
        raise ValidationError(f"A resource can have at most {MAXIMUM} tags, but would have {len(merged)}.")
    cluster.tags = list(merged.values())
    return {"Tags": cluster.tags}


def list_tags(sim: Simulation, request: Spec) -> Spec:
    """Answer ListTags; a cluster's tags fit on one page."""
    return {"Tags": lookup.cluster(sim, request["ResourceArn"]).tags}


def delete_tags(sim: Simulation, request: Spec) -> Spec:
    """Answer DeleteTags; a key that is not there is no error."""
    cluster = lookup.cluster(sim, request["ResourceArn"])
    cluster.tags = [tag for tag in cluster.tags if tag["Key"] not in request["TagKeys"]]
    return {}


class ClusterTable(MutableMapping[str, Any]):
    """The clusters as moto's resource tagging sees them: by the last part of their ARN.

    Args:
        sim: the simulation, whose clusters they are.
    """

    def __init__(self, sim: Simulation) -> None:
        self._sim = sim

    def __getitem__(self, cluster_id: str) -> Cluster:
        for cluster in self._sim.clusters.values():
            if cluster.cluster_id == cluster_id:
                return cluster
        raise KeyError(cluster_id)

    def __setitem__(self, cluster_id: str, cluster: Any) -> None:
        raise TypeError("clusters are made by CreateCluster")

    def __delitem__(self, cluster_id: str) -> None:
        raise TypeError("clusters are deleted by DeleteCluster")

    def __iter__(self) -> Iterator[str]:
        return iter([cluster.cluster_id for cluster in self._sim.clusters.values()])

    def __len__(self) -> int:
        return len(self._sim.clusters)
