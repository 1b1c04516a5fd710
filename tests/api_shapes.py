"""The shapes of the SageMaker API, for tests that hold code against every member of a request."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from botocore.model import ListShape, MapShape, ServiceModel, Shape, StructureShape

from hyperpod_cdk.service.cut_model import cut_model_json


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
def service_model() -> ServiceModel:
    """Give the cut model as botocore's own object, for walking shapes and validating requests."""
    return ServiceModel(json.loads(cut_model_json()), "sagemaker")


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
