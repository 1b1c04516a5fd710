"""Rules of Slurm, lifecycle modes and users (HP4xx)."""

from typing import Any

import pytest

from hyperpod_cdk.rules import check
from hyperpod_cdk.spec import (
    AccountingDatabase,
    InstanceGroup,
    LifeCycleConfig,
    LifecycleMode,
    MultiHead,
    NodeProvisioningMode,
    NodeType,
    SlurmConfig,
    SlurmConfigStrategy,
    User,
)
from tests.unit.rules.specs import LIST_TOKEN, NUMBER_TOKEN, TEXT_TOKEN, changed, findings, full_path

MODE = "cluster.node_provisioning_mode"
ALL_AT_ONCE = {MODE: NodeProvisioningMode.ALL_AT_ONCE}
STRATEGY = "slurm.slurm_config_strategy"
MANAGED = {STRATEGY: SlurmConfigStrategy.MANAGED}
LEGACY = {**ALL_AT_ONCE, "lifecycle.mode": LifecycleMode.LEGACY}
DATABASE = {
    "slurm.accounting_database": AccountingDatabase(
        endpoint="db.example.com",
        secret_arn="arn:aws:secretsmanager:us-west-2:111122223333:secret:slurm-AbCdEf",
    )
}
HEADS = {
    "slurm.multi_head": MultiHead(
        slurm_database_secret_arn="arn:aws:secretsmanager:us-west-2:111122223333:secret:slurm-AbCdEf",
        slurm_database_endpoint="db.example.com",
        slurm_shared_directory="/fsx",
        slurm_database_user="slurm",
        slurm_sns_arn="arn:aws:sns:us-west-2:111122223333:failover",
    )
}
DIRECTORY = "slurm.multi_head.slurm_shared_directory"
EXTRA = InstanceGroup(instance_group_name="extra", instance_type="ml.c5.xlarge", instance_count=1)
SECOND = "cluster.instance_groups[3]"
SCRIPTS = LifeCycleConfig(source_s3_uri="s3://bucket/scripts/")
ON_CREATE = LifeCycleConfig(source_s3_uri="s3://bucket/scripts/", on_create="a.sh")
ON_INIT = LifeCycleConfig(source_s3_uri="s3://bucket/scripts/", on_init_complete="b.sh")
BOTH = LifeCycleConfig(source_s3_uri="s3://bucket/scripts/", on_create="a.sh", on_init_complete="b.sh")
ADA, GRACE = "lifecycle.users[0]", "lifecycle.users[1]"
PARTITIONS = "slurm_config.partition_names"


def group(node_type: NodeType) -> InstanceGroup:
    """One more group."""
    return InstanceGroup(
        instance_group_name="extra",
        instance_type="ml.c5.xlarge",
        instance_count=1,
        slurm_config=SlurmConfig(node_type=node_type),
    )


ROWS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("HP400", {}, []),
    ("HP400", {SECOND: EXTRA}, [f"{SECOND}.slurm_config"]),
    ("HP400", {"login.slurm_config.node_type": TEXT_TOKEN}, []),
    ("HP400", {SECOND: group(TEXT_TOKEN)}, []),  # type: ignore[arg-type]
    ("HP401", {}, []),
    ("HP401", {"controller.slurm_config.node_type": NodeType.LOGIN}, ["cluster.instance_groups"]),
    ("HP401", {SECOND: group(NodeType.CONTROLLER)}, [f"{SECOND}.slurm_config.node_type"]),
    ("HP401", {"controller.slurm_config.node_type": TEXT_TOKEN}, []),
    ("HP402", {"controller.instance_count": 1}, []),
    ("HP402", {"controller.instance_count": 0}, ["controller.instance_count"]),
    ("HP402", {"controller.instance_count": 2}, ["controller.instance_count"]),
    ("HP402", {**LEGACY, **HEADS, "controller.instance_count": 2}, []),
    ("HP402", {**LEGACY, **HEADS, "controller.instance_count": 1}, ["controller.instance_count"]),
    ("HP402", {"controller.instance_count": NUMBER_TOKEN}, []),
    ("HP403", {}, []),
    ("HP403", {SECOND: group(NodeType.LOGIN)}, [f"{SECOND}.slurm_config.node_type"]),
    ("HP403", {SECOND: group(NodeType.LOGIN), f"{SECOND}.slurm_config.node_type": TEXT_TOKEN}, []),
    ("HP404", {}, []),
    ("HP404", {f"compute.{PARTITIONS}": ()}, [f"compute.{PARTITIONS}"]),
    ("HP404", {f"login.{PARTITIONS}": ("a",)}, [f"login.{PARTITIONS}"]),
    ("HP404", {f"login.{PARTITIONS}": LIST_TOKEN}, []),
    ("HP405", {f"compute.{PARTITIONS}": ("developers",)}, []),
    ("HP405", {f"compute.{PARTITIONS}": ("dev",)}, [f"compute.{PARTITIONS}[0]"]),
    ("HP405", {f"compute.{PARTITIONS}": ("default",)}, [f"compute.{PARTITIONS}[0]"]),
    ("HP405", {f"compute.{PARTITIONS}": ("hyperpod-system-maintenance",)}, [f"compute.{PARTITIONS}[0]"]),
    ("HP405", {f"compute.{PARTITIONS}": LIST_TOKEN}, []),
    ("HP100", {**LEGACY, f"compute.{PARTITIONS}": ("ml.g5.8xlarge",)}, []),
    ("HP100", {**LEGACY, f"compute.{PARTITIONS}": ("a", "b")}, [f"compute.{PARTITIONS}"]),
    ("HP409", {**LEGACY, f"compute.{PARTITIONS}": ("ml.g5.8xlarge",)}, []),
    ("HP409", {**LEGACY, f"compute.{PARTITIONS}": ("a b",)}, [f"compute.{PARTITIONS}[0]"]),
    ("HP409", {f"compute.{PARTITIONS}": ("a b",)}, []),
    ("HP409", {**LEGACY, f"compute.{PARTITIONS}": (TEXT_TOKEN,)}, []),
    ("HP406", {}, []),
    ("HP406", {**ALL_AT_ONCE, **MANAGED}, []),
    ("HP406", MANAGED, [STRATEGY]),
    ("HP406", {**MANAGED, MODE: TEXT_TOKEN}, []),
    ("HP407", {**ALL_AT_ONCE, **MANAGED}, []),
    ("HP407", ALL_AT_ONCE, [STRATEGY]),
    ("HP407", LEGACY, []),
    ("HP407", {MODE: TEXT_TOKEN}, []),
    ("HP408", DATABASE, []),
    ("HP408", {**DATABASE, **ALL_AT_ONCE}, ["slurm.accounting_database"]),
    ("HP408", {**DATABASE, MODE: TEXT_TOKEN}, []),
    ("HP410", LEGACY, []),
    (
        "HP410",
        {"login.lifecycle_mode": LifecycleMode.LEGACY},
        ["controller.lifecycle_mode", "compute.lifecycle_mode"],
    ),
    ("HP410", {**LEGACY, "login.lifecycle_mode": LifecycleMode.AMI}, ["login.lifecycle_mode"]),
    ("HP410", {**LEGACY, "login.lifecycle_mode": TEXT_TOKEN}, []),
    ("HP411", LEGACY, []),
    ("HP411", {"lifecycle.mode": LifecycleMode.LEGACY}, [MODE]),
    ("HP411", {**LEGACY, **MANAGED}, [STRATEGY]),
    ("HP411", {"lifecycle.mode": TEXT_TOKEN}, []),
    ("HP412", {**LEGACY, **HEADS}, []),
    ("HP412", HEADS, ["slurm.multi_head"]),
    ("HP412", {**HEADS, "lifecycle.mode": TEXT_TOKEN}, []),
    ("HP413", {**LEGACY, **HEADS}, []),
    ("HP413", {**LEGACY, **HEADS, DIRECTORY: "/fsx/slurm"}, []),
    ("HP413", {**LEGACY, **HEADS, DIRECTORY: "/fsx2"}, [DIRECTORY]),
    ("HP413", {**LEGACY, **HEADS, DIRECTORY: TEXT_TOKEN}, []),
    ("HP413", {**LEGACY, **HEADS, DIRECTORY: "/x", "controller.mounts[0].mount_path": TEXT_TOKEN}, []),
    ("HP414", {"login.life_cycle_config": ON_CREATE}, []),
    ("HP414", {"login.life_cycle_config": ON_INIT}, []),
    ("HP414", {"login.life_cycle_config": SCRIPTS}, ["login.life_cycle_config"]),
    ("HP414", {"login.life_cycle_config": BOTH}, ["login.life_cycle_config.on_init_complete"]),
    ("HP414", {"login.life_cycle_config": SCRIPTS, "login.life_cycle_config.on_create": TEXT_TOKEN}, []),
    ("HP415", {"login.life_cycle_config": ON_CREATE}, []),
    (
        "HP415",
        {"login.life_cycle_config": ON_CREATE, "login.lifecycle_mode": LifecycleMode.EXTENSION},
        ["login.life_cycle_config.on_create"],
    ),
    ("HP415", {"login.life_cycle_config": ON_CREATE, "lifecycle.mode": LifecycleMode.CUSTOM}, []),
    (
        "HP415",
        {"login.life_cycle_config": ON_INIT, "lifecycle.mode": LifecycleMode.CUSTOM},
        ["login.life_cycle_config.on_init_complete"],
    ),
    (
        "HP415",
        {"login.life_cycle_config": ON_CREATE, "login.lifecycle_mode": LifecycleMode.AMI},
        ["login.life_cycle_config.on_create"],
    ),
    ("HP415", {"login.life_cycle_config": ON_CREATE, "login.lifecycle_mode": TEXT_TOKEN}, []),
    ("HP420", {f"{ADA}.name": "a" * 32}, []),
    ("HP420", {f"{ADA}.name": "a" * 33}, [f"{ADA}.name"]),
    ("HP420", {f"{ADA}.name": "Ada"}, [f"{ADA}.name"]),
    ("HP420", {f"{ADA}.name": "root"}, [f"{ADA}.name"]),
    ("HP420", {f"{ADA}.name": "www-data"}, [f"{ADA}.name"]),
    ("HP420", {f"{ADA}.name": TEXT_TOKEN}, []),
    ("HP421", {f"{ADA}.uid": 2000, f"{GRACE}.uid": 60000}, []),
    ("HP421", {f"{ADA}.uid": 1999, f"{GRACE}.gid": 60001}, [f"{ADA}.uid", f"{GRACE}.gid"]),
    ("HP421", {f"{ADA}.uid": 2000}, []),
    ("HP421", {f"{ADA}.uid": 1999}, [f"{ADA}.uid"]),
    ("HP421", {f"{GRACE}.gid": 60000}, []),
    ("HP421", {f"{GRACE}.gid": 60001}, [f"{GRACE}.gid"]),
    ("HP421", {f"{ADA}.uid": NUMBER_TOKEN}, []),
    ("HP422", {}, []),
    ("HP422", {f"{GRACE}.uid": 2001, f"{GRACE}.name": "ada"}, [f"{GRACE}.name", f"{GRACE}.uid"]),
    ("HP422", {f"{GRACE}.uid": 2001}, [f"{GRACE}.uid"]),
    ("HP422", {f"{ADA}.name": TEXT_TOKEN, f"{GRACE}.name": TEXT_TOKEN}, []),
    ("HP423", {f"{ADA}.ssh_public_keys": ("ssh-ed25519 AAAAC3Nz ada@example.com",)}, []),
    ("HP423", {f"{ADA}.ssh_public_keys": ("ecdsa-sha2-nistp256 AAAAE2Vj",)}, []),
    ("HP423", {f"{ADA}.ssh_public_keys": ('from="10.0.0.0/8, 10.1.0.0/16" ssh-rsa AAAAB3Nz',)}, []),
    ("HP423", {f"{ADA}.ssh_public_keys": ("restrict,pty ssh-rsa AAAAB3Nz ada",)}, []),
    ("HP423", {f"{ADA}.ssh_public_keys": ("AAAAC3Nz",)}, [f"{ADA}.ssh_public_keys[0]"]),
    ("HP423", {f"{ADA}.ssh_public_keys": ("ssh-dss AAAAB3Nz",)}, [f"{ADA}.ssh_public_keys[0]"]),
    ("HP423", {f"{ADA}.ssh_public_keys": LIST_TOKEN}, []),
]


@pytest.mark.parametrize(("code", "changes", "paths"), ROWS)
def test_rule(code: str, changes: dict[str, Any], paths: list[str]) -> None:
    assert findings(changed(changes), code) == [full_path(path) for path in paths]


def test_a_private_key_is_not_repeated_in_full() -> None:
    secret = "-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0IHNlY3JldA==\n-----END OPENSSH PRIVATE KEY-----"
    spec = changed({"lifecycle.users": (User(name="ada", uid=2001, ssh_public_keys=(secret,)),)})
    (finding,) = check(spec)
    assert finding.code == "HP423"
    assert "private key" in str(finding)
    assert "c2VjcmV0" not in str(finding)
