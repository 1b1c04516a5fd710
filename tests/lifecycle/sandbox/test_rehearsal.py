"""The whole rehearsal on real nodes, as a person starts it."""

import subprocess
import sys
from pathlib import Path

import pytest

from hyperpod_cdk.rehearsal import WRONG_INPUT, rehearse

ROOT = Path(__file__).parents[3]
CONFIG = ROOT / "clusters" / "slurm-minimal.yaml"


@pytest.mark.long_nodes
def test_every_node_joins_and_the_connect_command_leads_to_srun() -> None:
    command = [sys.executable, "-m", "hyperpod_cdk.rehearsal", str(CONFIG), "--real-nodes"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1800, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    # the nodes are those of the emulated service's subnets; each session lists them, then what sinfo shows
    sessions = done.stdout.count("aws ssm start-session")
    assert sessions >= 6, "a session after the deployment and each of four changes, and the output itself"
    assert done.stdout.count("  ip-10-0-") >= 2 + 3 + 4 + 3 + 3
    logs = sorted((ROOT / ".rehearsal").glob("compute-1.i-*.log"))
    assert "the node is set up" in logs[0].read_text()


def test_faults_of_stand_in_commands_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert rehearse(CONFIG, fault="lifecycle", on_hosts=True) == WRONG_INPUT
    assert "real nodes have none such" in capsys.readouterr().err
