"""Runs the real node scripts for one emulated node: in a temporary root, with stand-ins for its commands.

Nothing of the machine itself is touched: every path goes through the root, and PATH holds the stand-ins only.
"""

import atexit
import json
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

from hyperpod_cdk.rehearsal.node_commands.host import attach
from hyperpod_cdk.rehearsal.node_commands.machine import STATE, CommandFault, Machine
from hyperpod_cdk.rehearsal.node_commands.serving import PORT_VARIABLE, install, serving
from hyperpod_cdk.rehearsal.scratch import scratch

__all__ = ["CommandFault", "Machine", "node_environment", "prepare_root", "run_node", "slurm_conf"]

RESOURCE_CONFIG = "/opt/ml/config/resource_config.json"
PROVISIONING_PARAMETERS = "provisioning_parameters.json"
TIME_LIMIT_SECONDS = 120
SERVICES_DAEMONS = {"Controller": ("mariadb", "slurmdbd", "slurmctld"), "Compute": ("slurmd",)}
"""What HyperPod itself has started when it runs on_init_complete."""
FILES = {
    "/etc/passwd": (
        "root:x:0:0:root:/root:/bin/bash\n"
        "slurm:x:401:401::/home/slurm:/bin/false\n"
        "ubuntu:x:1000:1000:Ubuntu:/home/ubuntu:/bin/bash\n"
    ),
    "/etc/group": "root:x:0:\nsudo:x:27:ubuntu\nslurm:x:401:\nubuntu:x:1000:\ndocker:x:999:\n",
    "/etc/fstab": "LABEL=cloudimg-rootfs / ext4 discard,errors=remount-ro 0 1\n",
    "/etc/skel/.bashrc": "# ~/.bashrc\n",
    "/home/ubuntu/.bashrc": "# ~/.bashrc\n",
    "/etc/munge/munge.key": "pretended key of the cluster\n",
    "/proc/mounts": "/dev/root / ext4 rw,relatime 0 0\nproc /proc proc rw 0 0\n",
}


def run_node(
    scripts_dir: Path,
    root: Path,
    resource_config: Mapping[str, Any],
    *,
    hook: str,
    addresses: Sequence[str],
    env: Mapping[str, str] | None = None,
    storage: Path | None = None,
    faults: Sequence[CommandFault] = (),
) -> tuple[int, list[str]]:
    """Run a node's entry script to its end.

    Args:
        scripts_dir: what the node would have downloaded: the scripts, config.json beside them, extra/.
        root: the node's temporary root; made when missing, kept for a second run.
        resource_config: content of resource_config.json.
        hook: ``on_create`` or ``on_init_complete``.
        addresses: the addresses of the node's network interfaces.
        env: on top of the script's environment; ``HYPERPOD_CDK_TIME_SCALE=0.01`` makes bounded waits end a
            hundred times sooner, ``HYPERPOD_CDK_RUN_EXTRA=1`` runs the user's own steps instead of only
            checking them.
        storage: directory of the shared file systems' content; give the same to all nodes of a cluster.
            Within the root unless given.
        faults: commands that fail.

    Returns:
        The script's exit code and the lines that it printed, which are those of its log.
    """
    scripts_dir = scripts_dir.resolve()
    machine = prepare_root(
        scripts_dir, root, resource_config, hook=hook, addresses=addresses, storage=storage, faults=faults
    )
    with serving(machine) as port:
        done = subprocess.run(
            ["bash", str(scripts_dir / f"{hook}.sh")],
            cwd=scripts_dir,
            env={**node_environment(machine, port), **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIME_LIMIT_SECONDS,
            check=False,
        )
    return done.returncode, done.stdout.splitlines()


def node_environment(machine: Machine, port: int) -> dict[str, str]:
    """Give the whole environment of an entry script; as on a node, HOME is not in it.

    Args:
        machine: the node.
        port: where its commands are answered.
    """
    return {
        "PATH": str(machine.path(f"{STATE}/bin")),
        "HYPERPOD_CDK_ROOT": str(machine.root),
        PORT_VARIABLE: str(port),
        "SAGEMAKER_RESOURCE_CONFIG_PATH": RESOURCE_CONFIG,
        "PYTHONPYCACHEPREFIX": str(_bytecode_directory()),
    }


def prepare_root(
    scripts_dir: Path,
    root: Path,
    resource_config: Mapping[str, Any],
    *,
    hook: str,
    addresses: Sequence[str],
    storage: Path | None = None,
    faults: Sequence[CommandFault] = (),
) -> Machine:
    """Make a root as the service hands a node over, or renew what the service renews in one that exists.

    Args: as of :func:`run_node`.
    """
    machine = Machine(root.resolve(), tuple(faults))
    fresh = not (root / STATE).is_dir()
    machine.remember("addresses", list(addresses))
    machine.write(RESOURCE_CONFIG, json.dumps(resource_config, indent=2))
    if not fresh:
        return machine
    if storage is not None:
        machine.remember("storage", str(storage))
    for path, text in FILES.items():
        machine.write(path, text)
    machine.path("/etc/munge/munge.key").chmod(0o400)
    install(root / STATE / "bin")
    _play_service(machine, scripts_dir, resource_config, hook=hook, addresses=addresses)
    return machine


def _play_service(
    machine: Machine,
    scripts_dir: Path,
    resource_config: Mapping[str, Any],
    *,
    hook: str,
    addresses: Sequence[str],
) -> None:
    """Do what HyperPod does on a node before, or while, the scripts run."""
    legacy = scripts_dir / PROVISIONING_PARAMETERS
    if legacy.is_file():
        machine.write(f"/opt/ml/config/{PROVISIONING_PARAMETERS}", legacy.read_text())
    config = json.loads((scripts_dir / "config.json").read_text())
    group, address = _find(resource_config, addresses)
    entry = config.get("groups", {}).get(group, {})
    node_type = entry.get("node_type", "") or _legacy_type(legacy, group)
    machine.remember("node_type", node_type)
    if node_type == "Controller":
        machine.write("/opt/slurm/etc/slurm.conf", slurm_conf(resource_config, address))
        machine.write("/opt/slurm/etc/accounting.conf", "")
    if hook != "on_init_complete":
        return
    daemons = SERVICES_DAEMONS.get(node_type, ())
    machine.remember("units", {unit: {"enabled": True, "active": True} for unit in ("munge", *daemons)})
    for mount in entry.get("mounts", []):
        if not mount.get("by_service", True):
            continue
        lustre = mount["file_system_type"] == "LUSTRE"
        place = f"@tcp:/{mount['mount_name']}" if lustre else f":{mount.get('export_path', '/fsx')}"
        kind = "lustre" if lustre else "nfs"
        attach(machine, kind=kind, source=mount["dns_name"] + place, path=mount["mount_path"])


def _find(resource_config: Mapping[str, Any], addresses: Sequence[str]) -> tuple[str, str]:
    """Group and address of the node; empty when it is none of the cluster's."""
    for group in resource_config["InstanceGroups"]:
        for instance in group.get("Instances") or []:
            if instance["CustomerIpAddress"] in addresses:
                return str(group["Name"]), str(instance["CustomerIpAddress"])
    return "", ""


def _legacy_type(file: Path, group: str) -> str:
    if not file.is_file():
        return ""
    named = json.loads(file.read_text())
    types = {named.get("controller_group"): "Controller", named.get("login_group"): "Login"}
    return types.get(group, "Compute")


def slurm_conf(resource_config: Mapping[str, Any], address: str) -> str:
    """Give the slurm.conf that the service's agent writes on the controller, as far as scripts look at it.

    Args:
        resource_config: content of resource_config.json.
        address: the controller's.
    """
    return (
        f"ClusterName={resource_config['ClusterConfig']['ClusterName']}\n"
        f"SlurmctldHost=ip-{address.replace('.', '-')}({address})\n"
        "SlurmUser=slurm\n"
        "GresTypes=gpu\n"
        "TaskPlugin=task/none\n"
        "SchedulerParameters=permit_job_expansion\n"
        "Include accounting.conf\n"
        + "".join(
            f"NodeName=ip-{instance['CustomerIpAddress'].replace('.', '-')} State=CLOUD\n"
            for group in resource_config["InstanceGroups"]
            for instance in group.get("Instances") or []
            if instance["CustomerIpAddress"] != address
        )
    )


@cache
def _bytecode_directory() -> Path:
    # one for all nodes of this process, so that only the first of them compiles the scripts
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(scratch("hyperpod-cdk-bytecode-"))
