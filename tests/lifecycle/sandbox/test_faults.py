"""What goes wrong round a node while its scripts run: they wait it out, or end with what to do."""

import json
import time
from collections.abc import Iterator

import pytest

from hyperpod_cdk.rehearsal.hosts.host import Host
from hyperpod_cdk.rehearsal.hosts.plan import LUSTRE, Plan, usual_groups
from hyperpod_cdk.rehearsal.hosts.sandbox import Sandbox, ScriptRun
from tests.lifecycle.sandbox.scenario import ALICE, BOB, KEY

LATE_SECONDS = 4.0
"""Long enough to be noticed by steps that take a second."""
SHORT_CLOCK = {"HYPERPOD_CDK_TIME_SCALE": "0.01"}
"""Bounded waits end a hundred times sooner: five minutes in three seconds."""


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    """A controller that works, and compute nodes that are switched on one by one."""
    with Sandbox(Plan(groups=usual_groups(8, login=0), users=[ALICE, BOB])) as made:
        made.up("controller")
        made.provision()
        yield made


def joins(sandbox: Sandbox, host: Host) -> bool:
    """Whether a node takes a job; it may be a moment until the controller knows that it is back."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        answer = sandbox.controller.run(
            "srun", "-w", host.name, "-t1", "--immediate=5", "hostname", check=False
        )
        if answer.exit_code == 0:
            return answer.lines == [host.name]
        time.sleep(0.3)
    return False


def failure(run: ScriptRun) -> dict[str, str]:
    """The step that ended a run."""
    assert run.exit_code == 1
    (step,) = [step for step in run.result["steps"] if step["outcome"] == "failed"]
    assert step["advice"], f"{step['name']} failed and does not say what to do"
    assert step["name"] in run.lines[-1]
    return dict(step)


def test_dns_late(sandbox: Sandbox) -> None:
    host = sandbox.start("compute-1")
    folder = sandbox.download(host)
    sandbox.control(dns={"answers_from": time.time() + LATE_SECONDS})
    run = sandbox.start_script(host, folder)
    sandbox.control(dns={})
    assert run.exit_code == 0, run.output
    assert run.step("network")["seconds"] > LATE_SECONDS / 2
    assert joins(sandbox, host)


def test_lustre_late_then_never(sandbox: Sandbox) -> None:
    host = sandbox.start("compute-2")
    server = LUSTRE["dns_name"]
    sandbox.control(file_systems={server: {"answers_from": time.time() + 10_000}})
    never = failure(sandbox.run_script(host, env=SHORT_CLOCK))
    assert never["name"] == "mount"
    assert server in never["detail"] or "/fsx" in never["detail"]
    assert "988" in never["advice"], "the ports to open are not named"
    sandbox.control(file_systems={server: {"answers_from": time.time() + LATE_SECONDS}})
    run = sandbox.run_script(host)
    sandbox.control(file_systems={})
    assert run.exit_code == 0, run.output
    assert run.step("mount")["seconds"] > LATE_SECONDS / 2
    assert joins(sandbox, host)


def test_disk_full(sandbox: Sandbox) -> None:
    host = sandbox.start("compute-3", disk="64m")
    folder = sandbox.download(host)
    host.run("head -c 1G /dev/zero >/var/lib/filler; true", check=False)
    run = sandbox.start_script(host, folder)
    assert run.exit_code == 1
    assert "No space left on device" in run.output
    host.run("rm", "/var/lib/filler")
    again = sandbox.start_script(host, folder)
    assert again.exit_code == 0, again.output
    assert joins(sandbox, host)


def test_a_number_that_the_image_has_given_away(sandbox: Sandbox) -> None:
    """uid 1000 is the image's own user: nobody is made before the whole list is known to be right."""
    host = sandbox.start("compute-4")
    sandbox.plan.users = [ALICE, {**BOB, "uid": 1000, "gid": 1000}]
    sandbox.stage()
    before = host.run("cut -d: -f1,3,4 /etc/passwd /etc/group").output
    step = failure(sandbox.run_script(host))
    assert step["name"] == "users"
    assert "uid 1000 of bob belongs to ubuntu" in step["detail"]
    assert host.run("cut -d: -f1,3,4 /etc/passwd /etc/group").output == before
    sandbox.plan.users = [ALICE, BOB]
    sandbox.stage()
    sandbox.provision([host])
    assert joins(sandbox, host)


def test_a_list_of_users_with_windows_line_ends(sandbox: Sandbox) -> None:
    host = sandbox.start("compute-5")
    key = f"{KEY}\r"
    sandbox.plan.users = [{**ALICE, "ssh_public_keys": [key]}, BOB]
    text = json.dumps(sandbox.plan.node_config(), indent=1).replace("\n", "\r\n")
    sandbox.plan.files = {"config.json": text.encode()}
    sandbox.stage()
    sandbox.provision([host])
    sandbox.plan.users, sandbox.plan.files = [ALICE, BOB], {}
    sandbox.stage()
    assert host.run("id", "-u", "alice").lines == ["2001"]
    keys = (sandbox.shared / "fs" / sandbox.plan.source(LUSTRE) / "alice/.ssh/authorized_keys").read_bytes()
    assert b"alice@laptop\n" in keys
    assert b"\r" not in keys
    assert joins(sandbox, host)


@pytest.mark.parametrize("held_seconds", [4, pytest.param(60, marks=pytest.mark.long_nodes)])
def test_the_lock_of_dpkg_is_held(sandbox: Sandbox, held_seconds: int) -> None:
    """By an upgrade that goes on to its end when it is stopped: the lock is what is waited for."""
    host = sandbox.start("compute-6" if held_seconds < 60 else "compute-8")
    hold = "f = open('/var/lib/dpkg/lock', 'w'); fcntl.lockf(f, fcntl.LOCK_EX)"
    deaf = "signal.signal(signal.SIGTERM, signal.SIG_IGN)"
    program = f"import fcntl, signal, time; {deaf}; {hold}; time.sleep({held_seconds})"
    unit = f'[Service]\nType=oneshot\nTimeoutStopSec=900\nExecStart=/usr/bin/python3 -c "{program}"\n'
    host.path("/lib/systemd/system/apt-daily-upgrade.service").write_text(unit)
    host.run("systemctl daemon-reload && systemctl --no-block start apt-daily-upgrade.service")
    run = sandbox.run_script(host)
    assert run.exit_code == 0, run.output
    assert host.run("apt-mark showhold").lines == ["linux-image-aws", "lustre-client-modules-aws"]
    assert "waiting for getting the lock of dpkg" in run.output
    assert joins(sandbox, host)


def test_the_power_goes_while_the_scripts_run(sandbox: Sandbox) -> None:
    host = sandbox.start("compute-7")
    folder = sandbox.download(host)
    stop = "timeout --signal=KILL 1.5 bash ./on_create.sh"
    host.run(f"cd {folder} && {stop}", check=False)
    host.reboot()
    sandbox.provision([host])
    assert joins(sandbox, host)
