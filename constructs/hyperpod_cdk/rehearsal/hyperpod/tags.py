"""Tags of clusters, quotas and policies: the SageMaker operations, and moto's own view for other services."""

import re
from collections.abc import Iterator, MutableMapping
from typing import Any

from hyperpod_cdk.rehearsal.hyperpod.errors import ValidationError
from hyperpod_cdk.rehearsal.hyperpod.governance import Governed
from hyperpod_cdk.rehearsal.hyperpod.operations import governance, lookup
from hyperpod_cdk.rehearsal.hyperpod.simulation import Simulation
from hyperpod_cdk.rehearsal.hyperpod.state import Cluster, Spec

MAXIMUM = 50
"""Tags of a resource: docs.aws.amazon.com/sagemaker/latest/APIReference/API_AddTags.html."""

_ARN = re.compile(r"arn:[^:]+:sagemaker:[^:]*:[^:]*:(cluster|compute-quota|cluster-scheduler-config)/.+")


def is_ours(body: Any) -> bool:
    """Tell whether a tag request's ResourceArn is of a cluster, or of its task governance."""
    arn = body.get("ResourceArn") if isinstance(body, dict) else None
    return isinstance(arn, str) and _ARN.fullmatch(arn) is not None


def add_tags(sim: Simulation, request: Spec) -> Spec:
    """Answer AddTags; a tag replaces the one of the same key.

    Args:
        sim: the simulation.
        request: a request that the API model allows.

    Raises:
        ValidationError: the resource would have too many tags.
        NotFoundError: there is no such resource.
    """
    tagged = _tagged(sim, request)
    merged = {tag["Key"]: tag for tag in [*tagged.tags, *request["Tags"]]}
    if len(merged) > MAXIMUM:
        raise ValidationError(f"A resource can have at most {MAXIMUM} tags, but would have {len(merged)}.")
    tagged.tags = list(merged.values())
    return {"Tags": tagged.tags}


def list_tags(sim: Simulation, request: Spec) -> Spec:
    """Answer ListTags; a resource's tags fit on one page."""
    return {"Tags": _tagged(sim, request).tags}


def delete_tags(sim: Simulation, request: Spec) -> Spec:
    """Answer DeleteTags; a key that is not there is no error."""
    tagged = _tagged(sim, request)
    tagged.tags = [tag for tag in tagged.tags if tag["Key"] not in request["TagKeys"]]
    return {}


def _tagged(sim: Simulation, request: Spec) -> Cluster | Governed:
    arn = request["ResourceArn"]
    return lookup.cluster(sim, arn) if ":cluster/" in arn else governance.by_arn(sim, arn)


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
