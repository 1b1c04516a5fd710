"""What is added to a real Slurm: settings that come back, a topology that grows, memory that is freed."""

import time
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from hyperpod_cdk.rehearsal.hosts.host import Host
from hyperpod_cdk.rehearsal.hosts.plan import Plan, usual_groups
from hyperpod_cdk.rehearsal.hosts.sandbox import Sandbox
from tests.lifecycle.sandbox.scenario import ALICE, BOB, LOGIN_WATCH, refresh_login

pytestmark = pytest.mark.long_nodes

SLURM = {
    "slurm": {
        "conf": {"DefMemPerCPU": "100", "TopologyPlugin": "topology/tree"},
        "scale": {"MessageTimeout": "60"},
        "epilog": True,
    },
    "user_groups": [{"name": "vision", "gid": 3000}],
}
LAST_START = "systemctl show --property=ExecMainStartTimestampMonotonic slurmd"
CONF = "/opt/slurm/etc/slurm.conf"

# The tests of this file go on from one another: somebody leaves, and the cluster grows under a running job.


@pytest.fixture(scope="module")
def cluster() -> Iterator[Sandbox]:
    """Two compute nodes with a Slurm that takes new nodes in."""
    plan = Plan(groups=usual_groups(2), users=[{**ALICE, "groups": ["vision"]}, BOB], config=SLURM)
    with Sandbox(plan, slurm="24.11") as sandbox:
        sandbox.up()
        sandbox.provision()
        sandbox.idle()
        yield sandbox


def until(holds: Callable[[], bool], seconds: float = 30.0) -> bool:
    """Look until something holds, and say whether it did in time."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.2)
    return True


def shown(sandbox: Sandbox, name: str) -> str:
    """A setting that slurmctld runs with; empty when it shows none of the name."""
    lines = sandbox.controller.run("scontrol", "show", "config").lines
    return next((line.partition("=")[2].strip() for line in lines if line.split()[:1] == [name]), "")


def test_slurmctld_runs_with_our_settings(cluster: Sandbox) -> None:
    assert shown(cluster, "DefMemPerCPU") == "100"
    assert shown(cluster, "MessageTimeout") == "60 sec"
    assert shown(cluster, "TopologyPlugin") == "topology/tree"


def test_47_a_job_that_asks_for_a_topology_runs(cluster: Sandbox) -> None:
    answer = cluster.login.run("srun", "-N2", "--switches=1", "hostname", user="alice")
    assert sorted(answer.lines) == sorted(host.name for host in cluster.compute)


def test_groups_of_the_list_reach_jobs(cluster: Sandbox) -> None:
    assert "3000(vision)" in cluster.login.run("srun", "-N1", "id", user="alice").output


def test_52_shared_memory_goes_with_the_job(cluster: Sandbox) -> None:
    leave = "echo left >/dev/shm/left-by-$USER; ipcmk -M 1000 >/dev/null; ls /dev/shm; ipcs -m"
    answer = cluster.login.run("srun", "-N2", "bash", "-c", leave, user="alice")
    assert answer.output.count("left-by-alice") == 2
    for host in cluster.compute:
        assert until(partial(clean, host))


def clean(host: Host) -> bool:
    """Whether nothing of alice is left in memory that processes share."""
    return not host.run("ls /dev/shm; ipcs -m | grep alice || true").output.strip()


def test_32_a_slurm_conf_without_our_part_gets_it_back(cluster: Sandbox) -> None:
    process = cluster.controller.run("pidof slurmctld").output
    cluster.controller.run("sed -i /hyperpod-cdk.conf/d /opt/slurm/etc/slurm.conf; scontrol reconfigure")
    assert until(
        lambda: "hyperpod-cdk.conf" in cluster.controller.run("cat /opt/slurm/etc/slurm.conf").output
    )
    assert until(lambda: shown(cluster, "DefMemPerCPU") == "100")
    assert cluster.controller.run("pidof slurmctld").output == process


def test_rewrites_in_a_row_leave_no_slurm_conf_without_our_part(cluster: Sandbox) -> None:
    # each one as soon as the part is back: while the scripts still run for the rewrite before
    drop = "sed -i '/accounting.conf/d;/hyperpod-cdk.conf/d' /opt/slurm/etc/slurm.conf"
    there = f"timeout 30 bash -c 'until grep -q hyperpod-cdk.conf {CONF}; do sleep 0.01; done'"
    for _ in range(5):
        assert not cluster.controller.run(f"{drop}; {there}", check=False).exit_code
    assert until(lambda: shown(cluster, "AccountingStorageType") == "accounting_storage/slurmdbd")
    assert shown(cluster, "DefMemPerCPU") == "100"
    included = cluster.controller.run("grep", "-c", "^Include", CONF).output.strip()
    assert included == "2"


def test_growth_disturbs_no_job_and_the_topology_has_the_new_node(cluster: Sandbox) -> None:
    process = cluster.controller.run("pidof slurmctld").output
    wrap = ["--parsable", "-N2", "--wrap", "srun bash -c 'until [ -e ~/grown ]; do sleep 0.2; done'"]
    number = cluster.login.run("sbatch", *wrap, user="alice").lines[-1]
    state = ["squeue", "-h", "-j", number, "-o", "%T %r"]
    assert until(lambda: cluster.login.run(*state).output.startswith("RUNNING"))
    cluster.grow("compute", 1)
    cluster.provision(cluster.compute[-1:])
    new = cluster.compute[-1].name
    assert until(lambda: new in cluster.controller.run("scontrol", "show", "topology").output)
    assert cluster.login.run(*state).output.startswith("RUNNING")
    assert cluster.controller.run("pidof slurmctld").output == process
    cluster.login.run("touch", "grown", user="alice")
    assert until(lambda: not cluster.login.run("squeue", "-h").output.strip())
    done = cluster.controller.run("sacct", "-X", "-n", "-P", "-j", number, "-o", "state,restarts")
    assert done.lines == ["COMPLETED|0"]
    refresh_login(cluster)
    answer = cluster.login.run("srun", "-N3", "--switches=1", "hostname", user="alice")
    assert new in answer.lines
    # with what the controller has, it asks for nothing
    before = cluster.login.run(LAST_START).output
    cluster.login.run("systemctl", "start", LOGIN_WATCH)
    assert cluster.login.run(LAST_START).output == before


def test_72_who_leaves_is_locked_and_who_comes_back_is_not(cluster: Sandbox) -> None:
    cluster.plan.users = [ALICE]
    cluster.plan.config = {**SLURM, "removed_users": ["bob"]}
    cluster.stage()
    cluster.provision()
    for host in cluster.hosts.values():
        assert host.run("passwd -S bob").output.split()[1] == "L"
        assert host.run("su bob -c id", check=False).exit_code != 0
        assert "bob:x:2002:2002:" in host.run("getent passwd bob").output
    cluster.plan.users = [ALICE, BOB]
    cluster.plan.config = SLURM
    cluster.stage()
    cluster.provision()
    assert "uid=2002(bob)" in cluster.login.run("su bob -c id").output


@pytest.mark.parametrize(
    ("setting", "step", "alive"),
    [
        # no command can read it: nothing changes, and the cluster goes on
        ({"DefMemPerCPU": "much"}, "slurm-files", True),
        # reads well, and slurmctld ends over it a moment after it has said yes to the reconfigure
        ({"SchedulerType": "sched/nonsense"}, "slurm-refresh", False),
    ],
)
def test_a_setting_that_slurm_does_not_take_is_told(setting: dict[str, str], step: str, alive: bool) -> None:
    plan = Plan(groups=usual_groups(1, login=0), mode="extension", config={"slurm": {"conf": setting}})
    with Sandbox(plan, slurm="24.11") as sandbox:
        sandbox.up()
        clock = {"HYPERPOD_CDK_TIME_SCALE": "0.1"}
        run = sandbox.provision([sandbox.controller], env=clock, check=False)[sandbox.controller.name]
        assert run.exit_code == 1
        assert run.step(step)["outcome"] == "failed"
        assert run.step(step)["advice"]
        said = " ".join(run.step(step)["last_lines"])
        assert ("sched plugin" if step == "slurm-refresh" else "DefMemPerCPU value (much)") in said
        assert (sandbox.controller.run("sinfo", check=False).exit_code == 0) is alive
