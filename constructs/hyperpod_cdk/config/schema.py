"""JSON Schema of the YAML file, for completion and checks in editors."""

from collections.abc import Iterator
from typing import Any

from hyperpod_cdk.config.reader import adapter

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
            definitions[reference.rpartition("/")[2]]["required"] = [tagged["propertyName"]]
    return {"$schema": DIALECT, **_tidied(root), "definitions": _tidied(definitions)}


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
