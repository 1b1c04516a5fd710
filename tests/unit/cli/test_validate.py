"""`validate`: every finding of a file, in order, in four forms."""

import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from hyperpod_cdk.cli import main
from tests.unit.cli.terminal import Terminal

EXAMPLES = sorted(map(str, Path("clusters").glob("*.yaml")))


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


def test_a_copy_of_a_file_is_told_as_the_same_stack(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Deployed, the copy would change the nodes of the first file's cluster."""
    files = [tmp_path / "prod.yaml", tmp_path / "dev.yaml"]
    for file in files:
        file.write_text(Path("clusters/slurm-minimal.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    assert main(["validate", *map(str, files)]) == 0
    out = capsys.readouterr().out
    assert f"{files[1]}:7:13: warning HP106 stack_name" in out
    assert f"is that of {files[0]} too" in out
    assert main(["validate", str(files[0]), str(files[0])]) == 0
    assert "HP106" not in capsys.readouterr().out
    assert main(["validate", "--strict", "--acknowledge", "HP106", *map(str, files)]) == 0


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
    # of the broken one also what it lacks altogether
    assert (report["errors"], report["warnings"]) == (3, 1)
    first = report["files"][0]["findings"][0]
    assert (first["code"], first["line"], first["nearest"]) == ("HP301", 18, [2400, 4800])


def test_errors_come_first_and_each_group_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = Path("clusters/slurm-gpu.yaml").read_text(encoding="utf-8")
    path = tmp_path / "x.yaml"
    changes = {
        "instance_type: ml.p5.48xlarge": "instance_type: ml.p77.48xlarge",
        "min_instance_count: 14": "min_instance_count: 17",
        "partition_names: [gpu]": "partition_names: [gpu, two]",
        "capacity_gib: 9600": "capacity_gib: 9601",
        "cidr: 10.1.0.0/16": "cidr: 10.1.0.0/30",
    }
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")
    assert main(["validate", str(path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    headings = [line for line in lines[:-1] if line and not line.startswith((" ", str(path)))]
    assert headings == ["network", "storage.scratch", "instance group gpu"]
    told = [line.split(": ")[1].split()[0] for line in lines if line.startswith(f"{path}:") and "HP" in line]
    assert told == sorted(told, key=["error", "warning"].index), "errors before warnings"
    assert "warning" in told
    numbers = [int(line.split(":")[1]) for line in lines if ": error HP" in line]
    assert numbers == sorted(numbers)


def test_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    text = Path("clusters/slurm-minimal.yaml").read_text(encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    assert main(["validate", "-"]) == 0
    monkeypatch.setattr(sys, "stdin", io.StringIO(text.replace("1200", "7")))
    assert main(["validate", "-"]) == 1
    out = capsys.readouterr().out
    assert "<stdin>:18:19: error HP301" in out
    assert out.endswith("<stdin>: 1 error\n")


def test_a_misspelt_key_does_not_hide_the_rules(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One look at a file tells everything that is plain, and says that it may not be all."""
    text = Path("clusters/slurm-minimal.yaml").read_text(encoding="utf-8")
    path = tmp_path / "cluster.yaml"
    path.write_text(text.replace("capacity_gib: 1200", "capacity_gib: 7").replace("node_type", "nodetype", 1))
    assert main(["validate", str(path)]) == 2
    out = capsys.readouterr().out
    assert " HP301 " in out
    assert " HP003 " in out
    assert "; what hangs on a key or value that can not be read" in out.splitlines()[-1]


def test_what_the_file_acknowledges_is_counted(faulty: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = Path(faulty)
    text = path.read_text(encoding="utf-8").replace("3600", "2400").replace("c5.5xlarge", "c99.xlarge")
    path.write_text(text, encoding="utf-8")
    assert main(["validate", "--strict", faulty]) == 1
    assert "warning HP111" in capsys.readouterr().out
    path.write_text(text + "acknowledge: [HP111]\n", encoding="utf-8")
    assert main(["validate", "--strict", faulty]) == 0
    assert capsys.readouterr().out == f"{faulty}: ok, 1 acknowledged\n"
    assert main(["validate", "--json", faulty]) == 0
    (file,) = json.loads(capsys.readouterr().out)["files"]
    assert (file["findings"], [one["code"] for one in file["acknowledged"]]) == ([], ["HP111"])


@pytest.mark.parametrize(
    ("codes", "reason"),
    [
        (["HP9999"], "no rule has the code HP9999"),
        (["HP111", "hp301"], "HP301 is an error, and errors can not be acknowledged"),
        (["HP111,HPxyz"], "no rule has the code HPXYZ"),
    ],
)
def test_what_can_not_be_acknowledged(
    codes: list[str], reason: str, faulty: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["validate", faulty, *(word for code in codes for word in ("--acknowledge", code))]) == 2
    assert reason in capsys.readouterr().err


def test_colours_are_for_terminals_that_want_them(faulty: str, tmp_path: Path) -> None:
    coloured = Terminal("validate", faulty, folder=tmp_path)
    assert coloured.code() == 1
    assert "\x1b[1;31merror HP301\x1b[0m" in coloured.screen
    plain = Terminal("validate", faulty, folder=tmp_path, NO_COLOR="1")
    assert plain.code() == 1
    assert "\x1b" not in plain.screen
    assert "error HP301" in plain.screen


def test_elsewhere_lines_are_plain_and_whole(faulty: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["validate", faulty])
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert max(map(len, out.splitlines())) > 80


def test_ctrl_c_ends_it_without_a_trace(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def read() -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(sys, "stdin", SimpleNamespace(read=read))
    assert main(["validate", "-"]) == 130
    assert capsys.readouterr() == ("", "")


def test_what_a_change_costs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    deployed = "clusters/slurm-gpu.yaml"
    text = Path(deployed).read_text(encoding="utf-8").replace("ml.p5.48xlarge", "ml.p5en.48xlarge")
    changed = tmp_path / "slurm-gpu.yaml"
    changed.write_text(text.replace("capacity_gib: 9600", "capacity_gib: 4800"), encoding="utf-8")
    assert main(["validate", "--before", deployed, deployed]) == 0
    assert main(["validate", str(changed)]) == 0
    capsys.readouterr()
    assert main(["validate", "--before", deployed, str(changed)]) == 1
    out = capsys.readouterr().out
    assert "error HP371 storage.scratch.capacity_gib" in out
    assert "error HP170 cluster.instance_groups[2].instance_type" in out
    assert "instance group gpu" in out


def test_what_a_change_costs_on_eks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    deployed = "clusters/eks-minimal.yaml"
    text = Path(deployed).read_text(encoding="utf-8")
    changes = {
        "      helm_chart:": '      kubernetes_version: "1.35"\n      helm_chart:',
        "[usw2-az4, usw2-az1]": "[usw2-az1, usw2-az4]",
        "  instance_groups:": "  auto_scaling: {}\n  instance_groups:",
    }
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    changed = tmp_path / "eks-minimal.yaml"
    changed.write_text(text, encoding="utf-8")
    assert main(["validate", "--acknowledge", "HP504", str(changed)]) == 0
    capsys.readouterr()
    assert main(["validate", "--before", deployed, str(changed)]) == 1
    out = capsys.readouterr().out
    line = 1 + text.splitlines().index('      kubernetes_version: "1.35"')
    assert f"{changed}:{line}:" in out
    assert "error HP590 cluster.orchestrator.eks.kubernetes_version" in out
    assert "was 1.33: skips versions, got '1.35'" in out
    assert "allowed: 1.33, 1.34; nearest: 1.34" in out
    assert "the control plane carries the old cluster until that is gone" in out
    assert "HP594" not in out, "autoscaling was off before"


def test_what_was_before_is_of_one_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "--before", EXAMPLES[0], *EXAMPLES]) == 2
    assert main(["validate", "--before", "nowhere.yaml", EXAMPLES[0]]) == 2
    out, err = capsys.readouterr()
    assert "one FILE" in err
    assert "nowhere.yaml:1:1: error HP001" in out
