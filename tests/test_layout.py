"""The shape of the repository that everything else leans on."""

import importlib.util
import json
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "constructs" / "hyperpod_cdk"
SOURCES = sorted(
    path
    for folder in (PACKAGE, ROOT / "lifecycle_scripts")
    for path in folder.rglob("*.py")
    if "__pycache__" not in path.parts
)


def test_constructs_is_a_source_root_and_not_a_package() -> None:
    """With an __init__.py it would hide PyPI's `constructs` (aws/aws-cdk issue 19301)."""
    assert not (ROOT / "constructs" / "__init__.py").exists()
    spec = importlib.util.find_spec("constructs")
    assert spec is not None
    assert spec.origin is not None
    assert ROOT not in Path(spec.origin).parents or ".venv" in Path(spec.origin).parts


def test_files_stay_small() -> None:
    sizes = {path.relative_to(ROOT): len(path.read_text().splitlines()) for path in SOURCES}
    assert {path: size for path, size in sizes.items() if size > 500} == {}
    assert statistics.median(sizes.values()) < 150


@pytest.mark.parametrize(
    "module",
    [
        "hyperpod_cdk",
        "hyperpod_cdk.spec",
        "hyperpod_cdk.config",
        "hyperpod_cdk.rules",
        "hyperpod_cdk.cli",
        "hyperpod_cdk.commands.program",
        "hyperpod_cdk.migration",
        "hyperpod_cdk.rehearsal.hyperpod",
    ],
)
def test_what_needs_no_cdk_loads_none(module: str) -> None:
    """aws_cdk starts Node and takes a second: a validation must not pay for it."""
    code = f"import sys, {module}; sys.exit('aws_cdk' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(ROOT / "constructs")}, check=False
    )
    assert done.returncode == 0


def test_the_lock_file_names_no_download_addresses() -> None:
    lock = json.loads((ROOT / "package-lock.json").read_text())
    assert [name for name, package in lock["packages"].items() if "resolved" in package] == []


def test_shell_scripts_have_unix_line_ends() -> None:
    """A CR in the shebang line makes the node fail (field report 77)."""
    for script in (ROOT / "lifecycle_scripts").rglob("*.sh"):
        text = script.read_bytes()
        assert text.startswith(b"#!/bin/bash\n"), script
        assert b"\r" not in text, script
