"""Limits of the API's shapes, read from the models that botocore ships."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from hyperpod_cdk.service.botocore_files import api_model

_SIGNS = r"!-/:-@\[-`{-~\u00a1-\u00bf\u00d7\u00f7\u2010-\u2027\u2030-\u2bff\u3001-\u303f"
# Unicode classes that Python's re does not know; \w also takes "_", which every pattern with \p allows
_CLASSES = {
    r"\p{L}": r"\w",
    r"\p{N}": r"\w",
    r"\p{Z}": " \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000",
    # what is written with letters: the blocks of combining marks, of punctuation and of symbols
    r"\p{M}": r"\u0300-\u036f\u0900-\u0903\u093a-\u094f\u1ab0-\u1aff\u20d0-\u20ff",
    r"\p{S}": _SIGNS,
    r"\p{P}": _SIGNS,
}


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A type of an API: ``minimum`` and ``maximum`` are of numbers, of lengths of texts, lists and mappings.

    ``item`` names the type of what is in a list, ``entry`` those of a mapping's keys and values.
    """

    service: str
    name: str
    kind: str
    members: Mapping[str, str] = field(default_factory=dict)
    item: str | None = None
    entry: tuple[str, str] | None = None
    values: Sequence[str] = ()
    minimum: int | None = None
    maximum: int | None = None
    pattern: re.Pattern[str] | None = None


@cache
def shape(service: str, name: str) -> Shape:
    """A shape of the ``sagemaker`` or ``fsx`` API; members and items are names of further shapes."""
    model = api_model(service)["shapes"][name]
    pattern = model.get("pattern")
    return Shape(
        service=service,
        name=name,
        kind=model["type"],
        members={member: what["shape"] for member, what in model.get("members", {}).items()},
        item=model["member"]["shape"] if "member" in model else None,
        entry=(model["key"]["shape"], model["value"]["shape"]) if "key" in model else None,
        values=tuple(model.get("enum", ())),
        minimum=model.get("min"),
        maximum=model.get("max"),
        pattern=_compiled(pattern) if pattern else None,
    )


def _compiled(pattern: str) -> re.Pattern[str]:
    for theirs, ours in _CLASSES.items():
        pattern = pattern.replace(theirs, ours)
    return re.compile(pattern)
