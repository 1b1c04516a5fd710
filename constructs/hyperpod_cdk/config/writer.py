"""Plain data as YAML text that people read: comments, blank lines, short lists on one line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

_STEP = 2
_ITEM = 4
_FLOW_WIDTH = 80
_NO_FOLDING = 100_000
# truth values of YAML 1.1, which many tools still read
_YAML_1_1 = ("y", "yes", "on", "n", "no", "off")


@dataclass(frozen=True, kw_only=True)
class Noted:
    """A value with comments.

    ``above`` its key or item, in any number of lines; ``beside`` it, which a mapping's plain values alone can
    have; ``apart``: with a blank line before.
    """

    value: Any
    above: str = ""
    beside: str = ""
    apart: bool = False


def write(tree: Mapping[str, Any], *, head: str = "") -> str:
    """YAML 1.2 that :func:`~hyperpod_cdk.config.read_text` reads back as the same data.

    Args:
        tree: mappings, sequences, texts, numbers, booleans and None; any value may be :class:`Noted`.
        head: comment at the top; its first line may name a schema.
    """
    yaml = YAML()
    yaml.indent(mapping=_STEP, sequence=_ITEM, offset=_STEP)
    yaml.width = _NO_FOLDING
    # ruamel leaves a null empty, which reads as one that was forgotten
    yaml.representer.add_representer(type(None), _null)
    stream = StringIO()
    yaml.dump(_mapping(tree, 0), stream)
    top = "".join(f"# {line}".rstrip() + "\n" for line in head.splitlines())
    # ruamel forgets the end of the line after an empty mapping or sequence
    return top + ("\n" if top else "") + stream.getvalue().rstrip("\n") + "\n"


def _node(value: Any, indent: int) -> Any:
    if isinstance(value, Mapping):
        return _mapping(value, indent)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return _sequence(value, indent)
    return _text(value) if isinstance(value, str) else value


def _text(value: str) -> str:
    # an enum member is a str, but not a plain one
    quoted = value.casefold() in _YAML_1_1 or not value.isprintable()
    return DoubleQuotedScalarString(value) if quoted else str(value)


def _mapping(tree: Mapping[str, Any], indent: int) -> CommentedMap:
    made = CommentedMap()
    for key, value in tree.items():
        noted = value if isinstance(value, Noted) else Noted(value=value)
        made[_text(key)] = _node(noted.value, indent + _STEP)
        _comment(made, key, noted, indent)
    return made


def _sequence(items: Sequence[Any], indent: int) -> CommentedSeq:
    made = CommentedSeq()
    for index, item in enumerate(items):
        noted = item if isinstance(item, Noted) else Noted(value=item)
        made.append(_node(noted.value, indent + _STEP))
        _comment(made, index, noted, indent)
    if _is_short(items):
        made.fa.set_flow_style()
    return made


def _is_short(items: Sequence[Any]) -> bool:
    plain = all(isinstance(item, str | int | float) for item in items)
    return plain and sum(len(str(item)) + 2 for item in items) <= _FLOW_WIDTH


def _comment(holder: CommentedMap | CommentedSeq, key: Any, noted: Noted, indent: int) -> None:
    above = ("\n" if noted.apart else "") + noted.above
    if above:
        holder.yaml_set_comment_before_after_key(key, before=above, indent=indent)
    if noted.beside:
        holder.yaml_add_eol_comment(noted.beside, key)


def _null(representer: Any, _data: None) -> Any:
    return representer.represent_scalar("tag:yaml.org,2002:null", "null")
