"""Services that the scripts lean on: a database elsewhere, and places to download from."""

import hashlib
import json
import subprocess
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hyperpod_cdk.rehearsal.hosts.host import Host
from hyperpod_cdk.rehearsal.hosts.plan import Plan, usual_groups
from hyperpod_cdk.rehearsal.hosts.sandbox import BUCKET, Sandbox
from tests.lifecycle.sandbox.scenario import ALICE, BOB, job, submit

SECRET = "arn:aws:secretsmanager:us-west-2:123456789012:secret:slurm-database-AbCdEf"
PASSWORD = "correct-horse-battery-staple"
DATABASE = "database.cluster-abcdefghijkl.us-west-2.rds.amazonaws.com"
ADDRESS = "10.1.254.1"
AWAY_SECONDS = 8.0


def start_database(host: Host) -> None:
    """Start MariaDB for all hosts, with a user who may make the schema."""
    host.path("/etc/mysql/mariadb.conf.d/99-sandbox.cnf").write_text("[mariadbd]\nbind-address = 0.0.0.0\n")
    host.run("systemctl", "start", "mariadb")
    user = f"create user if not exists slurm@'%' identified by '{PASSWORD}';"
    host.run("mariadb", given=f"{user} grant all on *.* to slurm@'%';")


@pytest.mark.long_nodes
def test_a_database_elsewhere_that_is_away_and_comes_back() -> None:
    declared = {
        "database": {"endpoint": DATABASE, "secret_arn": SECRET},
        "accounts": [{"name": "research"}],
        "associations": [{"user": "alice", "account": "research"}],
        "users": [{"name": "alice", "default_account": "research"}],
    }
    plan = Plan(groups=usual_groups(1), users=[ALICE, BOB], config={"accounting": declared})
    with Sandbox(plan) as sandbox:
        sandbox.name(DATABASE, ADDRESS)
        sandbox.secret(SECRET, json.dumps({"username": "slurm", "password": PASSWORD}))
        database = sandbox.server("database", ADDRESS)
        sandbox.up()
        timer = threading.Timer(AWAY_SECONDS, start_database, [database])
        timer.start()
        runs = sandbox.provision()
        timer.join()
        assert runs[sandbox.controller.name].step("accounting")["seconds"] > AWAY_SECONDS / 2
        sandbox.idle(1)
        found = job(sandbox, submit(sandbox.login, "alice", script="true"))
        assert (found["account"], found["state"]) == ("research", "COMPLETED")
        tables = database.run("mariadb -N -e 'show databases'").lines
        assert any(name.startswith("slurm_acct_db") for name in tables)
        assert_secret_is_kept(sandbox.controller, PASSWORD)
        # away while jobs run: slurmctld keeps what it has to say, and says it afterwards
        database.run("systemctl", "stop", "mariadb")
        number = submit(sandbox.login, "alice", script="true")
        time.sleep(2)
        database.run("systemctl", "start", "mariadb")
        assert job(sandbox, number, seconds=90)["state"] == "COMPLETED"


def assert_secret_is_kept(host: Host, secret: str) -> None:
    """A password is in one file, which only Slurm's user reads, and in no log and no process's arguments."""
    found = host.run(f"grep -rlF '{secret}' /etc /opt /var/log /run /tmp /fsx 2>/dev/null; true").lines
    assert found == ["/opt/slurm/etc/slurmdbd.conf"]
    assert host.run("stat", "-c", "%a %U", "/opt/slurm/etc/slurmdbd.conf").lines == ["600 slurm"]
    assert host.run(f"journalctl --no-pager | grep -cF '{secret}'; true").lines == ["0"]


def packages(folder: Path) -> dict[str, bytes]:
    """Two small packages in place of Enroot's own."""
    made = {}
    for name in ("enroot", "enroot-caps"):
        control = folder / name / "DEBIAN" / "control"
        control.parent.mkdir(parents=True)
        fields = {"Package": name, "Version": "1.0", "Architecture": "all", "Maintainer": "sandbox"}
        lines = [f"{key}: {value}" for key, value in {**fields, "Description": f"stands for {name}"}.items()]
        control.write_text("\n".join(lines) + "\n")
        subprocess.run(["dpkg-deb", "--build", str(folder / name), str(folder / f"{name}.deb")], check=True)
        made[name] = (folder / f"{name}.deb").read_bytes()
    return made


def artifacts(made: Mapping[str, bytes]) -> dict[str, Any]:
    return {
        f"{name}-amd64": {
            "file": f"{name}.deb",
            "url": f"http://mirror.sandbox/{name}.deb",
            "sha256": hashlib.sha256(content).hexdigest(),
        }
        for name, content in made.items()
    }


@pytest.mark.parametrize(
    "source",
    [
        "mirror that answers 503 twice",
        pytest.param("bucket, with no way to the mirror", marks=pytest.mark.long_nodes),
    ],
)
def test_downloads(source: str, tmp_path: Path) -> None:
    made = packages(tmp_path)
    closed = source.startswith("bucket")
    downloads = {
        "artifacts": artifacts(made),
        "sources": [f"s3://{BUCKET}/downloads"] if closed else [],
        "internet": not closed,
    }
    containers = {"docker": False, "enroot": True, "required": True}
    plan = Plan(
        groups=usual_groups(0, login=0),
        config={"software": {"downloads": downloads, "containers": containers}},
    )
    with Sandbox(plan) as sandbox:
        for name, content in made.items():
            digest = hashlib.sha256(content).hexdigest()
            kept = sandbox.shared / "s3" / BUCKET / "downloads" / digest / f"{name}.deb"
            target = kept if closed else sandbox.shared / "mirror" / f"{name}.deb"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        sandbox.control(mirror={"fails": 2})
        sandbox.up()
        (run,) = sandbox.provision().values()
        assert run.step("enroot")["outcome"] == "done", run.step("enroot")
        state = sandbox.controller.run("dpkg-query -Wf '${Package} ${Status}\\n' enroot enroot-caps").lines
        assert state == ["enroot install ok installed", "enroot-caps install ok installed"]
        asked = (sandbox.room.folder / "services.log").read_text().count("/enroot.deb")
        assert asked == (1 if closed else 3)
