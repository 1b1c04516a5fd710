"""Many nodes at once, and a controller that is away while they come."""

import threading

import pytest

from hyperpod_cdk.rehearsal.hosts.plan import Plan, usual_groups
from hyperpod_cdk.rehearsal.hosts.sandbox import Sandbox
from tests.lifecycle.sandbox.scenario import ACCOUNTS, ALICE, BOB

pytestmark = pytest.mark.long_nodes


@pytest.mark.parametrize(("count", "slurm"), [(2, "22.05"), (20, "22.05"), (50, "22.05"), (50, "24.11")])
def test_nodes_that_come_at_once_make_each_home_once(count: int, slurm: str) -> None:
    plan = Plan(groups=usual_groups(count), users=[ALICE, BOB], config=ACCOUNTS)
    with Sandbox(plan, slurm=slurm) as sandbox:
        sandbox.up()
        runs = sandbox.provision()
        names = sandbox.idle(count, seconds=120)
        answer = sandbox.controller.run("srun", f"-N{count}", "hostname")
        assert sorted(answer.lines) == names
        makers = [name for name, run in runs.items() if "made by this node" in run.step("home")["detail"]]
        assert len(makers) == 1, f"ubuntu's home was made by {makers}"
        homes = sandbox.login.run("ls -A /fsx").lines
        assert sorted(homes) == ["alice", "bob", "ubuntu"], "drafts of homes are left"
        owners = sandbox.login.run("stat -c %u /fsx/alice /fsx/bob /fsx/ubuntu").lines
        assert owners == ["2001", "2002", "1000"]
        keys = sandbox.login.run("ls /fsx/alice/.ssh").lines
        assert sorted(keys) == ["authorized_keys", "id_ed25519", "id_ed25519.pub"]


def test_a_controller_that_restarts_while_nodes_join() -> None:
    """Its power goes when the others wait for it; it comes back and its scripts run again."""
    plan = Plan(groups=usual_groups(4), users=[ALICE, BOB], config=ACCOUNTS)
    with Sandbox(plan) as sandbox:
        sandbox.up()
        others = [sandbox.login, *sandbox.compute]
        runs: dict[str, int] = {}
        joining = threading.Thread(
            target=lambda: runs.update(
                {n: r.exit_code for n, r in sandbox.provision(others, check=False).items()}
            )
        )
        joining.start()
        folder = sandbox.download(sandbox.controller)
        sandbox.controller.run(f"cd {folder} && timeout --signal=KILL 4 bash ./on_create.sh", check=False)
        sandbox.controller.reboot()
        sandbox.provision([sandbox.controller])
        joining.join()
        assert set(runs.values()) == {0}
        sandbox.idle(4)
        assert len(sandbox.login.run("srun", "-N4", "hostname", user="alice").lines) == 4


def test_a_running_slurmctld_that_is_killed_comes_back_with_its_nodes() -> None:
    with Sandbox(Plan(groups=usual_groups(2), users=[ALICE, BOB], config=ACCOUNTS)) as sandbox:
        sandbox.up()
        sandbox.provision()
        sandbox.idle(2)
        sandbox.controller.reboot()
        sandbox.idle(2, seconds=120)
        assert len(sandbox.login.run("srun", "-N2", "hostname", user="alice").lines) == 2
