"""The scripts killed at the end of each of their steps, and run again: a node comes up all the same."""

import subprocess
import threading
from collections.abc import Iterator

import pytest

from hyperpod_cdk.rehearsal.hosts.host import Host
from hyperpod_cdk.rehearsal.hosts.plan import Plan, usual_groups
from hyperpod_cdk.rehearsal.hosts.sandbox import Sandbox, ScriptRun
from tests.lifecycle.sandbox.scenario import ACCOUNTS, ALICE, BOB, disk

pytestmark = pytest.mark.long_nodes


@pytest.fixture(scope="module")
def whole() -> Iterator[Sandbox]:
    """A cluster in which everything is right, to compare with and to join."""
    with Sandbox(Plan(groups=usual_groups(1), users=[ALICE, BOB], config=ACCOUNTS)) as sandbox:
        sandbox.up()
        sandbox.provision()
        sandbox.idle(1)
        yield sandbox


def kill_after(sandbox: Sandbox, host: Host, step: str) -> bool:
    """Run a host's scripts until a step is done, and kill them and their children; whether it came to it."""
    folder = sandbox.download(host)
    command = host.command(
        "setsid", "--wait", "bash", "-c", f"echo $$ >/run/script.pid; cd {folder}; exec bash ./on_create.sh"
    )
    running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert running.stdout is not None
    reached = False
    for line in running.stdout:
        if f" {step}: done" in line:
            reached = True
            host.run("kill -KILL -- -$(cat /run/script.pid)", check=False)
            break
    threading.Thread(target=running.stdout.read, daemon=True).start()
    running.wait(120)
    return reached


def steps_of(run: ScriptRun) -> list[str]:
    """The steps that did something on a node."""
    return [
        step["name"] for step in run.result["steps"] if step["outcome"] == "done" and step["name"] != "facts"
    ]


def paths(host: Host) -> set[str]:
    """What a node's disk has beyond its image."""
    return {line.split()[4] for line in disk(host) if len(line.split()) > 4}


def test_a_compute_node(whole: Sandbox) -> None:
    """One fresh node a step; each joins."""
    steps = steps_of(whole.run_script(whole.compute[0]))
    assert len(steps) > 6
    for step in steps:
        (host,) = whole.grow("compute", 1)
        kill_after(whole, host, step)
        run = whole.run_script(host)
        assert run.exit_code == 0, f"killed after {step}:\n{run.output}"
        whole.joined(host, 60)
        whole.lose(list(whole.hosts)[-1])


def test_a_controller() -> None:
    """One fresh cluster a step; each controller answers, keeps accounts, and has the same files."""
    with Sandbox(Plan(groups=usual_groups(1, login=0), users=[ALICE, BOB], config=ACCOUNTS)) as first:
        first.up()
        before = paths(first.controller)
        runs = first.provision()
        steps = steps_of(runs[first.controller.name])
        wanted = paths(first.controller) - before
    assert len(steps) > 8
    for step in steps:
        with Sandbox(Plan(groups=usual_groups(1, login=0), users=[ALICE, BOB], config=ACCOUNTS)) as sandbox:
            sandbox.up()
            before = paths(sandbox.controller)
            kill_after(sandbox, sandbox.controller, step)
            runs = sandbox.provision()
            assert {run.exit_code for run in runs.values()} == {0}, step
            sandbox.idle(1)
            assoc = sandbox.controller.run("sacctmgr -nP show assoc user=alice format=account").output
            assert assoc == "research\n", step
            found = paths(sandbox.controller) - before
            assert found == wanted, f"killed after {step}: other files than without"
