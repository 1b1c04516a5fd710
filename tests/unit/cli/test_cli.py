"""The command line."""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from hyperpod_cdk import preflight
from hyperpod_cdk.cli import main
from hyperpod_cdk.config import schema
from hyperpod_cdk.rules import RULES

EXAMPLES = sorted(map(str, Path("clusters").glob("*.yaml")))
REPOSITORY = Path.cwd()


@pytest.fixture
def faulty(tmp_path: Path) -> str:
    """A file that breaks a rule, and gives cause for a warning."""
    text = Path("clusters/slurm-minimal.yaml").read_text(encoding="utf-8")
    path = tmp_path / "faulty.yaml"
    text = text.replace("capacity_gib: 1200", "capacity_gib: 3600").replace("ml.c5.4xlarge", "ml.c5.5xlarge")
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.fixture
def broken(tmp_path: Path) -> str:
    """A file that is no spec."""
    path = tmp_path / "broken.yaml"
    path.write_text("cluster: {instance_groups: 7}\n", encoding="utf-8")
    return str(path)


def test_valid_files(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", *EXAMPLES]) == 0
    out, err = capsys.readouterr()
    assert [line.partition(",")[0] for line in out.splitlines()] == [f"{file}: ok" for file in EXAMPLES]
    assert err == ""


def test_broken_rules(faulty: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", faulty]) == 1
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0] == "storage.shared"
    assert lines[1] == f"{faulty}:18:19: error HP301 storage.shared.capacity_gib"
    assert any("nearest: 2400, 4800" in line for line in lines)
    assert lines.index("instance group compute") > 1, "errors come before warnings"
    assert "warning HP111" in out
    assert lines[-1] == f"{faulty}: 1 error, 1 warning"
    assert err == ""


def test_warnings_alone_are_no_failure(faulty: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = Path(faulty)
    path.write_text(path.read_text(encoding="utf-8").replace("3600", "2400"), encoding="utf-8")
    assert main(["validate", faulty]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"{faulty}: 1 warning"
    assert main(["validate", "--strict", faulty]) == 1
    capsys.readouterr()
    assert main(["validate", "--strict", "--acknowledge", "HP111", faulty]) == 0
    assert capsys.readouterr() == (f"{faulty}: ok, 1 acknowledged\n", "")


def test_wrong_input_outweighs_broken_rules(
    faulty: str, broken: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["validate", broken, faulty, "nowhere.yaml"]) == 2
    out = capsys.readouterr().out
    assert f"{broken}:1:28: error HP005 cluster.instance_groups" in out
    assert "nowhere.yaml:1:1: error HP001" in out
    assert "error HP301" in out


def test_report_for_machines(faulty: str, broken: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "--json", faulty, broken]) == 2
    out, err = capsys.readouterr()
    report = json.loads(out)
    assert err == ""
    assert (report["errors"], report["warnings"]) == (2, 1)
    first = report["files"][0]["findings"][0]
    assert (first["code"], first["line"], first["nearest"]) == ("HP301", 18, [2400, 4800])


def test_schema_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out) == schema()


def test_rules_are_listed_and_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules"]) == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert listed == sorted({*RULES, *preflight.RULES})
    assert main(["explain"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == listed
    for code in RULES:
        assert main(["explain", code.lower()]) == 0
        text = capsys.readouterr().out
        assert text.startswith(f"{code} (")
        assert RULES[code].why in text


def test_unknown_codes_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "HP31"]) == 2
    assert "HP31" in capsys.readouterr().err


def test_init_writes_a_file_that_is_valid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "trial"]) == 0
    assert "trial.yaml" in capsys.readouterr().out
    assert main(["validate", "trial.yaml"]) == 0
    assert capsys.readouterr().out == "trial.yaml: ok\n"
    text = Path("trial.yaml").read_text(encoding="utf-8")
    assert "__NAME__" not in text
    assert text.startswith("# yaml-language-server: $schema=hyperpod.schema.json\n")
    assert json.loads(Path("hyperpod.schema.json").read_text(encoding="utf-8")) == schema()


def test_init_overwrites_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my-cluster.yaml").write_text("mine", encoding="utf-8")
    assert main(["init"]) == 2
    assert "is there already" in capsys.readouterr().err
    assert Path("my-cluster.yaml").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("name", ["../x", "9x", "a_b", "x" * 64])
def test_init_refuses_names_that_can_not_be(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", name]) == 2
    assert "can not name a cluster" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_rehearse_is_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[str, bool, str | None]] = []

    def rehearse(config: str, *, keep: bool = False, fault: str | None = None) -> int:
        calls.append((config, keep, fault))
        return 1

    monkeypatch.setitem(sys.modules, "hyperpod_cdk.rehearsal", SimpleNamespace(rehearse=rehearse))
    assert main(["rehearse", "a.yaml"]) == 1
    assert main(["rehearse", "b.yaml", "--keep", "--fault", "lifecycle"]) == 1
    assert calls == [("a.yaml", False, None), ("b.yaml", True, "lifecycle")]


def test_rehearse_names_its_own_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def rehearse(config: str, *, keep: bool = False, fault: str | None = None) -> int:
        raise ModuleNotFoundError("No module named 'moto'", name="moto")

    monkeypatch.setitem(sys.modules, "hyperpod_cdk.rehearsal", SimpleNamespace(rehearse=rehearse))
    assert main(["rehearse", "a.yaml"]) == 2
    assert (
        "needs moto, which is not installed: pip install 'hyperpod-cdk[rehearsal]'" in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("command", "missing"),
    [(["validate", "a.yaml"], "ruamel"), (["schema"], "pydantic"), (["init"], "pydantic")],
)
def test_a_missing_extra_is_named(command: list[str], missing: str) -> None:
    program = (
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name.partition('.')[0] == {missing!r}:\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        "sys.path.insert(0, 'constructs')\n"
        "from hyperpod_cdk.cli import main\n"
        f"sys.exit(main({command!r}))\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert "pip install 'hyperpod-cdk[cli]'" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_no_command_shows_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "Usage: hyperpod-cdk" in capsys.readouterr().out


def test_as_a_module_without_loading_aws_cdk() -> None:
    program = (
        "import runpy, sys; sys.path.insert(0, 'constructs');"
        "sys.argv = ['hyperpod-cdk', 'validate', 'clusters/slurm-gpu.yaml']\n"
        "try:\n"
        "    runpy.run_module('hyperpod_cdk', run_name='__main__')\n"
        "except SystemExit as end:\n"
        "    print(end.code, sorted({'aws_cdk', 'jsii', 'boto3', 'moto', 'urllib3'} & set(sys.modules)))\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == ["clusters/slurm-gpu.yaml: ok", "0 []"]


def test_a_closed_pipe_is_no_fault() -> None:
    line = f"{sys.executable} -m hyperpod_cdk schema | head -c 1"
    ran = subprocess.run(
        ["bash", "-c", line],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(REPOSITORY / "constructs"), "PATH": "/usr/bin:/bin"},
    )
    assert ran.stdout == "{"
    assert ran.stderr == ""
