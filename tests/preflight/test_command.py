"""The command: table, JSON, policy, exit codes, interruption."""

import json
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hyperpod_cdk.cli import main
from hyperpod_cdk.config import load
from hyperpod_cdk.preflight import CHECKS, policy
from tests.preflight.account import Account

MINIMAL = "clusters/slurm-minimal.yaml"
NEEDED = sum(check.needed(load(MINIMAL)) for check in CHECKS)


@pytest.fixture
def user(account: Account, monkeypatch: pytest.MonkeyPatch) -> Account:
    """The account, and its user's environment."""
    for name, value in account.aws.environment().items():
        if name.startswith("AWS_"):
            monkeypatch.setenv(name, value)
    return account


def test_a_table(user: Account, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["preflight", MINIMAL]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{MINIMAL} in us-west-2, account 123456789012"
    assert "pass             HP914  quota-vpcs" in lines
    assert lines[-1].startswith(f"{NEEDED} passed; {len(CHECKS) - NEEDED} not needed; ")


def test_faults_are_told_with_their_place(user: Account, capsys: pytest.CaptureFixture[str]) -> None:
    user.aws.quotas.applied["ml.c5.4xlarge for cluster usage"] = 1
    user.undo.append(lambda: user.aws.quotas.applied.update({"ml.c5.4xlarge for cluster usage": 100}))
    user.without_service_linked_role()
    assert main(["preflight", MINIMAL]) == 1
    out = capsys.readouterr().out
    assert "fail             HP910  quota-instance-type" in out
    assert "warn             HP904  service-linked-role" in out
    line = 1 + Path(MINIMAL).read_text(encoding="utf-8").splitlines().index("      instance_count: 2")
    assert (
        f"{MINIMAL}:{line}:23: error HP910 cluster.instance_groups[1].instance_count (group compute)" in out
    )
    assert "    allowed: at most 1" in out
    assert f"{NEEDED - 2} passed, 1 with a warning, 1 failed;" in out


def test_warnings_can_be_acknowledged(user: Account, capsys: pytest.CaptureFixture[str]) -> None:
    user.without_service_linked_role()
    assert main(["preflight", MINIMAL, "--acknowledge", "hp904"]) == 0
    assert "HP904  service-linked-role" in capsys.readouterr().out.partition("warn")[0]


def test_warnings_can_be_acknowledged_in_the_file(
    user: Account, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    user.without_service_linked_role()
    path = tmp_path / "read.yaml"
    path.write_text(f"acknowledge: [HP904]\n{Path(MINIMAL).read_text(encoding='utf-8')}", encoding="utf-8")
    assert main(["preflight", str(path)]) == 0
    assert "\nwarn " not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([], "which configuration? Give a FILE, or --print-policy"),
        (["nowhere.yaml"], "nowhere.yaml"),
        ([MINIMAL, "--acknowledge", "HP999"], "no rule has the code HP999"),
        ([MINIMAL, "--acknowledge", "HP910"], "HP910 is an error"),
        ([MINIMAL, "--profile", "nobody"], "nobody"),
    ],
)
def test_wrong_input(
    user: Account, capsys: pytest.CaptureFixture[str], arguments: list[str], text: str
) -> None:
    assert main(["preflight", *arguments]) == 2
    assert text in capsys.readouterr().err


def test_a_file_with_errors_is_told_them_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], user: Account
) -> None:
    path = tmp_path / "faulty.yaml"
    path.write_text(Path(MINIMAL).read_text(encoding="utf-8").replace("1200", "1300"), encoding="utf-8")
    assert main(["preflight", str(path)]) == 2
    out = capsys.readouterr().out
    assert "error HP301" in out
    assert "HP910" not in out


def test_no_region(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], user: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "anywhere.yaml"
    text = Path(MINIMAL).read_text(encoding="utf-8").replace("region: us-west-2\n", "")
    path.write_text(text, encoding="utf-8")
    assert main(["preflight", str(path)]) == 0
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name)
    assert main(["preflight", str(path)]) == 2
    assert "which Region?" in capsys.readouterr().err
    assert main(["preflight", str(path), "--region", "us-west-2"]) == 0


def test_json(user: Account, capsys: pytest.CaptureFixture[str]) -> None:
    user.set_bootstrap("3")
    assert main(["preflight", MINIMAL, "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert (report["file"], report["region"], report["account"]) == (MINIMAL, "us-west-2", "123456789012")
    assert report["exit_code"] == 1
    assert report["counts"] == {
        "pass": NEEDED - 1,
        "warn": 0,
        "fail": 1,
        "could not check": 0,
    }
    (failed,) = (check for check in report["checks"] if check["outcome"] == "fail")
    assert (failed["name"], failed["code"]) == ("bootstrap", "HP903")
    assert failed["findings"][0]["given"] == 3
    assert {check["name"] for check in report["checks"]} | set(report["not_needed"]) == {
        check.name for check in CHECKS
    }


def test_a_qualifier_of_ones_own_is_looked_for(user: Account, capsys: pytest.CaptureFixture[str]) -> None:
    """An organization's bootstrap is no missing one."""
    assert main(["preflight", MINIMAL, "--qualifier", "acme"]) == 1
    assert "/cdk-bootstrap/acme/version" in capsys.readouterr().out
    user.client("ssm").put_parameter(Name="/cdk-bootstrap/acme/version", Value="25", Type="String")
    user.client("ssm").delete_parameter(Name="/cdk-bootstrap/hnb659fds/version")
    assert main(["preflight", MINIMAL, "--qualifier", "acme"]) == 0


def test_policies(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["preflight", "--print-policy"]) == 0
    assert json.loads(capsys.readouterr().out) == policy()
    assert main(["preflight", MINIMAL, "--print-policy"]) == 0
    (statement,) = json.loads(capsys.readouterr().out)["Statement"]
    assert "servicequotas:GetServiceQuota" in statement["Action"]
    assert "kms:DescribeKey" not in statement["Action"]


def test_codes_are_explained_and_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "HP921"]) == 0
    assert "too few free addresses" in capsys.readouterr().out
    assert main(["rules"]) == 0
    assert "HP921" in capsys.readouterr().out


def test_ctrl_c_ends_it_at_once() -> None:
    # whoever starts the tests in the background has them ignore the signal
    program = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "sys.path.insert(0, 'constructs'); from hyperpod_cdk.cli import main; sys.exit(main())"
    )
    with socket.create_server(("127.0.0.1", 0)) as silent:
        environment = {
            "PATH": "/usr/bin:/bin",
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{silent.getsockname()[1]}",
            "AWS_ACCESS_KEY_ID": "a",
            "AWS_SECRET_ACCESS_KEY": "b",
        }
        process = subprocess.Popen(
            [sys.executable, "-c", program, "preflight", MINIMAL],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        connection, _ = silent.accept()
        process.send_signal(signal.SIGINT)
        start = time.monotonic()
        out, err = process.communicate(timeout=20)
        connection.close()
    assert process.returncode == 130
    assert time.monotonic() - start < 5
    assert (out, err) == ("", "")
