"""Marks a union of dataclasses whose members one field tells apart."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class TaggedBy:
    """Annotation of a union: read the member whose ``field`` has the given value.

    pydantic finds the hook below by its name, so that spec needs no pydantic; without it a wrong value would
    be reported once for every member of the union.
    """

    field: str

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        schema = handler(source)
        choices = {}
        for choice in schema["choices"]:
            resolved = handler.resolve_ref_schema(choice)
            choices[self._tag(resolved)] = choice
        return {"type": "tagged-union", "choices": choices, "discriminator": self.field}

    def _tag(self, dataclass_schema: Any) -> str:
        (tag,) = dataclass_schema["cls"].__dataclass_fields__[self.field].type.__args__
        return str(tag)
