"""The operations of a quota, by what CloudFormation asks for."""

from collections.abc import Callable, Mapping
from typing import Any

from ..clients import Aws
from ..event import Event
from .create import on_create
from .delete import on_delete
from .update import on_update

TYPE = "Custom::HyperPodComputeQuota"
"""Of the custom resource."""

OPERATIONS: Mapping[str, Callable[[Event, Aws], dict[str, Any]]] = {
    "Create": on_create,
    "Update": on_update,
    "Delete": on_delete,
}
