"""Parts of a spec of which not all could be read: rules that look at the rest say nothing.

What a rule says before it looks there does not depend on it, and holds whatever it is mended to.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import Field, fields
from typing import Any, NoReturn, TypeVar

Part = TypeVar("Part")
Found = TypeVar("Found")


class UnreadError(Exception):
    """A rule looked at a value that could not be read."""


class _Unread:
    """Marks the classes of parts with unread fields."""

    unread_fields: frozenset[str] = frozenset()


def with_unread(part: Part, names: Collection[str]) -> Part:
    """The same part of a spec, some of whose fields raise :class:`UnreadError` when they are looked at.

    Args:
        part: a dataclass of the spec; is left as it is.
        names: of its fields.
    """
    cls = type(part)
    members: dict[str, Any] = {name: property(_refuse) for name in names}
    # to compare is to look at every field
    members |= {name: _refuse for name in ("__eq__", "__hash__", "__repr__")}
    members["unread_fields"] = frozenset(names)
    marked = type(cls.__name__, (cls, _Unread), members)
    made: Part = object.__new__(marked)
    vars(made).update({name: value for name, value in vars(part).items() if name not in names})
    return made


def has_unread(part: object) -> bool:
    """Whether some fields of a part could not be read; of what lies below it nothing is said."""
    return isinstance(part, _Unread)


def class_of(part: object) -> type:
    """The spec's own class of a part."""
    return type(part).__bases__[0] if has_unread(part) else type(part)


def readable(part: Any) -> Iterator[tuple["Field[Any]", Any]]:
    """The fields of a part that could be read, for rules that weigh each value by itself."""
    unread = part.unread_fields if isinstance(part, _Unread) else ()
    for field in fields(part):
        if field.name not in unread:
            yield field, getattr(part, field.name)


def until_unread(look: Callable[[], Iterable[Found]]) -> Iterator[Found]:
    """What comes before the first look at something that could not be read."""
    try:
        yield from look()
    except UnreadError:
        return


def _refuse(*_arguments: object) -> NoReturn:
    raise UnreadError
