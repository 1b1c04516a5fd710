"""YAML text as plain data, with the position of every key and value."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from hyperpod_cdk.rules.finding import Finding, Position
from hyperpod_cdk.rules.form import BAD_YAML, DUPLICATE_KEY
from hyperpod_cdk.rules.paths import join, parent

_TAG = "tag:yaml.org,2002:"
_CONVERTED = tuple(_TAG + name for name in ("null", "bool", "int", "float"))
# no field takes a date: what looks like one is the text that stands there
_KNOWN = (*_CONVERTED, *(_TAG + name for name in ("str", "timestamp", "seq", "map")))
_MERGE = f"{_TAG}merge"


@dataclass(kw_only=True)
class Document:
    """A YAML file: its data, where each key and value stands, and what is wrong with it as YAML."""

    file: str
    data: Any = None
    keys: dict[str, Position] = field(default_factory=dict)
    values: dict[str, Position] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def position(self, path: str, *, of_key: bool = False) -> Position:
        """Where a value, or its key, stands; for one that is not there, the key that it belongs under."""
        if path in self.values and not of_key:
            return self.values[path]
        while path and path not in self.keys:
            path = parent(path)
        return self.keys.get(path) or self.values.get("") or Position(file=self.file, line=1, column=1)


def parse(text: str, *, file: str) -> Document:
    """Read YAML 1.2; faults of the text become findings of the document, all that can be told apart."""
    document = Document(file=file)
    yaml = YAML(typ="safe", pure=True)
    try:
        root = yaml.compose(text)
        if root is not None:
            document.data = _Reader(document, yaml).read(root, "", ())
    except YAMLError as error:
        document.findings.append(_syntax_finding(error, file))
    return document


class _Reader:
    def __init__(self, document: Document, yaml: YAML) -> None:
        self._document = document
        self._yaml = yaml

    def read(self, node: Node, path: str, parents: tuple[Node, ...]) -> Any:
        """The node's plain data; None where it can not be read, which is then a finding."""
        self._document.values[path] = self._position(node)
        if any(node is above for above in parents):
            return self._refuse(node, path, "contains itself")
        if node.tag not in _KNOWN:
            return self._refuse(node, path, f"has the tag {node.tag}, which means nothing here")
        if isinstance(node, MappingNode):
            return self._mapping(node, path, (*parents, node))
        if isinstance(node, SequenceNode):
            return [
                self._entry(item, item, join(path, index), (*parents, node))
                for index, item in enumerate(node.value)
            ]
        return self._yaml.constructor.construct_object(node) if node.tag in _CONVERTED else node.value

    def _mapping(self, node: MappingNode, path: str, parents: tuple[Node, ...]) -> dict[str, Any]:
        data: dict[str, Any] = {}
        for key, value in self._own_pairs(node, path):
            data[key.value] = self._entry(key, value, join(path, key.value), parents)
        for key, value in self._merged_pairs(node, path, parents):
            if key.value not in data:
                data[key.value] = self._entry(key, value, join(path, key.value), parents)
        return data

    def _entry(self, key: Node, value: Node, path: str, parents: tuple[Node, ...]) -> Any:
        self._document.keys[path] = self._position(key)
        return self.read(value, path, parents)

    def _own_pairs(self, node: MappingNode, path: str) -> Iterator[tuple[ScalarNode, Node]]:
        seen: dict[str, Position] = {}
        for key, value in node.value:
            if key.tag == _MERGE:
                continue
            position = self._position(key)
            if not isinstance(key, ScalarNode):
                self._refuse(key, path, "has a key that is no plain text")
            elif key.value in seen:
                message = f"stands here and at line {seen[key.value].line}"
                finding = DUPLICATE_KEY.finding(join(path, key.value), message, position=position)
                self._document.findings.append(finding)
            else:
                seen[key.value] = position
                yield key, value

    def _merged_pairs(
        self, node: MappingNode, path: str, parents: tuple[Node, ...]
    ) -> Iterator[tuple[ScalarNode, Node]]:
        merged = [value for key, value in node.value if key.tag == _MERGE]
        for source in (one for value in merged for one in _each(value)):
            if not isinstance(source, MappingNode) or any(source is above for above in parents):
                self._refuse(source, path, "merges something else than another mapping")
                continue
            yield from self._own_pairs(source, path)
            yield from self._merged_pairs(source, path, (*parents, source))

    def _refuse(self, node: Node, path: str, message: str) -> None:
        self._document.findings.append(BAD_YAML.finding(path, message, position=self._position(node)))

    def _position(self, node: Node) -> Position:
        mark = node.start_mark
        return Position(file=self._document.file, line=mark.line + 1, column=mark.column + 1)


def _each(node: Node) -> list[Node]:
    return list(node.value) if isinstance(node, SequenceNode) else [node]


def _syntax_finding(error: YAMLError, file: str) -> Finding:
    mark = error.problem_mark or error.context_mark if isinstance(error, MarkedYAMLError) else None
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    context = f" {error.context}" if isinstance(error, MarkedYAMLError) and error.context else ""
    return BAD_YAML.finding("", f"{problem}{context}", position=Position(file=file, line=line, column=column))
