"""The whole rehearsal on real nodes, as a person starts it."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
CONFIG = ROOT / "clusters" / "slurm-minimal.yaml"


def rehearsed(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """A rehearsal on real nodes; its logs have a folder of their own, as others may run one beside it."""
    # the CDK CLI is looked for where it is run
    (folder / "node_modules").symlink_to(ROOT / "node_modules")
    command = [sys.executable, "-m", "hyperpod_cdk.rehearsal", str(CONFIG), "--real-nodes", *options]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=1800, check=False)


@pytest.mark.long_nodes
def test_every_node_joins_and_the_connect_command_leads_to_srun(tmp_path: Path) -> None:
    done = rehearsed(tmp_path)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    # the nodes are those of the emulated service's subnets; each session lists them, then what sinfo shows
    sessions = done.stdout.count("aws ssm start-session")
    assert sessions >= 6, "a session after the deployment and each of four changes, and the output itself"
    assert done.stdout.count("  ip-10-0-") >= 2 + 3 + 4 + 3 + 3
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
