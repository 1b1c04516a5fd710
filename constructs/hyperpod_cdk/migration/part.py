"""Data that knows what was read of it, so that what nobody read can be told."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from hyperpod_cdk.rules.paths import join


@dataclass(frozen=True)
class Part:
    """A value of a source, its path, and which paths of the source were taken.

    A null counts as if it was not there.
    """

    value: Any
    path: str = ""
    taken: set[str] = field(default_factory=set)

    def has(self, key: str) -> bool:
        """Whether there is a value under the key."""
        return isinstance(self.value, dict) and self.value.get(key) is not None

    def take(self, key: str) -> Any:
        """The value under the key, all below it included; None where there is none."""
        if not self.has(key):
            return None
        self.taken.add(join(self.path, key))
        return self.value[key]

    def below(self, key: str) -> "Part":
        """What lies under the key, for further reading; nothing of it is taken yet."""
        return Part(self.value[key] if self.has(key) else {}, join(self.path, key), self.taken)

    def items(self, key: str) -> "list[Part]":
        """The items of the list under the key, for further reading."""
        whole = self.below(key)
        if not isinstance(whole.value, list):
            return []
        return [Part(item, join(whole.path, index), self.taken) for index, item in enumerate(whole.value)]

    def left(self) -> Iterator["Part"]:
        """Each value that was not taken; a structure that nothing was taken of comes as a whole."""
        inner = list(self._children())
        only_nulls = isinstance(self.value, dict | list) and self.value and not inner
        if self.path in self.taken or only_nulls:
            return
        if not inner or not any(child.is_touched() for child in inner):
            yield self
            return
        for child in inner:
            yield from child.left()

    def is_touched(self) -> bool:
        """Whether anything was taken of it."""
        return self.path in self.taken or any(child.is_touched() for child in self._children())

    def _children(self) -> Iterator["Part"]:
        if isinstance(self.value, dict):
            for key, value in self.value.items():
                if value is None:
                    continue
                yield Part(value, join(self.path, str(key)), self.taken)
        elif isinstance(self.value, list):
            for index, value in enumerate(self.value):
                if value is None:
                    continue
                yield Part(value, join(self.path, index), self.taken)
