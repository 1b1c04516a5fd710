"""What can be broken on a host, by the check of check-node that has to tell it."""

from collections.abc import Mapping
from typing import NamedTuple

UNFIT, DOUBTFUL = 1, 3
NODE_TYPES = {"controller-1": "Controller", "login-1": "Login", "compute-1": "Compute"}
NOT_PLAYED: Mapping[str, str] = {}
"""Checks that no host here can be broken for, and why; none so far."""

RESULT = "/opt/ml/config/hyperpod-cdk/result.json"
ETC = "/opt/slurm/etc"
START = "systemctl start slurmctld; until scontrol ping | grep -q UP; do sleep 0.2; done"
DATABASE = "systemctl start slurmdbd; until sacctmgr -n show cluster; do sleep 0.2; done"
FILL = (
    "size=$(df --output=size -k / | tail -1) used=$(df --output=used -k / | tail -1); "
    "fallocate -l $((size * 95 / 100 - used))K /var/filled"
)
UPGRADES = (
    "rm -f /etc/systemd/system/unattended-upgrades.service; "
    "printf '[Service]\\nExecStart=/bin/sleep 999\\n' >/run/systemd/system/unattended-upgrades.service; "
    "systemctl daemon-reload; systemctl start unattended-upgrades"
)
NO_UPGRADES = (
    "systemctl stop unattended-upgrades; rm /run/systemd/system/unattended-upgrades.service; "
    "systemctl daemon-reload"
)
DISK = (
    "mount -t tmpfs block /sys/block && mkdir -p /sys/block/nvme9n1/device && "
    "echo 'Amazon EC2 NVMe Instance Storage' >/sys/block/nvme9n1/device/model"
)
BUS = (
    "mount -t tmpfs bus /sys/bus/pci/devices && cd /sys/bus/pci/devices && mkdir 1 2 && "
    "tee 1/vendor 2/vendor <<<0x1d0f && tee 1/device 2/device <<<0xefa1"
)
DOCKER = "printf '#!/bin/bash\\n[ $1 != info ] || echo {}\\n' >/usr/local/bin/docker"
NO_ROUTE = "ip route {} unreachable 169.254.169.254"
PORT = "/sys/class/infiniband/efa_0/ports/1/state"
WATCH = "hyperpod-cdk-slurm-files.path"
# nobody puts Slurm's files right any more, nor is still at it
QUIET = (
    f"systemctl stop {WATCH}; while systemctl list-jobs | grep -q hyperpod-cdk-slurm-files || "
    "systemctl is-active hyperpod-cdk-slurm-files.service | grep -q activating; do sleep 0.1; done"
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


def away(path: str) -> tuple[str, str]:
    """Move a file away, and back."""
    return f"mv {path} /root/kept", f"mv /root/kept {path}"


def edited(path: str, script: str) -> tuple[str, str]:
    """Edit a file by sed, and put it back as it was, owner and mode among the rest."""
    return f"cp --archive {path} /root/kept && sed -i '{script}' {path}", f"cp --archive /root/kept {path}"


def mode(path: str, bad: str, good: str) -> tuple[str, str]:
    return f"chmod {bad} {path}", f"chmod {good} {path}"


def unwatched(harm: str, mend: str) -> tuple[str, str]:
    """Harm to Slurm's files that would be put right at once."""
    return f"{QUIET}; {harm}", f"{mend}; systemctl start {WATCH}"


def stopped(unit: str) -> tuple[str, str]:
    return f"systemctl stop {unit}", f"systemctl start {unit}"


def disabled(unit: str) -> tuple[str, str]:
    return f"systemctl disable {unit}", f"systemctl enable {unit}"


EVERYWHERE = (
    Damage("last-set-up", DOUBTFUL, *edited(RESULT, 's/"succeeded"/"failed"/'), "failed"),
    Damage("last-set-up", DOUBTFUL, *away(RESULT), "no /opt/ml"),
    Damage("network", UNFIT, *edited("/etc/resolv.conf", "s/nameserver.*/nameserver 127.0.0.9/"), "s3."),
    Damage("metadata", DOUBTFUL, NO_ROUTE.format("add"), NO_ROUTE.format("del"), "instance metadata: "),
    Damage("packages", DOUBTFUL, UPGRADES, NO_UPGRADES, "unattended-upgrades"),
    Damage(
        "packages",
        DOUBTFUL,
        "apt-mark showhold >/root/kept; apt-mark unhold $(head -n 1 /root/kept)",
        "apt-mark hold $(cat /root/kept)",
        "not held: ",
    ),
    Damage("root-disk", UNFIT, FILL, "rm /var/filled", "% full"),
    Damage("data-disk", DOUBTFUL, DISK, "umount /sys/block", "1 disks of the instance"),
    Damage("mounts", UNFIT, "umount --lazy /fsx", "mount /fsx", "not mounted: /fsx"),
    Damage("mounts", UNFIT, "mount -io remount,ro /fsx", "mount -io remount,rw /fsx", "read-only: /fsx"),
    Damage("at-boot", DOUBTFUL, *edited("/etc/fstab", "\\, /fsx ,d"), "gone after the next start: /fsx"),
    Damage("at-boot", DOUBTFUL, *disabled("munge"), "gone after the next start: munge"),
    Damage("lustre-efa", DOUBTFUL, ": >/run/lnetctl.efa", "echo efa_0 >/run/lnetctl.efa", "0 of 1 EFA"),
    Damage("home", UNFIT, *edited("/etc/passwd", "/^ubuntu:/s,/fsx/,/home/,"), "/home/ubuntu, on this node"),
    Damage("users", UNFIT, *away("/etc/sudoers.d/hyperpod-cdk-alice"), "alice may not use sudo"),
    Damage("users", UNFIT, *edited("/etc/passwd", "s/^alice:x:2001:/alice:x:2999:/"), "alice has 2999:2001"),
    Damage("users", UNFIT, *edited("/etc/group", "s/^\\(vision:.*:\\)alice$/\\1/"), "alice is not in vision"),
    Damage("users", UNFIT, *edited("/etc/group", "s/^vision:x:3000:/vision:x:3999:/"), "vision has 3999"),
    Damage("users", UNFIT, *edited("/etc/passwd", "/^alice:/d"), "no user alice"),
    Damage("users", UNFIT, *away("/fsx/alice/.ssh/authorized_keys"), "alice lacks 1 ssh keys"),
    Damage("users", UNFIT, *mode("/fsx/alice/.ssh/authorized_keys", "666", "600"), "changed by others"),
    Damage("users", UNFIT, "mv /fsx/alice /fsx/gone", "mv /fsx/gone /fsx/alice", "alice has no home"),
    Damage("removed-users", UNFIT, "useradd -s /bin/bash carol", "userdel carol", "carol"),
    Damage("ssh", DOUBTFUL, *away("/etc/ssh/ssh_config.d/50-hyperpod-cdk.conf"), "ssh asks for each"),
    Damage("ssh", DOUBTFUL, *away("/fsx/alice/.ssh/id_ed25519"), "alice has no key"),
    Damage("ssh", DOUBTFUL, *edited("/fsx/alice/.ssh/id_ed25519.pub", "s/AAAA/BBBB/"), "in nowhere"),
    Damage("munge", UNFIT, *stopped("munge"), "munge"),
    Damage("munge", UNFIT, *mode("/etc/munge/munge.key", "644", "400"), "can be read by others"),
    Damage(
        "docker",
        DOUBTFUL,
        DOCKER.format("/var/lib/docker"),
        DOCKER.format("/opt/sagemaker/docker"),
        "lie in /var",
    ),
    Damage("docker", DOUBTFUL, *away("/usr/local/bin/docker"), "no Docker on this node"),
    Damage("enroot", DOUBTFUL, *away("/usr/local/lib/slurm/spank_pyxis.so"), "Pyxis is not loaded"),
    Damage("enroot", DOUBTFUL, *away("/usr/local/bin/enroot"), "no Enroot on this node"),
    Damage("directory", DOUBTFUL, *stopped("sssd"), "sssd does not run"),
    Damage("directory", DOUBTFUL, *mode("/etc/sssd/sssd.conf", "644", "600"), "sssd.conf has mode 644"),
    Damage(
        "buckets",
        DOUBTFUL,
        "umount --lazy /datasets",
        "systemctl restart hyperpod-cdk-s3-datasets",
        "not mounted: /datasets",
    ),
    Damage(
        "log-rotation", DOUBTFUL, *edited("/etc/logrotate.d/hyperpod-cdk-slurm", "s/daily/dayly/"), "error"
    ),
    Damage("metrics", DOUBTFUL, *stopped("hyperpod-prometheus"), "hyperpod-prometheus does not run"),
    Damage("metrics", DOUBTFUL, *stopped("hyperpod-node-exporter"), "hyperpod-node-exporter does not run"),
)
CONTROLLER = (
    Damage("slurmctld", UNFIT, "systemctl stop slurmctld", START, "slurmctld does not run"),
    Damage("at-boot", DOUBTFUL, *disabled("slurmctld"), "slurmctld"),
    Damage("slurm-watch", DOUBTFUL, *stopped(WATCH), f"{WATCH} does not run"),
    Damage("slurm-watch", DOUBTFUL, *disabled(WATCH), "after the next start"),
    Damage(
        "auto-resume",
        DOUBTFUL,
        *unwatched(*edited(f"{ETC}/slurm.conf", "s,^TaskPlugin=.*,TaskPlugin=task/affinity,")),
        "task/affinity",
    ),
    Damage(
        "slurm-files",
        DOUBTFUL,
        *unwatched(*edited(f"{ETC}/slurm.conf", "/Include hyperpod-cdk.conf/d")),
        "slurm.conf does not include hyperpod-cdk.conf",
    ),
    Damage(
        "slurm-files",
        DOUBTFUL,
        *unwatched(*edited(f"{ETC}/hyperpod-cdk.conf", "s/=100$/=200/")),
        "not what the deploy",
    ),
    Damage(
        "slurm-files",
        DOUBTFUL,
        *unwatched(*edited(f"{ETC}/plugstack.conf", "$ainclude plugstack.conf.d/*")),
        "plugstack.conf includes plugstack.conf.d/*",
    ),
    Damage(
        "slurm-files",
        DOUBTFUL,
        *unwatched(f"echo '[]' >{ETC}/topology.yaml", f"rm {ETC}/topology.yaml"),
        "topology.yaml is empty",
    ),
    Damage("accounting", UNFIT, "systemctl stop slurmdbd", DATABASE, "sacctmgr"),
    Damage("accounting", UNFIT, *away(f"{ETC}/slurmdbd.conf"), "there is no"),
    Damage("accounting", UNFIT, *mode(f"{ETC}/slurmdbd.conf", "644", "600"), "others can read"),
    Damage("purge", DOUBTFUL, *edited(f"{ETC}/slurmdbd.conf", "/^Purge/d"), "lacks PurgeJobAfter=12month"),
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
    Damage("at-boot", DOUBTFUL, *disabled("slurmd"), "slurmd"),
    Damage("login-watch", DOUBTFUL, *stopped("hyperpod-cdk-slurm-login.timer"), "does not learn of new"),
)
COMPUTE = (
    Damage("slurmd", UNFIT, *stopped("slurmd"), "slurmd does not run"),
    Damage("at-boot", DOUBTFUL, *disabled("slurmd"), "slurmd"),
    Damage(
        "slurmd",
        UNFIT,
        "scontrol update nodename=$(hostname) state=drain reason=test",
        "scontrol update nodename=$(hostname) state=resume",
        "drain",
    ),
    Damage("gpus", UNFIT, "touch /dev/nvidia0", "rm /dev/nvidia0", "sees 0 of 1 GPUs"),
    Damage("efa", UNFIT, f"echo '1: DOWN' >{PORT}", f"echo '4: ACTIVE' >{PORT}", "not active: efa_0"),
    Damage("efa", UNFIT, BUS, "umount /sys/bus/pci/devices", "the driver has 1 of 2 devices"),
    Damage(
        "epilog", DOUBTFUL, *mode(f"{ETC}/epilog.d/500-hyperpod-cdk-ipc.sh", "644", "755"), "not executable"
    ),
    Damage("adopt", DOUBTFUL, *edited("/etc/pam.d/sshd", "/pam_slurm_adopt/d"), "logins need no job"),
)
BY_HOST = {
    "controller-1": (*EVERYWHERE, *CONTROLLER),
    "login-1": (*EVERYWHERE, *LOGIN),
    "compute-1": (*EVERYWHERE, *COMPUTE),
}
