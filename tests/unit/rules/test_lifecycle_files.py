"""Rules of files and scripts of a user's own, and of what reaches no node (HP35x, HP44x to HP46x)."""

import atexit
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hyperpod_cdk.rules import check
from hyperpod_cdk.spec import (
    AccountingDatabase,
    LifeCycleConfig,
    LifecycleMode,
    MultiHead,
    NodeProvisioningMode,
)
from tests.unit.rules.specs import NUMBER_TOKEN, TEXT_TOKEN, changed, findings, full_path

FOLDERS = Path(tempfile.mkdtemp())
atexit.register(shutil.rmtree, FOLDERS)
BASH = "#!/bin/bash\nset -euo pipefail\n"
FILES = {
    "good/before.d/10-hello.sh": f"{BASH}# not: aws configure\necho hello\n",
    "good/after.d/20-hello.py": 'print("hello")\n',
    "good/data/table.csv": "a,b\n",
    "legacy/old/provisioning_parameters.json": "{}\n",
    "not_run/before.d/10-hello": "echo never\n",
    "not_run/before.d/nested/20-hello.sh": f"{BASH}echo never\n",
    "syntax/before.d/10-broken.py": "def broken():\nreturn 1\n",
    "traps/after.d/10-slurm.sh": f"{BASH}sed -i s#task/none#task/cgroup# /opt/slurm/etc/slurm.conf\n"
    'echo "include /opt/slurm/etc/plugstack.conf.d/*" >> /opt/slurm/etc/plugstack.conf\n'
    "systemctl restart slurmctld\n"
    "aws configure set region us-west-2\n"
    "apt-get -y upgrade\n",
}
"""Made anew for each run: they hold what no linter of this repository would let pass."""
for name, text in FILES.items():
    FOLDERS.joinpath(name).parent.mkdir(parents=True, exist_ok=True)
    FOLDERS.joinpath(name).write_text(text, encoding="utf-8")
FOLDER = "lifecycle.extra_files"
MODE = "lifecycle.mode"
LEGACY = {
    "cluster.node_provisioning_mode": NodeProvisioningMode.ALL_AT_ONCE,
    MODE: LifecycleMode.LEGACY,
}
AMI = {MODE: LifecycleMode.AMI}
OURS = LifeCycleConfig(source_s3_uri="s3://bucket/scripts/", on_create="a.sh")
CONFIG, URI = "login.life_cycle_config", "login.life_cycle_config.source_s3_uri"
ROLE = {"login.execution_role_arn": "arn:aws:iam::111122223333:role/Nodes"}
SECRET = "arn:aws:secretsmanager:us-west-2:111122223333:secret:slurm-AbCdEf"
DATABASE = AccountingDatabase(endpoint="db.example.com", secret_arn=SECRET)
HEADS = MultiHead(
    slurm_database_secret_arn=SECRET,
    slurm_database_endpoint="db.example.com",
    slurm_shared_directory="/fsx",
    slurm_database_user="slurm",
    slurm_sns_arn="arn:aws:sns:us-west-2:111122223333:failover",
)
DB, HEAD = "slurm.accounting_database", "slurm.multi_head"
NO_USERS = {"lifecycle.users": ()}


def folder(name: str) -> dict[str, Any]:
    """A folder of the tests as extra_files."""
    return {FOLDER: str(FOLDERS / name)}


def sized(size: int) -> dict[str, Any]:
    """A folder with one file, which takes its size on paper alone."""
    path = FOLDERS / f"of-{size}"
    path.mkdir()
    with (path / "weights.bin").open("wb") as file:
        file.truncate(size)
    return {FOLDER: str(path)}


ROWS: list[tuple[str, Mapping[str, Any], list[str]]] = [
    ("HP440", folder("good"), []),
    ("HP440", folder("legacy"), [FOLDER]),
    ("HP440", {**folder("legacy"), **LEGACY}, []),
    ("HP440", {**folder("legacy"), MODE: TEXT_TOKEN}, []),
    ("HP440", {FOLDER: TEXT_TOKEN}, []),
    ("HP441", folder("good"), []),
    ("HP441", folder("not_run"), [FOLDER, FOLDER]),
    ("HP441", {FOLDER: TEXT_TOKEN}, []),
    ("HP442", folder("good"), []),
    ("HP442", folder("syntax"), [FOLDER]),
    ("HP442", {FOLDER: TEXT_TOKEN}, []),
    ("HP443", folder("good"), []),
    ("HP443", folder("traps"), [FOLDER] * 5),
    ("HP443", {FOLDER: TEXT_TOKEN}, []),
    ("HP444", sized(100 << 20), []),
    ("HP444", sized((100 << 20) + 1), [FOLDER]),
    ("HP444", {FOLDER: TEXT_TOKEN}, []),
    # who runs the scripts
    ("HP445", {}, []),
    ("HP445", AMI, ["lifecycle.users"]),
    ("HP445", {**AMI, **folder("good")}, ["lifecycle.users", FOLDER]),
    ("HP445", {**AMI, **NO_USERS}, []),
    ("HP445", {**AMI, "compute.lifecycle_mode": LifecycleMode.EXTENSION}, []),
    ("HP445", {MODE: TEXT_TOKEN}, []),
    ("HP446", {}, []),
    ("HP446", {"compute.lifecycle_mode": LifecycleMode.AMI}, ["compute"]),
    ("HP446", {CONFIG: OURS}, []),
    ("HP446", {"compute.lifecycle_mode": LifecycleMode.AMI, **NO_USERS}, []),
    ("HP446", {"compute.lifecycle_mode": TEXT_TOKEN}, []),
    ("HP353", {}, []),
    ("HP353", {"login.mounts": ()}, ["login.mounts"]),
    ("HP353", {"login.mounts": (), **NO_USERS}, []),
    ("HP353", {"login.mounts": (), CONFIG: OURS}, []),
    ("HP353", {"login.mounts": (), "login.lifecycle_mode": TEXT_TOKEN}, []),
    # scripts in S3
    ("HP450", {CONFIG: OURS}, []),
    ("HP450", {CONFIG: OURS, URI: "s3://bucket/scripts/a.sh"}, [URI]),
    ("HP450", {CONFIG: OURS, URI: TEXT_TOKEN}, []),
    ("HP451", {CONFIG: OURS}, []),
    ("HP451", {CONFIG: OURS, URI: "https://bucket.s3.amazonaws.com/scripts/"}, [URI]),
    ("HP451", {CONFIG: OURS, URI: "s3:///"}, [URI]),
    ("HP451", {CONFIG: OURS, URI: "https://bucket.s3.amazonaws.com/scripts/", **ROLE}, []),
    ("HP451", {CONFIG: OURS, URI: TEXT_TOKEN}, []),
    ("HP452", {CONFIG: OURS, f"{CONFIG}.on_create": "base-config/on_create.sh"}, []),
    ("HP452", {CONFIG: OURS, f"{CONFIG}.on_create": "/on_create.sh"}, [f"{CONFIG}.on_create"]),
    ("HP452", {CONFIG: OURS, f"{CONFIG}.on_create": "s3://b/on_create.sh"}, [f"{CONFIG}.on_create"]),
    ("HP452", {CONFIG: OURS, f"{CONFIG}.on_create": "../on_create.sh"}, [f"{CONFIG}.on_create"]),
    ("HP452", {CONFIG: OURS, f"{CONFIG}.on_create": TEXT_TOKEN}, []),
    ("HP453", {CONFIG: OURS}, []),
    ("HP453", {CONFIG: OURS, **LEGACY}, [CONFIG]),
    ("HP453", LEGACY, []),
    ("HP453", {CONFIG: OURS, MODE: TEXT_TOKEN}, []),
    ("HP454", {CONFIG: OURS, "login.mounts": ()}, []),
    ("HP454", {CONFIG: OURS}, ["login.mounts"]),
    ("HP454", {CONFIG: LifeCycleConfig(source_s3_uri="s3://b/p/", on_init_complete="a.sh")}, []),
    ("HP454", {CONFIG: OURS, "login.lifecycle_mode": TEXT_TOKEN}, []),
    # the accounting database
    ("HP460", {DB: DATABASE}, []),
    ("HP460", {DB: DATABASE, f"{DB}.endpoint": "db.example.com:3306"}, [f"{DB}.endpoint"]),
    ("HP460", {DB: DATABASE, f"{DB}.endpoint": "mysql://db.example.com"}, [f"{DB}.endpoint"]),
    ("HP460", {HEAD: HEADS, f"{HEAD}.slurm_database_endpoint": "db:1"}, [f"{HEAD}.slurm_database_endpoint"]),
    ("HP460", {DB: DATABASE, f"{DB}.endpoint": TEXT_TOKEN}, []),
    ("HP461", {DB: DATABASE, HEAD: HEADS}, []),
    ("HP461", {DB: DATABASE, f"{DB}.secret_arn": SECRET[:-7]}, [f"{DB}.secret_arn"]),
    (
        "HP461",
        {HEAD: HEADS, f"{HEAD}.slurm_database_secret_arn": SECRET[:-1]},
        [f"{HEAD}.slurm_database_secret_arn"],
    ),
    ("HP461", {DB: DATABASE, f"{DB}.secret_arn": TEXT_TOKEN}, []),
    ("HP462", {DB: DATABASE}, []),
    ("HP462", {DB: DATABASE, f"{DB}.name": "slurm"}, [f"{DB}.name"]),
    ("HP462", {DB: DATABASE, f"{DB}.name": TEXT_TOKEN}, []),
    ("HP463", {"login.instance_count": 1}, []),
    ("HP463", {"login.instance_count": 0}, ["login.instance_count"]),
    ("HP463", {"login.instance_count": NUMBER_TOKEN}, []),
]


@pytest.mark.parametrize(("code", "changes", "paths"), ROWS)
def test_rule(code: str, changes: Mapping[str, Any], paths: list[str]) -> None:
    assert findings(changed(changes), code) == [full_path(path) for path in paths]


def test_the_traps_are_told_by_line() -> None:
    told = [one.message for one in check(changed(folder("traps"))) if one.code == "HP443"]
    assert told[0] == (
        "holds after.d/10-slurm.sh, line 3 sets TaskPlugin=task/cgroup, which ends auto-resume without a word"
    )
    assert [message.split(", line ")[1][:1] for message in told] == ["3", "4", "5", "6", "7"]


def test_a_syntax_error_is_told_by_file_and_line() -> None:
    (finding,) = check(changed(folder("syntax")))
    assert finding.code == "HP442"
    assert finding.message.startswith("holds before.d/10-broken.py, line 2:")
