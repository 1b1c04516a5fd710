"""Values that CloudFormation fills in later. Known by their markers, so that no rule loads aws_cdk."""

from collections.abc import Mapping, Sequence
from typing import Any

# aws-cdk-lib core/lib/private/encoding: ${Token[…]} in text, #{Token[…]} as a list's one item, and numbers
# whose upper 16 bits are 0xfbff
_TEXT_MARKERS = ("${Token[", "#{Token[")
_LOWEST, _HIGHEST = -1.9491e289, -1.8881e289


def unresolved(*values: Any) -> bool:
    """Whether any of the values is a token, or holds one."""
    return any(_is_token(value) for value in values)


def _is_token(value: Any) -> bool:
    if isinstance(value, str):
        return any(marker in value for marker in _TEXT_MARKERS)
    if isinstance(value, int | float):
        return _LOWEST < value < _HIGHEST
    if isinstance(value, Mapping):
        return unresolved(*value.keys(), *value.values())
    return isinstance(value, Sequence) and unresolved(*value)
