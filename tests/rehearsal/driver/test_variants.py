"""Copies of a configuration: changed as a user would, each a change of the one before, all valid."""

from pathlib import Path

import pytest

from hyperpod_cdk.config import read
from hyperpod_cdk.rehearsal.driver.variants import ADDED_GROUP, Variants
from hyperpod_cdk.rules import check, errors

EXAMPLES = sorted(Path("clusters").glob("*.yaml"))


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_every_example_can_be_changed_so(path: Path, tmp_path: Path) -> None:
    variants = Variants(path.resolve(), tmp_path)
    original, (scaled, added, removed, scripts) = variants.first, variants.changes()
    for variant in (scaled, added, removed, scripts):
        assert not errors(check(read(variant.path).spec)), variant.title
        assert variant.spec.stack_name == original.spec.stack_name
        assert variant.spec.cluster.cluster_name == original.spec.cluster.cluster_name
    grown = {name for name, count in scaled.counts.items() if count != original.counts[name]}
    assert [scaled.counts[name] - original.counts[name] for name in grown] == [1]
    assert added.counts == {**scaled.counts, ADDED_GROUP: 1}
    assert removed.counts == scripts.counts == scaled.counts
    # so that it can be destroyed in the end
    assert scripts.spec.termination_protection is False
    assert read(path).spec == original.spec


def test_scripts_are_added_to_those_of_the_user(tmp_path: Path) -> None:
    extra = tmp_path / "mine" / "before.d"
    extra.mkdir(parents=True)
    (extra / "10-mine.sh").write_text("echo mine\n")
    config = tmp_path / "own.yaml"
    text = Path("clusters/slurm-minimal.yaml").read_text()
    config.write_text(f"{text}\nlifecycle:\n  extra_files: mine\n")
    folder = tmp_path / "variants"
    folder.mkdir()
    variants = Variants(config, folder)
    last = variants.changes()[-1]
    deployed = Path(str(last.spec.lifecycle.extra_files))
    files = {str(path.relative_to(deployed)) for path in deployed.rglob("*") if path.is_file()}
    assert files == {"before.d/10-mine.sh", str(variants.added_script).removeprefix("extra/")}
    assert not (tmp_path / "mine" / "after.d").exists()


def test_scripts_in_the_users_own_bucket_move_to_another_prefix(tmp_path: Path) -> None:
    variants = Variants(Path("clusters/reference-example.yaml").resolve(), tmp_path)
    last = variants.changes()[-1]
    uris = {
        g.life_cycle_config.source_s3_uri for g in last.spec.cluster.instance_groups if g.life_cycle_config
    }
    assert variants.added_script is None
    assert uris == {"s3://sagemaker-us-west-2-111122223333/lifecycle/src-2/"}


NOVA = """\
    - instance_group_name: nova
      instance_type: ml.p5.48xlarge
      instance_count: 2
      environment_config:
        fsx_lustre_config: {size_in_gib: 12000, per_unit_storage_throughput: 250}
"""


def of_restricted_groups(folder: Path, *, alone: bool) -> Variants:
    """Variants of a cluster on Amazon EKS with a restricted group, and with or without an ordinary one."""
    text = Path("clusters/eks-minimal.yaml").read_text()
    head, ordinary = text.split("  instance_groups:\n")
    head = head.replace("    eks:\n", "    eks:\n      training_operator: null\n") if alone else head
    config = folder / "nova.yaml"
    config.write_text(f"{head}  instance_groups:\n{'' if alone else ordinary}{NOVA}")
    (folder / "variants").mkdir()
    return Variants(config, folder / "variants")


@pytest.mark.parametrize("alone", [False, True])
def test_a_restricted_group_is_scaled_and_one_like_it_added(tmp_path: Path, alone: bool) -> None:
    variants = of_restricted_groups(tmp_path, alone=alone)
    scaled, added, _, last = variants.changes()
    for variant in (scaled, added, last):
        assert not errors(check(variant.spec)), variant.title
    assert (variants.first.counts["nova"], scaled.counts["nova"]) == (2, 3)
    new = next(g for g in added.spec.cluster.instance_groups if g.instance_group_name == ADDED_GROUP)
    assert new.environment_config is not None
    assert (variants.added_script is None, last.title == "let it be destroyed") == (alone, alone)


def test_what_can_be_destroyed_stays_as_it_is(tmp_path: Path) -> None:
    variants = Variants(Path("clusters/slurm-minimal.yaml").resolve(), tmp_path)
    assert variants.destroyable() is variants.first
    assert variants.scaled().counts == {"controller": 1, "compute": 3}


def test_what_can_not_be_destroyed_loses_its_protection_and_gets_a_name(tmp_path: Path) -> None:
    config = tmp_path / "own.yaml"
    text = Path("clusters/slurm-minimal.yaml").read_text().replace("  cluster_name: slurm-minimal\n", "")
    config.write_text(f"{text}\ntermination_protection: true\n")
    folder = tmp_path / "variants"
    folder.mkdir()
    variants = Variants(config, folder)
    assert variants.first.spec.cluster.cluster_name is None
    for variant in (variants.destroyable(), variants.scaled()):
        assert variant.spec.cluster.cluster_name == variants.first.spec.stack_name == "slurm-minimal"
        assert variant.spec.termination_protection is False
