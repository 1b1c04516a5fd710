"""`check-node`: nodes asked over Session Manager, by stand-ins for the AWS CLI and its plugin."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from hyperpod_cdk.cli import main
from hyperpod_cdk.commands.check_node import answer

# as the plugin does, it ends a session when its own input ends (shellsession_unix.go)
AWS = """#!/bin/bash
printf '%s\\n' "$*" >>"$CALLS"
case "$1 $2" in
"sagemaker describe-cluster")
  if [ $4 != mine ]; then
    echo "An error occurred (ResourceNotFound) when calling the DescribeCluster operation: none" >&2
    exit 254
  fi
  echo '{"ClusterArn": "arn:aws:sagemaker:us-west-2:111122223333:cluster/abc123"}' ;;
"sagemaker list-clusters") echo '{"ClusterSummaries": [{"ClusterName": "mine"}, {"ClusterName": "yours"}]}' ;;
"sagemaker list-cluster-nodes") cat "$ANSWERS/nodes" ;;
"ssm start-session")
  read -t 0.05 _ || [ $? -gt 128 ] || { echo "Cannot perform start session: EOF"; exit; }
  if [ -f "$ANSWERS/${4##*-i-}.error" ]; then cat "$ANSWERS/${4##*-i-}.error" >&2; exit 254; fi
  if [ -p "$ANSWERS/${4##*-i-}" ]; then echo $$ >"$ANSWERS/pid"; fi
  cat "$ANSWERS/${4##*-i-}" ;;
esac
"""


def listed(*statuses: str) -> str:
    """What list-cluster-nodes answers: nodes of two groups, in these states."""
    nodes = [
        {
            "InstanceGroupName": "controller" if number == 1 else "gpu",
            "InstanceId": f"i-{number}",
            "InstanceStatus": {"Status": status},
        }
        for number, status in enumerate(statuses, start=1)
    ]
    return json.dumps({"ClusterNodeSummaries": nodes})


def report(instance: str, code: int, **checks: str) -> str:
    document = {
        "format": 1,
        "exit_code": code,
        "node": {"instance_group": "gpu", "instance_id": instance},
        "checks": [
            {"name": name, "outcome": outcome, "detail": "why", "advice": "do this"}
            for name, outcome in checks.items()
        ],
    }
    text = json.dumps(document)
    return f"\nStarting session with SessionId: x\n{text}\n\nExiting session with sessionId: x.\n"


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workstation with both programs, and the answers of two nodes that are well."""
    tools, answers = tmp_path / "bin", tmp_path / "answers"
    tools.mkdir()
    answers.mkdir()
    for name, text in (("aws", AWS), ("session-manager-plugin", "#!/bin/bash\n")):
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    (answers / "nodes").write_text(listed("Running", "Running"))
    for number in ("1", "2"):
        (answers / number).write_text(report(f"i-{number}", 0, mounts="done"))
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    monkeypatch.setenv("ANSWERS", str(answers))
    return tmp_path


def run(*arguments: str) -> int:
    return main(["check-node", "--cluster", "mine", *arguments])


def test_every_node_is_asked(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--region", "us-west-2") == 0
    assert capsys.readouterr().out.splitlines() == ["gpu i-1: ok", "gpu i-2: ok"]
    calls = (machine / "calls").read_text().splitlines()
    sessions = sorted(call for call in calls if call.startswith("ssm"))
    targets = ["sagemaker-cluster:abc123_controller-i-1", "sagemaker-cluster:abc123_gpu-i-2"]
    assert [call.split()[3] for call in sessions] == targets
    command = '{"command": ["sudo -n hyperpod-check-node --json"]}'
    asked = f"--document-name AWS-StartNonInteractiveCommand --parameters {command} --region us-west-2"
    assert all(call.endswith(asked) for call in sessions)
    assert all("--region us-west-2" in call for call in calls)


def test_a_cluster_on_eks_is_looked_at_otherwise(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    aws = machine / "bin" / "aws"
    eks = '"Orchestrator": {"Eks": {"ClusterArn": "x"}}, "ClusterArn"'
    aws.write_text(AWS.replace('"ClusterArn"', eks))
    assert run() == 2
    err = capsys.readouterr().err
    assert "cluster mine is on Amazon EKS" in err
    assert "kubectl get nodes" in err
    assert "ssm" not in (machine / "calls").read_text()


def test_what_is_not_well_is_told_with_advice(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (machine / "answers" / "2").write_text(report("i-2", 1, mounts="failed", users="done"))
    assert run() == 1
    out = capsys.readouterr().out
    assert "gpu i-2: unfit\n  mounts: why\n    what to do: do this" in out
    (machine / "answers" / "2").write_text(report("i-2", 3, metrics="warning"))
    assert run() == 0
    assert "gpu i-2: worth a look" in capsys.readouterr().out


def test_one_node_as_json(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--node", "i-2", "--json") == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["node"]["instance_id"] == "i-2"


@pytest.mark.parametrize(
    ("status", "said", "says"),
    [
        (
            "SystemUpdating",
            {"2.error": "An error occurred (TargetNotConnected): i-2 is not connected."},
            "(TargetNotConnected): i-2 is not connected. (the service has it as SystemUpdating)",
        ),
        ("Running", {"2": "sudo: hyperpod-check-node: command not found"}, "are not this library's"),
        ("Running", {"2": "this node can not be looked at: no config.json"}, "looked at: no config.json"),
        ("Running", {"2": ""}, "it said nothing"),
        ("Running", {"2": report("i-2", 0).replace('"format": 1', '"format": 2')}, '"format": 2'),
    ],
)
def test_a_node_that_does_not_answer_is_a_finding(
    machine: Path, capsys: pytest.CaptureFixture[str], status: str, said: dict[str, str], says: str
) -> None:
    (machine / "answers" / "nodes").write_text(listed("Running", status))
    for file, text in said.items():
        (machine / "answers" / file).write_text(text)
    assert run() == 1
    well, away = capsys.readouterr().out.split("\n", 1)
    assert well == "gpu i-1: ok"
    assert away.startswith("gpu i-2: could not be asked: ")
    assert says in away
    assert "session with" not in away


@pytest.mark.parametrize("status", ["Pending", "ShuttingDown"])
def test_a_node_that_nobody_reaches_is_not_asked(
    machine: Path, capsys: pytest.CaptureFixture[str], status: str
) -> None:
    (machine / "answers" / "nodes").write_text(listed(status, "Running"))
    assert run("--json") == 1
    away, well = json.loads(capsys.readouterr().out)
    assert away["reason"] == f"not asked (the service has it as {status})"
    assert away["node"] == {"instance_group": "controller", "instance_id": "i-1"}
    assert (away["exit_code"], well["exit_code"]) == (2, 0)
    assert "i-1" not in "".join((machine / "calls").read_text().splitlines()[-1:])


def test_a_node_that_is_not_there(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--node", "i-9") == 2
    assert "has no node i-9; it has i-1, i-2" in capsys.readouterr().err
    (machine / "answers" / "nodes").write_text(listed(*["Running"] * 12))
    assert run("--node", "i-99", "--node", "i-1") == 2
    assert "has no node i-99; it has i-1, i-2, i-3" in (err := capsys.readouterr().err)
    assert err.strip().endswith("i-10 and 2 more")
    (machine / "answers" / "nodes").write_text(listed())
    assert run() == 2
    assert "cluster mine has no nodes" in capsys.readouterr().err


def test_a_cluster_that_is_not_there(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check-node", "--cluster", "main"]) == 2
    err = capsys.readouterr().err
    assert "no cluster main in this account and Region, which has mine, yours" in err
    aws = machine / "bin" / "aws"
    aws.write_text("#!/bin/bash\necho 'Unable to locate credentials' >&2\nexit 253\n")
    assert run() == 2
    assert capsys.readouterr().err == "hyperpod-cdk: Unable to locate credentials\n"


@pytest.mark.parametrize("missing", ["aws", "session-manager-plugin"])
def test_what_this_machine_lacks(machine: Path, missing: str, capsys: pytest.CaptureFixture[str]) -> None:
    (machine / "bin" / missing).unlink()
    assert run() == 2
    err = capsys.readouterr().err
    assert err.count("on this machine") == 1
    assert f"no `{missing}` on this machine: https://docs.aws.amazon.com/" in err
    assert not (machine / "calls").exists()


def _stuck(machine: Path) -> Path:
    """Where the second node's session, which never ends, leaves the number of its process."""
    (machine / "answers" / "2").unlink()
    os.mkfifo(machine / "answers" / "2")
    return machine / "answers" / "pid"


def _is_gone(pid: Path) -> bool:
    """Whether no process of the session's group lives, a moment after it was killed."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        fields = [text.rpartition(")")[2].split() for text in _processes()]
        if not [state for state, _, group, *_ in fields if group == pid.read_text().strip() and state != "Z"]:
            return True
        time.sleep(0.02)
    return False


def _processes() -> Iterator[str]:
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            yield path.read_text()


def test_a_session_that_does_not_end_is_ended(
    machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pid = _stuck(machine)
    monkeypatch.setattr("hyperpod_cdk.commands.check_node.TIME_LIMIT_SECONDS", 1.0)
    assert run() == 1
    assert "gpu i-2: could not be asked: no answer within 1 s" in capsys.readouterr().out
    assert _is_gone(pid)


def test_ctrl_c_ends_every_session(machine: Path) -> None:
    pid = _stuck(machine)
    # whoever started the tests in the background has the signal ignored
    heeding = ["env", "--default-signal=INT"]
    command = [*heeding, sys.executable, "-m", "hyperpod_cdk", "check-node", "--cluster", "mine"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "gpu i-1: ok\n"
        while not (pid.exists() and pid.read_text().strip()):
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130
    assert _is_gone(pid)


@pytest.mark.parametrize("text", ["", "{", "no json", '{"other": 1}'])
def test_what_is_no_answer(text: str) -> None:
    found: Any = answer(text)
    assert found is None
