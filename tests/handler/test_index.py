"""Entry points: what is logged, and what is not."""

import json
import subprocess
import sys
from pathlib import Path

import handler
import pytest
from handler import index

from hyperpod_cdk.rehearsal.hyperpod import HyperPodService, LifecycleFailure
from tests.handler.cloudformation import RESPONSE_URL, Stack
from tests.handler.samples import cluster, regroup

SECRET = "arn:aws:secretsmanager:us-west-2:123456789012:secret:slurmdb-AbCdEf"


def test_logs_are_json_and_never_have_the_response_url_or_properties(
    stack: Stack, service: HyperPodService, capsys: pytest.CaptureFixture[str]
) -> None:
    database = {"Endpoint": "db.example.com", "SecretArn": SECRET}
    request = cluster(continuous=True, Orchestrator={"Slurm": {"AccountingDatabase": database}})
    assert stack.create(request).ok
    assert stack.update(regroup(request, "compute", InstanceCount=3)).ok
    service.faults.add(LifecycleFailure(group="controller"))
    stack.update(regroup(request, "compute", InstanceType="ml.c5.xlarge"))
    assert stack.delete().ok
    output = capsys.readouterr().out
    lines = [json.loads(line) for line in output.splitlines()]
    assert {line["level"] for line in lines} >= {"INFO", "ERROR"}
    assert all(line["message"] for line in lines)
    assert RESPONSE_URL not in output
    assert "Signature" not in output
    assert SECRET not in output
    assert "ServiceToken" not in output


def test_a_failure_is_logged_with_its_stack(stack: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    stack.create(cluster(Unknown="x"))
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    (error,) = [line for line in lines if line["level"] == "ERROR"]
    assert error["error"] == "RefusedError"
    assert error["operation"] == "Create"
    assert any("cast.py" in frame for frame in error["stack"])


def test_an_error_of_ours_is_told_in_short_too(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(event: object, aws: object) -> None:
        raise RuntimeError("x" * 10_000)

    monkeypatch.setattr(index, "OPERATIONS", {"Create": broken})
    response = stack.create(cluster())
    assert not response.ok


def test_22_the_package_needs_nothing_but_the_standard_library_and_botocore() -> None:
    root = Path(handler.__file__).parent.parent
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); import handler.index; "
        "print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    run = subprocess.run(
        [sys.executable, "-c", program, str(root)], capture_output=True, text=True, check=True, cwd="/"
    )
    unwanted = {"hyperpod_cdk", "boto3", "aws_cdk", "pydantic", "moto", "constructs"}
    assert not unwanted & set(run.stdout.split())
