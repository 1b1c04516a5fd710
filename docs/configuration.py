"""The page of every setting of a configuration file, from the JSON Schema."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

_HEAD = """\
# Configuration

Every setting of a cluster's YAML file, as the [schema](schema.json) that editors use knows it. Written from
the code by `make docs`.
"""

Schema = Mapping[str, Any]


def describe(schema: Schema) -> str:
    """All settings as a Markdown page, a section for each kind of object."""
    return _Page(schema["definitions"]).text(schema)


class _Page:
    """Settings, with closed sets of values written out where they are taken."""

    def __init__(self, definitions: Mapping[str, Schema]) -> None:
        self._definitions = definitions

    def text(self, root: Schema) -> str:
        objects = {name: item for name, item in self._definitions.items() if "properties" in item}
        sections = [self._section("The file", root), *(self._section(*item) for item in objects.items())]
        return _HEAD + "".join(sections)

    def _section(self, title: str, item: Schema) -> str:
        required = set(item.get("required", ()))
        rows = "".join(
            self._row(name, value, required=name in required) for name, value in item["properties"].items()
        )
        about = item.get("description", "").strip()
        return f"\n## {title}\n\n{about}\n\n| setting | takes | default | what |\n|---|---|---|---|\n{rows}"

    def _row(self, name: str, value: Schema, *, required: bool) -> str:
        default = "needed" if required else _default(value)
        cells = (f"`{name}`", self._takes(value), default, value.get("description", ""))
        return "| " + " | ".join(_cell(cell) for cell in cells) + " |\n"

    def _takes(self, value: Schema) -> str:
        for key, say in (
            ("$ref", self._named),
            ("enum", _values),
            ("const", lambda one: f"`{one}`"),
            ("anyOf", self._either),
            ("oneOf", self._either),
            ("allOf", self._either),
            ("items", lambda one: f"list of {self._takes(one)}"),
            ("additionalProperties", self._mapping),
        ):
            if key in value:
                return say(value[key])
        return str(value.get("type", "anything"))

    def _mapping(self, values: Schema | bool) -> str:
        return "mapping" if isinstance(values, bool) else f"mapping to {self._takes(values)}"

    def _named(self, reference: str) -> str:
        name = reference.rsplit("/", 1)[-1]
        item = self._definitions[name]
        return f"[{name}](#{name.lower()})" if "properties" in item else self._takes(item)

    def _either(self, several: Iterable[Schema]) -> str:
        parts = (self._takes(one) for one in several if one.get("type") != "null")
        return " or ".join(dict.fromkeys(parts))


def _values(values: Iterable[Any]) -> str:
    return ", ".join(f"`{one}`" for one in values)


def _default(value: Schema) -> str:
    default = value.get("default")
    return "" if default in (None, [], {}) else f"`{json.dumps(default)}`".replace('"', "")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
