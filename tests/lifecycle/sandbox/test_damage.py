"""Whatever check-node looks at, it tells when that is broken, on every node type, and by its exit code."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from hyperpod_cdk.rehearsal.hosts.host import Host
from hyperpod_cdk.rehearsal.hosts.plan import Plan, usual_groups
from hyperpod_cdk.rehearsal.hosts.sandbox import Sandbox
from tests.lifecycle.sandbox.scenario import ACCOUNTS, ALICE

pytestmark = pytest.mark.long_nodes
UNFIT, DOUBTFUL = 1, 3
RESULT = "/opt/ml/config/hyperpod-cdk/result.json"
UNIT = "[Service]\\nExecStart=/bin/sleep 999\\n"
START = "systemctl start slurmctld; until scontrol ping | grep -q UP; do sleep 0.2; done"
FILL = (
    "size=$(df --output=size -k / | tail -1) used=$(df --output=used -k / | tail -1); "
    "fallocate -l $((size * 95 / 100 - used))K /var/filled"
)


class Damage(NamedTuple):
    """What is broken, and mended again.

    Args:
        check: what has to tell.
        exit_code: of check-node.
        harm: command on the host.
        mend: command on the host.
        says: in what it tells.
    """

    check: str
    exit_code: int
    harm: str
    mend: str
    says: str


EVERYWHERE = (
    Damage(
        "last-set-up",
        DOUBTFUL,
        f'cp {RESULT} /root/kept && sed -i \'s/"succeeded"/"failed"/\' {RESULT}',
        f"cp /root/kept {RESULT}",
        "failed",
    ),
    Damage(
        "network",
        UNFIT,
        "cp /etc/resolv.conf /root/kept && echo nameserver 127.0.0.9 >/etc/resolv.conf",
        "cp /root/kept /etc/resolv.conf",
        "s3.",
    ),
    Damage(
        "packages",
        DOUBTFUL,
        f"rm -f /etc/systemd/system/unattended-upgrades.service; printf '{UNIT}' "
        ">/run/systemd/system/unattended-upgrades.service; systemctl daemon-reload; "
        "systemctl start unattended-upgrades",
        "systemctl stop unattended-upgrades; rm /run/systemd/system/unattended-upgrades.service; "
        "systemctl daemon-reload",
        "unattended-upgrades",
    ),
    Damage("root-disk", UNFIT, FILL, "rm /var/filled", "% full"),
    Damage("mounts", UNFIT, "umount --lazy /fsx", "mount /fsx", "not mounted: /fsx"),
    Damage(
        "users",
        UNFIT,
        "mv /etc/sudoers.d/hyperpod-cdk-alice /root/kept",
        "mv /root/kept /etc/sudoers.d/hyperpod-cdk-alice",
        "alice may not use sudo",
    ),
    Damage(
        "users",
        UNFIT,
        "sed -i 's/^alice:x:2001:/alice:x:2999:/' /etc/passwd",
        "sed -i 's/^alice:x:2999:/alice:x:2001:/' /etc/passwd",
        "2999",
    ),
    Damage("removed-users", UNFIT, "useradd -s /bin/bash carol", "userdel carol", "carol"),
    Damage("munge", UNFIT, "systemctl stop munge", "systemctl start munge", "munge"),
    Damage(
        "munge",
        UNFIT,
        "chmod 644 /etc/munge/munge.key",
        "chmod 400 /etc/munge/munge.key",
        "can be read by others",
    ),
)
CONTROLLER = (
    Damage("slurmctld", UNFIT, "systemctl stop slurmctld", START, "slurmctld"),
    Damage(
        "auto-resume",
        DOUBTFUL,
        "sed -i 's/^TaskPlugin=.*/TaskPlugin=task\\/affinity/' /opt/slurm/etc/slurm.conf",
        "sed -i 's/^TaskPlugin=.*/TaskPlugin=task\\/none/' /opt/slurm/etc/slurm.conf",
        "task/affinity",
    ),
    Damage(
        "accounting",
        UNFIT,
        "systemctl stop slurmdbd",
        "systemctl start slurmdbd; until sacctmgr -n show cluster; do sleep 0.2; done",
        "sacctmgr",
    ),
    Damage(
        "accounting",
        UNFIT,
        "mv /opt/slurm/etc/slurmdbd.conf /root/kept",
        "mv /root/kept /opt/slurm/etc/slurmdbd.conf",
        "there is no",
    ),
    Damage(
        "accounting",
        UNFIT,
        "chmod 644 /opt/slurm/etc/slurmdbd.conf",
        "chmod 600 /opt/slurm/etc/slurmdbd.conf",
        "others can read",
    ),
    Damage(
        "accounts",
        DOUBTFUL,
        "sacctmgr -i modify account where name=research set fairshare=9",
        "sacctmgr -i modify account where name=research set fairshare=1",
        "9",
    ),
)
LOGIN = (
    Damage(
        "slurm-client",
        UNFIT,
        "mv /var/spool/slurmd/conf-cache /var/spool/slurmd/kept; mv /run/slurm /run/kept",
        "mv /var/spool/slurmd/kept /var/spool/slurmd/conf-cache; mv /run/kept /run/slurm",
        "sinfo",
    ),
)
COMPUTE = (
    Damage("slurmd", UNFIT, "systemctl stop slurmd", "systemctl start slurmd", "slurmd does not run"),
    Damage(
        "slurmd",
        UNFIT,
        "scontrol update nodename=$(hostname) state=drain reason=test",
        "scontrol update nodename=$(hostname) state=resume",
        "drain",
    ),
)
BY_GROUP = {
    "controller-1": (*EVERYWHERE, *CONTROLLER),
    "login-1": (*EVERYWHERE, *LOGIN),
    "compute-1": (*EVERYWHERE, *COMPUTE),
}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Sandbox]:
    config = {**ACCOUNTS, "removed_users": ["carol"]}
    with Sandbox(Plan(groups=usual_groups(1), users=[ALICE], config=config)) as sandbox:
        sandbox.up(disk="768m")
        sandbox.provision()
        sandbox.idle()
        yield sandbox


def looked(host: Host) -> tuple[int, dict[str, Any]]:
    answer = host.run("hyperpod-check-node", "--json", check=False)
    document = json.loads(answer.output)
    assert document["exit_code"] == answer.exit_code
    return answer.exit_code, {one["name"]: one for one in document["checks"]}


@pytest.mark.parametrize("name", BY_GROUP)
def test_what_is_broken_is_told(cluster: Sandbox, name: str) -> None:
    host = cluster.hosts[name]
    silent = []
    code, before = looked(host)
    assert code == 0, before
    for damage in BY_GROUP[name]:
        host.run("bash", "-c", damage.harm)
        exit_code, found = looked(host)
        host.run("bash", "-c", damage.mend)
        one = found[damage.check]
        if (
            one["outcome"] not in ("failed", "warning")
            or damage.says not in one["detail"]
            or not one["advice"]
        ):
            silent.append((damage.harm, one))
        elif exit_code != damage.exit_code:
            silent.append((damage.harm, exit_code))
    cluster.idle()
    code, after = looked(host)
    assert silent == []
    assert code == 0, [one for one in after.values() if one["outcome"] in ("failed", "warning")]
