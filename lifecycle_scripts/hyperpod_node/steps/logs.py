"""Keeps Slurm's logs from filling the root volume."""

from __future__ import annotations

from hyperpod_node.context import Context

CONF = "/etc/logrotate.d/hyperpod-cdk-slurm"
FOLDER = "/var/log/slurm"
DAEMONS = ("slurmctld", "slurmd", "slurmdbd")


def rotate_logs(context: Context) -> str:
    """Have logrotate keep so many logs of Slurm, unless something else does already."""
    wanted = context.config.features.log_rotation
    assert wanted is not None
    other = _other(context)
    if other:
        # logrotate refuses a log that two files name
        context.root.path(CONF).unlink(missing_ok=True)
        return f"{other} rotates them already, left as it is"
    signals = "; ".join(f"pkill -x --signal USR2 {name} || true" for name in DAEMONS)
    lines = (
        "daily",
        f"maxsize {wanted.max_size_mib}M",
        f"rotate {wanted.keep}",
        # the folder belongs to slurm, slurmd's log to root
        "su root root",
        "compress",
        "delaycompress",
        "missingok",
        "notifempty",
        "sharedscripts",
        f"postrotate\n        {signals}\n    endscript",
    )
    body = "".join(f"    {line}\n" for line in lines)
    context.root.write(CONF, f"{FOLDER}/*.log {{\n{body}}}\n")
    return f"{wanted.keep} logs of {wanted.max_size_mib} MiB"


def _other(context: Context) -> str:
    folder = context.root.path("/etc/logrotate.d")
    for path in sorted(folder.glob("*")) if folder.is_dir() else ():
        inside = path.name != CONF.rpartition("/")[2] and path.is_file()
        if inside and FOLDER in path.read_text(encoding="utf-8", errors="replace"):
            return f"/etc/logrotate.d/{path.name}"
    return ""
