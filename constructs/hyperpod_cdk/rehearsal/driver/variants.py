"""Copies of the configuration, changed as a user would change it."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from hyperpod_cdk.config import load
from hyperpod_cdk.spec import HyperPodSpec, InstanceGroup
from hyperpod_cdk.spec.kinds import NodeType

ADDED_GROUP = "rehearsal"
"""Name of the group that is added and removed."""
ADDED_SCRIPT = "after.d/90-rehearsal.sh"
"""The user's own script that is added, below ``extra_files``."""
_SCRIPT = "#!/usr/bin/env bash\necho 'one more script of the user'\n"

Document = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Variant:
    """A configuration to deploy.

    Args:
        title: what changed, for people.
        path: the YAML file.
        spec: what it says.
    """

    title: str
    path: Path
    spec: HyperPodSpec

    @property
    def counts(self) -> dict[str, int]:
        """Nodes by instance group."""
        groups = self.spec.cluster.instance_groups
        return {group.instance_group_name: group.instance_count for group in groups}


class Variants:
    """The configurations of a rehearsal, each a change of the one before.

    Args:
        original: the user's YAML file, which stays as it is.
        folder: where the copies go.
    """

    def __init__(self, original: Path, folder: Path) -> None:
        self._original = original
        self._folder = folder
        self._yaml = YAML(typ="safe")
        self._yaml.default_flow_style = False
        self._document: Document = self._yaml.load(original.read_text(encoding="utf-8"))
        spec = load(original)
        self.first = Variant(title="the configuration as it is", path=original, spec=spec)
        self._document["stack_name"] = spec.stack_name
        lifecycle = self._document.setdefault("lifecycle", {})
        if spec.lifecycle.extra_files:
            lifecycle["extra_files"] = spec.lifecycle.extra_files
        self._group = _compute_group(spec)
        scripted = [group for group in spec.cluster.instance_groups if group.environment_config is None]
        self._runs_scripts = bool(scripted)
        self._brings_scripts = all(group.life_cycle_config for group in scripted)

    def changes(self) -> list[Variant]:
        """Scale a group up, add one, remove it, change a script; the last may also be destroyed."""
        scripts = f"add {self.added_script}" if self.added_script else "point at another prefix"
        last = f"change the lifecycle scripts: {scripts}" if self._runs_scripts else "let it be destroyed"
        return [
            self.scaled(),
            self._changed(f"add group {ADDED_GROUP}", self._add_group),
            self._changed(f"remove group {ADDED_GROUP}", self._remove_group),
            self._changed(last, self._add_script),
        ]

    def scaled(self) -> Variant:
        """Scale a group up by a node."""
        name, count = self._group.instance_group_name, self._group.instance_count
        return self._changed(f"scale group {name} up, from {count} to {count + 1}", self._scale)

    def destroyable(self) -> Variant:
        """The configuration with a cluster name, and without protection from being destroyed."""
        spec = self.first.spec
        if spec.cluster.cluster_name and not spec.termination_protection:
            return self.first
        return self._changed("the configuration with a cluster name, not protected", self._unprotect)

    @property
    def added_script(self) -> str | None:
        """The script that the last change adds to those deployed; None when the user's own are used."""
        return None if self._brings_scripts else f"extra/{ADDED_SCRIPT}"

    def _changed(self, title: str, change: Callable[[Document], None]) -> Variant:
        change(self._document)
        number = len(list(self._folder.glob("*.yaml"))) + 1
        path = self._folder / f"{number}-{self._original.name}"
        self._yaml.dump(self._document, path)
        return Variant(title=title, path=path, spec=load(path))

    def _groups(self, document: Document) -> list[Document]:
        groups: list[Document] = document["cluster"]["instance_groups"]
        return groups

    def _unprotect(self, document: Document) -> None:
        document["termination_protection"] = False
        document["cluster"].setdefault("cluster_name", self.first.spec.stack_name)

    def _scale(self, document: Document) -> None:
        for group in self._groups(document):
            if group["instance_group_name"] == self._group.instance_group_name:
                group["instance_count"] = self._group.instance_count + 1

    def _add_group(self, document: Document) -> None:
        (like,) = (
            group
            for group in self._groups(document)
            if group["instance_group_name"] == self._group.instance_group_name
        )
        taken = (
            *("instance_type", "instance_requirements", "kubernetes_config", "secondary_volume"),
            *("environment_config", "mounts", "execution_role_arn", "lifecycle_mode", "life_cycle_config"),
        )
        group = {key: like[key] for key in taken if key in like}
        group |= {"instance_group_name": ADDED_GROUP, "instance_count": 1}
        if "slurm_config" in like:
            group["slurm_config"] = {"node_type": "Compute", "partition_names": [ADDED_GROUP]}
        self._groups(document).append(group)

    def _remove_group(self, document: Document) -> None:
        groups = self._groups(document)
        groups[:] = [group for group in groups if group["instance_group_name"] != ADDED_GROUP]

    def _add_script(self, document: Document) -> None:
        # the last change is also what a user deploys before destroying a protected stack
        document["termination_protection"] = False
        if self._brings_scripts:
            for group in self._groups(document):
                config = group.get("life_cycle_config")
                if config is None:
                    continue
                uri = config["source_s3_uri"].rstrip("/") + "-2/"
                # a new mapping: groups may share one by a YAML alias
                group["life_cycle_config"] = {**config, "source_s3_uri": uri}
            return
        folder = self._folder / "extra"
        before = document["lifecycle"].get("extra_files")
        if before:
            shutil.copytree(before, folder)
        script = folder / ADDED_SCRIPT
        script.parent.mkdir(parents=True, exist_ok=True)
        script.write_text(_SCRIPT, encoding="utf-8")
        document["lifecycle"]["extra_files"] = str(folder)


def _compute_group(spec: HyperPodSpec) -> InstanceGroup:
    groups = spec.cluster.instance_groups
    for group in reversed(groups):
        if group.slurm_config is None or group.slurm_config.node_type == NodeType.COMPUTE:
            return group
    return groups[-1]
