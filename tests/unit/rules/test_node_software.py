"""Rules of accounting and of what is set up beside Slurm (HP470 to HP494)."""

from dataclasses import replace
from typing import Any

import pytest

from hyperpod_cdk.rules import needed_downloads
from hyperpod_cdk.rules.node_numbers import BOUNDS
from hyperpod_cdk.service.downloads import ARTIFACTS, PROCESSORS
from hyperpod_cdk.spec import (
    Account,
    Accounting,
    AccountingUser,
    Association,
    BucketMount,
    Containers,
    Directory,
    Download,
    Downloads,
    InstanceGroup,
    LifecycleMode,
    Limits,
    LogRotation,
    Monitoring,
    NatGateways,
    NodeType,
    OwnStep,
    Priority,
    Purge,
    Qos,
    SlurmConfig,
    UsageReset,
    User,
)
from tests.unit.rules.specs import NUMBER_TOKEN, TEXT_TOKEN, changed, findings, full_path

A = "lifecycle.accounting"
OVERRIDES = "lifecycle.downloads.overrides"
ADA = (User(name="ada", uid=2001),)
ARN = "arn:aws:aps:us-west-2:111122223333:workspace/ws-0a1b2c3d-1111-2222-3333-444455556666"
SECRET = "arn:aws:secretsmanager:us-west-2:111122223333:secret:ldap-AbCdEf"
DIGEST = "ab" * 32
PIN = Download(url="https://e/x", sha256=DIGEST)
DIRECTORY = Directory(
    domain="example.com", uris=("ldaps://ldap.example.com",), search_base="dc=example,dc=com"
)
MONITORING = Monitoring(workspace_arn=ARN)
MOUNT = BucketMount(bucket="data-bucket", mount_path="/data")
CLOSED = {"network.nat_gateways": NatGateways.NONE}
EXTRA = {"lifecycle.extra_files": "lifecycle_scripts"}
IN_AMI_MODE = {"lifecycle.mode": LifecycleMode.AMI}
CONTROLLER_IN_AMI_MODE = {"controller.lifecycle_mode": LifecycleMode.AMI}
STEP = OwnStep(name="data", script="eks/disk.sh")
ARM = InstanceGroup(
    instance_group_name="arm",
    instance_type="ml.c7g.xlarge",
    instance_count=1,
    slurm_config=SlurmConfig(node_type=NodeType.COMPUTE, partition_names=("arm",)),
)


def accounting(**members: Any) -> dict[str, Any]:
    return {A: Accounting(**members)}


def account(**members: Any) -> dict[str, Any]:
    return accounting(accounts=(Account(**{"name": "lab", **members}),))


def limited(**limits: Any) -> dict[str, Any]:
    return account(limits=Limits(**limits))


def qos(**members: Any) -> dict[str, Any]:
    return accounting(qos=(Qos(**{"name": "high", **members}),))


def directory(**members: Any) -> dict[str, Any]:
    return {"lifecycle.directory": replace(DIRECTORY, **members)}


def mount(**members: Any) -> dict[str, Any]:
    return {"lifecycle.bucket_mounts": (replace(MOUNT, **members),)}


def monitoring(**members: Any) -> dict[str, Any]:
    return {"lifecycle.monitoring": replace(MONITORING, **members)}


def containers(**members: Any) -> dict[str, Any]:
    return {"lifecycle.containers": Containers(**{"required": True, **members})}


def steps(*declared: OwnStep) -> dict[str, Any]:
    return {**EXTRA, "lifecycle.steps": declared}


def downloads(**members: Any) -> dict[str, Any]:
    return {"lifecycle.downloads": Downloads(**members)}


def override(name: str = "enroot-amd64", url: str = "https://e/x", sha256: str = DIGEST) -> dict[str, Any]:
    return downloads(overrides={name: Download(url=url, sha256=sha256)})


ROWS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("HP470", account(name="a" * 40), []),
    ("HP470", account(name="a" * 41), [f"{A}.accounts[0].name"]),
    ("HP470", account(name="root"), [f"{A}.accounts[0].name"]),
    ("HP470", account(name="Lab"), [f"{A}.accounts[0].name"]),
    ("HP470", account(name=TEXT_TOKEN), []),
    ("HP470", qos(name="high prio"), [f"{A}.qos[0].name"]),
    ("HP471", accounting(accounts=(Account(name="a"), Account(name="b")), qos=(Qos(name="a"),)), []),
    ("HP471", accounting(accounts=(Account(name="a"), Account(name="a"))), [f"{A}.accounts[1]"]),
    (
        "HP471",
        accounting(associations=(Association(user="u", account="a"), Association(user="u", account="a"))),
        [f"{A}.associations[1]"],
    ),
    ("HP471", accounting(accounts=(Account(name=TEXT_TOKEN), Account(name=TEXT_TOKEN))), []),
    ("HP472", account(qos=("normal",), default_qos="normal"), []),
    ("HP472", account(parent="x"), [f"{A}.accounts[0].parent"]),
    ("HP472", account(qos=("x",)), [f"{A}.accounts[0].qos[0]"]),
    ("HP472", account(qos=("normal",), default_qos="high"), [f"{A}.accounts[0].default_qos"]),
    ("HP472", qos(preempt=("normal", "x")), [f"{A}.qos[0].preempt[1]"]),
    (
        "HP472",
        accounting(associations=(Association(user="ada", account="x"),)),
        [f"{A}.associations[0].account"],
    ),
    (
        "HP472",
        {**account(), "lifecycle.users": (User(name="ada", uid=2001, account="x"),)},
        ["lifecycle.users[0].account"],
    ),
    ("HP472", account(parent=TEXT_TOKEN), []),
    ("HP473", accounting(accounts=(Account(name="a", parent="b"), Account(name="b"))), []),
    (
        "HP473",
        accounting(accounts=(Account(name="a", parent="b"), Account(name="b", parent="a"))),
        [f"{A}.accounts[0].parent", f"{A}.accounts[1].parent"],
    ),
    ("HP473", qos(preempt=("high",)), [f"{A}.qos[0].preempt"]),
    ("HP473", qos(preempt=(TEXT_TOKEN,)), []),
    ("HP474", limited(grp_tres={"gres/gpu": 8, "gres/gpu:h100": 8, "cpu": 1}), []),
    ("HP474", limited(grp_tres={"gpu": 8}), [f"{A}.accounts[0].limits.grp_tres"]),
    ("HP474", accounting(priority=Priority(weight_tres={"GPU": 8})), [f"{A}.priority.weight_tres"]),
    ("HP474", limited(grp_tres={TEXT_TOKEN: 8}), []),
    # four p5.48xlarge with eight GPUs each
    ("HP475", limited(grp_tres={"gres/gpu": 32}), []),
    ("HP475", limited(grp_tres={"gres/gpu": 33}), [f'{A}.accounts[0].limits.grp_tres["gres/gpu"]']),
    ("HP475", limited(grp_tres={"gres/gpu": NUMBER_TOKEN}), []),
    ("HP475", {**limited(grp_tres={"gres/gpu": 33}), "compute.instance_count": NUMBER_TOKEN}, []),
    ("HP476", {**account(users=("ada",)), "lifecycle.users": ADA}, []),
    ("HP476", {**account(), "lifecycle.users": ADA}, ["lifecycle.users[0].account"]),
    ("HP476", {**accounting(), "lifecycle.users": ADA}, []),
    ("HP476", {**account(users=(TEXT_TOKEN,)), "lifecycle.users": ADA}, []),
    ("HP477", accounting(priority=Priority(decay_half_life_days=1)), []),
    ("HP477", accounting(priority=Priority(decay_half_life_days=0)), [f"{A}.priority.decay_half_life_days"]),
    (
        "HP477",
        accounting(priority=Priority(decay_half_life_days=0, usage_reset=UsageReset.MONTHLY)),
        [],
    ),
    ("HP477", accounting(priority=Priority(decay_half_life_days=NUMBER_TOKEN)), []),  # type: ignore[arg-type]
    (
        "HP478",
        accounting(
            accounts=(Account(name="lab", users=("ada",)),),
            users=(AccountingUser(name="ada", default_account="lab"),),
        ),
        [],
    ),
    (
        "HP478",
        accounting(
            accounts=(Account(name="lab"),), users=(AccountingUser(name="ada", default_account="lab"),)
        ),
        [f"{A}.users[0].default_account"],
    ),
    ("HP478", accounting(users=(AccountingUser(name="ada", default_account=TEXT_TOKEN),)), []),
    ("HP479", account(fairshare=2147483646), []),
    ("HP479", account(fairshare=2147483647), [f"{A}.accounts[0].fairshare"]),
    ("HP479", account(fairshare=0), []),
    ("HP479", account(fairshare=-1), [f"{A}.accounts[0].fairshare"]),
    ("HP479", limited(grp_tres={"cpu": -1}), [f"{A}.accounts[0].limits.grp_tres.cpu"]),
    ("HP479", limited(max_jobs=0), []),
    ("HP479", qos(priority=4294967294), [f"{A}.qos[0].priority"]),
    ("HP479", accounting(purge=Purge(jobs=0)), [f"{A}.purge.jobs"]),
    ("HP479", accounting(purge=Purge(jobs=None)), []),
    ("HP479", {"lifecycle.log_rotation": LogRotation(keep=366)}, ["lifecycle.log_rotation.keep"]),
    ("HP479", monitoring(interval_seconds=9), ["lifecycle.monitoring.interval_seconds"]),
    ("HP479", mount(cache_gib=-1), ["lifecycle.bucket_mounts[0].cache_gib"]),
    ("HP479", steps(replace(STEP, attempts=11)), ["lifecycle.steps[0].attempts"]),
    ("HP479", account(fairshare=NUMBER_TOKEN), []),
    ("HP480", {**mount(), **CONTROLLER_IN_AMI_MODE}, []),
    ("HP480", {**mount(), **IN_AMI_MODE}, ["lifecycle.bucket_mounts"]),
    ("HP480", {**monitoring(), **IN_AMI_MODE}, ["lifecycle.monitoring"]),
    ("HP480", {**accounting(), **CONTROLLER_IN_AMI_MODE}, [A]),
    ("HP480", {**mount(), "lifecycle.mode": TEXT_TOKEN}, []),
    ("HP481", directory(bind_dn="cn=x", bind_password_secret_arn=SECRET), []),
    ("HP481", directory(bind_dn="cn=x"), ["lifecycle.directory.bind_password_secret_arn"]),
    ("HP481", directory(bind_password_secret_arn=SECRET), ["lifecycle.directory.bind_dn"]),
    ("HP481", directory(uris=("ldap.example.com",)), ["lifecycle.directory.uris[0]"]),
    ("HP481", directory(uris=()), ["lifecycle.directory.uris"]),
    ("HP481", directory(ca_certificate="ca.pem"), ["lifecycle.directory.ca_certificate"]),
    ("HP481", {**directory(ca_certificate="README.md"), **EXTRA}, []),
    ("HP481", {**directory(ca_certificate="ca.pem"), **EXTRA}, ["lifecycle.directory.ca_certificate"]),
    ("HP481", directory(search_base="example.com"), ["lifecycle.directory.search_base"]),
    ("HP481", directory(domain="example com"), ["lifecycle.directory.domain"]),
    ("HP481", directory(uris=("ldap://a:65535",)), []),
    ("HP481", directory(uris=("ldap://a:65536",)), ["lifecycle.directory.uris[0]"]),
    ("HP481", directory(search_base=TEXT_TOKEN), []),
    ("HP481", directory(allow_groups=("domain users",), sudo_groups=("ops",)), []),
    ("HP481", directory(allow_groups=("ops", "")), ["lifecycle.directory.allow_groups[1]"]),
    ("HP481", directory(sudo_groups=("a\nb",)), ["lifecycle.directory.sudo_groups[0]"]),
    ("HP481", directory(uris=(TEXT_TOKEN,)), []),
    ("HP482", mount(), []),
    ("HP482", mount(mount_path="data/"), ["lifecycle.bucket_mounts[0].mount_path"]),
    ("HP482", mount(mount_path="/fsx"), ["lifecycle.bucket_mounts[0].mount_path"]),
    ("HP482", {"lifecycle.bucket_mounts": (MOUNT, MOUNT)}, ["lifecycle.bucket_mounts[1].mount_path"]),
    (
        "HP482",
        {"lifecycle.containers": Containers(data_directory="opt")},
        ["lifecycle.containers.data_directory"],
    ),
    ("HP482", mount(mount_path=TEXT_TOKEN), []),
    ("HP483", mount(prefix="a/b/", read_only=False, allow_delete=True), []),
    ("HP483", mount(bucket="s3://data-bucket"), ["lifecycle.bucket_mounts[0].bucket"]),
    ("HP483", mount(prefix="a/b"), ["lifecycle.bucket_mounts[0].prefix"]),
    ("HP483", mount(allow_delete=True), ["lifecycle.bucket_mounts[0].allow_delete"]),
    ("HP483", mount(bucket=TEXT_TOKEN, prefix=TEXT_TOKEN), []),
    ("HP484", monitoring(labels={"team": "a"}), []),
    ("HP484", monitoring(workspace_arn="ws-1"), ["lifecycle.monitoring.workspace_arn"]),
    ("HP484", monitoring(labels={"cluster": "a"}), ["lifecycle.monitoring.labels"]),
    ("HP484", monitoring(labels={"a-b": "a"}), ["lifecycle.monitoring.labels"]),
    ("HP484", monitoring(workspace_arn=TEXT_TOKEN), []),
    ("HP485", steps(STEP, replace(STEP, name="more", instance_groups=("compute",))), []),
    ("HP485", steps(STEP, STEP), ["lifecycle.steps[1].name"]),
    ("HP485", steps(replace(STEP, name="a" * 40)), []),
    ("HP485", steps(replace(STEP, name="a" * 41)), ["lifecycle.steps[0].name"]),
    ("HP485", steps(replace(STEP, script="../data.sh")), ["lifecycle.steps[0].script"]),
    ("HP485", steps(replace(STEP, script="data.pl")), ["lifecycle.steps[0].script"]),
    ("HP485", steps(replace(STEP, instance_groups=("x",))), ["lifecycle.steps[0].instance_groups"]),
    ("HP485", {"lifecycle.steps": (STEP,)}, ["lifecycle.steps[0].script"]),
    ("HP485", steps(replace(STEP, script=TEXT_TOKEN)), []),
    ("HP486", {**account(), "lifecycle.slurm.conf": {"PriorityType": "x"}}, []),
    (
        "HP486",
        {**accounting(priority=Priority()), "lifecycle.slurm.conf": {"PriorityType": "x"}},
        ["lifecycle.slurm.conf.PriorityType"],
    ),
    ("HP486", {**accounting(priority=Priority()), "lifecycle.slurm.conf": {TEXT_TOKEN: "x"}}, []),
    ("HP490", {**CLOSED, **mount(), **downloads(source="s3://data-bucket/bundle")}, []),
    ("HP490", mount(), []),
    ("HP490", {**CLOSED, **mount()}, ["lifecycle.downloads"]),
    ("HP490", {**mount(), **downloads(internet=False)}, ["lifecycle.downloads"]),
    ("HP490", {**CLOSED, **mount(), **downloads(source=TEXT_TOKEN)}, []),
    ("HP491", mount(), []),
    ("HP491", {**mount(), **monitoring(), "compute": ARM}, []),
    ("HP494", containers(required=False), []),
    ("HP494", containers(enroot=False), []),
    ("HP494", {**containers(required=False), "compute": ARM, "compute.instance_type": TEXT_TOKEN}, []),
    ("HP494", containers(), [f"{OVERRIDES}.enroot-amd64", f"{OVERRIDES}.enroot-caps-amd64"]),
    (
        "HP494",
        {**containers(), "compute": ARM},
        [f"{OVERRIDES}.{name}-{processor}" for name in ("enroot", "enroot-caps") for processor in PROCESSORS],
    ),
    (
        "HP494",
        {**containers(), **downloads(overrides={"enroot-amd64": PIN, "enroot-caps-amd64": PIN})},
        [],
    ),
    (
        "HP494",
        {**containers(), "compute": ARM, "compute.instance_type": TEXT_TOKEN},
        [f"{OVERRIDES}.enroot-amd64", f"{OVERRIDES}.enroot-caps-amd64"],
    ),
    ("HP492", {**downloads(source="s3://data-bucket/a/b")}, []),
    ("HP492", {**downloads(source="https://x/y")}, ["lifecycle.downloads.source"]),
    ("HP492", override(), []),
    ("HP492", override(name="enroot"), ["lifecycle.downloads.overrides.enroot"]),
    ("HP492", override(url="http://e/x"), ["lifecycle.downloads.overrides.enroot-amd64.url"]),
    ("HP492", override(sha256=DIGEST[:-1]), ["lifecycle.downloads.overrides.enroot-amd64.sha256"]),
    ("HP492", {**downloads(source=TEXT_TOKEN)}, []),
    ("HP493", directory(), []),
    ("HP493", {**CLOSED, **directory()}, ["lifecycle.directory"]),
    ("HP493", {**directory(), "network.nat_gateways": TEXT_TOKEN}, []),
]


@pytest.mark.parametrize(
    ("code", "changes", "paths"), ROWS, ids=[f"{row[0]}-{i}" for i, row in enumerate(ROWS)]
)
def test_rows(code: str, changes: dict[str, Any], paths: list[str]) -> None:
    assert findings(changed(changes), code) == [full_path(path) for path in paths]


def test_a_download_that_has_no_checksum_for_the_processor_of_some_nodes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = {name: one for name, one in ARTIFACTS.items() if name != "mount-s3-arm64"}
    monkeypatch.setattr(needed_downloads, "ARTIFACTS", known)
    missing = [full_path(f"{OVERRIDES}.mount-s3-arm64")]
    assert findings(changed({**mount(), "compute": ARM}), "HP491") == missing
    assert findings(changed({**mount(), "compute": ARM, "compute.instance_type": TEXT_TOKEN}), "HP491") == []


@pytest.mark.parametrize("kind", BOUNDS, ids=lambda kind: kind.__name__)
def test_bounds_are_of_fields(kind: type) -> None:
    assert set(BOUNDS[kind]) <= set(kind.__dataclass_fields__)  # type: ignore[attr-defined]
