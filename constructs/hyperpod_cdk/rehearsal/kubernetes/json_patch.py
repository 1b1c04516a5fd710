"""JSON patch, RFC 6902: operations on the places of a document."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hyperpod_cdk.rehearsal.kubernetes.errors import StatusError, bad_request

Operation = Mapping[str, Any]


def json_patch(target: Any, operations: Sequence[Operation]) -> Any:
    """Carry operations out, one after the other.

    Args:
        target: the document, which stays as it is.
        operations: as in the patch.

    Raises:
        StatusError: 422, an operation does not fit the document; 400, there is no such operation.
    """
    # under a name, so that the whole of it can be replaced too
    holder = {"": copy.deepcopy(target)}
    for operation in operations:
        act = _ACTIONS.get(str(operation.get("op")))
        if act is None:
            raise bad_request(f"JSON patch has no operation {operation.get('op')}")
        try:
            act(holder, operation)
        except (KeyError, IndexError, ValueError, TypeError):
            raise StatusError(
                422, "Invalid", f"the server rejected our request due to an error in our request: {operation}"
            ) from None
    return holder[""]


def _steps(pointer: str) -> list[str]:
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")]


def _parent(holder: Any, pointer: str) -> tuple[Any, str]:
    *way, last = _steps(pointer)
    place = holder
    for step in way:
        place = place[int(step)] if isinstance(place, list) else place[step]
    return place, last


def _get(holder: Any, pointer: str) -> Any:
    place, last = _parent(holder, pointer)
    return place[int(last)] if isinstance(place, list) else place[last]


def _put(holder: Any, pointer: str, value: Any) -> None:
    place, last = _parent(holder, pointer)
    if not isinstance(place, list):
        place[last] = value
    elif last == "-":
        place.append(value)
    else:
        place.insert(int(last), value)


def _take(holder: Any, pointer: str) -> Any:
    place, last = _parent(holder, pointer)
    return place.pop(int(last)) if isinstance(place, list) else place.pop(last)


def _add(holder: Any, operation: Operation) -> None:
    _put(holder, operation["path"], operation["value"])


def _remove(holder: Any, operation: Operation) -> None:
    _take(holder, operation["path"])


def _replace(holder: Any, operation: Operation) -> None:
    place, last = _parent(holder, operation["path"])
    _get(holder, operation["path"])
    place[int(last) if isinstance(place, list) else last] = operation["value"]


def _copy(holder: Any, operation: Operation) -> None:
    _put(holder, operation["path"], copy.deepcopy(_get(holder, operation["from"])))


def _move(holder: Any, operation: Operation) -> None:
    _put(holder, operation["path"], _take(holder, operation["from"]))


def _test(holder: Any, operation: Operation) -> None:
    if _get(holder, operation["path"]) != operation["value"]:
        raise ValueError


_ACTIONS: Mapping[str, Callable[[Any, Operation], None]] = {
    "add": _add,
    "remove": _remove,
    "replace": _replace,
    "copy": _copy,
    "move": _move,
    "test": _test,
}
