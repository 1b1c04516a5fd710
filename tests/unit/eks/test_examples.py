"""Stacks of one's own on Amazon EKS, run as they stand."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

STACKS = Path(__file__).parents[3] / "examples" / "stacks"


@pytest.fixture(scope="module")
def synthesized(chart: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Resources of the example's stack, by logical id."""
    out = tmp_path_factory.mktemp("out")
    environment = {
        **os.environ,
        "PYTHONPATH": str(STACKS.parents[1] / "constructs"),
        "CDK_OUTDIR": str(out),
        "CDK_CONTEXT_JSON": json.dumps({"chart": str(chart)}),
    }
    example = STACKS / "training_on_eks.py"
    done = subprocess.run(
        [sys.executable, example], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    template = json.loads((out / "Training.template.json").read_text(encoding="utf-8"))
    return dict(template["Resources"])


def of_kind(resources: dict[str, Any], kind: str) -> dict[str, Any]:
    return {name: one for name, one in resources.items() if one["Type"] == kind}


def test_the_cluster_is_on_the_stacks_own_control_plane(synthesized: dict[str, Any]) -> None:
    ((plane, _),) = of_kind(synthesized, "AWS::EKS::Cluster").items()
    (cluster,) = of_kind(synthesized, "Custom::HyperPodCluster").values()
    request = cluster["Properties"]["Request"]
    assert request["Orchestrator"]["Eks"]["ClusterArn"] == {"Fn::GetAtt": [plane, "Arn"]}
    assert {"Key": "SageMaker", "Value": "true"} in request["Tags"]
    assert request["InstanceGroups"][0]["KubernetesConfig"] == {"Labels": {"example.com/pool": "training"}}


def test_it_comes_after_the_chart_and_before_the_operator(synthesized: dict[str, Any]) -> None:
    ((name, cluster),) = of_kind(synthesized, "Custom::HyperPodCluster").items()
    charts = of_kind(synthesized, "Custom::AWSCDK-EKS-HelmChart")
    assert set(charts) <= set(cluster["DependsOn"])
    (operator,) = [
        one
        for one in of_kind(synthesized, "AWS::EKS::Addon").values()
        if one["Properties"]["AddonName"] == "amazon-sagemaker-hyperpod-training-operator"
    ]
    assert name in operator["DependsOn"]


def test_what_is_ones_own_uses_it(synthesized: dict[str, Any]) -> None:
    ((plane, _),) = of_kind(synthesized, "AWS::EKS::Cluster").items()
    identities = of_kind(synthesized, "AWS::EKS::PodIdentityAssociation").values()
    (mine,) = [one for one in identities if one["Properties"]["ServiceAccount"] == "trainer"]
    assert mine["Properties"]["ClusterName"] == {"Ref": plane}
    role = synthesized[mine["Properties"]["RoleArn"]["Fn::GetAtt"][0]]
    (statement,) = role["Properties"]["AssumeRolePolicyDocument"]["Statement"]
    assert statement["Action"] == ["sts:AssumeRole", "sts:TagSession"]
    assert statement["Principal"] == {"Service": "pods.eks.amazonaws.com"}
