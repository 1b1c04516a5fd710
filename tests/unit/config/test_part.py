"""A file whose form is wrong is held to the rules too, where they do not hang on what is wrong."""

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from hyperpod_cdk.config import ConfigError, load, read_text
from hyperpod_cdk.rules import Finding, check, errors
from hyperpod_cdk.rules.form import FORM

GROUP = "cluster.instance_groups[0]"
COMPUTE = "cluster.instance_groups[1]"
GOOD = """\
network:
  availability_zone_ids: [usw2-az4]
storage:
  shared:
    file_system_type: LUSTRE
    capacity_gib: 1200
cluster:
  instance_groups:
    - instance_group_name: controller
      instance_type: ml.c5.xlarge
      instance_count: 1
      slurm_config: {node_type: Controller}
      mounts: [{storage: shared}]
    - instance_group_name: compute
      instance_type: ml.c5.4xlarge
      instance_count: 2
      slurm_config: {node_type: Compute, partition_names: [cpu]}
      mounts: [{storage: shared}]
"""
LUSTRE_SIZE = ("capacity_gib: 1200", "capacity_gib: 3600")
"""A fault for a rule, far from the others."""
SIZE_TOLD = ("HP301", "storage.shared.capacity_gib")


def told(folder: Path, *changes: tuple[str, str]) -> set[tuple[str, str]]:
    """Code and path of what is said of the good file with changes."""
    text = GOOD
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    path = folder / "cluster.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load(path)
    return {(one.code, one.path) for one in caught.value.findings}


@pytest.mark.parametrize(
    ("old", "new", "code", "path"),
    [
        ("instance_count: 2", 'instance_count: "2"', "HP005", f"{COMPUTE}.instance_count"),
        ("instance_count: 2", "instance_count: 64 nodes", "HP005", f"{COMPUTE}.instance_count"),
        ("[usw2-az4]", "usw2-az4", "HP005", "network.availability_zone_ids"),
        ("instance_group_name: compute", "instance_group_name: 7", "HP005", f"{COMPUTE}.instance_group_name"),
        ("cluster:\n", "deployment:\ncluster:\n", "HP005", "deployment"),
        ("LUSTRE", "lustre", "HP006", "storage.shared.file_system_type"),
        ("node_type: Compute", "node_type: worker", "HP006", f"{COMPUTE}.slurm_config.node_type"),
        ("partition_names", "partitions", "HP003", f"{COMPUTE}.slurm_config.partitions"),
        ("instance_type: ml.c5.4", "InstanceType: ml.c5.4", "HP003", f"{COMPUTE}.InstanceType"),
        ("mounts: [{storage", "mounts: [{colour: red, storage", "HP003", f"{GROUP}.mounts[0].colour"),
        ("node_type: Compute", "node_type: Compute, colour: red", "HP003", f"{COMPUTE}.slurm_config.colour"),
    ],
)
def test_a_fault_of_form_hides_none_of_the_rules(
    old: str, new: str, code: str, path: str, tmp_path: Path
) -> None:
    """Nothing else is said, either: no consequence of the fault itself, or of the way that it was mended."""
    found = told(tmp_path, (old, new), LUSTRE_SIZE)
    assert {one for one in found if one[0] != "HP004"} == {(code, path), SIZE_TOLD}


def test_several_faults_of_form_are_mended_together(tmp_path: Path) -> None:
    """Each of another kind, in one file."""
    assert told(
        tmp_path,
        ("instance_count: 1", 'instance_count: "1"'),
        ("node_type: Controller", "node_type: controller"),
        ("[usw2-az4]", "us-west-2a"),
        ("ml.c5.4xlarge", "c5.4xlarge"),
        LUSTRE_SIZE,
    ) == {
        ("HP005", f"{GROUP}.instance_count"),
        ("HP006", f"{GROUP}.slurm_config.node_type"),
        ("HP005", "network.availability_zone_ids"),
        ("HP220", "network.availability_zone_ids[0]"),
        ("HP108", f"{COMPUTE}.instance_type"),
        SIZE_TOLD,
    }


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # the node type is a guess, and whether there is a controller hangs on it
        ("node_type: Controller", "node_type: Worker"),
        # the storage that the mounts name may well be what this key was meant for
        ("storage:\n  shared", "file_systems:\n  shared"),
        # which file system a group mounts is not known
        ("mounts: [{storage: shared}]", "mounts: [{colour: red}]"),
        ("instance_count: 2", "instance_count: 1.5 dozens"),
        ("cluster:\n", "cluster:\n  orchestrator: {ecs: {}}\n"),
    ],
)
def test_what_hangs_on_a_fault_is_not_told(old: str, new: str, tmp_path: Path) -> None:
    """A finding that may be wrong is worse than one that comes after the next try."""
    assert {code for code, _ in told(tmp_path, (old, new))} <= {"HP003", "HP004", "HP005", "HP006"}


def test_what_an_anchor_shares_is_mended_at_each_place(tmp_path: Path) -> None:
    """The parser gives both places one and the same mapping."""
    anchor = ("{node_type: Compute, partition_names", "&cpu {node_type: compute, partitions")
    more = "{instance_group_name: more, instance_type: ml.c5.xlarge, instance_count: 1, slurm_config: *cpu}"
    text = f"{GOOD.replace(*anchor)}    - {more}\n"
    path = tmp_path / "cluster.yaml"
    path.write_text(text.replace(*LUSTRE_SIZE), encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load(path)
    assert [one.code for one in caught.value.findings].count("HP003") == 2
    assert SIZE_TOLD in {(one.code, one.path) for one in caught.value.findings}


Place = tuple[str | int, ...]
OF_FORM = {rule.code for rule in FORM}
FAULTY = (
    GOOD.replace("[usw2-az4]", "[us-west-2a]")
    .replace("capacity_gib: 1200", "capacity_gib: 3600")
    .replace("[cpu]", "[a, b]")
    .replace("ml.c5.4xlarge", "c5.4xlarge")
    .replace("mounts: [{storage: shared}]", "mounts: [{storage: scratch}]", 1)
)
"""One that breaks rules in five places, and in form nowhere."""


def mutants(data: Any) -> Iterator[Any]:
    """The data with one fault of form, for each place and each kind of fault."""
    for place in places(data):
        *_, key = place
        yield from (changed(data, place, key, {"zz": 1}),)
        if isinstance(key, str):
            yield from (changed(data, place, name) for name in (f"{key[:-1]}zz", "qqqq", None))
            if key not in data:
                moved = changed(data, place, None)
                yield {**moved, key: at(data, place)}


def places(data: Any, above: Place = ()) -> Iterator[Place]:
    steps = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for step, value in steps:
        yield (*above, step)
        yield from places(value, (*above, step))


def at(data: Any, place: Place) -> Any:
    for step in place:
        data = data[step]
    return data


def changed(data: Any, place: Place, name: str | int | None, *value: Any) -> Any:
    """The data with another key, or another value, at a place; no key: without it."""
    made = deepcopy(data)
    holder, key = at(made, place[:-1]), place[-1]
    if isinstance(holder, list):
        holder[int(key)] = value[0]
    else:
        given = holder.pop(key)
        if name is not None:
            holder[name] = value[0] if value else given
    return made


def by_rules(findings: Iterator[Finding] | list[Finding]) -> set[tuple[str, str]]:
    return {(one.code, one.path) for one in findings if one.code not in OF_FORM}


@pytest.mark.parametrize("text", [FAULTY, Path("clusters/eks-minimal.yaml").read_text(encoding="utf-8")])
def test_what_is_told_beside_any_fault_of_form_holds_of_the_file_without_it(text: str) -> None:
    """Nothing is said because of a key that went, and most of what holds is said at once."""
    data = YAML(typ="safe").load(text)
    holds = by_rules(errors(check(read_text(text, file="x.yaml").spec)))
    tried = kept = 0
    for mutant in mutants(data):
        try:
            read_text(json.dumps(mutant), file="x.yaml")
        except ConfigError as error:
            told = by_rules(list(error.findings))
            assert told <= holds, mutant
            tried += 1
            kept += len(told)
    assert tried > 60
    assert kept >= 0.6 * tried * len(holds)
