"""The whole way: sources in, a commented configuration and notes out."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Any

from hyperpod_cdk.config.writer import Noted, write
from hyperpod_cdk.migration import slurm
from hyperpod_cdk.migration.cluster import read_cluster, read_network
from hyperpod_cdk.migration.files import SourceError, Sources
from hyperpod_cdk.migration.groups import Group, read_eks_group, read_group
from hyperpod_cdk.migration.kubernetes import is_on_eks, tell_first_node
from hyperpod_cdk.migration.notes import OPEN, Kind, Note, by_kind
from hyperpod_cdk.migration.part import Part
from hyperpod_cdk.migration.reasons import reason
from hyperpod_cdk.migration.storage import FileSystems
from hyperpod_cdk.spec import LifecycleMode

_WIDTH = 108
_MODES = {
    LifecycleMode.AMI: "No scripts: the image sets the nodes up.",
    LifecycleMode.EXTENSION: "The service sets the nodes up, then the scripts run.",
    LifecycleMode.CUSTOM: "The scripts do everything on the nodes.",
    LifecycleMode.LEGACY: "The scripts do everything, and learn of Slurm by provisioning_parameters.json.",
}


@dataclass(frozen=True, kw_only=True)
class Migration:
    """What a migration made: the YAML, and what there is to say of it, the urgent first."""

    text: str
    notes: Sequence[Note]

    @property
    def is_complete(self) -> bool:
        """Whether everything was carried over, and nothing is to be filled in."""
        return not any(note.kind in OPEN for note in self.notes)


def migrate(sources: Sources, *, schema: str | None = None, own_scripts: bool = False) -> Migration:
    """Make a configuration.

    Existing networks, file systems, roles and scripts are referred to, never made anew.

    Args:
        sources: what the files said.
        schema: path of the JSON Schema for the first line. Default: no such line.
        own_scripts: let the API describe Slurm and this library's scripts set up the nodes, in place of
            scripts in S3 and provisioning_parameters.json.

    Raises:
        SourceError: the sources describe a cluster that a configuration can not.
    """
    return _Course(sources, own_scripts=own_scripts).run(schema)


class _Course:
    """One migration under way."""

    def __init__(self, sources: Sources, *, own_scripts: bool) -> None:
        self._sources = sources
        self._own_scripts = own_scripts
        self._notes = list(sources.notes)
        self._request = Part(sources.request or {})
        self._provisioning = Part(sources.provisioning or {}, slurm.ROOT)
        self._file_systems = FileSystems(notes=self._notes)
        self._eks = is_on_eks(self._request)

    def run(self, schema: str | None) -> Migration:
        """The migration."""
        groups, multi_head = self._eks_groups() if self._eks else self._slurm_groups()
        if not groups:
            raise SourceError("no instance group is named anywhere")
        tree: dict[str, Any] = {}
        region = self._region()
        if region:
            tree["region"] = region
        tree["network"] = Noted(value=read_network(self._request.below("VpcConfig"), self._notes), apart=True)
        if self._file_systems.found:
            above = "They are there already; nothing of them is created or changed."
            tree["storage"] = Noted(value=self._file_systems.found, above=above, apart=True)
        mode = Counter(group.mode for group in groups).most_common(1)[0][0]
        if not self._eks:
            tree["lifecycle"] = Noted(value={"mode": mode}, above=_MODES[mode], apart=True)
        cluster = read_cluster(self._request, self._notes, legacy=mode is LifecycleMode.LEGACY)
        if self._eks:
            tell_first_node(cluster, [(one.part.path, one.settings) for one in groups], self._notes)
        if multi_head:
            cluster.setdefault("orchestrator", {}).setdefault("slurm", {})["multi_head"] = multi_head
        cluster["instance_groups"] = [
            Noted(value=_finished(group, mode), apart=number > 0) for number, group in enumerate(groups)
        ]
        tree["cluster"] = Noted(value=cluster, apart=True)
        for part in (self._request, self._provisioning):
            left = part.left() if part.value else ()
            self._notes += [
                Note(kind=Kind.LOST, path=one.path, text=reason(one, eks=self._eks)) for one in left
            ]
        notes = by_kind(self._notes)
        return Migration(text=write(tree, head=self._head(schema, notes)), notes=notes)

    def _eks_groups(self) -> tuple[list[Group], None]:
        groups = [
            read_eks_group(one, self._notes, restricted=restricted)
            for member, restricted in (("InstanceGroups", False), ("RestrictedInstanceGroups", True))
            for one in self._request.items(member)
        ]
        if self._provisioning.value:
            text = "describes Slurm, and Amazon EKS runs this cluster"
            self._notes.append(Note(kind=Kind.LOST, path=slurm.ROOT, text=text))
            self._provisioning.taken.add(slurm.ROOT)
        if self._own_scripts:
            for group in groups:
                self._drop_scripts(group)
        return groups, None

    def _slurm_groups(self) -> tuple[list[Group], dict[str, Any] | None]:
        entries = self._request.items("InstanceGroups")
        by_api = any(one.has("SlurmConfig") for one in entries)
        groups = [read_group(one, self._file_systems, self._notes, legacy=not by_api) for one in entries]
        multi_head = self._roles(groups, by_api=by_api)
        if self._own_scripts:
            self._replace_scripts(groups, by_api=by_api, multi_head=multi_head)
        return groups, multi_head

    def _roles(self, groups: list[Group], *, by_api: bool) -> dict[str, Any] | None:
        provisioning = self._provisioning
        if by_api and provisioning.value:
            text = "the request describes Slurm itself, and the service refuses both: delete the file from S3"
            self._notes.append(Note(kind=Kind.LOST, path=slurm.ROOT, text=text))
            provisioning.taken.add(slurm.ROOT)
        elif by_api:
            return None
        elif provisioning.value:
            return slurm.apply(provisioning, groups, self._file_systems, self._notes)
        else:
            text = (
                "no group says what it is in Slurm: add the provisioning_parameters.json beside the scripts"
            )
            self._notes.append(Note(kind=Kind.MISSING, path=slurm.ROOT, text=text))
        return None

    def _replace_scripts(
        self, groups: list[Group], *, by_api: bool, multi_head: Mapping[str, Any] | None
    ) -> None:
        if multi_head:
            raise SourceError("several controllers need scripts of their own: migrate without --own-scripts")
        if not by_api:
            text = "the API describes Slurm: delete provisioning_parameters.json under every source"
            self._notes.append(Note(kind=Kind.CHANGED, path="Orchestrator", text=text))
        for group in groups:
            group.mode = LifecycleMode.EXTENSION
            self._rename_partitions(group)
            self._drop_scripts(group)

    def _drop_scripts(self, group: Group) -> None:
        scripts = group.settings.pop("life_cycle_config", None)
        if scripts:
            source = scripts.get("source_s3_uri")
            text = f"{source} no longer runs; what you added to the samples goes to lifecycle.extra_files"
            path = f"{group.part.path}.LifeCycleConfig"
            self._notes.append(Note(kind=Kind.LOST, path=path, text=text))

    def _rename_partitions(self, group: Group) -> None:
        """slurm.conf takes a partition such as ml.p5.48xlarge, the API does not."""
        slurm_config = group.settings.get("slurm_config") or {}
        before = slurm_config.get("partition_names") or []
        after = [re.sub("[^A-Za-z0-9]+", "-", str(name)).strip("-") for name in before]
        if after != before:
            slurm_config["partition_names"] = after
            path = f"{group.part.path}.SlurmConfig.PartitionNames"
            text = (
                f"{', '.join(after)} instead of {', '.join(before)}: letters, digits and inner hyphens only"
            )
            self._notes.append(Note(kind=Kind.CHANGED, path=path, text=text))

    def _region(self) -> str | None:
        eks = self._request.below("Orchestrator").below("Eks")
        holders = [(one, "TrainingPlanArn") for one in self._request.items("InstanceGroups")]
        arns = [one.value[key] for one, key in [*holders, (eks, "ClusterArn")] if one.has(key)]
        named = (str(arn).split(":")[3] for arn in arns if str(arn).count(":") > 3)
        return self._sources.region or next(filter(None, named), None) or self._file_systems.region()

    def _head(self, schema: str | None, notes: Sequence[Note]) -> str:
        files = ", ".join(Path(file).name for file in self._sources.files.values())
        lines = [f"yaml-language-server: $schema={schema}", ""] if schema else []
        lines.append(f"Made by `hyperpod-cdk migrate` from {files}.")
        for kind in Kind:
            mine = [note for note in notes if note.kind is kind]
            lines += ["", f"{kind.capitalize()}:"] if mine else []
            for note in mine:
                lines += wrap(
                    f"- {note.path}: {note.text}", _WIDTH, subsequent_indent="  ", break_long_words=False
                )
        return "\n".join(lines)


def _finished(group: Group, mode: LifecycleMode) -> dict[str, Any]:
    settings = dict(group.settings)
    if group.mounts:
        settings["mounts"] = group.mounts
    if group.mode is not mode:
        settings["lifecycle_mode"] = group.mode
    return settings
