"""Reading a template, and the values of its intrinsic functions."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml  # type: ignore[import-untyped]

NO_VALUE = object()
"""Given by CloudFormation where a property must be left out."""


class TemplateError(ValueError):
    """A template says something that CloudFormation would refuse, or that is not emulated."""


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    """YAML as CloudFormation reads it: dates stay strings, ``!Ref`` is ``{"Ref": …}``."""


_Loader.yaml_implicit_resolvers = {
    key: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for key, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _short_form(loader: _Loader, suffix: str, node: yaml.Node) -> dict[str, Any]:
    if isinstance(node, yaml.ScalarNode):
        value: Any = loader.construct_scalar(node)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    else:
        value = loader.construct_mapping(node, deep=True)
    if suffix == "GetAtt" and isinstance(value, str):
        value = value.split(".", 1)
    return {suffix if suffix in ("Ref", "Condition") else f"Fn::{suffix}": value}


_Loader.add_multi_constructor("!", _short_form)


def load_template(text: str) -> dict[str, Any]:
    """Read a template in JSON or YAML.

    Args:
        text: The template.

    Raises:
        TemplateError: When it is no mapping with resources.
    """
    template = json.loads(text) if text.lstrip().startswith("{") else yaml.load(text, Loader=_Loader)
    if not isinstance(template, dict) or not template.get("Resources"):
        message = "Template format error: At least one Resources member must be defined."
        raise TemplateError(message)
    return template


def references(value: Any) -> set[str]:
    """Logical ids that a part of a template refers to by Ref, Fn::GetAtt or Fn::Sub."""
    if isinstance(value, list):
        return set().union(*map(references, value))
    if not isinstance(value, dict):
        return set()
    found = set().union(*map(references, value.values()))
    match value:
        case {"Ref": str(name)}:
            found.add(name)
        case {"Fn::GetAtt": [str(name), *_]}:
            found.add(name)
        case {"Fn::GetAtt": str(path)}:
            found.add(path.split(".")[0])
        case {"Fn::Sub": str(text)} | {"Fn::Sub": [str(text), *_]}:
            found.update(name.split(".")[0] for name in _placeholders(text))
    return found


def _placeholders(text: str) -> list[str]:
    return re.findall(r"\$\{([^!}][^}]*)\}", text)


@dataclass(kw_only=True)
class Scope:
    """What a template's expressions can see.

    Args:
        values: Parameters and pseudo parameters by name.
        reference: Gives a resource's Ref by logical id; raises KeyError where there is none.
        attribute: Gives a resource's attribute by logical id and name.
        exports: Values that other stacks export, by name.
        zones: Names of the Region's Availability Zones.
        mappings: The template's Mappings.
        conditions: The template's Conditions.
    """

    values: Mapping[str, Any]
    reference: Callable[[str], Any]
    attribute: Callable[[str, str], Any]
    exports: Mapping[str, str] = field(default_factory=dict)
    zones: tuple[str, ...] = ()
    mappings: Mapping[str, Any] = field(default_factory=dict)
    conditions: Mapping[str, Any] = field(default_factory=dict)

    def evaluate(self, value: Any) -> Any:
        """Replace every intrinsic function in a part of a template by its value.

        Args:
            value: The part.

        Raises:
            TemplateError: For a function or a reference that is unknown.
        """
        if isinstance(value, list):
            return [item for item in map(self.evaluate, value) if item is not NO_VALUE]
        if not isinstance(value, dict):
            return value
        if len(value) == 1:
            (name, argument) = next(iter(value.items()))
            # An IAM statement may hold a lone "Condition" of its own, which is a mapping.
            if name in _FUNCTIONS and (name != "Condition" or isinstance(argument, str)):
                return _FUNCTIONS[name](self, argument)
            if name.startswith("Fn::"):
                raise TemplateError(f"{name} is not emulated")
        items = {key: self.evaluate(item) for key, item in value.items()}
        return {key: item for key, item in items.items() if item is not NO_VALUE}

    def condition(self, name: str) -> bool:
        """Whether a named condition of the template holds."""
        if name not in self.conditions:
            raise TemplateError(f"Unresolved condition {name}")
        return bool(self.evaluate(self.conditions[name]))


def _ref(scope: Scope, name: str) -> Any:
    if name == "AWS::NoValue":
        return NO_VALUE
    if name in scope.values:
        return scope.values[name]
    return scope.reference(name)


def _get_att(scope: Scope, argument: Any) -> Any:
    name, attribute = argument.split(".", 1) if isinstance(argument, str) else argument
    return scope.attribute(name, scope.evaluate(attribute))


def _join(scope: Scope, argument: list[Any]) -> str:
    return str(argument[0]).join(_text(item) for item in scope.evaluate(argument[1]))


def _sub(scope: Scope, argument: Any) -> str:
    text, extra = argument if isinstance(argument, list) else (argument, {})
    own = {name: scope.evaluate(value) for name, value in extra.items()}

    def replace(match: re.Match[str]) -> str:
        name = match[1]
        if name.startswith("!"):
            return f"${{{name[1:]}}}"
        if name in own:
            return _text(own[name])
        return _text(_get_att(scope, name) if "." in name else _ref(scope, name))

    return re.sub(r"\$\{([^}]+)\}", replace, text)


def _find_in_map(scope: Scope, argument: list[Any]) -> Any:
    name, first, second = (scope.evaluate(part) for part in argument[:3])
    try:
        return scope.mappings[name][first][second]
    except KeyError:
        raise TemplateError(f"Unable to get mapping for {name}::{first}::{second}") from None


def _import_value(scope: Scope, argument: Any) -> str:
    name = scope.evaluate(argument)
    if name not in scope.exports:
        raise TemplateError(f"No export named {name} found.")
    return scope.exports[name]


def _select(scope: Scope, argument: list[Any]) -> Any:
    index, values = int(scope.evaluate(argument[0])), scope.evaluate(argument[1])
    if not 0 <= index < len(values):
        raise TemplateError(f"Template error: Fn::Select cannot select nonexistent value at index {index}")
    return values[index]


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _equals(scope: Scope, argument: list[Any]) -> bool:
    first, second = (scope.evaluate(part) for part in argument)
    return _text(first) == _text(second)


def _zones(scope: Scope, argument: Any) -> list[str]:
    region = scope.evaluate(argument)
    if region not in ("", scope.values["AWS::Region"]):
        raise TemplateError(f"Fn::GetAZs of another Region ({region}) is not emulated")
    return list(scope.zones)


_FUNCTIONS: Mapping[str, Callable[[Scope, Any], Any]] = {
    "Ref": _ref,
    "Condition": lambda scope, name: scope.condition(name),
    "Fn::GetAtt": _get_att,
    "Fn::Join": _join,
    "Fn::Sub": _sub,
    "Fn::FindInMap": _find_in_map,
    "Fn::ImportValue": _import_value,
    "Fn::Select": _select,
    "Fn::Split": lambda scope, argument: str(scope.evaluate(argument[1])).split(argument[0]),
    "Fn::GetAZs": _zones,
    "Fn::Base64": lambda scope, argument: base64.b64encode(_text(scope.evaluate(argument)).encode()).decode(),
    "Fn::ToJsonString": lambda scope, argument: json.dumps(scope.evaluate(argument), separators=(",", ":")),
    "Fn::If": lambda scope, argument: scope.evaluate(argument[1 if scope.condition(argument[0]) else 2]),
    "Fn::Equals": _equals,
    "Fn::Not": lambda scope, argument: not scope.evaluate(argument[0]),
    "Fn::And": lambda scope, argument: all(scope.evaluate(argument)),
    "Fn::Or": lambda scope, argument: any(scope.evaluate(argument)),
}
