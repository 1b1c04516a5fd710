"""What holds for every file that nodes are given: field reports 77, 103, 105 and 125."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from hyperpod_node import config
from hyperpod_node.catalogue import STEPS
from hyperpod_node.reading import Reader
from hyperpod_node.steps import monitoring
from tests.lifecycle.helpers import SCRIPTS

SHELL = sorted(SCRIPTS.glob("*.sh"))  # those of Amazon EKS: tests/lifecycle/eks
PYTHON = sorted(SCRIPTS.glob("**/*.py"))
# the metadata service, and the agent that writes metrics
ON_THE_NODE = {"http://169.254.169.254/latest/api/token", "http://{monitoring.AGENT}/metrics"}


def name(path: Path) -> str:
    return str(path.relative_to(SCRIPTS))


def test_there_are_both_entries() -> None:
    assert [path.name for path in SHELL] == ["on_create.sh", "on_init_complete.sh"]
    assert len(PYTHON) > 20


@pytest.mark.parametrize("path", PYTHON, ids=name)
def test_the_nodes_python_can_read_it(path: Path) -> None:
    tree = ast.parse(path.read_text(), feature_version=(3, 10))
    modules = set()
    for part in ast.walk(tree):
        if isinstance(part, ast.Import):
            modules |= {alias.name.split(".")[0] for alias in part.names}
        elif isinstance(part, ast.ImportFrom):
            assert part.level == 0
            modules.add(str(part.module).split(".")[0])
    assert modules <= {*sys.stdlib_module_names, "hyperpod_node"}
    # born after Python 3.10
    assert not modules & {"tomllib"}


@pytest.mark.parametrize("path", [*SHELL, *PYTHON], ids=name)
def test_77_lf_endings_and_no_byte_order_mark(path: Path) -> None:
    content = path.read_bytes()
    assert b"\r" not in content
    assert not content.startswith(b"\xef\xbb\xbf")
    assert content.endswith(b"\n")


@pytest.mark.parametrize("path", SHELL, ids=name)
def test_125_shell_is_strict_and_clean(path: Path) -> None:
    lines = path.read_text().splitlines()
    assert lines[0] == "#!/bin/bash"
    assert "set -euo pipefail" in lines
    assert len(lines) < 15
    assert not re.search(r"(^|\s)\./", path.read_text())
    subprocess.run(["bash", "-n", str(path)], check=True)
    beside = Path(sys.executable).with_name("shellcheck")
    checker = str(beside) if beside.exists() else shutil.which("shellcheck")
    if checker:
        found = subprocess.run([checker, str(path)], capture_output=True, text=True, check=False)
        assert found.stdout == ""


@pytest.mark.parametrize("path", PYTHON, ids=name)
def test_103_only_one_module_touches_apt_and_dpkg(path: Path) -> None:
    commands = {
        part.value
        for part in ast.walk(ast.parse(path.read_text()))
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    }
    touched = {text for text in commands if re.fullmatch(r"(apt|apt-get|apt-mark|dpkg|dpkg-query)", text)}
    assert not touched or path.name == "apt.py"


@pytest.mark.parametrize("path", PYTHON, ids=name)
def test_nothing_sleeps_or_starts_programs_but_the_modules_for_it(path: Path) -> None:
    text = path.read_text()
    assert "time.sleep" not in text or path.name == "clock.py"
    assert "subprocess" not in text or path.name == "commands.py"


@pytest.mark.parametrize("path", PYTHON, ids=name)
def test_105_nothing_is_downloaded(path: Path) -> None:
    addresses = re.findall(r"https?://[^\s\"']+", path.read_text())
    assert set(addresses) <= ON_THE_NODE
    assert monitoring.AGENT.startswith("127.0.0.1:")


def test_the_command_line_refuses_an_unknown_hook(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "hyperpod_node.main", "--hook", "on_delete"],
        cwd=SCRIPTS,
        capture_output=True,
        text=True,
        check=False,
        env={"HYPERPOD_CDK_ROOT": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.returncode == 2
    assert "invalid choice: 'on_delete'" in done.stderr
    assert list(tmp_path.iterdir()) == []


README = (SCRIPTS / "README.md").read_text()


def test_the_readmes_config_json_is_accepted() -> None:
    text = re.findall(r"```json\n(.*?)```", README, re.DOTALL)
    assert len(text) == 1
    document = config.parse(Reader.parse(text[0], "config.json"))
    assert document.groups["compute"].mounts[1].mount_path == "/home"
    assert document.users[0].sudo


def test_the_readmes_steps_are_the_catalogues() -> None:
    rows = [re.split(r"\s*\|\s*", line)[1:5] for line in README.splitlines() if line.startswith("| ")]
    told = [row for row in rows if row[3:] and row[3] in ("required", "best effort")]
    assert [row[0] for row in told] == ["facts", *(step.name for step in STEPS)]
    for (_, modes, nodes, importance), step in zip(told[1:], STEPS, strict=True):
        assert modes == ("all" if step.modes == config.MODES else ", ".join(step.modes))
        assert nodes == (
            "all" if len(step.node_types) == 3 else ", ".join(name.lower() for name in step.node_types)
        )
        assert importance == ("required" if step.required else "best effort")


# what waits for a moment rather than for a condition: pauses between tries, and nodes taking turns
PAUSES = {"clock.py", "commands.py", "runner.py", "spreading.py", "halt.py"}


@pytest.mark.parametrize("path", PYTHON, ids=name)
def test_nothing_waits_for_a_fixed_time(path: Path) -> None:
    tree = ast.parse(path.read_text())
    calls = {
        part.func.attr
        for part in ast.walk(tree)
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute)
    }
    assert not {"sleep"} & calls or path.name in PAUSES
    # scripts that are written for others to run
    texts = [part.value for part in ast.walk(tree) if isinstance(part, ast.Constant)]
    assert not [text for text in texts if isinstance(text, str) and re.search(r"^\s*sleep \d", text, re.M)]


@pytest.mark.parametrize("path", SHELL, ids=name)
def test_no_entry_script_sleeps(path: Path) -> None:
    assert "sleep" not in path.read_text()


@cache
def written_scripts() -> dict[str, str]:
    """The shell scripts that steps write for others to run, by module."""
    found = {}
    for path in PYTHON:
        for part in ast.walk(ast.parse(path.read_text())):
            if isinstance(part, ast.Constant) and str(part.value).startswith("#!/bin/bash"):
                found[f"{name(path)}:{part.lineno}"] = str(part.value)
    return found


def test_scripts_are_written_for_these() -> None:
    modules = {key.partition(":")[0].rpartition("/")[2] for key in written_scripts()}
    assert {"epilog.py", "keep.py", "lustre_efa.py", "multi_head.py"} <= modules


@pytest.mark.parametrize("key", written_scripts())
def test_125_written_scripts_are_clean(tmp_path: Path, key: str) -> None:
    # placeholders of str.format, and what stands for a brace there
    text = re.sub(r"(?<![${])\{([a-z_]+)\}", r"\1", written_scripts()[key])
    text = text.replace("{{", "{").replace("}}", "}")
    script = tmp_path / "script.sh"
    script.write_text(text)
    subprocess.run(["bash", "-n", str(script)], check=True)
    assert re.search(r"^set -\w*u", text, re.M) or "exit 0" in text
    beside = Path(sys.executable).with_name("shellcheck")
    checker = str(beside) if beside.exists() else shutil.which("shellcheck")
    if checker:
        found = subprocess.run([checker, str(script)], capture_output=True, text=True, check=False)
        assert found.stdout == ""
