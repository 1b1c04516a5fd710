"""From a YAML file to the spec."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from pydantic import ConfigDict, TypeAdapter, ValidationError

from hyperpod_cdk.config.document import Document, parse
from hyperpod_cdk.config.faults import finding
from hyperpod_cdk.config.part import PartReader
from hyperpod_cdk.rules.finding import Finding, Position, ordered
from hyperpod_cdk.rules.form import BAD_YAML, WRONG_TYPE
from hyperpod_cdk.rules.registry import check_part
from hyperpod_cdk.spec import HyperPodSpec


class ConfigError(ValueError):
    """The file can not be read as a spec; ``findings`` holds every fault, of form and beyond, by position."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        self.findings = tuple(ordered(findings))
        super().__init__("\n".join(map(str, self.findings)))


@dataclass(frozen=True, kw_only=True)
class Config:
    """A spec and the file that it was read from."""

    spec: HyperPodSpec
    document: Document

    def placed(self, findings: Sequence[Finding]) -> list[Finding]:
        """Findings about the spec, each with its position in the file: errors first, in the file's order."""
        return ordered(one.at(self.document.position(one.path)) for one in findings)


def load(path: str | Path) -> HyperPodSpec:
    """Read a cluster's YAML file.

    Args:
        path: the file, UTF-8. Paths in it are relative to its folder; a missing ``stack_name`` becomes the
            file's name.

    Raises:
        ConfigError: the form is wrong; with every fault, and what the rules find in the rest, each with line
            and column.
    """
    return read(path).spec


def read(path: str | Path) -> Config:
    """As :func:`load`, with the positions of the values kept."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError([_unreadable(path, error.strerror or "can not be opened")]) from None
    except UnicodeDecodeError:
        raise ConfigError([_unreadable(path, "is not UTF-8 text")]) from None
    return read_text(text, file=path)


def read_text(text: str, *, file: str | Path) -> Config:
    """As :func:`read`, of a text that is no file yet.

    Args:
        text: YAML.
        file: what it is called in findings; its folder is where paths begin.
    """
    document = parse(text, file=str(file))
    return Config(spec=_spec(document, Path(file)), document=document)


@cache
def adapter(*, described: bool = False) -> TypeAdapter[tuple[HyperPodSpec]]:
    """pydantic's view of the spec. A dataclass of its own takes no settings here; one in a tuple does.

    Args:
        described: with the docstrings of the fields, which come from the sources and take a third of the time
            that a file takes.
    """
    settings = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=described)
    return TypeAdapter(tuple[HyperPodSpec], config=settings)


def _spec(document: Document, file: Path) -> HyperPodSpec:
    findings = list(document.findings)
    if not findings and not isinstance(document.data, dict):
        message = "holds no cluster: a mapping with the key 'cluster' is wanted at the top"
        fix = "`hyperpod-cdk init` writes a file to start from"
        findings.append(WRONG_TYPE.finding("", message, fix=fix, position=document.position("")))
    if isinstance(document.data, dict):
        try:
            # as JSON, since strict reading of Python data would want dataclasses and enum members
            (spec,) = adapter().validate_json(json.dumps([document.data]))
        except ValidationError as error:
            unread = {one.path for one in document.findings if one.code == BAD_YAML.code}
            faults = (finding(one, one["loc"][1:], document) for one in error.errors(include_url=False))
            findings += [fault for fault in faults if fault.path not in unread]
    if findings:
        raise ConfigError([*findings, *_of_the_rest(document, file)])
    return _placed_at(file, spec)


def _of_the_rest(document: Document, file: Path) -> list[Finding]:
    """What holds of a file with faults whatever they were to be, so that it need not be mended twice."""
    reader = PartReader(document, adapter())
    spec = reader.read()
    if spec is None:
        return []
    # paths in it are told from the file's folder; whether one could be read is not asked
    findings = check_part(reader.marked(_placed_at(file, spec)))
    return [one.at(document.position(one.path)) for one in findings]


def _placed_at(path: Path, spec: HyperPodSpec) -> HyperPodSpec:
    if spec.stack_name is None:
        spec = replace(spec, stack_name=_stack_name(path.stem))
    if spec.lifecycle.extra_files is not None:
        folder = path.resolve().parent / spec.lifecycle.extra_files
        spec = replace(spec, lifecycle=replace(spec.lifecycle, extra_files=str(folder)))
    downloads = spec.lifecycle.downloads
    if downloads.folder is not None:
        downloads = replace(downloads, folder=str(path.resolve().parent / downloads.folder))
        spec = replace(spec, lifecycle=replace(spec.lifecycle, downloads=downloads))
    plane = spec.cluster.orchestrator.eks
    if plane is not None and plane.helm_chart is not None and plane.helm_chart.path is not None:
        chart = replace(plane.helm_chart, path=str(path.resolve().parent / plane.helm_chart.path))
        orchestrator = replace(spec.cluster.orchestrator, eks=replace(plane, helm_chart=chart))
        spec = replace(spec, cluster=replace(spec.cluster, orchestrator=orchestrator))
    return spec


def _stack_name(stem: str) -> str:
    name = re.sub(r"[^A-Za-z0-9]+", "-", stem).strip("-")
    return (name if name[:1].isalpha() else f"hyperpod-{name}".rstrip("-"))[:128].rstrip("-")


def _unreadable(path: Path, reason: str) -> Finding:
    position = Position(file=str(path), line=1, column=1)
    return BAD_YAML.finding("", reason.lower(), fix="name a YAML file that can be read", position=position)
