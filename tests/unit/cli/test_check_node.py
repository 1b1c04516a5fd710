"""`check-node`: nodes asked over Session Manager, by stand-ins for the AWS CLI and its plugin."""

import json
from pathlib import Path
from typing import Any

import pytest

from hyperpod_cdk.cli import main
from hyperpod_cdk.commands.check_node import answer

AWS = """#!/bin/bash
printf '%s\\n' "$*" >>"$CALLS"
case "$1 $2" in
"sagemaker describe-cluster")
  echo '{"ClusterArn": "arn:aws:sagemaker:us-west-2:111122223333:cluster/abc123"}' ;;
"sagemaker list-cluster-nodes") echo '{"ClusterNodeSummaries": [
  {"InstanceGroupName": "controller", "InstanceId": "i-1"},
  {"InstanceGroupName": "gpu", "InstanceId": "i-2"}]}' ;;
"ssm start-session") cat "$ANSWERS/${6##*-i}" ;;
esac
"""


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
    for number in ("1", "2"):
        (answers / f"-{number}").write_text(report(f"i-{number}", 0, mounts="done"))
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
    targets = [call.split()[5] for call in calls if call.startswith("ssm")]
    assert targets == ["sagemaker-cluster:abc123_controller-i-1", "sagemaker-cluster:abc123_gpu-i-2"]
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
    (machine / "answers" / "-2").write_text(report("i-2", 1, mounts="failed", users="done"))
    assert run() == 1
    out = capsys.readouterr().out
    assert "gpu i-2: unfit\n  mounts: why\n    what to do: do this" in out
    (machine / "answers" / "-2").write_text(report("i-2", 3, metrics="warning"))
    assert run() == 0
    assert "gpu i-2: worth a look" in capsys.readouterr().out


def test_one_node_as_json(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--node", "i-2", "--json") == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["node"]["instance_id"] == "i-2"


def test_a_node_that_does_not_answer_is_a_finding(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (machine / "answers" / "-1").write_text("TargetNotConnected: i-1 is not connected.\n")
    assert run() == 1
    assert "i-1: could not be asked: TargetNotConnected" in capsys.readouterr().out


def test_a_node_that_is_not_there(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--node", "i-9") == 2
    assert "has no node i-9; it has i-1, i-2" in capsys.readouterr().err


def test_without_the_plugin(
    machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert run() == 2
    assert "session-manager-plugin" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "{", "no json", '{"other": 1}'])
def test_what_is_no_answer(text: str) -> None:
    found: Any = answer(text)
    assert found is None
