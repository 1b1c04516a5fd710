"""Several controllers in legacy mode: one configuration, one state, and a message when another takes over."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from hyperpod_cdk.rehearsal.node_commands.machine import Call, Machine
from hyperpod_cdk.rehearsal.node_commands.services import is_active
from hyperpod_cdk.rehearsal.node_commands.serving import COMMANDS
from hyperpod_node import idle, multi_head, slurm
from hyperpod_node.errors import NodeError
from hyperpod_node.steps import slurm_controller, slurm_files, slurm_node
from tests.lifecycle.helpers import LUSTRE, Bench, bench, provisioning_parameters, resource_config

CONFIGURATIONS = {
    "slurm_database_secret_arn": "arn:aws:secretsmanager:us-gov-west-1:111122223333:secret:db-abcdef",
    "slurm_database_endpoint": "db.example.com",
    "slurm_shared_directory": "/fsx",
    "slurm_database_user": "slurm",
    "slurm_sns_arn": "arn:aws-us-gov:sns:us-gov-west-1:111122223333:heads",
}
SECOND = {
    "InstanceName": "controller-2",
    "AgentIpAddress": "172.16.0.200",
    "CustomerIpAddress": "10.1.0.200",
    "InstanceId": "i-second",
}


def head(path: Path, *, index: int = 1, storage: Path | None = None, **changes: Any) -> Bench:
    """One of two controllers, with the slurm.conf that the agent writes for both."""
    form = provisioning_parameters(slurm_configurations={**CONFIGURATIONS, **changes})
    node = bench(path, group="controller", mode="legacy", legacy=form, storage=storage)
    document = resource_config()
    document["InstanceGroups"][0]["Instances"].append(SECOND)
    node.machine.write("/opt/ml/config/resource_config.json", json.dumps(document))
    node.machine.append(slurm.CONF, "SlurmctldHost=ip-10-1-0-200(10.1.0.200)")
    if index == 2:
        node.alter("instance", instance_id="i-second", address="10.1.0.200")
    folder = node.context.root.path(LUSTRE["mount_path"])
    folder.symlink_to(storage or path) if storage else folder.mkdir()
    return node


def test_two_controllers_have_one_configuration_and_one_state(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    first = head(tmp_path / "a", storage=shared)
    second = head(tmp_path / "b", index=2, storage=shared)
    second.machine.append(slurm.CONF, "# the second one's")
    assert multi_head.share(first.context).endswith("made by this one")
    assert multi_head.share(second.context).endswith("made by another")
    assert second.read(slurm.CONF) == first.read(slurm.CONF)
    assert "the second one's" not in second.read(slurm.CONF)
    first.context.root.path("/var/spool/slurmctld/job_state").write_text("jobs")
    assert second.read("/var/spool/slurmctld/job_state") == "jobs"
    assert "the second one's" in second.read(f"{slurm.CONF}.before-hyperpod-cdk")
    mark = first.read("/fsx/hyperpod-cdk/abcdefghijkl/state/.hyperpod-cdk")
    assert mark == f"settled by {first.context.node.instance.instance_id}\n"
    # what a step writes reaches both, and the links stay
    slurm_files.write_files(first.context)
    assert second.read(slurm.OWN_CONF) == first.read(slurm.OWN_CONF) != ""
    assert first.context.root.path(slurm.CONF).is_symlink()


def test_the_state_of_a_controller_that_ran_alone_is_taken_over(tmp_path: Path) -> None:
    node = head(tmp_path)
    node.machine.write("/var/spool/slurmctld/job_state", "jobs")
    multi_head.share(node.context)
    assert node.read("/fsx/hyperpod-cdk/abcdefghijkl/state/job_state") == "jobs"
    assert node.read("/var/spool/slurmctld/job_state") == "jobs"


def test_a_second_run_changes_nothing(tmp_path: Path) -> None:
    node = head(tmp_path)
    multi_head.share(node.context)
    before = sorted(str(path) for path in node.context.root.path("/opt/slurm").rglob("*"))
    assert multi_head.share(node.context).endswith("made by another")
    assert sorted(str(path) for path in node.context.root.path("/opt/slurm").rglob("*")) == before


def test_a_link_that_was_replaced_by_a_newer_file_comes_back_with_it(tmp_path: Path) -> None:
    node = head(tmp_path)
    multi_head.share(node.context)
    # as a program does that writes a draft and renames it
    path = node.context.root.path(slurm.CONF)
    text = node.read(slurm.CONF) + "NodeName=ip-10-1-0-77\n"
    path.unlink()
    path.write_text(text)
    multi_head.share(node.context)
    assert path.is_symlink()
    assert node.read(slurm.CONF) == text


def test_a_cluster_of_the_same_name_begins_anew_on_the_old_file_system(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    former = head(tmp_path / "a", storage=shared)
    former.machine.write("/var/spool/slurmctld/job_state", "jobs of another cluster")
    multi_head.share(former.context)
    node = head(tmp_path / "b", storage=shared)
    cluster = node.context.node.cluster
    another = cluster.arn.replace("abcdefghijkl", "mnopqrstuvwx")
    node.alter("node", cluster=cluster._replace(arn=another))
    node.machine.append(slurm.CONF, "# the new one's")
    assert multi_head.share(node.context).endswith("made by this one")
    assert "the new one's" in node.read(slurm.CONF)
    assert node.read("/var/spool/slurmctld/job_state") == ""


def test_each_controller_keeps_its_own_database_password_file(tmp_path: Path) -> None:
    node = head(tmp_path)
    node.machine.write(slurm.SLURMDBD_CONF, "StoragePass=x\n")
    multi_head.share(node.context)
    assert not node.context.root.path(slurm.SLURMDBD_CONF).is_symlink()
    shared = node.context.root.path("/fsx/hyperpod-cdk/abcdefghijkl/etc")
    assert not list(shared.glob("slurmdbd*"))
    assert stat.S_IMODE((shared.parent / "state").stat().st_mode) == 0o700


def test_a_controller_that_slurm_conf_lacks_is_waited_for(tmp_path: Path) -> None:
    node = head(tmp_path)
    text = node.read(slurm.CONF)
    node.machine.write(slurm.CONF, text.replace("SlurmctldHost=ip-10-1-0-200(10.1.0.200)\n", ""))

    def agent() -> None:
        if len(node.clock.sleeps) == 3:
            node.machine.append(slurm.CONF, "SlurmctldHost=ip-10-1-0-200(10.1.0.200)")

    node.clock.meanwhile = agent
    assert multi_head.share(node.context).startswith("2 controllers share")
    assert len(node.clock.sleeps) == 3


def test_an_address_that_begins_another_one_is_no_controller_of_slurm_conf(tmp_path: Path) -> None:
    node = head(tmp_path)
    document = resource_config()
    document["InstanceGroups"][0]["Instances"].append({**SECOND, "CustomerIpAddress": "10.1.0.20"})
    node.machine.write("/opt/ml/config/resource_config.json", json.dumps(document))
    # 10.1.0.200 is there
    with pytest.raises(NodeError, match=r"slurm\.conf lacks controller-2"):
        multi_head.share(node.context)


def test_a_controller_that_never_comes_is_told(tmp_path: Path) -> None:
    node = head(tmp_path)
    node.machine.write("/opt/ml/config/resource_config.json", json.dumps(resource_config()))
    with pytest.raises(NodeError, match=r"slurm\.conf lacks a second controller"):
        multi_head.share(node.context)


def test_a_change_of_the_acting_controller_is_published(tmp_path: Path) -> None:
    node = head(tmp_path)
    multi_head.share(node.context)
    slurm_files.write_files(node.context)
    own = slurm.settings(node.context.root, slurm.OWN_CONF)
    script = node.context.root.path(own["slurmctldprimaryonprog"])
    text = script.read_text()
    assert "--region us-gov-west-1" in text
    assert f"--topic-arn {CONFIGURATIONS['slurm_sns_arn']}" in text
    assert stat.S_IMODE(script.stat().st_mode) == 0o755
    assert own["slurmctldprimaryoffprog"].endswith("-off.sh")


def test_without_a_topic_nobody_is_told(tmp_path: Path) -> None:
    node = head(tmp_path, slurm_sns_arn="")
    multi_head.share(node.context)
    slurm_files.write_files(node.context)
    assert "slurmctldprimaryonprog" not in slurm.settings(node.context.root, slurm.OWN_CONF)
    assert not node.context.root.path(multi_head.SCRIPTS).exists()


def test_nodes_know_every_controller(tmp_path: Path) -> None:
    form = provisioning_parameters(slurm_configurations=CONFIGURATIONS)
    node = bench(tmp_path, mode="legacy", legacy=form)
    document = resource_config()
    document["InstanceGroups"][0]["Instances"].append(SECOND)
    node.machine.write("/opt/ml/config/resource_config.json", json.dumps(document))
    slurm_node.join_as_compute(node.context)
    assert "--conf-server 10.1.0.4:6817,10.1.0.200:6817" in node.read(slurm_node.DROP_IN)


def test_only_several_controllers_share(tmp_path: Path) -> None:
    assert idle.single_head(bench(tmp_path / "a", group="controller").context) == "one controller"
    assert idle.single_head(head(tmp_path / "b").context) == ""


@pytest.mark.parametrize("wrong", ["fsx", "/fsx/", "/fsx/a b"])
def test_a_shared_directory_that_is_no_path(tmp_path: Path, wrong: str) -> None:
    with pytest.raises(NodeError, match="slurm_shared_directory: expected an absolute path"):
        head(tmp_path, slurm_shared_directory=wrong)


def test_the_database_user_of_awss_own_scripts(tmp_path: Path) -> None:
    shared = head(tmp_path, slurm_database_user=None).context.node.multi_head
    assert shared is not None
    assert shared.database_user == "admin"


def ping(patch: pytest.MonkeyPatch, *answers: str) -> None:
    """Let scontrol ping answer so, one after the other, and then as the last."""
    left = list(answers)

    def answered(machine: Machine, call: Call) -> tuple[int, str]:
        if call.arguments[0] != "ping":
            return 0, ""
        if is_active(machine, "slurmctld"):
            return 0, "Slurmctld(primary) at a is UP"
        return 0, left.pop(0) if len(left) > 1 else left[0]

    patch.setitem(COMMANDS, "scontrol", answered)


DOWN = "Slurmctld(primary) at ip-10-1-0-4 is DOWN\nSlurmctld(backup1) at ip-10-1-0-200 is UP"
UP = "Slurmctld(primary) at ip-10-1-0-4 is UP\nSlurmctld(backup1) at ip-10-1-0-200 is DOWN"


def test_the_second_controller_begins_when_the_first_one_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = head(tmp_path, index=2)
    ping(monkeypatch, DOWN, DOWN, UP)
    slurm_controller.start_controller(node.context)
    calls = [" ".join(call) for call in node.machine.calls()]
    start = calls.index("systemctl start slurmctld")
    assert calls[:start].count("scontrol ping") == 3
    assert "is DOWN" in node.log


def test_the_first_controller_waits_for_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    node = head(tmp_path)
    ping(monkeypatch, DOWN)
    slurm_controller.start_controller(node.context)
    calls = [" ".join(call) for call in node.machine.calls()]
    assert "scontrol ping" not in calls[: calls.index("systemctl start slurmctld")]


def test_the_second_controller_starts_without_a_first_one_that_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = head(tmp_path, index=2)
    ping(monkeypatch, DOWN)
    assert slurm_controller.start_controller(node.context) == "slurmctld answers"
    assert "this controller starts without it" in node.log
    assert node.clock.time == pytest.approx(slurm_controller.FIRST_LIMIT_SECONDS)


def test_another_controllers_answer_is_not_this_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    node = head(tmp_path)
    monkeypatch.setattr(slurm_controller, "DAEMON_LIMIT_SECONDS", 20)
    monkeypatch.setitem(COMMANDS, "scontrol", lambda _machine, _call: (0, UP))
    monkeypatch.setitem(
        COMMANDS, "systemctl", lambda _machine, call: (3 * ("is-active" in call.arguments), "")
    )
    with pytest.raises(NodeError, match="does not run on this controller"):
        slurm_controller.start_controller(node.context)
