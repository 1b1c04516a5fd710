"""Which kind of description a file holds, and its content as a CreateCluster request has it."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.constructor import SafeConstructor
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from hyperpod_cdk.migration.described import as_request
from hyperpod_cdk.migration.notes import Note
from hyperpod_cdk.migration.shaping import shaped
from hyperpod_cdk.migration.template import RESOURCE_TYPE, TemplateError, cluster_properties

ACCEPTED = (
    "a CreateCluster request (in snake case, too), provisioning_parameters.json, a CloudFormation template "
    f"with {RESOURCE_TYPE}, the output of `aws sagemaker describe-cluster` or `list-tags`"
)
"""Everything that can be read."""

_GROUPS = {"InstanceGroups", "RestrictedInstanceGroups"}


class SourceError(ValueError):
    """A file that can not be used; the text names it, and says what is wanted."""


@dataclass(kw_only=True)
class Sources:
    """What the files said together.

    ``request`` is the cluster as CreateCluster takes it, ``provisioning`` the content of
    provisioning_parameters.json; None: no file had it. ``files`` names where each came from.
    """

    request: dict[str, Any] | None = None
    provisioning: dict[str, Any] | None = None
    tags: list[Any] | None = None
    region: str | None = None
    notes: list[Note] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)


def read_sources(
    paths: Sequence[str | Path],
    *,
    parameters: Mapping[str, str] | None = None,
    resource: str | None = None,
    region: str | None = None,
) -> Sources:
    """Read every file.

    Args:
        paths: JSON or YAML, see :data:`ACCEPTED`; each kind once.
        parameters: values of the template's parameters. Default: the template's own defaults.
        resource: logical id of the cluster in a template with several.
        region: fills in AWS::Region of templates. Default: what the sources tell.

    Raises:
        SourceError: a file can not be read, holds nothing of use, or says again what another said.
    """
    sources = Sources(region=region)
    for path in map(Path, paths):
        content = _content(path)
        if not isinstance(content, dict):
            raise SourceError(f"{path}: holds no mapping; wanted is {ACCEPTED}")
        try:
            _add(sources, content, str(path), parameters or {}, resource)
        except TemplateError as error:
            raise SourceError(f"{path}: {error}") from None
    if sources.tags is not None and sources.request is not None:
        sources.request.setdefault("Tags", sources.tags)
        sources.notes = [note for note in sources.notes if note.path != "Tags"]
    return sources


def _add(
    sources: Sources,
    content: dict[str, Any],
    path: str,
    parameters: Mapping[str, str],
    resource: str | None,
) -> None:
    if "Resources" in content:
        known = {"AWS::Region": sources.region} if sources.region else {}
        properties, notes = cluster_properties(content, {**known, **parameters}, resource)
        sources.notes += notes
        _once(sources, "request", shaped(properties), path)
    elif content.get("Type") == RESOURCE_TYPE:
        _add(sources, {"Resources": {"Cluster": content}}, path, parameters, None)
    elif {"workload_manager", "controller_group", "worker_groups"} & set(content):
        _once(sources, "provisioning", content, path)
    elif "ClusterArn" in content and _GROUPS & set(content):
        request, notes = as_request(content)
        sources.notes += notes
        sources.region = sources.region or _region_of(content["ClusterArn"])
        _once(sources, "request", request, path)
    elif _GROUPS & set(request := shaped(content)):
        _once(sources, "request", request, path)
    elif set(content) <= {"Tags", "NextToken"} and "Tags" in content:
        _once(sources, "tags", content["Tags"], path)
    else:
        keys = ", ".join(list(map(str, content))[:6]) or "none"
        raise SourceError(f"{path}: is nothing that can be migrated (its keys: {keys}); wanted is {ACCEPTED}")


def _once(sources: Sources, kind: str, content: Any, path: str) -> None:
    if kind in sources.files:
        raise SourceError(f"{path}: says again what {sources.files[kind]} says; give one of them")
    sources.files[kind] = path
    setattr(sources, kind, content)


def _region_of(arn: Any) -> str | None:
    parts = str(arn).split(":")
    return parts[3] if len(parts) > 3 and parts[3] else None


class _Constructor(SafeConstructor):
    """Reads CloudFormation's short tags as their long forms."""


def _intrinsic(constructor: _Constructor, suffix: str, node: Any) -> dict[str, Any]:
    name = suffix if suffix in ("Ref", "Condition") else f"Fn::{suffix}"
    if node.id == "scalar":
        text = constructor.construct_scalar(node)
        return {name: text.split(".", 1) if suffix == "GetAtt" else text}
    if node.id == "sequence":
        return {name: constructor.construct_sequence(node, deep=True)}
    return {name: constructor.construct_mapping(node, deep=True)}


_Constructor.add_multi_constructor("!", _intrinsic)


def _content(path: Path) -> Any:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise SourceError(f"{path}: {(error.strerror or 'can not be opened').lower()}") from None
    except UnicodeDecodeError:
        raise SourceError(f"{path}: is not UTF-8 text") from None
    with suppress(json.JSONDecodeError):
        return json.loads(text)
    yaml = YAML(typ="safe", pure=True)
    yaml.Constructor = _Constructor
    try:
        # takes JSON with a comma too many, too
        return yaml.load(text)
    except YAMLError as error:
        mark = error.problem_mark if isinstance(error, MarkedYAMLError) else None
        place = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else str(path)
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise SourceError(f"{place}: is neither JSON nor YAML: {problem}") from None
