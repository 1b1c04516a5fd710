"""Nothing of a sandbox outlives it, however it ends."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hyperpod_cdk.rehearsal.hosts.plan import Plan, usual_groups
from hyperpod_cdk.rehearsal.hosts.room import BASE
from hyperpod_cdk.rehearsal.hosts.sandbox import Sandbox
from hyperpod_cdk.rehearsal.hosts.standins.keeper import FAMILY, INOTIFY, cgroup_root, old_processor_root

PROGRAM = """
import signal, sys, time
# whoever started the tests in the background has it ignored
signal.signal(signal.SIGINT, signal.default_int_handler)
from hyperpod_cdk.rehearsal.hosts.plan import Plan, usual_groups
from hyperpod_cdk.rehearsal.hosts.sandbox import Sandbox
with Sandbox(Plan(groups=usual_groups(0, login=0))) as sandbox:
    host = sandbox.up()[0]
    host.run("mount /fsx 2>/dev/null; setsid sleep 1000 >/dev/null 2>&1 &")
    print(sandbox.room.folder, sandbox.room.keeper, flush=True)
    time.sleep(1000)
"""
GONE_SECONDS = 20.0


@contextmanager
def another_process() -> Iterator[tuple["subprocess.Popen[str]", Path, int]]:
    """A process with a host, the folder of its room, and what keeps it."""
    with subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        folder, keeper = process.stdout.readline().split()
        try:
            yield process, Path(folder), int(keeper)
        finally:
            process.kill()


def traces(room: str) -> list[str]:
    """Everything on this machine that has a room's name in it."""
    found = [f"folder {path}" for path in BASE.glob(f"{room}*")] if BASE.exists() else []
    for root in filter(None, (cgroup_root(), old_processor_root())):
        found += [f"control group {path}" for path in (root / FAMILY).glob(f"{room}*")]
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    found += [f"mount {line}" for line in mounts if room in line]
    for path in Path("/proc").glob("[0-9]*"):
        try:
            group, command = (path / "cgroup").read_text(), (path / "cmdline").read_bytes().decode()
        except OSError:
            continue
        if room in group or room in command:
            found.append(f"process {path.name}: {command}")
    return found


def interfaces_now() -> list[str]:
    """The machine's own network interfaces."""
    return sorted(path.name for path in Path("/sys/class/net").iterdir())


def expect_gone(room: str) -> None:
    deadline = time.monotonic() + GONE_SECONDS
    while (left := traces(room)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert left == []


def test_the_machine_is_as_before() -> None:
    limit, alone = INOTIFY.read_text(), not list(BASE.glob("*/lock"))
    interfaces, namespaces = interfaces_now(), sorted(Path("/run/netns").glob("*"))
    with Sandbox(Plan(groups=usual_groups(0, login=0))) as sandbox:
        sandbox.up()
        room = sandbox.room.folder.name
        assert len(traces(room)) > 5, "the look at the machine sees nothing"
        # a host has a network of its own, with no way to this machine's
        assert sandbox.controller.run("ls /sys/class/net").lines == ["eth0", "lo"]
        assert interfaces_now() == interfaces
    expect_gone(room)
    assert INOTIFY.read_text() == limit or not alone
    assert interfaces_now() == interfaces
    assert sorted(Path("/run/netns").glob("*")) == namespaces


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(signal.SIGINT, marks=pytest.mark.long_nodes),
        pytest.param(signal.SIGTERM, marks=pytest.mark.long_nodes),
        signal.SIGKILL,
    ],
    ids=["SIGINT", "SIGTERM", "SIGKILL"],
)
def test_the_process_is_ended(number: signal.Signals) -> None:
    with another_process() as (process, folder, _):
        process.send_signal(number)
        process.wait(60)
        expect_gone(folder.name)


@pytest.mark.long_nodes
def test_the_keeper_is_killed() -> None:
    """The kernel ends every process of the room; what is left on disk goes when the next room is made."""
    with another_process() as (process, folder, keeper):
        os.kill(keeper, signal.SIGKILL)
        deadline = time.monotonic() + GONE_SECONDS
        # one without a command line has ended, and waits for its parent to ask how
        while any(re.match(r"process \d+: .", trace) for trace in traces(folder.name)):
            assert time.monotonic() < deadline, traces(folder.name)
            time.sleep(0.1)
        process.kill()
    with Sandbox(Plan(groups=usual_groups(0, login=0))):
        expect_gone(folder.name)


def test_a_limited_host_gets_its_share_of_the_processors() -> None:
    """Counted commands and the host's own daemons get it together, however idle the machine is."""
    busy = "timeout 2 bash -c 'while :; do :; done'"
    with Sandbox(Plan(groups=usual_groups(0, login=0))) as sandbox:
        (host,) = sandbox.up()
        used = []
        for processors in (0.05, 0.2):
            host.limit(processors)
            before = host.cpu_seconds()
            daemon = f"systemd-run --quiet --wait bash -c {shlex.quote(busy)}"
            host.run(f"{daemon} & {busy}; wait", check=False, counted=True)
            used.append(host.cpu_seconds() - before)
        assert used[0] < 0.3, "two busy loops of two seconds got more than a twentieth of a processor"
        assert used[1] > used[0]


@pytest.mark.long_nodes
def test_nobody_gets_another_hardware_address_when_hosts_come_and_go() -> None:
    """Else those that are there go on speaking to the former one for some seconds."""
    with Sandbox(Plan(groups=usual_groups(1, login=0))) as sandbox:
        switch = sandbox.room.command("ip", "-json", "link", "show", "br0", network_only=True)

        def of_switch() -> str:
            done = subprocess.run(switch, capture_output=True, text=True, check=True)
            return str(json.loads(done.stdout)[0]["address"])

        before = of_switch()
        sandbox.up()
        (compute,) = sandbox.compute
        address = compute.run("cat", "/sys/class/net/eth0/address").output
        sandbox.grow("compute", 2)
        sandbox.up()
        assert of_switch() == before
        compute.reboot()
        assert compute.run("cat", "/sys/class/net/eth0/address").output == address
        assert of_switch() == before
