"""What the scenarios share: users, what a node's disk holds, what Slurm says of a job."""

import re
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

from hyperpod_cdk.rehearsal.hosts.host import Host
from hyperpod_cdk.rehearsal.hosts.sandbox import Sandbox

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl alice@laptop"
ALICE = {
    "name": "alice",
    "uid": 2001,
    "gid": 2001,
    "groups": [],
    "ssh_public_keys": [KEY],
    "sudo": True,
    "account": "research",
}
BOB = {"name": "bob", "uid": 2002, "gid": 2002, "groups": [], "ssh_public_keys": [], "sudo": False}
ACCOUNTS = {
    "accounting": {
        "accounts": [{"name": "research"}],
        "associations": [{"user": "alice", "account": "research"}],
        "users": [{"name": "alice", "default_account": "research"}],
    }
}

LOGIN_WATCH = "hyperpod-cdk-slurm-login.service"

# what a running machine writes by itself, and what says when something was done
LEFT_OUT = (
    "/var/log",
    "/var/lib/mysql",
    "/var/lib/systemd",
    "/var/lib/apt/periodic",
    "/var/spool/slurmctld",
    "/var/spool/slurmd",
    "/var/cache",
    "/var/tmp",
    "/opt/ml/config/hyperpod-cdk",
    "/root/.cache",
    "/etc/.pwd.lock",
)
DISK = r"""
prune=(-path /.sandbox)
for path in "$@"; do prune+=(-o -path "$path"); done
booted=@$(stat -c %Y /etc/machine-id)
for top in / /fsx /home; do
    [ -d "$top" ] || continue
    new=("$top" -xdev '(' "${prune[@]}" ')' -prune -o -newerct "$booted")
    find "${new[@]}" '(' -type f -o -type l ')' -printf '%m %u %g %y %p %l\n'
    find "${new[@]}" -type f -print0 | xargs -0r sha256sum
done | sort -u
"""


def disk(host: Host) -> list[str]:
    """Every file that came after the image, with owner, mode and a sum of its content."""
    return host.run("bash", "-c", DISK, "bash", *LEFT_OUT).lines


def unwell(sandbox: Sandbox) -> dict[str, str]:
    """What check-node says of the nodes that it does not find well, by host."""
    nodes = [host for name, host in sandbox.hosts.items() if name in sandbox.plan.nodes()]
    with ThreadPoolExecutor(len(nodes)) as threads:
        answers = threads.map(lambda host: host.run("hyperpod-check-node", check=False), nodes)
        found = zip(nodes, answers, strict=True)
        return {host.name: answer.output for host, answer in found if answer.exit_code}


def states(sandbox: Sandbox) -> Mapping[str, str]:
    """The state of every node, by name, as sinfo shows it."""
    lines = sandbox.controller.run("sinfo", "-hN", "-p", "dev", "-o", "%N %T").lines
    return dict(line.split() for line in lines)


def refresh_login(sandbox: Sandbox, seconds: float = 30.0) -> None:
    """Do what a login node's timer does each minute, and wait for what it brings.

    slurmd is of Type=simple: its start returns before it has fetched anything, and until it has, client
    commands do not know new nodes.
    """
    deadline = time.monotonic() + seconds
    sandbox.login.run("systemctl", "start", LOGIN_WATCH)
    while not re.search("HASH_VAL += Match", sandbox.login.run("scontrol", "show", "config").output):
        assert time.monotonic() < deadline, "the login node has another configuration than the controller"
        time.sleep(0.1)


def job(sandbox: Sandbox, number: str, seconds: float = 20.0) -> dict[str, str]:
    """What sacct says of a job, once it has ended; its row comes a moment after the job."""
    fields = ("user", "account", "state", "nnodes", "cluster")
    command = ["sacct", "-n", "-P", "-X", "-j", number, "-o", ",".join(fields)]
    deadline = time.monotonic() + seconds
    while True:
        lines = sandbox.controller.run(*command).lines
        found = dict(zip(fields, lines[0].split("|"), strict=True)) if lines else {}
        if (
            found.get("state") not in (None, "PENDING", "RUNNING", "COMPLETING")
            or time.monotonic() > deadline
        ):
            return found
        time.sleep(0.2)


def submit(host: Host, user: str, *arguments: str, script: str) -> str:
    """Submit a batch job as a user from their home; its number."""
    text = f"#!/bin/bash\n{script}\n"
    answer = host.run("sbatch", "--parsable", *arguments, user=user, given=text)
    return answer.lines[-1].split(";")[0]
