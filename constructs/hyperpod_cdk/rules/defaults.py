"""Whether a value was written down, as far as the value tells."""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field
from typing import Any


def is_default(value: Any, field: Field[Any]) -> bool:
    """Whether a field has its default, or None; a list is as empty as a tuple.

    Args:
        value: of the field.
        field: of the spec's dataclass.
    """
    default = field.default if field.default_factory is MISSING else field.default_factory()
    return value is None or bool(value == default) or (_is_empty(value) and _is_empty(default))


def _is_empty(value: Any) -> bool:
    return isinstance(value, Sequence | Mapping) and not value
