"""What the library asks of the CDK, jsii, cdk-nag and Node, and what it spares its users."""

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import requires
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest

from hyperpod_cdk.config import load
from hyperpod_cdk.stack import HyperPodStack
from hyperpod_cdk.toolchain import packaged_node

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "constructs" / "hyperpod_cdk"
NAMES = {
    *("BucketName", "DBInstanceIdentifier", "FunctionName", "GroupName", "LogGroupName", "ManagedPolicyName"),
    *("RepositoryName", "RoleName", "StateMachineName", "TopicName"),
}
"""Properties that name a resource; a fixed one can stand in one stack of an account alone."""


@pytest.fixture(scope="module")
def template() -> dict[str, Any]:
    """The template of a cluster with everything, as its user would get it."""
    spec = replace(load(ROOT / "clusters" / "slurm-gpu.yaml"), termination_protection=False)
    app = cdk.App()
    stack = HyperPodStack(app, "Gpu", spec=spec)
    found: dict[str, Any] = app.synth().get_stack_by_name(stack.stack_name).template
    return found


def modules() -> Iterator[tuple[Path, ast.Module]]:
    """Every module of the package."""
    for path in PACKAGE.rglob("*.py"):
        yield path, ast.parse(path.read_text(encoding="utf-8"))


def imported(tree: ast.Module) -> set[str]:
    """Names of the modules, and of what is taken from them."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(alias.name for alias in node.names)}
    return found


def test_two_clusters_of_one_account_share_no_name(template: dict[str, Any]) -> None:
    fixed = [
        f"{name}.{key}"
        for name, made in template["Resources"].items()
        for key, value in made.get("Properties", {}).items()
        if key in NAMES and isinstance(value, str)
    ]
    assert fixed == []


def test_the_package_needs_no_cdk_nag() -> None:
    """Field report 139."""
    assert [
        path for path, tree in modules() if any(name.startswith("cdk_nag") for name in imported(tree))
    ] == []
    assert "cdk-nag" not in " ".join(requires("hyperpod-cdk") or [])
    (pinned,) = re.findall(r"^cdk-nag==(\d+)", (ROOT / "requirements.txt").read_text(encoding="utf-8"), re.M)
    assert pinned == "3"


def test_the_least_cdk_names_no_execution_and_takes_long_ids() -> None:
    """Field reports 57 and 142: 2.275.0 is the first release that was looked at and found to be so."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (least,) = re.findall(r"aws-cdk-lib>=(\d+)\.(\d+)", " ".join(project["dependencies"]))
    assert tuple(map(int, least)) >= (2, 275)


def test_the_waiter_starts_executions_without_a_name(tmp_path: Path) -> None:
    """Field report 57: a name that follows the request is taken when CloudFormation tries again."""
    app = cdk.App(outdir=str(tmp_path))
    HyperPodStack(app, "Minimal", spec=load(ROOT / "clusters" / "slurm-minimal.yaml"))
    app.synth()
    (framework,) = tmp_path.rglob("framework.js")
    (waiter,) = re.findall(r"(\w+)=(\{[^{}]*stateMachineArn[^{}]*input:[^{}]*\})", framework.read_text())
    assert "name:" not in waiter[1]


def test_no_construct_brings_an_aspect() -> None:
    """Field report 145: nothing here can meet an aspect of the user's in the wrong order."""
    assert [path for path, tree in modules() if {"Aspects", "IAspect"} & imported(tree)] == []
    attributes = (
        (path, node.attr)
        for path, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
    )
    assert [path for path, name in attributes if name in ("Aspects", "IAspect")] == []


def test_node_is_one_that_jsii_supports() -> None:
    """Field report 148: jsii announces the end of Node 20 at every start."""
    node = packaged_node()
    assert node is not None
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    assert version.startswith(("v22.", "v24."))
