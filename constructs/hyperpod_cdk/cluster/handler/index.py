"""Entry points of the two Lambda functions, as the provider framework calls them."""

import time
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any

from .clients import Aws, Clients
from .core import wait
from .core.create import on_create
from .core.delete import on_delete
from .core.kind import Kind
from .core.update import on_update
from .event import Event, event_of
from .log import log, log_exception
from .reason import REASON_BYTES, shorten

OPERATIONS: Mapping[str, Callable[[Kind[Any, Any], Event, Aws], dict[str, Any]]] = {
    "Create": on_create,
    "Update": on_update,
    "Delete": on_delete,
}

KINDS = {"Custom::HyperPodComputeQuota": "quota"}
"""Folders by the custom resource's type. Any other is a cluster's, which had no type of its own once."""


class CustomResourceError(Exception):
    """What CloudFormation shows; no longer than it takes."""


def on_event(event: Mapping[str, Any], _context: object = None) -> dict[str, Any]:
    """Begin a Create, Update or Delete; returns at once or within the patience that IAM needs.

    Args:
        event: the provider framework's.
        _context: Lambda's; unused.

    Returns:
        PhysicalResourceId, and Handover, which the framework passes on to :func:`is_complete`.

    Raises:
        CustomResourceError: it could not be begun.
    """
    return _run(_begin, event)


def is_complete(event: Mapping[str, Any], _context: object = None) -> dict[str, Any]:
    """Say whether what :func:`on_event` began is done.

    Args:
        event: the provider framework's, with what on_event returned.
        _context: Lambda's; unused.

    Returns:
        IsComplete, and Data when it is.

    Raises:
        CustomResourceError: it failed for good.
    """
    return _run(_poll, event)


def watch(event: Mapping[str, Any], _context: object = None) -> dict[str, Any]:
    """Look once whether the cluster has its nodes, for the state machine that waits for them.

    Args:
        event: what the handler left for it.
        _context: Lambda's; unused.

    Returns:
        Done.
    """
    return {**_load("cluster.watch").look(event, _aws())}


def _begin(event: Event, aws: Aws) -> dict[str, Any]:
    return OPERATIONS[event.kind](_kind(event), event, aws)


def _poll(event: Event, aws: Aws) -> dict[str, Any]:
    return wait.is_complete(_kind(event), event, aws)


def _kind(event: Event) -> Kind[Any, Any]:
    """A function's process serves one kind, and loads no other."""
    kind: Kind[Any, Any] = _load(f"{KINDS.get(event.resource_type, 'cluster')}.kind").KIND
    return kind


def _load(module: str) -> Any:
    return import_module(f".{module}", __package__)


def _run(action: Callable[[Event, Aws], dict[str, Any]], event: Mapping[str, Any]) -> dict[str, Any]:
    request = event_of(event)
    where: dict[str, Any] = {
        "operation": request.kind,
        "request_id": request.request_id,
        "resource": request.logical_id,
    }
    log("request", physical_id=request.physical_id, **where)
    try:
        answer = action(request, _aws())
    except Exception as error:
        log_exception("request failed", error, **where)
        raise CustomResourceError(shorten(str(error), REASON_BYTES)) from error
    log("answer", answer=answer, **where)
    return answer


def _aws() -> Aws:
    return Aws(clients=_clients(), started=time.time())


@cache
def _clients() -> Clients:
    return Clients()
