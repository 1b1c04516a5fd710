"""What holds for all rules: texts, tokens, examples, no CDK."""

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

from hyperpod_cdk.config import load
from hyperpod_cdk.rules import RULES, Severity, check, errors
from hyperpod_cdk.rules.paths import join, parent
from hyperpod_cdk.rules.registry import APART, CHECKS
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.spec import (
    DataRepositoryAssociation,
    EbsVolume,
    LifeCycleConfig,
    LustreMetadata,
    OverrideVpcConfig,
)
from tests.unit.rules.specs import BASE, LIST_TOKEN, NUMBER_TOKEN, TEXT_TOKEN, changed, findings

EXAMPLES = sorted(Path("clusters").glob("*.yaml"))

FULL = changed(
    {
        "tags": {"Project": "x"},
        "kms_key_arn": "arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab",
        "network.availability_zone_ids": ("usw2-az4", "usw2-az1"),
        "scratch.capacity_gib": 2400,
        "scratch.per_unit_storage_throughput": 250,
        "scratch.metadata": LustreMetadata(),
        "scratch.availability_zone_id": "usw2-az4",
        "scratch.data_repository_associations": (
            DataRepositoryAssociation(data_repository_path="s3://bucket/a", file_system_path="/a"),
            DataRepositoryAssociation(data_repository_path="s3://bucket/b", file_system_path="/b"),
        ),
        "home.throughput_capacity": 160,
        "home.disk_iops": 3000,
        "home.record_size_kib": 128,
        "compute.min_instance_count": 2,
        "compute.threads_per_core": 2,
        "compute.root_volume": EbsVolume(volume_kms_key_id="1234abcd-12ab-34cd-56ef-1234567890ab"),
        "compute.secondary_volume": EbsVolume(volume_size_in_gb=500),
        "compute.override_vpc_config": OverrideVpcConfig(availability_zone_id="usw2-az4"),
        "compute.life_cycle_config": LifeCycleConfig(source_s3_uri="s3://b/p/", on_init_complete="a.sh"),
        "compute.mounts[0].mount_path": "/fsx",
    }
)


def leaves(part: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Path and value of everything that is no container."""
    if is_dataclass(part):
        for field in fields(part):
            yield from leaves(getattr(part, field.name), join(path, field.name))
    elif isinstance(part, Mapping):
        for key, value in part.items():
            yield from leaves(value, join(path, key))
    elif isinstance(part, Sequence) and not isinstance(part, str):
        for index, value in enumerate(part):
            yield from leaves(value, join(path, index))
    elif part is not None:
        yield path, part


LEAVES = [(path, value) for path, value in leaves(FULL) if not isinstance(value, bool)]
LISTS = (
    "network.availability_zone_ids",
    "compute.slurm_config.partition_names",
    "compute.override_vpc_config.subnet_ids",
    "compute.override_vpc_config.security_group_ids",
)


def test_the_full_spec_is_faultless() -> None:
    without_two_places = changed({"compute.override_vpc_config.subnet_ids": ()}, FULL)
    assert check(without_two_places) == []


@pytest.mark.parametrize(("path", "value"), LEAVES, ids=[path for path, _ in LEAVES])
def test_no_rule_minds_a_token(path: str, value: object) -> None:
    token = TEXT_TOKEN if isinstance(value, str) else NUMBER_TOKEN
    assert check(changed({path: token}, FULL)) == []


@pytest.mark.parametrize("path", LISTS[:2])
def test_no_rule_minds_a_list_token(path: str) -> None:
    assert check(changed({path: LIST_TOKEN}, FULL)) == []


def test_tokens_of_aws_cdk_are_recognised() -> None:
    assert unresolved("arn:${Token[AWS.Partition.3]}:s3:::x")
    assert unresolved(LIST_TOKEN)
    assert unresolved(-1.8881545897087505e289, "plain")
    assert unresolved(-1.9490628022799996e289)
    assert unresolved({"key": TEXT_TOKEN})
    assert not unresolved("plain", 7, None, True, ["a"], {"a": "b"}, -1, 1e300)


def test_codes_are_unique() -> None:
    rules = (*APART, *(one.rule for one in CHECKS))
    codes = [rule.code for rule in rules]
    assert len(codes) == len(set(codes)) == len(RULES)


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_each_rule_says_what_why_and_how(rule: Any) -> None:
    assert re.fullmatch(r"HP[0-6]\d\d", rule.code)
    for text in (rule.title, rule.why, rule.fix, rule.source):
        assert text == text.strip()
        assert text
        assert not text.endswith(".")
    assert rule.title[0].islower() or rule.title.startswith(("EFA", "IOPS", "Spot"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_break_no_rule(path: Path) -> None:
    assert check(load(path)) == []


def test_warnings_can_be_acknowledged_and_errors_not() -> None:
    spec = changed({"compute.instance_type": "ml.p9.48xlarge", "scratch.capacity_gib": 7})
    assert [one.code for one in check(spec)] == ["HP301", "HP111"]
    assert [one.severity for one in check(spec)] == [Severity.ERROR, Severity.WARNING]
    assert [one.code for one in check(spec, acknowledged=["HP111", "HP301"])] == ["HP301"]
    assert [one.code for one in errors(check(spec))] == ["HP301"]


def test_all_faults_come_at_once() -> None:
    spec = changed(
        {
            "controller.instance_count": 3,
            "network.cidr": "ten",
            "scratch.capacity_gib": 7,
            "lifecycle.users[0].uid": 0,
        }
    )
    assert {finding.code for finding in check(spec)} == {"HP202", "HP301", "HP402", "HP421"}


@pytest.mark.parametrize(
    ("path", "above"),
    [
        ("cluster.instance_groups[2].instance_type", "cluster.instance_groups[2]"),
        ("cluster.instance_groups[2]", "cluster.instance_groups"),
        ('tags["a.b]"]', "tags"),
        ("cluster", ""),
        ("", ""),
    ],
)
def test_parent_of_a_path(path: str, above: str) -> None:
    assert parent(path) == above


def test_findings_are_plain_data_for_machines() -> None:
    (finding,) = check(changed({"scratch.capacity_gib": 3600}))
    report = finding.to_json()
    assert report["path"] == "storage.scratch.capacity_gib"
    assert report["nearest"] == [2400, 4800]
    assert report["given"] == 3600
    assert report["line"] is None
    assert findings(BASE, "HP301") == []


def test_rules_load_neither_aws_cdk_nor_boto3() -> None:
    program = (
        "import sys; sys.path.insert(0, 'constructs'); import hyperpod_cdk.rules as rules;"
        "from tests.unit.rules.specs import BASE; rules.check(BASE);"
        "print(sorted({'aws_cdk', 'boto3', 'jsii', 'pydantic', 'urllib3'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
