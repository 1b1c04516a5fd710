"""hyperpod-check-node: looks at everything, changes nothing, and says by its exit code what it found."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hyperpod_cdk.rehearsal.node import node_environment, prepare_root
from hyperpod_cdk.rehearsal.node_commands.machine import Machine
from hyperpod_cdk.rehearsal.node_commands.serving import serving
from hyperpod_node import check_node, last_look
from hyperpod_node.checks import CHECKS, devices, software
from hyperpod_node.errors import NodeError, StepSkippedError
from hyperpod_node.step import StepResult
from tests.lifecycle.helpers import LUSTRE, NODE_TYPES, address_of, hook_of, resource_config, snapshot
from tests.lifecycle.scripted import Scripted, scripted
from tests.lifecycle.test_entry import Node, node


def looked(this: Node, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the check as a person does, from where the scripts are kept."""
    found: Machine = prepare_root(
        this.scripts,
        this.root,
        resource_config(compute=4),
        hook=hook_of(this.mode),
        addresses=["192.168.1.1", address_of(this.group)],
    )
    with serving(found) as port:
        return subprocess.run(
            [sys.executable, "-m", "hyperpod_node.check_node", *arguments],
            cwd=this.root / "opt/hyperpod-cdk",
            env={**node_environment(found, port), "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )


@pytest.mark.parametrize(
    ("mode", "group"), [("custom", name) for name in NODE_TYPES] + [("extension", "login")]
)
def test_a_node_that_is_well(tmp_path: Path, mode: str, group: str) -> None:
    this = node(tmp_path, mode, group)
    assert this.run()[0] == 0
    log = this.root / "var/log/provision/provisioning.log"
    before, told = snapshot(this.root), log.read_text()
    done = looked(this)
    assert done.returncode == 0, done.stdout + done.stderr
    assert snapshot(this.root) == before
    assert log.read_text() == told
    assert "FAILED" not in done.stdout
    assert f"{NODE_TYPES[group].lower()}, {mode} mode" in done.stdout.splitlines()[0]


def _no_keys(root: Path) -> None:
    (root / "home/alice/.ssh/authorized_keys").write_text("")


def _readable_password(root: Path) -> None:
    (root / "opt/slurm/etc/slurmdbd.conf").chmod(0o644)


def _unmounted(root: Path) -> None:
    mounts = root / "proc/mounts"
    mounts.write_text("\n".join(line for line in mounts.read_text().splitlines() if " /fsx " not in line))


def _no_slurmctld(root: Path) -> None:
    Machine(root).remember("units", {})


HARMS: dict[str, Callable[[Path], None]] = {
    "users": _no_keys,
    "accounting": _readable_password,
    "mounts": _unmounted,
    "slurmctld": _no_slurmctld,
}
"""What each of them harms, by the check that has to find it, whatever else is wrong."""


def test_what_is_wrong_is_found(tmp_path: Path) -> None:
    this = node(tmp_path, "custom", "controller")
    assert this.run()[0] == 0
    well = {one["name"]: one for one in json.loads(looked(this, "--json").stdout)["checks"]}
    assert {well[name]["outcome"] for name in HARMS} == {"done"}
    for harm in HARMS.values():
        harm(this.root)
    done = looked(this, "--json")
    document = json.loads(done.stdout)
    found = {one["name"]: one for one in document["checks"]}
    for name in HARMS:
        assert found[name]["outcome"] == "failed", name
        assert found[name]["advice"]
    assert done.returncode == document["exit_code"] == check_node.UNFIT


def test_a_node_without_its_configuration_can_not_be_looked_at(tmp_path: Path) -> None:
    this = node(tmp_path)
    leave_out = shutil.ignore_patterns("config.json")
    shutil.copytree(this.scripts, this.root / "opt/hyperpod-cdk", ignore=leave_out)
    done = looked(this)
    assert done.returncode == check_node.UNKNOWN
    assert "no config.json" in done.stderr


def test_exit_codes() -> None:
    def code(*outcomes: str) -> int:
        return check_node.exit_code([StepResult(name="x", outcome=outcome) for outcome in outcomes])

    assert code("done", "skipped") == 0
    assert code("done", "warning") == 3
    assert code("warning", "failed") == 1


def settling(directory: Path, *states: str) -> Scripted:
    """A compute node that slurmctld shows in these states, one after the other."""
    left = list(states)

    def sinfo(_arguments: tuple[str, ...]) -> tuple[int, str]:
        return 0, left.pop(0) if len(left) > 1 else left[0]

    this = scripted(
        directory,
        answers={"sinfo": sinfo, "munge": (0, "x"), "getent": (0, "10.0.0.1 STREAM x")},
        present=["sinfo", "munge", "unmunge", "getent", "stat"],
    )
    this.mount("/fsx", "lustre", f"10.0.0.1@tcp:/{LUSTRE['mount_name']}")
    return this


def test_a_node_that_has_just_registered_gets_a_moment(tmp_path: Path) -> None:
    this = settling(tmp_path, "unknown*", "idle*", "idle")
    assert last_look.at_the_end(this.context).endswith("checks passed")
    assert this.calls.count("munge --no-input") <= 1, "only what was bad is looked at again"
    assert 0 < this.bench.clock.time < 1


def test_a_node_that_does_not_settle_is_told(tmp_path: Path) -> None:
    this = settling(tmp_path, "down*")
    with pytest.raises(NodeError, match=r"slurmd: ip-10-1-0-6 is down\*"):
        last_look.at_the_end(this.context)
    assert this.bench.clock.time == pytest.approx(last_look.SETTLE_SECONDS)


def test_every_check_has_a_name_of_its_own() -> None:
    names = [step.name for step in CHECKS]
    assert len(set(names)) == len(names)


class TestSoftware:
    """Checks of what no pretended machine has."""

    def test_docker_on_the_root_volume(self, tmp_path: Path) -> None:
        this = scripted(
            tmp_path,
            {"containers": {}},
            answers={"docker info": (0, "/var/lib/docker")},
            present=["docker"],
        )
        assert software.docker(this.context) == "/var/lib/docker"
        this.mount("/opt/dlami/nvme")
        with pytest.raises(NodeError, match="though there is /opt/dlami/nvme"):
            software.docker(this.context)

    def test_108_pyxis_that_srun_does_not_know(self, tmp_path: Path) -> None:
        answers: dict[str, Any] = {"srun --help": (0, "Usage: srun")}
        this = scripted(tmp_path, {"containers": {}}, answers=answers, present=["enroot", "srun"])
        with pytest.raises(NodeError, match="Pyxis is not loaded"):
            software.enroot(this.context)
        answers["srun --help"] = (0, "      --container-image=[USER@][REGISTRY#]IMAGE")
        assert software.enroot(this.context) == "srun --container-image works"

    def test_metrics_that_are_old(self, tmp_path: Path) -> None:
        wanted = {
            "monitoring": {
                "remote_write_url": "https://x",
                "region": "r",
                "interval_seconds": 30,
                "exporters": ["slurm"],
            }
        }
        this = scripted(tmp_path, wanted)
        this.context.root.write("/var/lib/hyperpod-cdk/metrics/slurm.prom", "")
        assert software.metrics(this.context) == "measured and written"
        path = this.context.root.path("/var/lib/hyperpod-cdk/metrics/slurm.prom")
        old = time.time() - 600
        os.utime(path, (old, old))
        with pytest.raises(NodeError, match="not measured for some time: slurm"):
            software.metrics(this.context)

    def test_a_gpu_that_the_driver_lost(self, tmp_path: Path) -> None:
        this = scripted(tmp_path, answers={"nvidia-smi": (0, "GPU-1")}, present=["nvidia-smi"])
        with pytest.raises(StepSkippedError):
            devices.gpus(this.context)
        for number in range(2):
            this.context.root.write(f"/dev/nvidia{number}", "")
        with pytest.raises(NodeError, match="sees 1 of 2 GPUs"):
            devices.gpus(this.context)
