"""The operations of Amazon EKS that are emulated, and how a request of HTTP names one."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from types import ModuleType
from urllib.parse import parse_qs, unquote, urlsplit

from botocore.model import ListShape, OperationModel
from moto.core.utils import camelcase_to_underscores, get_service_model

from hyperpod_cdk.rehearsal.eks import access, add_ons, clusters, identities, node_groups, tags
from hyperpod_cdk.rehearsal.eks.errors import InvalidParameterError
from hyperpod_cdk.rehearsal.eks.service import Operation
from hyperpod_cdk.rehearsal.eks.state import Spec
from hyperpod_cdk.rehearsal.hyperpod.errors import SerializationError
from hyperpod_cdk.rehearsal.hyperpod.model import breaches, without_nulls

_MODULES: tuple[ModuleType, ...] = (access, add_ons, clusters, identities, node_groups, tags)


@cache
def operations() -> Mapping[str, Operation]:
    """Give what the service does, by the name of the API's operation."""
    ours = {name: value for module in _MODULES for name, value in vars(module).items()}
    methods = {name: camelcase_to_underscores(name) for name in get_service_model("eks").operation_names}
    return {name: ours[method] for name, method in methods.items() if method in ours}


def read(method: str, url: str, body: bytes) -> tuple[str, Spec]:
    """Give the operation and the parameters of a request.

    Args:
        method: of HTTP.
        url: as it was sent: an ARN in a path has its slashes escaped.
        body: JSON.

    Raises:
        InvalidParameterError: the API has no such operation, or its model does not allow the parameters.
    """
    parts = urlsplit(url)
    for operation, pattern in _routes():
        found = pattern.fullmatch(parts.path) if operation.http["method"] == method else None
        if found:
            given = {name: unquote(value) for name, value in found.groupdict().items()}
            request = without_nulls(
                {
                    **(json.loads(body) if body else {}),
                    **_query(operation, parts.query),
                    **_named(operation, given),
                }
            )
            _check(operation, request)
            return str(operation.name), request
    raise InvalidParameterError(f"no operation answers {method} {parts.path}")


@cache
def _routes() -> tuple[tuple[OperationModel, re.Pattern[str]], ...]:
    model = get_service_model("eks")
    found = [model.operation_model(name) for name in model.operation_names]
    return tuple(
        (one, re.compile(re.sub(r"\{(\w+)\+?\}", r"(?P<\1>[^/]+)", one.http["requestUri"].split("?")[0])))
        for one in found
    )


def _named(operation: OperationModel, given: Mapping[str, str]) -> Spec:
    """Parameters of the path by their names as members, which may differ from those in the path."""
    members = operation.input_shape.members if operation.input_shape else {}
    names = {shape.serialization.get("name", member): member for member, shape in members.items()}
    return {names.get(name, name): value for name, value in given.items()}


def _query(operation: OperationModel, query: str) -> Spec:
    found: Spec = {}
    members = operation.input_shape.members if operation.input_shape else {}
    given = parse_qs(query)
    for member, shape in members.items():
        if shape.serialization.get("location") != "querystring":
            continue
        values = given.get(shape.serialization.get("name", member))
        if values:
            found[member] = values if isinstance(shape, ListShape) else _scalar(shape.type_name, values[0])
    return found


def _scalar(type_name: str, value: str) -> object:
    if type_name == "integer":
        return int(value)
    return value == "true" if type_name == "boolean" else value


def _check(operation: OperationModel, request: Spec) -> None:
    if operation.input_shape is None:
        return
    try:
        found = breaches(request, operation.input_shape)
    except SerializationError as error:
        raise InvalidParameterError(str(error)) from None
    if found:
        raise InvalidParameterError("; ".join(found))
