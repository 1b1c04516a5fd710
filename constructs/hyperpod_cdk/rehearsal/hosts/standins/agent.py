#!/usr/bin/python3 -I
"""Stands in for the service's agent on a node: what is on a machine before, or beside, its lifecycle script.

``agent.py boot`` is a unit of every host. It writes resource_config.json, and on the controller Slurm's files
as the service lays them out. In extension mode, and for a group without scripts, it also mounts the file
systems, keeps accounts, and starts Slurm: the image's own set-up. ``agent.py refresh`` is what happens on a
node when others join or leave. What it is told lies in ``/.sandbox/cluster.json``.
"""

import contextlib
import fcntl
import json
import re
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Told = dict[str, Any]

TOLD = Path("/.sandbox/cluster.json")
RESOURCE_CONFIG = Path("/opt/ml/config/resource_config.json")
ETC = Path("/opt/slurm/etc")
DONE = Path("/run/sandbox-agent-done")
LOCK = Path("/run/sandbox-agent-lock")
PLACEHOLDER = "none"
"""A node that sinfo does not show: slurmctld 22.05 ends when no partition has a node (measured)."""
MODERN_SLURM = 23.11
"""From here on `scontrol reconfigure` takes nodes that were added; slurmctld 22.05 ends (measured)."""
SETTINGS = """\
ClusterName={cluster}
SlurmctldHost={head}({address})
SlurmUser=slurm
AuthType=auth/munge
MpiDefault=none
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
SlurmctldLogFile=/var/log/slurm/slurmctld.log
SlurmdLogFile=/var/log/slurm/slurmd.log
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd
SlurmctldParameters=enable_configless
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SchedulerParameters=permit_job_expansion
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
GresTypes=gpu
ReturnToService=2
SlurmctldTimeout=30
SlurmdTimeout=60
KillWait=5
MinJobAge=300
Include accounting.conf
"""
# TaskPlugin, SchedulerParameters, the names of cluster, head, partitions and nodes are the service's own: AWS
# documentation, "what HyperPod overrides in slurm.conf"; configless and the include: its base configuration
MOUNT_TYPES = {"LUSTRE": "lustre", "OPENZFS": "nfs"}
MOUNT_OPTIONS = {"LUSTRE": "defaults,noatime,flock,_netdev", "OPENZFS": "nfsvers=4.2,_netdev"}


def main() -> None:
    """Run a command."""
    if sys.argv[1] == "refresh":
        with alone() as told:
            refresh(told)
        return
    with alone() as told:
        if not any(host_name(own) == socket.gethostname() for _, own in entries(told)):
            print("this host is beside the cluster, not in it")
            return
        write_resource_config(told)
    group, _ = find(told)
    if group["node_type"] == "Controller":
        time.sleep(told["slurm_conf_delay_seconds"])
        with alone() as told:
            write_slurm_conf(told)
    if group["mode"] in ("extension", "ami"):
        set_up(told, group)
    DONE.touch()


@contextlib.contextmanager
def alone() -> Iterator[Told]:
    """Give what it is told now, while no other run of the agent here writes files by what it was told."""
    with LOCK.open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield json.loads(TOLD.read_text())


def write_resource_config(told: Told) -> None:
    """Tell the scripts of the cluster's nodes."""
    write(RESOURCE_CONFIG, json.dumps(told["resource_config"], indent=1), mode=0o600)


def find(told: Told) -> tuple[Told, Told]:
    """This node's group and entry."""
    name = socket.gethostname()
    for group, own in entries(told):
        if host_name(own) == name:
            return group, own
    raise LookupError(f"{name} is not in {TOLD}")


def entries(told: Told) -> list[tuple[Told, Told]]:
    """Every node with its group."""
    listed = told["resource_config"]["InstanceGroups"]
    return [(told["groups"][group["Name"]], own) for group in listed for own in group["Instances"]]


def host_name(entry: Told) -> str:
    """The host name that EC2 gives an address."""
    return "ip-" + str(entry["CustomerIpAddress"]).replace(".", "-")


def controller(told: Told) -> Told:
    """The controller's entry."""
    return next(own for group, own in entries(told) if group["node_type"] == "Controller")


# -- Slurm's files -----------------------------------------------------------------------------------------


def write_slurm_conf(told: Told) -> None:
    """Lay Slurm's files out; accounting.conf is there and empty."""
    head = controller(told)
    text = SETTINGS.format(
        cluster=told["resource_config"]["ClusterConfig"]["ClusterName"],
        head=host_name(head),
        address=head["CustomerIpAddress"],
    )
    write(ETC / "gres.conf", "")
    # jobs are held together by their processes: a host has no controllers where the machine's are version 1
    plugin = "disabled" if slurm_version() >= MODERN_SLURM else "cgroup/v1"
    write(ETC / "cgroup.conf", f"CgroupPlugin={plugin}\n")
    if not (ETC / "accounting.conf").exists():
        write(ETC / "accounting.conf", "# accounting settings\n")
    write(ETC / "slurm.conf", text + further_controllers(told) + nodes_and_partitions(told))


def further_controllers(told: Told) -> str:
    """The lines of the controllers that take over from the first one."""
    heads = [own for group, own in entries(told) if group["node_type"] == "Controller"]
    return "".join(f"SlurmctldHost={host_name(own)}({own['CustomerIpAddress']})\n" for own in heads[1:])


def nodes_and_partitions(told: Told) -> str:
    """The lines of slurm.conf that follow the cluster's groups."""
    compute = [(group, own) for group, own in entries(told) if group["node_type"] == "Compute"]
    lines = [
        f"NodeName={host_name(own)} NodeAddr={own['CustomerIpAddress']} {group['shape']} State=UNKNOWN"
        for group, own in compute
    ]
    everything = ",".join(host_name(own) for _, own in compute) or PLACEHOLDER
    if not compute:
        lines.append(f"NodeName={PLACEHOLDER} State=FUTURE")
    lines.append(
        f"PartitionName=dev Nodes={everything} Default=YES MaxTime=INFINITE OverSubscribe=EXCLUSIVE State=UP"
    )
    for partition in dict.fromkeys(group["partition"] for group, _ in compute):
        names = ",".join(host_name(own) for group, own in compute if group["partition"] == partition)
        lines.append(f"PartitionName={partition} Nodes={names} MaxTime=INFINITE State=UP")
    return "".join(f"{line}\n" for line in lines)


def refresh(told: Told) -> None:
    """Take over that nodes joined or left: only the service's own lines of slurm.conf change."""
    write_resource_config(told)
    group, _ = find(told)
    conf = ETC / "slurm.conf"
    if group["node_type"] != "Controller" or not conf.exists():
        return
    kept = [
        line for line in conf.read_text().splitlines() if not line.startswith(("NodeName=", "PartitionName="))
    ]
    write(conf, "".join(f"{line}\n" for line in kept) + nodes_and_partitions(told))
    if run("systemctl", "is-active", "--quiet", "slurmctld", check=False):
        return
    if slurm_version() >= MODERN_SLURM:
        run("scontrol", "reconfigure")
    else:
        run("systemctl", "restart", "slurmctld")


def slurm_version() -> float:
    """Major and minor version of Slurm."""
    text = subprocess.run(["slurmctld", "-V"], capture_output=True, text=True, check=True).stdout
    return float(re.findall(r"\d+\.\d+", text)[0])


# -- the image's own set-up --------------------------------------------------------------------------------


def set_up(told: Told, group: Told) -> None:
    """Do what the service does before OnInitComplete."""
    for mount in group["mounts"]:
        attach(mount)
    shared = next((mount["mount_path"] for mount in sorted(group["mounts"], key=openzfs_first)), None)
    if shared:
        give_home("ubuntu", f"{shared}/ubuntu")
    actions = {"Controller": start_controller, "Compute": start_compute, "Login": start_login}
    actions[group["node_type"]](told)


def openzfs_first(mount: Told) -> bool:
    """Homes lie on OpenZFS where there is one."""
    return str(mount["file_system_type"]) != "OPENZFS"


def attach(mount: Told) -> None:
    """Mount a file system, by a line of fstab."""
    lustre = mount["file_system_type"] == "LUSTRE"
    below = f"@tcp:/{mount['mount_name']}" if lustre else f":{mount.get('export_path') or '/fsx'}"
    kind = mount["file_system_type"]
    line = f"{mount['dns_name']}{below} {mount['mount_path']} {MOUNT_TYPES[kind]} {MOUNT_OPTIONS[kind]} 0 0\n"
    fstab = Path("/etc/fstab")
    if line not in fstab.read_text():
        with fstab.open("a") as stream:
            stream.write(line)
    Path(mount["mount_path"]).mkdir(parents=True, exist_ok=True)
    patiently(["mount", mount["mount_path"]])


def give_home(name: str, home: str) -> None:
    """Move a user's home to the shared file system, with a key that lets it from node to node."""
    if not Path(home).exists():
        run("install", "-d", "-o", name, "-g", name, "-m", "750", home, check=False)
    run("usermod", "--home", home, name, check=False)
    key = Path(home) / ".ssh" / "id_rsa"
    if not key.exists():
        make = f"mkdir -p -m 700 {key.parent} && ssh-keygen -q -t rsa -b 2048 -N '' -f {key}.$$ && "
        make += (
            f"ln {key}.$$ {key} && mv {key}.$$.pub {key}.pub && cat {key}.pub >>{key.parent}/authorized_keys"
        )
        run("runuser", name, "-c", f"{make}; rm -f {key}.$$*", check=False)


def start_controller(told: Told) -> None:
    """MariaDB, slurmdbd, slurmctld."""
    password = secrets.token_hex(16)
    head = host_name(controller(told))
    lines = {
        "AuthType": "auth/munge",
        "DbdHost": head,
        "SlurmUser": "slurm",
        "LogFile": "/var/log/slurm/slurmdbd.log",
        "PidFile": "/run/slurmdbd.pid",
        "StorageType": "accounting_storage/mysql",
        "StorageHost": "localhost",
        "StorageUser": "slurm",
        "StoragePass": password,
        "StorageLoc": "slurm_acct_db",
    }
    write(ETC / "slurmdbd.conf", "".join(f"{key}={value}\n" for key, value in lines.items()), mode=0o600)
    run("chown", "slurm:slurm", str(ETC / "slurmdbd.conf"))
    accounting = f"AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageHost={head}\n"
    write(ETC / "accounting.conf", f"{accounting}JobAcctGatherType=jobacct_gather/linux\n")
    run("systemctl", "enable", "--now", "mariadb")
    sql = (
        "create database if not exists slurm_acct_db; create user if not exists slurm@localhost "
        f"identified by '{password}'; grant all on slurm_acct_db.* to slurm@localhost"
    )
    patiently(["mariadb", "-e", sql])
    run("systemctl", "enable", "--now", "slurmdbd")
    patiently(["sacctmgr", "-n", "show", "cluster"])
    run(
        "sacctmgr",
        "-i",
        "add",
        "cluster",
        told["resource_config"]["ClusterConfig"]["ClusterName"],
        check=False,
    )
    run("systemctl", "enable", "--now", "slurmctld")
    patiently(["bash", "-c", "scontrol ping | grep -q UP"])


def start_compute(told: Told) -> None:
    """slurmd, which fetches its configuration."""
    configure_slurmd(told, restart="on-failure")
    run("systemctl", "enable", "--now", "slurmd")


def start_login(told: Told) -> None:
    """The configuration for the client commands; slurmd ends on a node that slurm.conf does not name."""
    configure_slurmd(told, restart="no")
    patiently(
        ["bash", "-c", "systemctl start slurmd; sleep 0.2; test -e /var/spool/slurmd/conf-cache/slurm.conf"]
    )


def configure_slurmd(told: Told, *, restart: str) -> None:
    """Point slurmd at the controller."""
    server = f"{controller(told)['CustomerIpAddress']}:6817"
    write(
        Path("/etc/systemd/system/slurmd.service.d/service.conf"),
        f'[Unit]\nStartLimitIntervalSec=0\n[Service]\nEnvironment="SLURMD_OPTIONS=--conf-server {server}"\n'
        f"Restart={restart}\nRestartSec=1\n",
    )
    run("systemctl", "daemon-reload")


# -- small things ------------------------------------------------------------------------------------------


def write(path: Path, text: str, *, mode: int = 0o644) -> None:
    """Put a file in place in one move."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.agent")
    draft.write_text(text)
    draft.chmod(mode)
    draft.replace(path)


def run(*command: str, check: bool = True) -> int:
    """Run a command; its exit code."""
    return subprocess.run(command, check=check).returncode


def patiently(command: list[str], seconds: float = 120.0) -> None:
    """Run a command until it succeeds."""
    deadline = time.monotonic() + seconds
    while subprocess.run(command, check=False).returncode:
        if time.monotonic() > deadline:
            raise TimeoutError(" ".join(command))
        time.sleep(0.2)


if __name__ == "__main__":
    main()
