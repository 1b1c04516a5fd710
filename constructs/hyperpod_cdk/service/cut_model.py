"""The SageMaker API model of the installed botocore, cut down to what a cluster's life needs."""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from hyperpod_cdk.service.botocore_files import api_model

OPERATIONS = (
    "AddTags",
    "CreateCluster",
    "CreateComputeQuota",
    "DeleteCluster",
    "DeleteComputeQuota",
    "DeleteTags",
    "DescribeCluster",
    "DescribeClusterEvent",
    "DescribeClusterNode",
    "DescribeComputeQuota",
    "ListClusterEvents",
    "ListClusterNodes",
    "ListClusters",
    "ListComputeQuotas",
    "ListTags",
    "UpdateCluster",
    "UpdateClusterSoftware",
    "UpdateComputeQuota",
)
"""Operations that the cut model keeps."""


@cache
def cut_model_json() -> str:
    """The model with :data:`OPERATIONS` and the shapes they reach alone, without documentation.

    Returns:
        The content of a ``service-2.json``; the same botocore gives the same text.
    """
    model = api_model("sagemaker")
    operations = {name: _plain(model["operations"][name]) for name in OPERATIONS}
    shapes: dict[str, Any] = {}
    pending = [found for operation in operations.values() for found in _references(operation)]
    while pending:
        name = pending.pop()
        if name not in shapes:
            shapes[name] = _plain(model["shapes"][name])
            pending += _references(shapes[name])
    kept = {key: _plain(model[key]) for key in ("version", "metadata")}
    cut = {**kept, "operations": operations, "shapes": dict(sorted(shapes.items()))}
    return json.dumps(cut, separators=(",", ":"))


def _plain(part: Any) -> Any:
    """Copy a part of the model without its prose; a *member* that is called "documentation" stays."""
    if isinstance(part, list):
        return [_plain(item) for item in part]
    if not isinstance(part, Mapping):
        return part
    return {
        key: _plain(value)
        for key, value in part.items()
        if not (key in ("documentation", "documentationUrl") and isinstance(value, str))
    }


def _references(part: Any) -> Iterator[str]:
    """Give the names of the shapes that a part of the model points at."""
    if isinstance(part, Mapping):
        if isinstance(part.get("shape"), str):
            yield part["shape"]
        for value in part.values():
            yield from _references(value)
    elif isinstance(part, list):
        for item in part:
            yield from _references(item)
