"""The entry scripts from beginning to end, as processes, in every mode and on every node type."""

from __future__ import annotations

import json
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hyperpod_cdk.rehearsal.node import CommandFault, node_environment, prepare_root, run_node
from hyperpod_cdk.rehearsal.node_commands.machine import Machine
from hyperpod_cdk.rehearsal.node_commands.serving import serving
from tests.lifecycle.helpers import (
    ALICE,
    BOB,
    LUSTRE,
    NODE_TYPES,
    OPENZFS,
    address_of,
    hook_of,
    node_config,
    provisioning_parameters,
    resource_config,
    scripts_with,
    snapshot,
)

# a bound of five minutes is reached in 1.5 s
HURRY = {"HYPERPOD_CDK_TIME_SCALE": "0.005"}


@dataclass(frozen=True, kw_only=True)
class Node:
    """A node that entry scripts are run on."""

    scripts: Path
    root: Path
    mode: str
    group: str
    index: int = 1
    storage: Path | None = None

    def run(self, *faults: CommandFault, **env: str) -> tuple[int, list[str]]:
        return run_node(
            self.scripts,
            self.root,
            resource_config(compute=4),
            hook=hook_of(self.mode),
            addresses=["192.168.1.1", address_of(self.group, self.index)],
            storage=self.storage,
            faults=faults,
            env=env,
        )

    def result(self) -> dict[str, Any]:
        document = json.loads((self.root / "opt/ml/config/hyperpod-cdk/result.json").read_text())
        assert isinstance(document, dict)
        return document

    def outcomes(self) -> dict[str, str]:
        return {step["name"]: step["outcome"] for step in self.result()["steps"]}

    def calls(self) -> list[list[str]]:
        return Machine(self.root).calls()


def node(tmp_path: Path, mode: str = "custom", group: str = "compute", **files: str) -> Node:
    document = node_config(mode, mounts=[LUSTRE, OPENZFS], users=[ALICE, BOB])
    if mode == "legacy":
        document["groups"] = {}
        form = provisioning_parameters(fsx_openzfs_dns_name=OPENZFS["dns_name"])
        files["provisioning_parameters_dot_json"] = json.dumps(form)
    return Node(
        scripts=scripts_with(tmp_path / "src", document, **files),
        root=tmp_path / "root",
        mode=mode,
        group=group,
        storage=tmp_path / "storage",
    )


EXPECTED = {"extension": "mounts", "custom": "mount", "legacy": "mount"}
# in every mode, and where the start of Slurm is ours
ALWAYS = {"Controller": {"slurm-conf", "slurm-files", "slurm-watch"}, "Login": set(), "Compute": set()}
SLURM = {
    "Controller": {"munge", "accounting", "slurmctld"},
    "Login": {"munge", "slurm-client", "login-watch"},
    "Compute": {"munge", "slurmd"},
}


@pytest.mark.parametrize("group", NODE_TYPES)
@pytest.mark.parametrize("mode", ["extension", "custom", "legacy"])
def test_124_every_node_in_every_mode_twice(tmp_path: Path, mode: str, group: str) -> None:
    this = node(tmp_path, mode, group)
    code, lines = this.run()
    assert code == 0, lines
    assert lines[-1].split(" ", 1)[1].startswith("hyperpod-cdk: the node is set up, 0 warnings")
    done = {name for name, outcome in this.outcomes().items() if outcome == "done"}
    ours = set() if mode == "extension" else SLURM[NODE_TYPES[group]]
    if mode == "extension" and group == "controller":
        ours = {"slurm-refresh"}
    common = {"facts", "keep", "network", "packages", EXPECTED[mode], "home", "users", "ssh", "check"}
    assert done == common | ALWAYS[NODE_TYPES[group]] | ours
    assert this.result()["node"]["node_type"] == NODE_TYPES[group]
    assert (this.root / "home/alice/.ssh/authorized_keys").is_file()
    before = snapshot(this.root)
    code, lines = this.run()
    assert code == 0, lines
    assert snapshot(this.root) == before


def test_124_a_replaced_node_with_the_old_file_systems(tmp_path: Path) -> None:
    this = node(tmp_path)
    assert this.run()[0] == 0
    kept = snapshot(tmp_path / "storage")
    shutil.rmtree(this.root)
    code, lines = this.run()
    assert code == 0, lines
    assert snapshot(tmp_path / "storage") == kept
    passwd = (this.root / "etc/passwd").read_text()
    assert "alice:x:2001:2001::/home/alice:" in passwd
    assert "bob:x:2002:2002::/home/bob:" in passwd


def test_many_nodes_at_once_share_homes_and_keys(tmp_path: Path) -> None:
    scripts = node(tmp_path).scripts
    nodes = [
        Node(
            scripts=scripts,
            root=tmp_path / f"root{index}",
            mode="custom",
            group="compute",
            index=index,
            storage=tmp_path / "storage",
        )
        for index in (1, 2, 3, 4)
    ]
    with ThreadPoolExecutor(4) as pool:
        codes = [code for code, _ in pool.map(lambda each: each.run(), nodes)]
    assert codes == [0, 0, 0, 0]
    homes = next(path for path in (tmp_path / "storage").iterdir() if path.name.startswith("fs-0fed"))
    assert {path.name for path in homes.iterdir()} == {"alice", "bob", "ubuntu"}
    for name in ("alice", "bob", "ubuntu"):
        public = (homes / name / ".ssh/id_ed25519.pub").read_text().strip()
        keys = (homes / name / ".ssh/authorized_keys").read_text().splitlines()
        assert keys.count(public) == 1
        assert {path.name for path in (homes / name / ".ssh").iterdir()} == {
            "authorized_keys",
            "id_ed25519",
            "id_ed25519.pub",
        }


def test_everything_said_is_in_the_log_that_is_shipped(tmp_path: Path) -> None:
    this = node(tmp_path)
    _, lines = this.run()
    log = (this.root / "var/log/provision/provisioning.log").read_text().splitlines()
    assert log == lines


def test_a_failure_is_told_at_the_end_and_in_the_exit_code(tmp_path: Path) -> None:
    this = node(tmp_path)
    timed_out = CommandFault(command="mount", exit_code=32, output="mount.lustre: Connection timed out")
    code, lines = this.run(timed_out, **HURRY)
    texts = [line.split(" ", 1)[1] for line in lines]
    assert code == 1
    assert texts[-1].startswith("hyperpod-cdk: set-up failed at mount: mounting fs-0123")
    assert "mount.lustre: Connection timed out" in texts[-1]
    assert "988 and 1018-1023" in texts[-2]
    outcomes = this.outcomes()
    assert (outcomes["mount"], outcomes["users"], outcomes["slurmd"]) == ("failed", "not run", "not run")
    assert "slurmd" not in {unit for call in this.calls() for unit in call}
    code, lines = this.run()
    assert code == 0, lines


def test_105_a_network_that_answers_late_is_a_warning_only(tmp_path: Path) -> None:
    this = node(tmp_path, "extension")
    code, lines = this.run(CommandFault(command="curl", exit_code=28), **HURRY)
    assert code == 0
    assert this.outcomes()["network"] == "warning"
    assert lines[-1].split(" ", 1)[1].startswith("hyperpod-cdk: the node is set up, 1 warnings")


def test_10_an_unknown_node_is_an_error_with_its_addresses(tmp_path: Path) -> None:
    this = node(tmp_path)
    code, lines = run_node(
        this.scripts, this.root, resource_config(), hook="on_create", addresses=["10.9.9.9"], env=HURRY
    )
    assert code == 1
    assert "has one of this node's addresses 10.9.9.9, 127.0.0.1" in lines[-1]
    document = this.result()
    assert (document["outcome"], document["node"]) == ("failed", None)
    assert [step["name"] for step in document["steps"]] == ["facts"]


def test_the_wrong_hook_changes_nothing(tmp_path: Path) -> None:
    this = node(tmp_path, "extension")
    code, lines = run_node(
        this.scripts, this.root, resource_config(), hook="on_create", addresses=[address_of("compute")]
    )
    assert code == 1
    assert "is in extension mode" in lines[-1]
    assert [call[0] for call in this.calls()] == ["ip"]


def test_27_api_modes_need_no_provisioning_parameters(tmp_path: Path) -> None:
    for mode in ("extension", "custom"):
        this = node(tmp_path / mode, mode)
        assert not (this.scripts / "provisioning_parameters.json").exists()
        assert this.run()[0] == 0


def test_own_steps_run_around_ours(tmp_path: Path) -> None:
    this = node(
        tmp_path,
        "extension",
        extra__before_dot_d__1_dot_sh="echo early $HOME\n",
        extra__after_dot_d__1_dot_py="import os; print('late', os.environ['HYPERPOD_MODE'])\n",
    )
    code, lines = this.run(HYPERPOD_CDK_RUN_EXTRA="1")
    assert code == 0, lines
    texts = [line.split(" ", 1)[1] for line in lines]
    early, late = texts.index("before: | early /root"), texts.index("after: | late extension")
    assert early < texts.index("mounts: start") < late


def test_a_fault_in_config_json_is_told_with_its_place(tmp_path: Path) -> None:
    this = node(tmp_path)
    document = json.loads((this.scripts / "config.json").read_text())
    document["users"][1]["uid"] = 2001
    (this.scripts / "config.json").write_text(json.dumps(document))
    code, lines = this.run()
    assert code == 1
    assert lines[-1].endswith("config.json: users: bob and alice share uid 2001")


def test_a_terminated_run_says_what_it_was_doing(tmp_path: Path) -> None:
    this = node(tmp_path)
    slow = CommandFault(command="getent", exit_code=2)
    machine = prepare_root(
        this.scripts,
        this.root,
        resource_config(),
        hook="on_create",
        addresses=[address_of("compute")],
        faults=[slow],
    )
    lines = []
    with serving(machine) as port:
        process = subprocess.Popen(
            ["bash", "on_create.sh"],
            cwd=this.scripts,
            env=node_environment(machine, port),
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line.rstrip())
            if "network: $ getent" in line:
                process.terminate()
        process.stdout.close()
        assert process.wait() == 1
    assert lines[-1].endswith("set-up failed at network: ended by SIGTERM")


PYTHON_310 = next(
    (
        path
        for path in (Path("/usr/bin/python3.10"), *Path.home().glob(".pyenv/versions/3.10.*/bin/python3.10"))
        if path.is_file()
    ),
    None,
)


@pytest.mark.skipif(not PYTHON_310, reason="no Python 3.10 on this machine")
def test_it_runs_on_the_nodes_python(tmp_path: Path) -> None:
    this = node(tmp_path)
    prepare_root(
        this.scripts,
        this.root,
        resource_config(),
        hook="on_create",
        addresses=[address_of("compute")],
        storage=tmp_path / "storage",
    )
    link = this.root / ".node/bin/python3"
    link.unlink()
    link.symlink_to(str(PYTHON_310))
    code, lines = this.run()
    assert code == 0, lines
