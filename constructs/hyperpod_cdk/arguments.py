"""A construct's arguments, held to its type hints: else Python complains far from a mistake, or never."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from enum import Enum
from functools import wraps
from types import UnionType
from typing import Any, ParamSpec, Union, get_args, get_origin, get_type_hints

from hyperpod_cdk.faults import refuse
from hyperpod_cdk.rules.tokens import unresolved

_P = ParamSpec("_P")
_PACKAGE = "hyperpod_cdk"
_PLAIN: Mapping[type, str] = {str: "text", int: "a whole number", float: "a number", bool: "True or False"}
_FEW = 5
"""Members of an enumeration, less than which are named one by one."""
_COMES_BY = {
    "IHyperPodNetwork": "HyperPodNetwork.from_attributes(…) takes a VPC that is there",
    "ILifecycleBucket": "LifecycleBucket.from_bucket(…) takes a bucket of S3",
    "IEksControlPlane": "cluster_arn of EksOrchestrator takes an EKS cluster that is there",
}
"""How something of another kind becomes what is wanted."""


def checked_arguments(init: Callable[_P, None]) -> Callable[_P, None]:
    """Have a construct's ``__init__`` refuse keyword arguments that are not what its hints say, all at once.

    What is of the CDK's own types is left to the CDK, which looks at it; tokens fit everywhere.

    Args:
        init: of a construct: self, scope and id by position, all else by keyword.

    Raises:
        ConstructError: by what it returns, with every argument that is mistaken.
    """

    @wraps(init)
    def checking(*args: _P.args, **kwargs: _P.kwargs) -> None:
        hints = get_type_hints(init)
        given = [(name, value) for name, value in kwargs.items() if name in hints]
        refuse(_path(args), [fault for name, value in given for fault in _faults(name, value, hints[name])])
        init(*args, **kwargs)

    return checking


def _path(positional: Sequence[Any]) -> str:
    scope, construct_id = [*positional[1:3], None, ""][:2]
    above = getattr(getattr(scope, "node", None), "path", "")
    return f"{above}/{construct_id}".strip("/")


def _faults(name: str, value: Any, kind: Any) -> Iterator[str]:
    if kind is Any or (isinstance(value, str | float) and unresolved(value)):
        return
    origin, kinds = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        others = [one for one in kinds if one is not type(None)]
        if len(others) == 1 and not (value is None and type(None) in kinds):
            yield from _faults(name, value, others[0])
    elif value is None:
        yield f"{name} must be {_wanted(kind)}, got: None"
    elif inspect.isclass(origin) and issubclass(origin, Mapping):
        yield from _faults_of_mapping(name, value, kind)
    elif inspect.isclass(origin) and issubclass(origin, Sequence):
        yield from _faults_of_list(name, value, kind)
    elif inspect.isclass(kind) and not _fits(value, kind):
        yield f"{name} must be {_wanted(kind)}, got: {_said(value)}"


def _faults_of_mapping(name: str, value: Any, kind: Any) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield f"{name} must be {_wanted(kind)}, got: {_said(value)}"
        return
    for key, item in value.items():
        yield from _faults(f"{name}[{key!r}]", item, get_args(kind)[1])


def _faults_of_list(name: str, value: Any, kind: Any) -> Iterator[str]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        yield f"{name} must be {_wanted(kind)}, got: {_said(value)}; put it into [ ]"
        return
    for index, item in enumerate(value):
        yield from _faults(f"{name}[{index}]", item, get_args(kind)[0])


def _fits(value: Any, kind: type) -> bool:
    if kind in _PLAIN:
        return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
    if is_dataclass(kind) or issubclass(kind, Enum):
        return isinstance(value, kind)
    if _is_ours(kind):
        missing = object()
        return all(inspect.getattr_static(value, one, missing) is not missing for one in _members(kind))
    # of the CDK, which looks at the rest itself, but not before the value goes that far
    return not isinstance(value, str | bool | int | float | dict | list | tuple)


def _is_ours(kind: type) -> bool:
    return bool(getattr(kind, "_is_protocol", False)) and kind.__module__.split(".")[0] == _PACKAGE


def _members(protocol: type) -> list[str]:
    ours = [one for one in protocol.__mro__ if _is_ours(one)]
    return [name for one in ours for name in vars(one) if not name.startswith("_")]


def _wanted(kind: Any) -> str:
    origin, kinds = get_origin(kind), get_args(kind)
    if inspect.isclass(origin):
        many = "a dict, by name, of" if issubclass(origin, Mapping) else "a list of"
        return f"{many} {_wanted(kinds[-1])}"
    name = str(getattr(kind, "__name__", kind))
    if inspect.isclass(kind) and issubclass(kind, Enum):
        return " or ".join(f"{name}.{one.name}" for one in kind) if len(kind) < _FEW else f"one of {name}"
    if inspect.isclass(kind) and is_dataclass(kind):
        return f"{_PACKAGE}.spec.{name}"
    if name in _COMES_BY:
        return f"of type {name[1:]} ({_COMES_BY[name]})"
    return _PLAIN.get(kind) or f"a construct, {name}; from_… of its class takes what is there"


def _said(value: Any) -> str:
    return repr(value) if isinstance(value, str | int | float) else f"a {type(value).__name__}"
