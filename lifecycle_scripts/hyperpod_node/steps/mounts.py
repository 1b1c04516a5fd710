"""The shared file systems: mounted by the service or by us, and in every case written to before going on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from hyperpod_node import live_mounts, lustre_efa
from hyperpod_node.clock import wait_for
from hyperpod_node.config import Mount
from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError, NotYetError
from hyperpod_node.resolving import resolve

SERVICE_MOUNT_LIMIT_SECONDS = 300
DNS_LIMIT_SECONDS = 300
MOUNT_LIMIT_SECONDS = 300
# field report 96: at 400 nodes a mount reported success, and writes failed for a while
WRITE_LIMIT_SECONDS = 120
FSTAB = "/etc/fstab"
SYSTEMD = "_netdev,x-systemd.automount,x-systemd.requires=network-online.target"
OPTIONS = {
    "LUSTRE": f"defaults,noatime,flock,{SYSTEMD}",
    # several TCP connections and large transfers, as FSx for OpenZFS recommends for NFS
    "OPENZFS": f"nfsvers=4.2,nconnect=16,rsize=1048576,wsize=1048576,timeo=600,hard,noatime,{SYSTEMD}",
}
FSTAB_TYPES = {"LUSTRE": "lustre", "OPENZFS": "nfs"}
PORTS = {
    "LUSTRE": "TCP 988 and 1018-1023 between the nodes' and the file system's security groups, both ways",
    "OPENZFS": "TCP and UDP 111, 2049 and 20001-20003 from the nodes' security group to the file system's",
}
# as bash says it
FULL = ("No space left on device", "Disk quota exceeded")
ANOTHER_ADVICE = "changed file systems reach only new nodes: replace this node"
# left alone, an empty file would stay for each node that found no room
WRITE = (
    """set -e; trap 'rm -f -- "$2"' ERR; printf "%s" "$1" >"$2"; """
    """read -r back <"$2" || true; rm -f -- "$2"; test "$back" = "$1\""""
)


def mount_file_systems(context: Context) -> str:
    """Mount what is not mounted yet, and check that it can be written to."""
    for mount in context.node.mounts_by_scripts:
        if not live_mounts.is_live(context.root, mount):
            _mount(context, mount)
        _check(context, mount)
    return _summary(context.node.mounts_by_scripts)


def verify_mounts(context: Context) -> str:
    """Wait for what the service mounts (extension mode), and check that it can be written to."""
    for mount in context.node.mounts_by_service:
        wait_for(
            partial(_touch, context, mount),
            what=f"the service's mount of {mount.dns_name} at {mount.mount_path}",
            deadline=context.deadline,
            say=context.say,
            limit_seconds=SERVICE_MOUNT_LIMIT_SECONDS,
            advice=_advice(mount),
        )
        _check(context, mount)
    return _summary(context.node.mounts_by_service)


def _mount(context: Context, mount: Mount) -> None:
    address = wait_for(
        lambda: resolve(context, mount.dns_name),
        what="the file system's DNS name",
        deadline=context.deadline,
        say=context.say,
        limit_seconds=DNS_LIMIT_SECONDS,
        advice="the file system is deleted, in another Region, or the VPC has EnableDnsSupport off",
    )
    context.say(f"{mount.dns_name} is {address}")
    context.root.path(mount.mount_path).mkdir(parents=True, exist_ok=True)
    # mount(8) reads fstab itself, and systemd reads it at the next boot: it need not be told now
    _write_fstab(context, mount)
    wait_for(
        lambda: _try_mount(context, mount),
        what=f"mounting {source(mount)} at {mount.mount_path}",
        deadline=context.deadline,
        say=context.say,
        limit_seconds=MOUNT_LIMIT_SECONDS,
        advice=_advice(mount),
        longest_pause_seconds=2.0,
    )


def _try_mount(context: Context, mount: Mount) -> None:
    try:
        context.commands.run("mount", mount.mount_path, timeout_seconds=90)
    except NodeError as error:
        # An automount unit may have been quicker.
        if not live_mounts.is_live(context.root, mount):
            raise NotYetError(" / ".join(error.last_lines) or error.message) from error


def _write_fstab(context: Context, mount: Mount) -> bool:
    """Have exactly one line for the mount path; a line of someone else for it is replaced."""
    line = fstab_line(mount, efa_unit=lustre_efa.unit(context.root))
    lines = context.root.read(FSTAB).splitlines()
    others = [other for other in lines if other.split()[1:2] != [mount.mount_path] or other.startswith("#")]
    if line in lines and len(others) == len(lines) - 1:
        return False
    return context.root.write(FSTAB, "\n".join([*others, line]) + "\n")


def source(mount: Mount) -> str:
    """The file system as mount(8) names it."""
    if mount.file_system_type == "LUSTRE":
        return f"{mount.dns_name}@tcp:/{mount.mount_name}"
    return f"{mount.dns_name}:{mount.export_path}"


def fstab_line(mount: Mount, *, efa_unit: str) -> str:
    """The line of /etc/fstab; `efa_unit` brings Lustre over EFA up, and is empty where there is none.

    Mounted before that unit, the file system comes up on TCP (field report 99).
    """
    options = OPTIONS[mount.file_system_type]
    if efa_unit and mount.file_system_type == "LUSTRE":
        options += f",x-systemd.after={efa_unit}"
    return f"{source(mount)} {mount.mount_path} {FSTAB_TYPES[mount.file_system_type]} {options} 0 0"


def _touch(context: Context, mount: Mount) -> None:
    """Look inside, since an automounted file system appears when it is touched (field report 98)."""
    path = context.root.path(mount.mount_path)
    try:
        context.commands.run("bash", "-c", 'cd "$1"', "bash", str(path), timeout_seconds=30)
    except NodeError as error:
        raise NotYetError(error.message) from error
    if not live_mounts.is_live(context.root, mount):
        live = live_mounts.at(context.root, mount.mount_path)
        raise NotYetError(
            f"a {live.kernel_type} file system is mounted there" if live else "nothing is mounted there"
        )


def another(context: Context, mount: Mount) -> str:
    """Which other file system is mounted at the path; empty when it is this one, or none."""
    live = live_mounts.at(context.root, mount.mount_path)
    if live is None or not mount.mount_name or live.source.rstrip("/").endswith(f":/{mount.mount_name}"):
        return ""
    return f"{mount.mount_path} has {live.source} mounted, but config.json says {source(mount)}"


def _check(context: Context, mount: Mount) -> None:
    """Refuse another file system at the path, then write, read back and delete a file of this node's own."""
    told = another(context, mount)
    if told:
        raise NodeError(told, advice=ANOTHER_ADVICE)
    wait_for(
        lambda: _write(context, mount),
        what=f"writing to {mount.mount_path}",
        deadline=context.deadline,
        say=context.say,
        limit_seconds=WRITE_LIMIT_SECONDS,
        advice=f"root must be able to write there (OpenZFS: export with no_root_squash); {_advice(mount)}",
    )


def _write(context: Context, mount: Mount) -> None:
    instance_id = context.node.instance.instance_id
    probe = context.root.path(f"{mount.mount_path}/.hyperpod-cdk-write-check.{instance_id}")
    try:
        # In a process of its own: one that hangs in a dead mount is left behind, this one goes on.
        context.commands.run("bash", "-c", WRITE, "bash", instance_id, str(probe), timeout_seconds=30)
    except NodeError as error:
        said = " / ".join(error.last_lines) or error.message
        if not any(word in said for word in FULL):
            raise NotYetError(said) from error
        # no trouble of this node's, and none that a new one would not have: jobs that only read run on
        context.warn(f"{mount.mount_path} is full: {said}")


def _advice(mount: Mount) -> str:
    return f"allow {PORTS[mount.file_system_type]}; file system and nodes belong in one Availability Zone"


def _summary(mounts: Sequence[Mount]) -> str:
    return ", ".join(f"{mount.file_system_type} at {mount.mount_path}" for mount in mounts)
