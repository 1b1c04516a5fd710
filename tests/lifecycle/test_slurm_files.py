"""What is added to Slurm's configuration: reports 108 to 111, 122, peers' failures 32, 37, 38, 47 and 49."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hyperpod_cdk.rehearsal.node import CommandFault
from hyperpod_node import slurm, slurm_plugins, slurm_topology, units
from hyperpod_node.catalogue import STEPS
from hyperpod_node.commands import Commands, Completed
from hyperpod_node.errors import NodeError, StepSkippedError
from hyperpod_node.step import SLURM_FILES
from hyperpod_node.steps import slurm_controller, slurm_files, slurm_watch
from tests.lifecycle.helpers import Bench, bench


def controller(path: Path, slurm_members: Mapping[str, Any] | None = None, **more: Any) -> Bench:
    return bench(path, group="controller", more={"slurm": dict(slurm_members or {})}, **more)


def running(path: Path, slurm_members: Mapping[str, Any] | None = None, **more: Any) -> Bench:
    """A controller on which the service has started slurmctld."""
    return controller(path, slurm_members, mode="extension", **more)


def own(node: Bench) -> dict[str, str]:
    return slurm.settings(node.context.root, slurm.OWN_CONF)


def test_settings_are_included_once_and_slurm_conf_keeps_its_lines(tmp_path: Path) -> None:
    node = controller(tmp_path, {"conf": {"DefMemPerCPU": "4000"}})
    before = node.read(slurm.CONF)
    assert slurm_files.write_files(node.context) == "settings written, included in slurm.conf"
    assert node.read(slurm.CONF) == before + "Include hyperpod-cdk.conf\n"
    assert own(node) == {"defmempercpu": "4000"}
    assert slurm_files.write_files(node.context) == "as they should be"


def test_32_a_rewritten_slurm_conf_gets_its_include_back(tmp_path: Path) -> None:
    node = running(tmp_path)
    before = node.read(slurm.CONF)
    slurm_files.write_files(node.context)
    slurm_files.refresh(node.context)
    node.machine.write(slurm.CONF, before)
    assert slurm_files.write_files(node.context) == "included in slurm.conf"
    # the agent's own reconfigure may have come in between: slurmctld has to read it again
    assert slurm_files.refresh(node.context) == "slurmctld and all nodes read it again"


@pytest.mark.parametrize("mode", ["custom", "extension"])
def test_a_rewrite_takes_our_accounting_away_for_no_longer_than_the_rest(tmp_path: Path, mode: str) -> None:
    node = controller(tmp_path, mode=mode)
    node.machine.write(slurm.ACCOUNTING_CONF, "AccountingStorageType=accounting_storage/slurmdbd\n")
    node.machine.write(slurm.CONF, "ClusterName=ml-cluster\n")
    slurm_files.write_files(node.context)
    # what the service set up itself is its own affair
    assert (slurm.ACCOUNTING_CONF in slurm.includes(node.context.root)) is (mode == "custom")


def test_the_profile_yields_to_slurm_conf_and_the_deployments_settings_do_not(tmp_path: Path) -> None:
    scale = {"MessageTimeout": "60", "TreeWidth": "64", "SlurmdTimeout": "600"}
    node = controller(tmp_path, {"scale": scale, "conf": {"TreeWidth": "32", "SchedulerParameters": "a"}})
    node.machine.append(slurm.CONF, "messagetimeout=100")
    slurm_files.write_files(node.context)
    assert own(node) == {"slurmdtimeout": "600", "treewidth": "32", "schedulerparameters": "a"}


def test_122_49_auto_resume_is_left_alone_and_watched(tmp_path: Path) -> None:
    node = controller(tmp_path, {"epilog": True, "pam_slurm_adopt": True})
    slurm_files.write_files(node.context)
    assert not {"taskplugin", "schedulerparameters", "grestypes", "nodename"} & own(node).keys()
    assert "WARNING" not in node.log
    node.machine.write(slurm.CONF, node.read(slurm.CONF).replace("task/none", "task/cgroup"))
    slurm_files.write_files(node.context)
    assert "WARNING: srun --auto-resume does nothing: slurm.conf has TaskPlugin=task/cgroup".lower() in (
        node.log.lower()
    )


def test_an_epilog_of_somebody_else_stays(tmp_path: Path) -> None:
    node = controller(tmp_path / "a", {"epilog": True})
    slurm_files.write_files(node.context)
    assert own(node)["epilog"] == "/opt/slurm/etc/epilog.d/*"
    other = controller(tmp_path / "b", {"epilog": True})
    other.machine.append(slurm.CONF, "Epilog=/opt/site/epilog.sh")
    slurm_files.write_files(other.context)
    assert "epilog" not in own(other)
    assert "WARNING: slurm.conf has Epilog=/opt/site/epilog.sh" in other.log


@pytest.mark.parametrize(("flags", "warned"), [("Alloc,Contain", False), ("Alloc", True)])
def test_121_adoption_needs_a_step_to_adopt_into(tmp_path: Path, flags: str, warned: bool) -> None:
    node = controller(tmp_path, {"pam_slurm_adopt": True})
    slurm_files.write_files(node.context)
    assert own(node)["prologflags"] == "Contain"
    node.machine.append(slurm.CONF, f"PrologFlags={flags}")
    slurm_files.write_files(node.context)
    assert ("WARNING: slurm.conf has PrologFlags" in node.log) is warned


def test_121_adoption_without_cgroups_would_end_slurmctld(tmp_path: Path) -> None:
    node = controller(tmp_path, {"pam_slurm_adopt": True})
    node.machine.append(slurm.CONF, "ProctrackType=proctrack/linuxproc")
    slurm_files.write_files(node.context)
    assert "prologflags" not in own(node)
    assert "WARNING: slurm.conf tracks processes without cgroups" in node.log


def test_no_slurm_conf_no_work(tmp_path: Path) -> None:
    node = controller(tmp_path)
    node.context.root.path(slurm.CONF).unlink()
    with pytest.raises(StepSkippedError, match=r"no /opt/slurm/etc/slurm\.conf"):
        slurm_files.write_files(node.context)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "include /opt/slurm/etc/plugstack.conf.d/*\n",
            "include /opt/slurm/etc/plugstack.conf.d/a.conf\n"
            "include /opt/slurm/etc/plugstack.conf.d/pyxis.conf\n",
        ),
        (
            "include plugstack.conf.d/p*.conf\nrequired x.so\n",
            "include /opt/slurm/etc/plugstack.conf.d/pyxis.conf\nrequired x.so\n",
        ),
        ("include /opt/slurm/etc/none.d/*\n", ""),
        ("include /opt/slurm/etc/plugstack.conf.d/pyxis.conf\n", None),
        ("", None),
    ],
)
def test_109_38_no_wildcards_in_plugstack(tmp_path: Path, text: str, expected: str | None) -> None:
    node = controller(tmp_path)
    for name in ("a.conf", "pyxis.conf"):
        node.machine.write(f"{slurm.ETC}/plugstack.conf.d/{name}", "required /x.so\n")
    node.machine.write(slurm_plugins.PLUGSTACK, text)
    assert slurm_plugins.expand(node.context.root) is (expected is not None)
    assert node.read(slurm_plugins.PLUGSTACK) == (text if expected is None else expected)
    assert not slurm_plugins.expand(node.context.root)


def topology(path: Path, plugin: str, **files: str) -> Bench:
    node = controller(path)
    node.machine.append(slurm.CONF, f"TopologyPlugin={plugin}")
    node.machine.append(slurm.CONF, "PartitionName=gpu Nodes=ALL Topology=default Default=NO")
    for name, text in files.items():
        node.machine.write(f"{slurm.ETC}/topology.{name}", text)
    return node


def test_110_47_a_topology_plugin_gets_a_topology(tmp_path: Path) -> None:
    node = topology(tmp_path, "topology/tree")
    assert slurm_topology.guard(node.context) == "flat topology.conf"
    written = node.read(slurm_topology.CONF).splitlines()
    assert written[1].startswith("SwitchName=hyperpod-cdk Nodes=ip-10-1-0-")
    assert slurm_topology.guard(node.context) == ""
    node.machine.append(slurm.CONF, "NodeName=ip-10-1-0-99 State=CLOUD")
    assert slurm_topology.guard(node.context) == "flat topology.conf"
    assert "ip-10-1-0-99" in node.read(slurm_topology.CONF)


def test_110_a_plugin_that_the_deployment_asks_for_too(tmp_path: Path) -> None:
    node = controller(tmp_path, {"conf": {"TopologyPlugin": "topology/tree"}})
    assert "flat topology.conf" in slurm_files.write_files(node.context)


@pytest.mark.parametrize("text", ["SwitchName=s1 Nodes=a\n", "# made by hand\nBlockName=b1 Nodes=a\n"])
def test_110_111_a_real_topology_is_never_touched(tmp_path: Path, text: str) -> None:
    node = topology(tmp_path, "topology/tree", conf=text)
    before = node.read(slurm.CONF)
    assert slurm_topology.guard(node.context) == ""
    assert (node.read(slurm_topology.CONF), node.read(slurm.CONF)) == (text, before)


@pytest.mark.parametrize("empty", ["", "[]\n", "---\n# nothing\n"])
def test_111_an_empty_topology_and_what_refers_to_it_go(tmp_path: Path, empty: str) -> None:
    node = topology(tmp_path, "topology/flat", yaml=empty, conf="\n")
    assert slurm_topology.guard(node.context) == (
        "empty topology.yaml removed, empty topology.conf removed, partitions no longer refer to it"
    )
    assert "PartitionName=gpu Nodes=ALL Default=NO\n" in node.read(slurm.CONF)
    assert slurm_topology.guard(node.context) == ""


def test_111_a_real_yaml_topology_keeps_its_partitions(tmp_path: Path) -> None:
    node = topology(tmp_path, "topology/tree", yaml="- topology: default\n")
    before = node.read(slurm.CONF)
    assert slurm_topology.guard(node.context) == ""
    assert node.read(slurm.CONF) == before


def test_a_block_topology_that_is_missing_is_told(tmp_path: Path) -> None:
    node = topology(tmp_path, "topology/block")
    assert slurm_topology.guard(node.context) == ""
    assert "WARNING: TopologyPlugin=topology/block without a topology" in node.log


def test_108_37_what_changed_after_the_start_is_read_again(tmp_path: Path) -> None:
    node = controller(tmp_path)
    slurm_files.write_files(node.context)
    slurm_controller.start_controller(node.context)
    with pytest.raises(StepSkippedError, match="has what the files say"):
        slurm_files.refresh(node.context)
    node.machine.write(slurm_plugins.PLUGSTACK, "include /opt/slurm/etc/plugstack.conf.d/pyxis.conf\n")
    assert slurm_files.refresh(node.context) == "slurmctld and all nodes read it again"
    assert len(node.calls("scontrol", "reconfigure")) == 1
    with pytest.raises(StepSkippedError):
        slurm_files.refresh(node.context)


def test_a_run_that_ended_before_the_reconfigure_leaves_it_to_the_next_one(tmp_path: Path) -> None:
    fault = CommandFault(command="scontrol", contains="reconfigure", times=5)
    node = running(tmp_path, {"conf": {"DefMemPerCPU": "100"}}, faults=[fault])
    slurm_files.write_files(node.context)
    assert slurm_files.refresh(node.context) == "slurmctld goes on with what it had"
    assert slurm_files.write_files(node.context) == "as they should be"
    assert slurm_files.refresh(node.context) == "slurmctld and all nodes read it again"


def test_what_is_written_during_a_reconfigure_is_read_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = running(tmp_path)
    slurm_files.write_files(node.context)
    run = type(node.context.commands).run

    def late(self: Commands, *arguments: str, **more: Any) -> Completed:
        done = run(self, *arguments, **more)
        if arguments == ("scontrol", "reconfigure"):
            node.machine.append(slurm.CONF, "SlurmdTimeout=400")
        return done

    monkeypatch.setattr(Commands, "run", late)
    slurm_files.refresh(node.context)
    monkeypatch.undo()
    assert slurm_files.refresh(node.context) == "slurmctld and all nodes read it again"


def test_the_databases_password_is_no_reason_to_reconfigure(tmp_path: Path) -> None:
    node = controller(tmp_path)
    before = slurm.digest(node.context.root)
    node.machine.write(slurm.SLURMDBD_CONF, "StoragePass=x\n")
    assert slurm.digest(node.context.root) == before


def test_refresh_waits_for_no_slurmctld(tmp_path: Path) -> None:
    with pytest.raises(StepSkippedError, match="does not run"):
        slurm_files.refresh(controller(tmp_path).context)


@pytest.mark.parametrize(
    ("version", "reconfigured"), [("slurm 22.05.8", False), ("slurm 23.11.0", True), ("slurm 25.11.8", True)]
)
def test_growth_never_ends_an_old_slurmctld(tmp_path: Path, version: str, reconfigured: bool) -> None:
    node = running(tmp_path)
    node.machine.remember("slurm_version", version)
    node.machine.remember("running_nodes", ["ip-10-1-0-5"])
    slurm_files.write_files(node.context)
    said = slurm_files.refresh(node.context)
    assert bool(node.calls("scontrol", "reconfigure")) is reconfigured
    assert said.startswith("slurmctld and all nodes" if reconfigured else "not reconfigured")


def test_an_old_slurmctld_with_the_same_nodes_is_reconfigured(tmp_path: Path) -> None:
    node = running(tmp_path)
    node.machine.remember("slurm_version", "slurm 22.05.8")
    slurm_files.write_files(node.context)
    slurm_files.refresh(node.context)
    assert node.calls("scontrol", "reconfigure")


def test_41_a_controller_that_starts_again_is_asked_again(tmp_path: Path) -> None:
    busy = CommandFault(command="scontrol", contains="reconfigure", times=2, output="unexpected message")
    node = running(tmp_path, faults=[busy])
    slurm_files.write_files(node.context)
    slurm_files.refresh(node.context)
    assert len(node.calls("scontrol", "reconfigure")) == 3


def test_a_reconfigure_that_always_fails_has_advice(tmp_path: Path) -> None:
    broken = CommandFault(command="scontrol", contains="reconfigure")
    node = running(tmp_path, faults=[broken])
    slurm_files.write_files(node.context)
    assert slurm_files.refresh(node.context) == "slurmctld goes on with what it had"
    assert f"what to do: {slurm.RECONFIGURE_ADVICE}" in node.log


def test_a_slurmctld_that_ends_over_a_value_fails_the_node_in_its_own_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = CommandFault(
        command="scontrol", contains="show config", output="Unable to contact slurm controller"
    )
    node = running(tmp_path, faults=[gone])
    node.machine.write("/var/log/slurm/slurmctld.log", "fatal: Failed to initialize sched plugin\n")
    slurm_files.write_files(node.context)
    answers = iter([True, False])
    monkeypatch.setattr(units, "is_active", lambda *_: next(answers))
    with pytest.raises(NodeError, match=r"still not so after 60 s: .*Unable to contact") as error:
        slurm_files.refresh(node.context)
    assert error.value.last_lines == ("fatal: Failed to initialize sched plugin",)
    [step] = [step for step in STEPS if step.name == "slurm-refresh"]
    assert step.required


def test_what_slurm_cannot_read_never_gets_into_its_files(tmp_path: Path) -> None:
    fault = CommandFault(
        command="scontrol", contains="show hostnames a", output="unrecognized key: FooBar", times=1
    )
    node = running(tmp_path, {"conf": {"FooBar": "1"}}, faults=[fault])
    before = node.read(slurm.CONF)
    with pytest.raises(NodeError, match="unrecognized key: FooBar") as error:
        slurm_files.write_files(node.context)
    assert error.value.advice == slurm.CHECK_ADVICE
    assert (node.read(slurm.CONF), node.read(slurm.OWN_CONF)) == (before, "")
    assert not list(node.context.root.path(slurm.ETC).glob(".hyperpod-cdk*"))


def test_nothing_ever_restarts_slurmctld(tmp_path: Path) -> None:
    node = running(tmp_path)
    slurm_controller.start_controller(node.context)
    slurm_files.write_files(node.context)
    slurm_files.refresh(node.context)
    slurm_controller.start_controller(node.context)
    verbs = {call[1] for call in node.calls("systemctl") if "slurmctld" in call}
    assert verbs <= {"is-active", "enable", "disable"}


def test_what_the_watcher_starts_is_in_the_catalogue() -> None:
    assert [step.name for step in STEPS if SLURM_FILES in step.occasions] == ["slurm-files", "slurm-refresh"]
    service = slurm_watch.ON_CONTROLLER[f"{slurm_watch.FILES}.service"]
    assert "ExecStart=/opt/hyperpod-cdk/hyperpod-node --hook slurm_files" in service


def test_units_are_written_and_started_once(tmp_path: Path) -> None:
    node = controller(tmp_path)
    for _ in range(2):
        slurm_watch.watch_files(node.context)
    assert len(node.calls("systemctl", "daemon-reload")) == 1
    assert node.calls("systemctl", "enable") == [
        ["systemctl", "enable", "--no-reload", "--now", f"{name}.path"]
        for name in (slurm_watch.CHANGED, slurm_watch.FILES)
    ]
    login = bench(tmp_path / "login", group="login")
    assert slurm_watch.refresh_login(login.context) == "hyperpod-cdk-slurm-login.timer is on"
    # each minute, and never longer than that and a quarter
    timer = login.read(f"/etc/systemd/system/{slurm_watch.LOGIN}.timer")
    for setting in ("OnUnitInactiveSec=60", "RandomizedDelaySec=15", "AccuracySec=5"):
        assert setting in timer.splitlines()


def test_a_rewrite_before_anybody_watches_is_noticed_too(tmp_path: Path) -> None:
    node = controller(tmp_path)
    before = node.read(slurm.CONF)
    slurm_files.write_files(node.context)
    slurm_watch.watch_files(node.context)
    assert not node.context.root.path(slurm_watch.MARK).exists()
    node.machine.write(slurm.CONF, before)
    slurm_watch.watch_files(node.context)
    assert node.context.root.path(slurm_watch.MARK).exists()
