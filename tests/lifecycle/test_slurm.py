"""Starting Slurm where that is ours: field reports 112, 113, 115, 116 and 122, peers' failures 32 and 48."""

from __future__ import annotations

from pathlib import Path

import pytest

from hyperpod_cdk.rehearsal.node import CommandFault
from hyperpod_cdk.rehearsal.node_commands.machine import STATE
from hyperpod_node import slurm, units
from hyperpod_node.catalogue import STEPS
from hyperpod_node.errors import NodeError, StepSkippedError
from hyperpod_node.steps import accounting, slurm_controller, slurm_node
from tests.lifecycle.helpers import Bench, bench


def controller(path: Path, **more: object) -> Bench:
    return bench(path, group="controller", **more)  # type: ignore[arg-type]


def start_all(node: Bench) -> None:
    slurm_controller.wait_for_configuration(node.context)
    accounting.set_up_accounting(node.context)
    slurm_controller.start_controller(node.context)


def test_112_accounting_is_there_before_the_first_slurmctld(tmp_path: Path) -> None:
    node = controller(tmp_path)
    start_all(node)
    calls = [" ".join(call) for call in node.machine.calls()]
    order = [
        "systemctl start mariadb",
        "mariadb --batch",
        "systemctl restart slurmdbd",
        "sacctmgr --immediate add cluster ml-training-cluster",
        "systemctl start slurmctld",
        "scontrol ping",
    ]
    assert [call for call in calls if call in order] == order
    # beside slurmdbd's start, since systemd takes its time over it
    for unit in ("mariadb", "slurmdbd"):
        assert units.is_enabled(node.context.root, unit)


def test_accounts_come_when_slurmctld_listens() -> None:
    """What slurmdbd sends to one that has registered and does not listen yet is lost (measured, 22.05)."""
    accounts = next(step for step in STEPS if step.name == "accounts")
    assert "slurmctld" in accounts.needs
    # a reconfigure is a start anew since 23.11
    assert "slurm-refresh" in accounts.after


def test_112_who_starts_slurm() -> None:
    starting = {step.name: step for step in STEPS if step.name in ("accounting", "slurmctld", "slurmd")}
    assert {step.node_types for name, step in starting.items() if name != "slurmd"} == {("Controller",)}
    assert not any("extension" in step.modes for step in starting.values())


def test_waits_for_the_services_slurm_conf(tmp_path: Path) -> None:
    node = controller(tmp_path)
    text = node.read(slurm.CONF)
    node.machine.write(slurm.CONF, "# written in a moment\n")
    node.clock.meanwhile = lambda: (
        node.machine.write(slurm.CONF, text) if len(node.clock.sleeps) == 5 else None
    )
    slurm_controller.wait_for_configuration(node.context)
    assert len(node.clock.sleeps) == 5


@pytest.mark.parametrize(
    "text", ["", "SlurmctldHost=ip-10-1-0-40(10.1.0.40)\n", "SlurmctldHost=a(110.1.0.4)\n"]
)
def test_a_slurm_conf_that_never_names_the_node_is_an_error(tmp_path: Path, text: str) -> None:
    node = controller(tmp_path)
    node.machine.write(slurm.CONF, text)
    with pytest.raises(NodeError, match=r"still not so after 600 s: .* does not name 10\.1\.0\.4") as error:
        slurm_controller.wait_for_configuration(node.context)
    assert "sagemaker-cluster-agent" in error.value.advice


def test_113_the_password_is_plain_secret_and_kept(tmp_path: Path) -> None:
    node = controller(tmp_path)
    start_all(node)
    path = node.context.root.path(slurm.SLURMDBD_CONF)
    password = slurm.settings(node.context.root, slurm.SLURMDBD_CONF)["storagepass"]
    assert password.isalnum()
    assert len(password) == 48
    assert path.stat().st_mode & 0o777 == 0o600
    assert password not in node.log
    assert password not in node.read(f"/{STATE}/calls.jsonl")
    assert f"IDENTIFIED BY '{password}'" in node.read(f"/{STATE}/statements.json")
    accounting.set_up_accounting(node.context)
    assert slurm.settings(node.context.root, slurm.SLURMDBD_CONF)["storagepass"] == password


def test_a_second_run_starts_nothing_anew(tmp_path: Path) -> None:
    node = controller(tmp_path)
    start_all(node)
    before = len(node.machine.calls())
    start_all(node)
    again = node.machine.calls()[before:]
    assert ["systemctl", "start", "slurmdbd"] in again
    assert not [call for call in again if "restart" in call or "add" in call]
    assert not [
        call for call in node.machine.calls() if call[:2] == ["systemctl", "restart"] and "slurmctld" in call
    ]


def test_115_slurmdbd_is_waited_for(tmp_path: Path) -> None:
    late = CommandFault(command="sacctmgr", contains="show", times=3, output="error: failed to open")
    node = controller(tmp_path, faults=[late])
    accounting.set_up_accounting(node.context)
    assert len(node.calls("sacctmgr", "--noheader")) == 4
    assert node.calls("sacctmgr", "--immediate")


def test_115_a_database_that_never_answers_ends_within_the_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accounting, "DAEMON_LIMIT_SECONDS", 20)
    node = controller(tmp_path, faults=[CommandFault(command="mariadb", output="ERROR 2002 (HY000): no")])
    with pytest.raises(
        NodeError, match=r"MariaDB: still not so after 20 s: mariadb ended with ERROR 2002 \(HY000\)$"
    ):
        accounting.set_up_accounting(node.context)
    assert node.calls("systemctl", "start") == [["systemctl", "start", "mariadb"]]


def test_115_a_slurmdbd_that_does_not_answer_is_told_in_its_own_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accounting, "DAEMON_LIMIT_SECONDS", 20)
    node = controller(tmp_path, faults=[CommandFault(command="sacctmgr", output="Connection refused")])
    node.machine.write(
        "/var/log/slurm/slurmdbd.log", "error: mysql_real_connect failed: 1045 Access denied\n"
    )
    with pytest.raises(NodeError, match="slurmdbd: still not so after 20 s") as error:
        accounting.set_up_accounting(node.context)
    assert "Access denied" in error.value.last_lines[-1]


def test_122_nothing_of_slurm_conf_is_rewritten(tmp_path: Path) -> None:
    node = controller(tmp_path)
    before = node.read(slurm.CONF)
    start_all(node)
    assert node.read(slurm.CONF) == before
    written = slurm.settings(node.context.root, slurm.ACCOUNTING_CONF)
    assert written["accountingstoragetres"] == "gres/gpu"
    assert written["accountingstoragehost"] == "10.1.0.4"
    assert "grestypes" not in written
    assert "taskplugin" not in written


def test_the_include_line_is_put_back_once(tmp_path: Path) -> None:
    node = controller(tmp_path)
    node.machine.write(slurm.CONF, node.read(slurm.CONF).replace("Include accounting.conf\n", ""))
    start_all(node)
    start_all(node)
    assert node.read(slurm.CONF).count("accounting.conf") == 1


def test_gpu_accounting_only_where_slurm_knows_gpus(tmp_path: Path) -> None:
    node = controller(tmp_path)
    node.machine.write(slurm.CONF, node.read(slurm.CONF).replace("GresTypes=gpu\n", ""))
    accounting.set_up_accounting(node.context)
    assert "accountingstoragetres" not in slurm.settings(node.context.root, slurm.ACCOUNTING_CONF)


def test_an_image_without_mariadb_goes_without_accounting(tmp_path: Path) -> None:
    node = controller(tmp_path)
    (node.context.root.prefix / STATE / "bin" / "mariadb").unlink()
    with pytest.raises(StepSkippedError, match="runs without accounting"):
        accounting.set_up_accounting(node.context)
    assert node.read(slurm.ACCOUNTING_CONF) == ""


def test_slurmctld_that_does_not_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slurm_controller, "DAEMON_LIMIT_SECONDS", 20)
    down = CommandFault(command="scontrol", output="Slurmctld(primary) at ip-10-1-0-4 is DOWN")
    node = controller(tmp_path, faults=[down])
    node.machine.write("/var/log/slurm/slurmctld.log", "error: x\nfatal: Unable to read slurm.conf\n")
    with pytest.raises(NodeError, match=r"slurmctld: still not so after 20 s: .*is DOWN") as error:
        slurm_controller.start_controller(node.context)
    assert error.value.last_lines[-1] == "fatal: Unable to read slurm.conf"
    assert "/var/log/slurm" in error.value.advice


def test_a_slurmctld_that_ends_at_boot_is_started_again(tmp_path: Path) -> None:
    node = controller(tmp_path)
    for _ in range(2):
        slurm_controller.start_controller(node.context)
    text = node.read(slurm_controller.DROP_IN)
    assert "After=slurmdbd.service" in text
    assert "Restart=on-failure" in text
    assert "StartLimitIntervalSec=0" in text
    assert len(node.calls("systemctl", "daemon-reload")) == 1


def test_compute_nodes_run_slurmd_of_the_controllers_configuration(tmp_path: Path) -> None:
    node = bench(tmp_path)
    slurm_node.join_as_compute(node.context)
    unit = node.read(slurm_node.DROP_IN)
    assert 'Environment="SLURMD_OPTIONS=--conf-server 10.1.0.4:6817"' in unit.splitlines()
    assert "Restart=on-failure" in unit
    assert "StartLimitIntervalSec=0" in unit
    assert units.is_active(node.context, "slurmd")


def test_slurmd_is_restarted_only_for_new_options(tmp_path: Path) -> None:
    node = bench(tmp_path)
    slurm_node.join_as_compute(node.context)
    slurm_node.join_as_compute(node.context)
    assert [call[-1] for call in node.calls("systemctl", "restart")] == ["slurmd"]
    assert len(node.calls("systemctl", "daemon-reload")) == 1


def test_a_slow_controller_is_waited_for(tmp_path: Path) -> None:
    node = bench(tmp_path)
    refused = CommandFault(
        command="systemctl", contains="restart --no-block slurmd", output="Job for slurmd.service failed"
    )
    node = bench(tmp_path, faults=[refused])

    def controller_up() -> None:
        if len(node.clock.sleeps) == 6:
            node.machine.remember("units", {"slurmd": {"active": True}})
            node.machine.write(slurm.CONF_CACHE, "# fetched\n")

    node.clock.meanwhile = controller_up
    slurm_node.join_as_compute(node.context)
    assert len(node.clock.sleeps) == 6


def test_a_controller_that_never_comes_ends_within_the_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slurm_node, "FETCH_LIMIT_SECONDS", 20)
    never = CommandFault(command="systemctl", contains="start --no-block slurmd", output="failed")
    with pytest.raises(
        NodeError, match=r"configuration of 10\.1\.0\.4:6817: still not so after 20 s"
    ) as error:
        slurm_node.join_as_compute(bench(tmp_path, faults=[never]).context)
    assert "security group" in error.value.advice


def test_116_login_nodes_fetch_and_do_not_mind_that_slurmd_ends(tmp_path: Path) -> None:
    node = bench(tmp_path, group="login")
    slurm_node.fetch_as_login(node.context)
    assert not units.is_active(node.context, "slurmd")
    assert node.read(slurm.CONF_CACHE)
    assert "Restart=" not in node.read(slurm_node.DROP_IN)


def test_116_login_nodes_try_again_until_the_controller_is_there(tmp_path: Path) -> None:
    fails = [
        CommandFault(command="systemctl", contains=f"{verb} --no-block slurmd", times=2)
        for verb in ("restart", " start")
    ]
    node = bench(tmp_path, group="login", faults=[fails[0], fails[1]])
    slurm_node.fetch_as_login(node.context)
    assert len(node.calls("systemctl", "start", "--no-block", "slurmd")) == 3


def test_nodes_without_a_controller_say_so(tmp_path: Path) -> None:
    node = bench(tmp_path)
    node.alter("node", controller_groups=("gone",))
    with pytest.raises(NodeError, match="no instance in the groups gone"):
        slurm_node.join_as_compute(node.context)
