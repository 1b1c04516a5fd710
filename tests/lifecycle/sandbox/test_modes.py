"""Each lifecycle mode, from bare hosts to an accounted job on four nodes."""

import pytest

from hyperpod_cdk.rehearsal.hosts.plan import LUSTRE, OPENZFS, Plan, usual_groups
from hyperpod_cdk.rehearsal.hosts.sandbox import Sandbox
from tests.lifecycle.sandbox.scenario import ACCOUNTS, ALICE, BOB, disk, job, submit, unwell


def everything_works(mode: str, slurm: str, *, openzfs: bool, home: str, twice: bool = True) -> None:
    """Bring a cluster up and use it as a person would, then run the scripts again."""
    mounts = [LUSTRE, OPENZFS] if openzfs else [LUSTRE]
    plan = Plan(groups=usual_groups(4, mounts=mounts), mode=mode, users=[ALICE, BOB], config=ACCOUNTS)
    with Sandbox(plan, slurm=slurm) as sandbox:
        sandbox.up()
        sandbox.provision()
        names = sandbox.idle(4)
        lines = sandbox.login.run("srun", "-N4", "hostname", user="bob").lines
        assert sorted(lines) == names
        number = submit(sandbox.login, "alice", "-N4", script="touch $HOME/written")
        found = job(sandbox, number)
        assert (found["user"], found["account"], found["state"]) == ("alice", "research", "COMPLETED")
        assert sandbox.compute[-1].run("stat", "-c", "%u", f"{home}/alice/written").lines == ["2001"]
        assert unwell(sandbox) == {}
        if not twice:
            return
        before = {host.name: disk(host) for host in sandbox.hosts.values()}
        sandbox.provision()
        after = {host.name: disk(host) for host in sandbox.hosts.values()}
        changed = {name: sorted(set(before[name]) ^ set(after[name])) for name in before}
        assert {name: lines for name, lines in changed.items() if lines} == {}
        assert unwell(sandbox) == {}
        if mode == "custom":
            # in the other modes what the service starts comes in its own time
            for host in sandbox.hosts.values():
                host.reboot()
            sandbox.idle(4)
            assert unwell(sandbox) == {}


TWICE = pytest.param(True, marks=pytest.mark.long_nodes)


@pytest.mark.parametrize("twice", [False, TWICE])
def test_extension_mode(twice: bool) -> None:
    everything_works("extension", "22.05", openzfs=twice, home="/home" if twice else "/fsx", twice=twice)


@pytest.mark.parametrize("twice", [False, TWICE])
def test_legacy_mode(twice: bool) -> None:
    everything_works("legacy", "22.05", openzfs=False, home="/fsx", twice=twice)


@pytest.mark.long_nodes
@pytest.mark.parametrize("mode", ["custom", "extension", "legacy"])
def test_newer_slurm(mode: str) -> None:
    everything_works(mode, "24.11", openzfs=False, home="/fsx")


@pytest.mark.long_nodes
def test_custom_mode_with_homes_on_openzfs() -> None:
    everything_works("custom", "22.05", openzfs=True, home="/home")
