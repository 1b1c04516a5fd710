"""hyperpod-check-node: looks at everything, changes nothing, and says by its exit code what it found."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hyperpod_cdk.rehearsal.node import node_environment, prepare_root
from hyperpod_cdk.rehearsal.node_commands.machine import Machine
from hyperpod_cdk.rehearsal.node_commands.serving import serving
from hyperpod_node import check_node, last_look, runner
from hyperpod_node.checks import CHECKS, devices, machine, metrics, software
from hyperpod_node.clock import Clock
from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError, StepSkippedError
from hyperpod_node.step import Step, StepResult
from tests.lifecycle.helpers import LUSTRE, NODE_TYPES, address_of, bench, hook_of, resource_config, snapshot
from tests.lifecycle.scripted import Scripted, scripted
from tests.lifecycle.test_entry import Node, node

MONITORED = {
    "monitoring": {
        "remote_write_url": "https://x",
        "region": "r",
        "interval_seconds": 30,
        "exporters": ["slurm"],
    }
}


def agent(*, sent: int = 9, failed: int = 0, began: int = 600, at: int = -1) -> str:
    """What an agent tells of itself that began, and sent something last, so many seconds ago."""
    last = 0.0 if at < 0 and not sent else time.time() - max(at, 0)
    return (
        f"# HELP some text\nprocess_start_time_seconds {time.time() - began:.12e}\n"
        f'prometheus_remote_storage_samples_total{{remote_name="a"}} {sent}\n'
        f'prometheus_remote_storage_samples_failed_total{{remote_name="a"}} {failed}\n'
        f'prometheus_remote_storage_queue_highest_sent_timestamp_seconds{{remote_name="a"}} {last:.12e}\n'
    )


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


def test_a_check_that_hangs_in_a_dead_file_system_is_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "GRACE_SECONDS", 0.0)
    thawed = threading.Event()

    def frozen(_context: Context) -> str:
        thawed.wait(10)
        return ""

    steps = (
        Step(name="users", run=frozen, time_limit_seconds=0.05),
        Step(name="buckets", run=frozen, time_limit_seconds=0.05, required=False),
        Step(name="network", run=lambda _context: "as it should be"),
    )
    monkeypatch.setattr(last_look, "CHECKS", steps)
    results = last_look.check(bench(tmp_path).context._replace(clock=Clock()))
    thawed.set()
    assert [one.outcome for one in results] == ["failed", "warning", "done"]
    assert results[0].detail == "users: does not end"
    assert "dmesg" in results[0].advice


def test_a_user_who_may_not_read_the_configuration_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(_path: Path, **_members: str) -> str:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "read_text", refused)
    monkeypatch.setenv("HYPERPOD_CDK_ROOT", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    # to somebody who is not root a node must not seem unfit for work
    assert check_node.main([]) == check_node.UNKNOWN
    assert "config.json is for root alone" in capsys.readouterr().err


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
        this = scripted(tmp_path, MONITORED, group="controller", answers={"curl": (0, agent())})
        this.context.root.write("/var/lib/hyperpod-cdk/metrics/slurm.prom", "")
        assert metrics.metrics(this.context) == "measured and written"
        assert "--noproxy *" in next(call for call in this.calls if call.startswith("curl"))
        path = this.context.root.path("/var/lib/hyperpod-cdk/metrics/slurm.prom")
        old = time.time() - 600
        os.utime(path, (old, old))
        with pytest.raises(NodeError, match="not measured for some time: slurm"):
            metrics.metrics(this.context)

    @pytest.mark.parametrize(
        ("told", "prom", "says"),
        [
            ({"sent": 100, "failed": 3}, "hyperpod_collector_ok 1\n", ""),
            ({"sent": 100, "failed": 100}, "", "the workspace refused 100 of 100 samples"),
            ({"sent": 0, "began": 400}, "", "nothing has reached the workspace for 400 s"),
            ({"sent": 9, "began": 900, "at": 300}, "", "nothing has reached the workspace for 300 s"),
            ({"sent": 9, "began": 900, "at": 10}, None, "not measured for some time: slurm.prom"),
            ({"sent": 9, "began": 5}, None, ""),
            ({"sent": 9}, 'hyperpod_collector_ok{collector="slurm"} 0\n', "can not be measured: slurm.prom"),
            (None, "", "tells nothing of the agent"),
        ],
    )
    def test_metrics_that_do_not_arrive(
        self, tmp_path: Path, told: dict[str, int] | None, prom: str | None, says: str
    ) -> None:
        answers = {"curl": (0, "" if told is None else agent(**told))}
        this = scripted(tmp_path, MONITORED, group="controller", answers=answers)
        if prom is not None:
            this.context.root.write("/var/lib/hyperpod-cdk/metrics/slurm.prom", prom)
        if not says:
            assert metrics.metrics(this.context) == "measured and written"
            return
        with pytest.raises(NodeError, match=says):
            metrics.metrics(this.context)

    def test_what_is_on_the_bus_and_has_no_driver(self, tmp_path: Path) -> None:
        this = scripted(tmp_path, answers={"nvidia-smi": (127, "")})
        for name, vendor, kind, device in (
            ("0000:00:1e.0", "0x10de", "0x030200", "0x2330"),
            ("0000:00:1f.0", "0x1d0f", "0x020000", "0xefa1"),
            ("0000:00:05.0", "0x1d0f", "0x020000", "0xec20"),
        ):
            for file, text in (("vendor", vendor), ("class", kind), ("device", device)):
                this.context.root.write(f"/sys/bus/pci/devices/{name}/{file}", f"{text}\n")
        with pytest.raises(NodeError, match="nvidia-smi sees 0 of 1 GPUs"):
            devices.gpus(this.context)
        with pytest.raises(NodeError, match="the driver has 0 of 1 devices"):
            devices.efa_devices(this.context)

    def test_disks_of_the_instance_that_nobody_uses(self, tmp_path: Path) -> None:
        this = scripted(tmp_path)
        for name, model in (
            ("nvme0n1", "Amazon Elastic Block Store"),
            ("nvme1n1", "Amazon EC2 NVMe Instance Storage"),
        ):
            this.context.root.write(f"/sys/block/{name}/device/model", f"{model}\n")
        with pytest.raises(NodeError, match="1 disks of the instance, and nothing is mounted"):
            machine.data_disk(this.context)
        this.mount("/opt/dlami/nvme")
        assert machine.data_disk(this.context) == "/opt/dlami/nvme"

    def test_containers_that_are_required_and_lack(self, tmp_path: Path) -> None:
        this = scripted(tmp_path, {"containers": {"required": True}})
        for check in (software.docker, software.enroot):
            with pytest.raises(NodeError, match="on this node"):
                check(this.context)

    def test_a_gpu_that_the_driver_lost(self, tmp_path: Path) -> None:
        this = scripted(tmp_path, answers={"nvidia-smi": (0, "GPU-1")}, present=["nvidia-smi"])
        with pytest.raises(StepSkippedError):
            devices.gpus(this.context)
        for number in range(2):
            this.context.root.write(f"/dev/nvidia{number}", "")
        with pytest.raises(NodeError, match="sees 1 of 2 GPUs"):
            devices.gpus(this.context)
