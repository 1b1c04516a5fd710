"""What rules of file systems, users and databases offer instead of a wrong value."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from hyperpod_cdk.rules import check
from hyperpod_cdk.spec import (
    AccountingDatabase,
    LustreMetadata,
    LustreMetadataMode,
    LustreReadCache,
    LustreReadCacheSizingMode,
    LustreStorageType,
)
from tests.unit.rules.specs import changed

TIERING = {"scratch.storage_type": LustreStorageType.INTELLIGENT_TIERING}
CACHE = LustreReadCache(sizing_mode=LustreReadCacheSizingMode.USER_PROVISIONED, size_gib=32)
USER = LustreMetadata(mode=LustreMetadataMode.USER_PROVISIONED, iops=6000)
KEY = "lifecycle.users[0].ssh_public_keys"
SECRET = "arn:aws:secretsmanager:us-west-2:111122223333:secret:slurm-AbCdEf"

CASES: list[tuple[str, Mapping[str, Any], Sequence[Any]]] = [
    ("HP301", {"scratch.capacity_gib": 3600}, (2400, 4800)),
    ("HP301", {"scratch.capacity_gib": 4799, "scratch.efa_enabled": True}, (38400,)),
    ("HP303", {"scratch.per_unit_storage_throughput": 200}, (250,)),
    ("HP306", {**TIERING, "scratch.read_cache": CACHE, "scratch.read_cache.size_gib": 31}, (32,)),
    ("HP306", {**TIERING, "scratch.read_cache": CACHE, "scratch.read_cache.size_gib": 131_073}, (131_072,)),
    ("HP320", {"home.capacity_gib": 63}, (64,)),
    ("HP320", {"home.capacity_gib": 524_289}, (524_288,)),
    ("HP321", {"home.throughput_capacity": 200}, (160, 320)),
    ("HP321", {"home.throughput_capacity": 10_241}, (10_240,)),
    ("HP321", {"home.throughput_capacity": 100}, (160,)),
    ("HP324", {"home.capacity_gib": 100, "home.disk_iops": 1}, (300,)),
    ("HP325", {"home.record_size_kib": 100}, (128,)),
    ("HP341", {"scratch.metadata": USER, "scratch.capacity_gib": 48_000}, (24_000,)),
    ("HP420", {"lifecycle.users[0].name": "Ada Lovelace"}, ("ada-lovelace",)),
    ("HP420", {"lifecycle.users[0].name": "Root"}, ()),
    ("HP420", {"lifecycle.users[0].name": "1815"}, ()),
    ("HP421", {"lifecycle.users[0].uid": 1}, (2000,)),
    ("HP421", {"lifecycle.users[0].uid": 65_534}, (60_000,)),
    (
        "HP460",
        {"slurm.accounting_database": AccountingDatabase(endpoint="mysql://db.x:3306/y", secret_arn=SECRET)},
        ("db.x",),
    ),
]


@pytest.mark.parametrize(("code", "changes", "nearest"), CASES)
def test_nearest(code: str, changes: Mapping[str, Any], nearest: Sequence[Any]) -> None:
    (finding,) = [one for one in check(changed(changes)) if one.code == code]
    assert tuple(finding.nearest) == tuple(nearest)


def test_what_is_allowed_names_what_the_deployment_type_has() -> None:
    (finding,) = check(changed({"scratch.storage_type": LustreStorageType.HDD}))
    assert finding.allowed == "SSD, INTELLIGENT_TIERING"


@pytest.mark.parametrize(
    ("key", "told"),
    [("AAAA", "is no SSH public key"), ("-----BEGIN OPENSSH PRIVATE KEY-----", "is a private key")],
)
def test_a_wrong_key_is_told_for_what_it_is(key: str, told: str) -> None:
    (finding,) = check(changed({KEY: (key,)}))
    assert finding.message == told


@pytest.mark.parametrize(
    ("code", "told"), [("HP301", "is the code of an error"), ("HP12", "is no code of a rule")]
)
def test_a_wrong_acknowledgement_is_told_for_what_it_is(code: str, told: str) -> None:
    (finding,) = check(changed({"acknowledge": (code,)}))
    assert finding.message == told
