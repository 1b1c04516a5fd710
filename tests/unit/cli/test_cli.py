"""The command line."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from hyperpod_cdk.cli import main
from hyperpod_cdk.commands.table import COMMANDS
from hyperpod_cdk.config import schema
from tests.unit.cli.terminal import Terminal

REPOSITORY = Path.cwd()


def test_schema_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out) == schema()


def test_rehearse_is_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[str, bool, str | None]] = []

    def rehearse(config: str, *, keep: bool, fault: str | None, **_more: bool) -> int:
        calls.append((config, keep, fault))
        return 1

    monkeypatch.setitem(sys.modules, "hyperpod_cdk.rehearsal", SimpleNamespace(rehearse=rehearse))
    assert main(["rehearse", "a.yaml"]) == 1
    assert main(["rehearse", "b.yaml", "--keep", "--fault", "lifecycle"]) == 1
    assert calls == [("a.yaml", False, None), ("b.yaml", True, "lifecycle")]


def test_nodes_as_hosts_are_slurms(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rehearse", "clusters/eks-minimal.yaml", "--real-nodes"]) == 2
    assert "rehearse a cluster on Amazon EKS without them" in capsys.readouterr().err


def test_rehearse_names_its_own_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def rehearse(_config: str, **_options: object) -> int:
        raise ModuleNotFoundError("No module named 'moto'", name="moto")

    monkeypatch.setitem(sys.modules, "hyperpod_cdk.rehearsal", SimpleNamespace(rehearse=rehearse))
    assert main(["rehearse", "a.yaml"]) == 2
    assert (
        "needs moto, which is not installed: pip install 'hyperpod-cdk[rehearsal]'" in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("command", "missing"),
    [
        (["validate", "a.yaml"], "ruamel"),
        (["schema"], "pydantic"),
        (["init", "-o", "/nowhere/x.yaml"], "ruamel"),
        (["migrate", "a.json"], "ruamel"),
        (["explain", "HP301"], "typer"),
        ([], "typer"),
    ],
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


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["validat", "x"], "No such command 'validat'. Did you mean 'validate'?"),
        (["validate"], "Missing argument 'FILE'. `hyperpod-cdk validate --help` shows"),
        (["validate", "--form", "x"], "No such option"),
        (["validate", "--format", "xml", "x"], "'xml' is not one of"),
    ],
)
def test_a_wrong_command_line_says_what_to_do(
    arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("hyperpod-cdk: ")
    assert reason in err


def test_help_names_every_command_and_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    assert [name for name in COMMANDS if f"\n  {name} " not in text] == []
    assert "..." not in text.partition("Commands:")[2], "every command's line is whole"
    assert "Exit code: 0 all is well, 1 something was found, 2 wrong input" in text
    for name in COMMANDS:
        assert main([name, "--help"]) == 0
        assert f"Usage: hyperpod-cdk {name}" in capsys.readouterr().out


def test_help_on_a_terminal_and_completion(tmp_path: Path) -> None:
    terminal = Terminal("--help", folder=tmp_path, COLUMNS="90")
    assert terminal.code() == 0
    assert "╭" in terminal.screen
    words = Terminal(
        folder=tmp_path,
        _HYPERPOD_CDK_COMPLETE="complete_bash",
        COMP_WORDS="hyperpod-cdk va",
        COMP_CWORD="1",
    )
    words.code()
    assert words.screen.strip() == "validate"


def test_a_command_loads_when_it_is_called() -> None:
    program = (
        "import sys; sys.path.insert(0, 'constructs')\n"
        "from hyperpod_cdk.cli import main; main(['--version'])\n"
        "heavy = ('pydantic', 'rich', 'ruamel.yaml', 'botocore', 'hyperpod_cdk.commands.validate')\n"
        "print([one for one in heavy if one in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[1] == "[]"


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


def test_ctrl_c_while_it_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(_arguments: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("hyperpod_cdk.commands.program.run", run)
    assert main(["schema"]) == 130


def shell(line: str) -> subprocess.CompletedProcess[str]:
    """A line of bash; the program is ``$PROGRAM``."""
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", line],
        capture_output=True,
        text=True,
        check=False,
        env={
            "PYTHONPATH": str(REPOSITORY / "constructs"),
            "PATH": "/usr/bin:/bin",
            "PROGRAM": f"{sys.executable} -m hyperpod_cdk",
        },
    )


@pytest.mark.parametrize(("command", "shown"), [("schema", "{"), ("--help", "")])
def test_a_closed_pipe_is_no_fault(command: str, shown: str) -> None:
    reader = "head -c 1" if shown else "true"
    ran = shell(f"$PROGRAM {command} | {reader}")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, shown, "")


@pytest.mark.parametrize(
    "command", ["schema", "--help", "validate clusters/slurm-gpu.yaml", "validate no-such.yaml --json"]
)
def test_an_output_without_room_is_one_clear_line(command: str) -> None:
    ran = shell(f"$PROGRAM {command} > /dev/full")
    assert ran.returncode == 2
    assert ran.stderr == "hyperpod-cdk: the output can not be written: no space left on device\n"


def test_no_output_at_all_is_told() -> None:
    ran = shell("$PROGRAM schema >&-")
    assert (ran.returncode, ran.stderr) == (2, "hyperpod-cdk: standard output is closed\n")
    assert shell("$PROGRAM validate no-such.yaml > /dev/full 2> /dev/full").returncode == 2


def test_a_terminal_that_knows_ascii_alone_is_no_fault() -> None:
    key = "arn:aws:kms:cn-north-1:111122223333:key/x"
    text = f"{{region: cn-north-1, kms_key_arn: '{key}', cluster: {{instance_groups: []}}}}"
    ran = shell(f'echo "{text}" | PYTHONIOENCODING=ascii $PROGRAM validate -')
    assert "arn:aws-cn:?" in ran.stdout
    assert (ran.returncode, ran.stderr) == (1, "")


def test_half_a_configuration_is_not_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It would be in the way of the next attempt."""

    def full(*_arguments: object, **_options: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    made = tmp_path / "made.yaml"
    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_text", full)
        assert main(["init", "--defaults", "-o", str(made)]) == 2
    assert f"{made}: no space left on device" in capsys.readouterr().err
    assert not made.exists()
    assert main(["init", "--defaults", "-o", str(made)]) == 0
