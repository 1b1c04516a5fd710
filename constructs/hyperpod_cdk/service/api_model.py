"""The SageMaker API model of the installed botocore, cut down to what a cluster's life needs."""

import json
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from typing import Any

from botocore.loaders import create_loader
from botocore.model import ListShape, MapShape, ServiceModel, Shape, StructureShape

API_VERSION = "2017-07-24"
"""Version of the SageMaker API, and the folder that botocore looks for its model in."""

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


@dataclass(frozen=True, kw_only=True)
class Member:
    """One member of a structure, met on a walk.

    ``path`` names it from the request down, list items as ``[]`` and map values as ``{}``; ``parent`` is the
    structure's shape.
    """

    path: str
    parent: StructureShape
    name: str
    shape: Shape

    @property
    def required(self) -> bool:
        """Whether the structure can not do without it."""
        return self.name in self.parent.required_members


@cache
def full_model() -> Mapping[str, Any]:
    """Load botocore's whole SageMaker model, as botocore stores it."""
    loaded: dict[str, Any] = create_loader().load_service_model("sagemaker", "service-2", API_VERSION)
    return loaded


def cluster_model() -> dict[str, Any]:
    """Cut the model to :data:`OPERATIONS`, the shapes they reach, and no documentation.

    Returns:
        A fresh dict in botocore's ``service-2.json`` format; the same botocore gives the same dict.
    """
    return deepcopy(_cut())


def cluster_model_json() -> str:
    """Give :func:`cluster_model` as compact JSON, the content of ``service-2.json``."""
    return json.dumps(_cut(), sort_keys=True, separators=(",", ":"))


@cache
def service_model() -> ServiceModel:
    """Give the cut model as botocore's own object, for walking shapes and validating requests."""
    return ServiceModel(cluster_model(), "sagemaker")


def input_shape(operation: str) -> StructureShape:
    """Give the request shape of one of :data:`OPERATIONS`."""
    shape = service_model().operation_model(operation).input_shape
    assert isinstance(shape, StructureShape)
    return shape


def walk(shape: Shape, path: str = "") -> Iterator[Member]:
    """Meet every member below a shape, depth first, in the model's order.

    Args:
        shape: where to begin, for example ``input_shape("CreateCluster")``.
        path: what to put in front of the paths; nothing by default.
    """
    if isinstance(shape, StructureShape):
        for name, member in shape.members.items():
            below = f"{path}.{name}" if path else name
            yield Member(path=below, parent=shape, name=name, shape=member)
            yield from walk(member, below)
    elif isinstance(shape, ListShape):
        yield from walk(shape.member, f"{path}[]")
    elif isinstance(shape, MapShape):
        yield from walk(shape.value, f"{path}{{}}")


@cache
def _cut() -> dict[str, Any]:
    model = full_model()
    operations = {name: _plain(model["operations"][name]) for name in OPERATIONS}
    shapes: dict[str, Any] = {}
    pending = [found for operation in operations.values() for found in _references(operation)]
    while pending:
        name = pending.pop()
        if name not in shapes:
            shapes[name] = _plain(model["shapes"][name])
            pending += _references(shapes[name])
    kept = {key: _plain(value) for key, value in model.items() if key in ("version", "metadata")}
    return {**kept, "operations": operations, "shapes": dict(sorted(shapes.items()))}


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
