"""The wheel, installed where nothing of the repository is."""

import json
import os
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the sources."""
    out = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    (made,) = out.glob("hyperpod_cdk-*.whl")
    return made


def test_the_wheel_brings_every_file_that_is_not_code(wheel: Path) -> None:
    """Field report 73: an asset that is missing is found by the first user."""
    names = set(zipfile.ZipFile(wheel).namelist())
    scripts = ROOT / "lifecycle_scripts"
    wanted = {
        f"hyperpod_cdk/lifecycle_scripts/{path.relative_to(scripts).as_posix()}"
        for path in scripts.rglob("*")
        if path.is_file() and path.suffix in {".sh", ".py"} and "__pycache__" not in path.parts
    }
    package = ROOT / "constructs" / "hyperpod_cdk"
    wanted |= {
        f"hyperpod_cdk/{path.relative_to(package).as_posix()}"
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert wanted - names == set()
    assert not [name for name in names if "__pycache__" in name or name.startswith("tests/")]


def test_a_foreign_app_makes_the_template_that_the_repository_makes(wheel: Path, tmp_path: Path) -> None:
    environment = tmp_path / "venv"
    venv.create(environment, with_pip=False)
    python = environment / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python)]
    # of the CDK's modules few are imported, and compiling all of them is most of an installation
    subprocess.run([*pip, "install", "-q", "--no-compile", str(wheel)], check=True)
    listed = subprocess.run([*pip, "list", "--format=json"], check=True, capture_output=True).stdout
    installed = {package["name"].lower() for package in json.loads(listed)}
    assert installed.isdisjoint({"pydantic", "boto3", "moto", "rich", "ruamel.yaml", "typer"})
    program = [str(environment / "bin" / "hyperpod-cdk"), "validate", "x.yaml"]
    told = subprocess.run(program, check=False, capture_output=True, text=True)
    assert (told.returncode, told.stdout) == (2, "")
    assert "typer, which is not installed: pip install 'hyperpod-cdk[cli]'" in told.stderr

    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shutil.copy(ROOT / "tests" / "foreign" / "app.py", elsewhere)
    foreign = _synthesize(python, elsewhere, tmp_path / "foreign", {})
    own = _synthesize(
        Path(sys.executable), elsewhere, tmp_path / "own", {"PYTHONPATH": str(ROOT / "constructs")}
    )
    assert foreign == own


def _synthesize(python: Path, folder: Path, out: Path, extra: dict[str, str]) -> Any:
    inherited = {key: os.environ[key] for key in ("PATH", "HOME", "JSII_NODE") if key in os.environ}
    subprocess.run([python, "app.py", str(out)], cwd=folder, env={**inherited, **extra}, check=True)
    return json.loads((out / "Foreign.template.json").read_text())
