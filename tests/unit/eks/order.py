"""In which order CloudFormation makes things: by DependsOn and by references."""

from collections.abc import Iterator, Mapping
from typing import Any

from aws_cdk.assertions import Template

Resources = Mapping[str, Mapping[str, Any]]


def resources(template: Template) -> Resources:
    found: Resources = template.to_json()["Resources"]
    return found


def one(resources: Resources, kind: str, **properties: Any) -> str:
    """Logical id of the one resource of a type with these properties."""
    ids = [
        logical_id
        for logical_id, resource in resources.items()
        if resource["Type"] == kind
        and all(resource["Properties"].get(name) == value for name, value in properties.items())
    ]
    assert len(ids) == 1, (kind, properties, ids)
    return ids[0]


def before(resources: Resources, logical_id: str) -> set[str]:
    """Everything that is made before a resource, and deleted after it."""
    seen: set[str] = set()
    pending = [logical_id]
    while pending:
        for needed in _needs(resources[pending.pop()]):
            if needed in resources and needed not in seen:
                seen.add(needed)
                pending.append(needed)
    return seen


def _needs(resource: Mapping[str, Any]) -> Iterator[str]:
    depends_on = resource.get("DependsOn", [])
    yield from [depends_on] if isinstance(depends_on, str) else depends_on
    yield from _references(resource.get("Properties", {}))


def _references(value: Any) -> Iterator[str]:
    match value:
        case {"Ref": str(name)}:
            yield name
        case {"Fn::GetAtt": [str(name), _]}:
            yield name
        case dict():
            for inner in value.values():
                yield from _references(inner)
        case list():
            for inner in value:
                yield from _references(inner)
