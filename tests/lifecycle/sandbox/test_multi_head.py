"""Two controllers in legacy mode: the second takes over from the first, with one database for both."""

import json
import time

import pytest

from hyperpod_cdk.rehearsal.hosts.plan import LUSTRE, Group, Plan
from hyperpod_cdk.rehearsal.hosts.sandbox import Sandbox
from tests.lifecycle.sandbox.scenario import ALICE, unwell

pytestmark = pytest.mark.long_nodes

SECRET = "arn:aws:secretsmanager:us-west-2:111122223333:secret:heads-AbCdEf"
PASSWORD = "s3cretPassword1"
FORM = {
    "version": "1.0.0",
    "workload_manager": "slurm",
    "controller_group": "controller",
    "login_group": "login",
    "worker_groups": [{"instance_group_name": "compute", "partition_name": "training"}],
    "slurm_configurations": {
        "slurm_database_secret_arn": SECRET,
        "slurm_database_endpoint": "db.example.com",
        "slurm_shared_directory": "/fsx",
        "slurm_database_user": "slurm",
        "slurm_sns_arn": "arn:aws:sns:us-west-2:111122223333:heads",
    },
}
DATABASE = f"""
systemctl start mariadb
mariadb -e "create user slurm@'%' identified by '{PASSWORD}'; grant all on slurm_acct_db.* to slurm@'%'"
sed -i 's/^bind-address.*/bind-address=0.0.0.0/' /etc/mysql/mariadb.conf.d/50-server.cnf
systemctl restart mariadb
"""


def test_46_the_second_controller_takes_over() -> None:
    groups = [
        Group(name="controller", node_type="Controller", count=2),
        Group(name="login", node_type="Login", count=1),
        Group(name="compute", node_type="Compute", count=2, mounts=(LUSTRE,)),
    ]
    files = {"provisioning_parameters.json": json.dumps(FORM).encode()}
    plan = Plan(groups=groups, mode="legacy", users=[{**ALICE, "account": None}], files=files)
    plan.names["db.example.com"] = "10.1.255.9"
    with Sandbox(plan, slurm="24.11") as sandbox:
        sandbox.server("db", "10.1.255.9").run("bash", "-c", DATABASE)
        sandbox.secret(SECRET, json.dumps({"username": "slurm", "password": PASSWORD}))
        sandbox.up()
        sandbox.provision()
        sandbox.idle()
        heads = [host for name, host in sandbox.hosts.items() if name.startswith("controller")]
        first, second = heads or list(sandbox.hosts.values())[:2]
        assert sandbox.login.run("scontrol", "ping").output.count("is UP") == 2
        sandbox.login.run("srun", "-N2", "hostname", user="alice")
        assert unwell(sandbox) == {}
        first.run("systemctl", "stop", "slurmctld")
        second.run("scontrol", "takeover")
        end = time.monotonic() + 60
        while sandbox.login.run("srun", "-N2", "hostname", user="alice", check=False).exit_code:
            assert time.monotonic() < end
            time.sleep(1)
        states = sandbox.login.run("sacct", "-a", "-X", "-n", "-o", "user,state").lines
        assert [line.split() for line in states] == [["alice", "COMPLETED"]] * len(states)
        assert len(states) >= 2
        told = unwell(sandbox)
        assert list(told) == [first.name]
        assert "slurmctld does not run" in told[first.name]
