"""The pre-commit hook names what the package has."""

import re
import tomllib
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

PROJECT = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]


def hook() -> dict[str, Any]:
    """The one hook of the manifest."""
    (one,) = YAML(typ="safe", pure=True).load(Path(".pre-commit-hooks.yaml"))
    return dict(one)


def test_it_runs_a_program_of_the_package_with_its_extra() -> None:
    program, command = hook()["entry"].split()
    assert program in PROJECT["scripts"]
    assert command == "validate"
    (dependency,) = hook()["additional_dependencies"]
    (extra,) = re.findall(r"^\.\[(\w+)\]$", dependency)
    assert extra in PROJECT["optional-dependencies"]
    assert hook()["language"] == "python"


def test_it_looks_at_configurations_alone() -> None:
    pattern = re.compile(hook()["files"])
    examples = [path.as_posix() for path in Path("clusters").glob("*.yaml")]
    assert examples
    assert [path for path in examples if not pattern.search(path)] == []
    assert not any(map(pattern.search, ("docs/schema.json", ".github/x.yaml", "src/clusters/x.yaml")))
