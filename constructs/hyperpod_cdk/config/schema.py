"""JSON Schema of the YAML file, for completion and checks in editors."""

from collections.abc import Iterator, Mapping
from typing import Any

from hyperpod_cdk.config.reader import adapter
from hyperpod_cdk.service.eks import ACCESS_POLICIES, KUBERNETES_VERSIONS
from hyperpod_cdk.service.hyperpod_chart import SUB_CHARTS
from hyperpod_cdk.service.instance_types import catalogue

DIALECT = "http://json-schema.org/draft-07/schema#"
"""What the YAML extension of VS Code reads in full."""


def schema() -> dict[str, Any]:
    """JSON Schema (draft-07) of a cluster's YAML file, descriptions and defaults included."""
    made = adapter(described=True).json_schema(ref_template="#/definitions/{model}")
    definitions: dict[str, Any] = made["$defs"]
    root = definitions.pop("HyperPodSpec")
    for tagged in _discriminators(root):
        for reference in tagged["mapping"].values():
            # without the tag nothing tells which kind is meant, the default notwithstanding
            _referred(reference, definitions)["required"] = [tagged["propertyName"]]
    for structure in (root, *definitions.values()):
        for field in structure.get("properties", {}).values():
            _describe(field, definitions)
    for structure, field, known in _offered():
        part = definitions[structure]["properties"][field]
        part.get("items", part)["examples"] = known
    parts = definitions["HelmChart"]["properties"]["sub_charts"]
    parts["properties"] = {name: parts["additionalProperties"] for name in SUB_CHARTS}
    return {"$schema": DIALECT, **_tidied(root), "definitions": _tidied(definitions)}


def _offered() -> Iterator[tuple[str, str, list[str]]]:
    """Structure, field and known values of open sets: one born tomorrow is no fault, editors offer these."""
    types = sorted(catalogue())
    for structure, field in (
        ("InstanceGroup", "instance_type"),
        ("InstanceRequirements", "instance_types"),
        ("ComputeQuotaResource", "instance_type"),
    ):
        yield structure, field, types
    yield "EksOrchestrator", "kubernetes_version", list(KUBERNETES_VERSIONS)
    yield "AccessPolicy", "name", list(ACCESS_POLICIES)


def _describe(field: dict[str, Any], definitions: Mapping[str, Any]) -> None:
    """Let a field that says nothing of itself say what its type is: editors show the field's text alone."""
    choices = [one["$ref"] for one in (field, *field.get("anyOf", ())) if "$ref" in one]
    if "description" not in field and len(choices) == 1:
        about = _referred(choices[0], definitions).get("description", "")
        if about:
            field["description"] = about.strip().partition("\n\n")[0]


def _referred(reference: str, definitions: Mapping[str, Any]) -> Any:
    return definitions[reference.rpartition("/")[2]]


def _discriminators(part: Any) -> Iterator[dict[str, Any]]:
    if isinstance(part, dict):
        if "discriminator" in part:
            yield part["discriminator"]
        for value in part.values():
            yield from _discriminators(value)


def _tidied(part: Any) -> Any:
    """Without titles that only repeat the key, and with doubled backquotes of docstrings made single."""
    if isinstance(part, list):
        return [_tidied(item) for item in part]
    if isinstance(part, str):
        return part.replace("``", "`")
    if not isinstance(part, dict):
        return part
    return {
        key: _tidied(value) for key, value in part.items() if not (key == "title" and isinstance(value, str))
    }
