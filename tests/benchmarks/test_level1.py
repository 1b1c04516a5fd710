"""The baseline makes what the library makes: else the benchmark would compare two things."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.level1 import write_from

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", ["slurm-gpu", "eks-training"])
def test_the_baseline_makes_the_same_resources(name: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("PYTHONPATH", f"{ROOT / 'constructs'}{os.pathsep}{ROOT}")
    app = write_from(["-m", "benchmarks.apps.library"], tmp_path, [name])
    subprocess.run([sys.executable, str(app), str(tmp_path / "level1")], check=True)
    assert resources(tmp_path / "level1") == resources(tmp_path / "library")


def resources(out: Path) -> dict[str, Any]:
    """The resources of the one template, dependencies in order."""
    (template,) = out.glob("*.template.json")
    found: dict[str, Any] = json.loads(template.read_text())["Resources"]
    for resource in found.values():
        resource["DependsOn"] = sorted(resource.get("DependsOn", []))
    return found
