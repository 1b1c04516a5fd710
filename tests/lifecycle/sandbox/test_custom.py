"""A cluster that our scripts set up alone (custom mode): from bare hosts to jobs, and what comes later."""

import time

from hyperpod_cdk.rehearsal.hosts.sandbox import Sandbox
from tests.lifecycle.sandbox.scenario import disk, job, refresh_login, states, submit

# The tests of this file go on from one another: a cluster grows, loses nodes and runs its scripts again.


def test_four_nodes_run_a_job(cluster: Sandbox) -> None:
    answer = cluster.controller.run("srun", "-N4", "-l", "hostname")
    assert sorted(line.split()[-1] for line in answer.lines) == sorted(host.name for host in cluster.compute)
    assert cluster.idle(4) == sorted(states(cluster))


def test_a_listed_user_submits_from_the_login_node_and_writes_to_the_shared_home(cluster: Sandbox) -> None:
    number = submit(
        cluster.login, "alice", "-N4", script='srun bash -c \'echo "$(hostname)" >"$HOME/$SLURM_PROCID"\''
    )
    found = job(cluster, number)
    assert found == {
        "user": "alice",
        "account": "research",
        "state": "COMPLETED",
        "nnodes": "4",
        "cluster": "ml-cluster",
    }
    written = cluster.login.run("cat 0 1 2 3", user="alice").lines
    assert sorted(written) == sorted(host.name for host in cluster.compute)


def test_a_user_goes_from_node_to_node(cluster: Sandbox) -> None:
    target = cluster.compute[0].name
    answer = cluster.login.run("ssh", "-o", "BatchMode=yes", target, "id -un; hostname; pwd", user="alice")
    assert answer.lines[-3:] == ["alice", target, "/fsx/alice"]


def test_homes_and_numbers_are_the_same_everywhere(cluster: Sandbox) -> None:
    seen = {host.run("stat -c '%u %g %a' /fsx/alice; id -u bob").output for host in cluster.hosts.values()}
    assert seen == {"2001 2001 750\n2002\n"}


def test_a_second_run_succeeds_and_changes_no_file(cluster: Sandbox) -> None:
    before = {host.name: disk(host) for host in cluster.hosts.values()}
    started = cluster.controller.run(
        "systemctl show -p ActiveEnterTimestampMonotonic slurmctld slurmdbd"
    ).output
    runs = cluster.provision()
    after = {host.name: disk(host) for host in cluster.hosts.values()}
    changed = {name: sorted(set(before[name]) ^ set(after[name])) for name in before}
    assert {name: lines for name, lines in changed.items() if lines} == {}
    assert all(len(lines) > 20 for lines in before.values()), "the comparison saw hardly any file"
    assert {run.exit_code for run in runs.values()} == {0}
    again = cluster.controller.run(
        "systemctl show -p ActiveEnterTimestampMonotonic slurmctld slurmdbd"
    ).output
    assert again == started, "a daemon was restarted"


def test_a_scale_up_disturbs_no_running_job(cluster: Sandbox) -> None:
    number = submit(cluster.login, "alice", "-N4", script="srun sleep 60")
    deadline = time.monotonic() + 20
    while cluster.controller.run("squeue", "-hj", number, "-o", "%T").output.strip() != "RUNNING":
        assert time.monotonic() < deadline
        time.sleep(0.1)
    added = cluster.grow("compute", 2)
    cluster.provision(added)
    cluster.idle(2)
    line = cluster.controller.run("scontrol", "-o", "show", "job", number).output
    assert "JobState=RUNNING" in line
    assert "Restarts=0" in line
    cluster.controller.run("srun", "-N2", "hostname")
    cluster.controller.run("scancel", number)
    cluster.idle(6)


def test_a_replaced_node_joins_with_the_same_homes_and_keys(cluster: Sandbox) -> None:
    key = cluster.login.run("cat", "/fsx/alice/.ssh/authorized_keys").output
    cluster.lose("compute-1", replace=True)
    (fresh,) = cluster.up()
    cluster.provision([fresh])
    cluster.idle(6)
    assert fresh.run("stat -c %u /fsx/alice; id -u alice").lines == ["2001", "2001"]
    assert fresh.run("cat", "/fsx/alice/.ssh/authorized_keys").output == key
    # without it, srun 22.05 knows only the nodes of before
    refresh_login(cluster)
    answer = cluster.login.run("srun", "-w", fresh.name, "hostname", user="bob")
    assert answer.lines == [fresh.name]
