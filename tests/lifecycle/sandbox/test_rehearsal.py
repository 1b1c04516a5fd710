"""The whole rehearsal on real nodes, as a person starts it."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from hyperpod_cdk.commands.node_sessions import DOCUMENT
from hyperpod_cdk.rehearsal.hosts.host import enter

ROOT = Path(__file__).parents[3]
CONFIG = ROOT / "clusters" / "slurm-minimal.yaml"


def command_in(folder: Path, *options: str) -> list[str]:
    """A rehearsal on real nodes; its logs have a folder of their own, as others may run one beside it."""
    # the CDK CLI is looked for where it is run
    (folder / "node_modules").symlink_to(ROOT / "node_modules")
    return [sys.executable, "-m", "hyperpod_cdk.rehearsal", str(CONFIG), "--real-nodes", *options]


def rehearsed(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = command_in(folder, *options)
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=1800, check=False)


class Workstation(NamedTuple):
    """A machine from which somebody looks at the nodes of a rehearsal that stays.

    Args:
        commands: folder of the session commands, as the rehearsal says.
        environment: of the AWS CLI.
    """

    commands: Path
    environment: dict[str, str]

    def look(self, *arguments: str, cluster: str = "slurm-minimal") -> subprocess.CompletedProcess[str]:
        """Run ``hyperpod-cdk check-node``."""
        command = [sys.executable, "-m", "hyperpod_cdk", "check-node", "--cluster", cluster, *arguments]
        return subprocess.run(
            command, env=self.environment, capture_output=True, text=True, timeout=120, check=False
        )

    def on(self, instance: str, *command: str) -> None:
        """Run a command on a node, past everything."""
        subprocess.run([*enter(self.init_of(instance)), *command], check=True)

    def init_of(self, instance: str) -> int:
        """A node's first process."""
        return int((self.commands.parent / "instances" / instance).read_text())


@contextmanager
def kept(folder: Path) -> Iterator[Workstation]:
    """A rehearsal that stays after its deployment, until the end of this."""
    told = folder / "told"
    # whoever started the tests in the background has the signal ignored by which this ends
    command = ["env", "--default-signal=INT", *command_in(folder, "--keep")]
    with (
        told.open("w") as file,
        subprocess.Popen(command, cwd=folder, stdout=file, stderr=file) as rehearsal,
    ):
        try:
            deadline = time.monotonic() + 900
            while not (
                found := re.search(r"AWS_ENDPOINT_URL=(\S+) hyperpod-cdk check-node", told.read_text())
            ):
                assert rehearsal.poll() is None, told.read_text()[-3000:]
                assert time.monotonic() < deadline, told.read_text()[-3000:]
                time.sleep(0.2)
            commands = re.findall(r"export PATH=(\S+):\$PATH", told.read_text())[-1]
            environment = {
                **{name: text for name, text in os.environ.items() if not name.startswith("AWS_")},
                "PATH": f"{commands}:{os.environ['PATH']}",
                "AWS_ENDPOINT_URL": found[1],
                "AWS_DEFAULT_REGION": "us-west-2",
                "AWS_ACCESS_KEY_ID": "rehearsal",
                "AWS_SECRET_ACCESS_KEY": "rehearsal",
            }
            yield Workstation(Path(commands), environment)
        finally:
            rehearsal.send_signal(signal.SIGINT)
            rehearsal.wait(120)
        assert rehearsal.returncode == 0, told.read_text()[-2000:]


@pytest.mark.long_nodes
def test_every_node_joins_and_the_connect_command_leads_to_srun(tmp_path: Path) -> None:
    done = rehearsed(tmp_path)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    # the nodes are those of the emulated service's subnets; each session lists them, then what sinfo shows
    sessions = done.stdout.count("aws ssm start-session")
    assert sessions >= 6, "a session after the deployment and each of four changes, and the output itself"
    assert "  $ srun --nodes=2 hostname\n  ip-10-0-" in done.stdout
    assert done.stdout.count("  ip-10-0-") >= 2 + 3 + 4 + 3 + 3
    # each node looks at itself, too, after every change
    assert done.stdout.count("hyperpod-check-node finds ") == 5
    logs = sorted((tmp_path / ".rehearsal").glob("compute-1.i-*.log"))
    assert "the node is set up" in logs[0].read_text()


@pytest.mark.long_nodes
def test_a_node_whose_script_fails_fails_the_deployment_with_its_last_lines(tmp_path: Path) -> None:
    done = rehearsed(tmp_path, "--fault", "lifecycle")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    assert "the stack is ROLLBACK_COMPLETE" in done.stdout
    assert "dpkg frontend lock was locked by another process" in done.stdout
    log = next((tmp_path / ".rehearsal").glob("controller-1.i-*.log")).read_text()
    assert "set-up failed at packages: getting the lock of dpkg: still not so after 300 s" in log


@pytest.mark.long_nodes
@pytest.mark.skipif(shutil.which("aws") is None, reason="the machine has no AWS CLI to list nodes with")
def test_nodes_look_at_themselves_when_somebody_asks_from_elsewhere(tmp_path: Path) -> None:
    with kept(tmp_path) as workstation:
        done = workstation.look("--json")
        assert done.returncode == 0, done.stdout + done.stderr
        reports = json.loads(done.stdout)
        assert sorted(one["node"]["node_type"] for one in reports) == ["Compute", "Compute", "Controller"]
        assert {one["exit_code"] for one in reports} == {0}
        assert "mounts" in {check["name"] for check in reports[0]["checks"] if check["outcome"] == "done"}
        by_type = {one["node"]["node_type"]: one["node"]["instance_id"] for one in reports}
        node = by_type["Compute"]

        workstation.on(node, "umount", "--lazy", "/fsx")
        done = workstation.look("--node", node)
        assert done.returncode == 1
        assert done.stdout.startswith(f"compute {node}: unfit\n  mounts: not mounted: /fsx\n    what to do: ")
        workstation.on(node, "mount", "/fsx")
        done = workstation.look("--node", node)
        assert (done.returncode, done.stdout) == (0, f"compute {node}: ok\n")

        workstation.on(node, "mv", "/usr/local/sbin/hyperpod-check-node", "/root/kept")
        done = workstation.look("--node", node)
        assert done.returncode == 1
        assert (
            "could not be asked: sudo: hyperpod-check-node: command not found: its lifecycle" in done.stdout
        )
        workstation.on(node, "mv", "/root/kept", "/usr/local/sbin/hyperpod-check-node")

        # a session whose own input ends is ended, as by the plugin: check-node has to hold it open
        target = f"sagemaker-cluster:0_compute-{node}"
        call = ["aws", "ssm", "start-session", "--target", target, "--document-name", DOCUMENT]
        call += ["--parameters", json.dumps({"command": ["sleep 5"]})]
        closed = subprocess.run(
            call,
            env=workstation.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert closed.stdout.splitlines()[-1] == "Cannot perform start session: EOF"

        done = workstation.look("--node", "i-00000000000000000")
        assert done.returncode == 2
        first = reports[0]["node"]["instance_id"]
        assert f"slurm-minimal has no node i-00000000000000000; it has {first}, " in done.stderr
        done = workstation.look(cluster="slurm-large")
        assert done.returncode == 2
        assert "no cluster slurm-large in this account and Region, which has slurm-minimal" in done.stderr

        os.kill(workstation.init_of(node), signal.SIGKILL)
        done = workstation.look()
        assert done.returncode == 1
        away = [line for line in done.stdout.splitlines() if "could not be asked" in line]
        assert len(away) == 1
        assert away[0].startswith(
            f"compute {node}: could not be asked: An error occurred (TargetNotConnected)"
        )

        (workstation.commands / "session-manager-plugin").unlink()
        # without what the machine itself may have of it
        workstation.environment["PATH"] = f"{workstation.commands}:/usr/bin:/bin"
        done = workstation.look()
        assert done.returncode == 2
        assert "no `session-manager-plugin` on this machine: https://" in done.stderr
