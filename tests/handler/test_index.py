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


def loaded(program: str) -> set[str]:
    """The modules that a process has after it imported ``handler.index`` and more."""
    root = Path(handler.__file__).parent.parent
    whole = f"import sys; sys.path.insert(0, sys.argv[1]); {program}; print(*sorted(sys.modules))"
    run = subprocess.run(
        [sys.executable, "-c", whole, str(root)], capture_output=True, text=True, check=True, cwd="/"
    )
    return set(run.stdout.split())


def test_22_the_package_needs_nothing_but_the_standard_library_and_botocore() -> None:
    modules = loaded("import handler.index, handler.cluster.kind, handler.cluster.watch, handler.quota.kind")
    unwanted = {"hyperpod_cdk", "boto3", "aws_cdk", "pydantic", "moto", "constructs"}
    assert not unwanted & {name.partition(".")[0] for name in modules}


@pytest.mark.parametrize(
    ("resource_type", "kind", "other"),
    [
        ("Custom::HyperPodCluster", "cluster", "quota"),
        ("Custom::HyperPodComputeQuota", "quota", "cluster"),
        ("", "cluster", "quota"),
    ],
)
def test_a_process_loads_the_kind_that_it_serves_alone(resource_type: str, kind: str, other: str) -> None:
    members = f"RequestType='', StackId='', LogicalResourceId='', ResourceType={resource_type!r}"
    modules = loaded(f"from handler import index; index._kind(index.event_of(dict({members})))")
    assert f"handler.{kind}.kind" in modules
    assert not [name for name in modules if name.startswith(f"handler.{other}")]
    assert "handler.cluster.failure" not in modules, "only what has failed is explained"
    assert "handler.cluster.plan" not in modules, "only a cluster at rest is compared"
