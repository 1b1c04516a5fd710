"""The stacks on Slurm among what is somebody's own, run as they stand."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "stacks" / "slurm_in_your_vpc.py"


@pytest.fixture(scope="module")
def synthesized(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Resources of both stacks, by stack and logical id."""
    out = tmp_path_factory.mktemp("out")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "constructs"), "CDK_OUTDIR": str(out)}
    done = subprocess.run(
        [sys.executable, EXAMPLE], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return {
        stack: json.loads((out / f"{stack}.template.json").read_text(encoding="utf-8"))["Resources"]
        for stack in ("Data", "Training")
    }


def of_kind(resources: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [one for one in resources.values() if one["Type"] == kind]


def test_the_cluster_is_apart_from_network_and_data(synthesized: dict[str, dict[str, Any]]) -> None:
    """Deleting the cluster's stack touches neither."""
    assert len(of_kind(synthesized["Data"], "AWS::EC2::VPC")) == 1
    assert len(of_kind(synthesized["Data"], "AWS::FSx::FileSystem")) == 1
    assert len(of_kind(synthesized["Training"], "Custom::HyperPodCluster")) == 1
    assert not of_kind(synthesized["Training"], "AWS::EC2::VPC")
    assert not of_kind(synthesized["Training"], "AWS::FSx::FileSystem")


def test_the_nodes_lie_in_the_subnet_that_was_given(synthesized: dict[str, dict[str, Any]]) -> None:
    (cluster,) = of_kind(synthesized["Training"], "Custom::HyperPodCluster")
    placed = cluster["Properties"]["Request"]["VpcConfig"]
    assert [str(one["Fn::ImportValue"]).startswith("Data:") for one in placed["Subnets"]] == [True]
    assert [str(one["Fn::ImportValue"]).startswith("Data:") for one in placed["SecurityGroupIds"]] == [True]


def test_only_the_group_that_trains_reads_the_datasets(synthesized: dict[str, dict[str, Any]]) -> None:
    policies = of_kind(synthesized["Training"], "AWS::IAM::ManagedPolicy")
    readers = [one for one in policies if "ExportsOutputFnGetAttDatasets" in json.dumps(one)]
    (reader,) = readers
    assert "Rolegpu" in json.dumps(reader["Properties"]["Roles"])
