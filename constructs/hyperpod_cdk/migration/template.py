"""The cluster in a CloudFormation template, with what can be known of its intrinsic functions filled in."""

import re
from collections.abc import Mapping
from typing import Any

from hyperpod_cdk.migration.notes import Kind, Note
from hyperpod_cdk.rules.paths import join

RESOURCE_TYPE = "AWS::SageMaker::Cluster"
"""Of CloudFormation's own cluster resource; its properties are the members of CreateCluster."""

_VARIABLE = re.compile(r"\$\{([^!}][^}]*)\}")
_ABSENT = object()


class TemplateError(ValueError):
    """A template that holds no cluster, or several."""


def cluster_properties(
    template: Mapping[str, Any], parameters: Mapping[str, str], resource: str | None
) -> tuple[dict[str, Any], list[Note]]:
    """Properties of the template's cluster, and notes on what only a deployment would know.

    Args:
        template: with ``Resources`` and, if it has them, ``Parameters``.
        parameters: values by the parameters' names, ``AWS::Region`` and the like among them; they stand in
            front of the template's own defaults.
        resource: logical id; None: the only cluster that there is.

    Raises:
        TemplateError: the cluster can not be told.
    """
    resources = template["Resources"]
    found = {
        name: one
        for name, one in (resources.items() if isinstance(resources, dict) else ())
        if isinstance(one, dict) and one.get("Type") == RESOURCE_TYPE
    }
    if resource is not None and resource not in found:
        raise TemplateError(
            f"no cluster has the logical id {resource}; there are: {', '.join(found) or 'none'}"
        )
    if not found:
        raise TemplateError(f"has no resource of the type {RESOURCE_TYPE}")
    if resource is None and len(found) > 1:
        raise TemplateError(f"has several clusters: name one of {', '.join(found)} with --resource")
    chosen = found[resource or next(iter(found))]
    declared = template.get("Parameters") or {}
    defaults = {
        name: one["Default"] for name, one in declared.items() if isinstance(one, dict) and "Default" in one
    }
    resolver = _Resolver({**defaults, **parameters})
    properties = resolver.resolved(chosen.get("Properties") or {}, "")
    return properties, resolver.notes


class _Resolver:
    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values
        self.notes: list[Note] = []

    def resolved(self, value: Any, path: str) -> Any:
        """The value with its functions filled in; what can not be known is left out, and noted."""
        if isinstance(value, dict):
            if len(value) == 1 and next(iter(value)).startswith(("Ref", "Fn::")):
                return self._function(*next(iter(value.items())), path)
            inner = {key: self.resolved(item, join(path, key)) for key, item in value.items()}
            return {key: item for key, item in inner.items() if item is not _ABSENT}
        if isinstance(value, list):
            items = [self.resolved(item, join(path, index)) for index, item in enumerate(value)]
            return [item for item in items if item is not _ABSENT]
        return value

    def _function(self, name: str, argument: Any, path: str) -> Any:
        filled = _FUNCTIONS[name](argument, self._values) if name in _FUNCTIONS else None
        if filled is not None:
            return filled
        text = f"{{{name}: {argument}}} is known to the deployment only: write the value, or give --parameter"
        self.notes.append(Note(kind=Kind.MISSING, path=path, text=text))
        return _ABSENT


def _ref(name: Any, values: Mapping[str, Any]) -> Any:
    return values.get(name) if isinstance(name, str) else None


def _sub(argument: Any, values: Mapping[str, Any]) -> str | None:
    text, more = argument if isinstance(argument, list) and len(argument) == 2 else (argument, {})
    known = {**values, **(more if isinstance(more, dict) else {})}
    if not isinstance(text, str):
        return None
    names = _VARIABLE.findall(text)
    if not all(isinstance(known.get(name), str | int) for name in names):
        return None
    return _VARIABLE.sub(lambda match: str(known[match[1]]), text).replace("${!", "${")


def _joined(argument: Any, values: Mapping[str, Any]) -> str | None:
    if not (isinstance(argument, list) and len(argument) == 2 and isinstance(argument[1], list)):
        return None
    parts = [
        _ref(one["Ref"], values) if isinstance(one, dict) and "Ref" in one else one for one in argument[1]
    ]
    known = all(isinstance(part, str | int) for part in parts)
    return str(argument[0]).join(map(str, parts)) if known else None


_FUNCTIONS = {"Ref": _ref, "Fn::Sub": _sub, "Fn::Join": _joined}
