"""Units that keep what others undo: on the controller our part of slurm.conf, on login nodes a fresh one."""

from __future__ import annotations

from collections.abc import Mapping

from hyperpod_node import slurm, units
from hyperpod_node.context import Context
from hyperpod_node.steps.keep import COMMAND

UNITS = "/etc/systemd/system"
CHANGED = "hyperpod-cdk-slurm-changed"
FILES = "hyperpod-cdk-slurm-files"
MARK = f"/run/{CHANGED}"
LOGIN = "hyperpod-cdk-slurm-login"
# The service's agent rewrites slurm.conf when nodes come and go, and our part goes with it. While what
# a path unit started is running, systemd sees no change of the path (measured, 257): a rewrite in that time
# would stay without our part. So a first pair of units only leaves a mark, which lasts until it is seen.
ON_CONTROLLER = {
    f"{CHANGED}.path": f"""[Unit]
Description=Watches slurm.conf for hyperpod-cdk

[Path]
PathChanged={slurm.CONF}

[Install]
WantedBy=multi-user.target
""",
    f"{CHANGED}.service": f"""[Unit]
Description=Notes for hyperpod-cdk that slurm.conf was rewritten
StartLimitIntervalSec=0

[Service]
Type=oneshot
ExecStart=/bin/touch {MARK}
""",
    f"{FILES}.path": f"""[Unit]
Description=Waits for a rewritten slurm.conf for hyperpod-cdk

[Path]
PathExists={MARK}

[Install]
WantedBy=multi-user.target
""",
    f"{FILES}.service": f"""[Unit]
Description=Puts the part of hyperpod-cdk back into slurm.conf
StartLimitIntervalSec=0

[Service]
Type=oneshot
ExecStartPre=/bin/rm --force {MARK}
ExecStart={COMMAND} --hook slurm_files
TimeoutStartSec=300
""",
}
# A login node is in no slurm.conf, so that no controller tells it of new nodes: srun would not find them.
# To ask each minute whether it has what the controller has costs a message; slurmd starts when it has not.
ON_LOGIN = {
    f"{LOGIN}.timer": """[Unit]
Description=Fetches Slurm's configuration now and then, for nodes that were added

[Timer]
OnActiveSec=60
OnUnitInactiveSec=60
RandomizedDelaySec=15
AccuracySec=5

[Install]
WantedBy=timers.target
""",
    f"{LOGIN}.service": """[Unit]
Description=Fetches Slurm's configuration: slurmd gets it and ends, since a login node is not in it

[Service]
Type=oneshot
ExecCondition=/bin/bash -c 'PATH=$$PATH:/opt/slurm/bin; ! scontrol show config | grep -q "^HASH_VAL *= Match"'
ExecStart=/bin/systemctl start slurmd.service
""",
}


def watch_files(context: Context) -> str:
    """Have our part put back into slurm.conf whenever it is rewritten."""
    from hyperpod_node.steps.slurm_files import included  # noqa: PLC0415 (only controllers need it)

    said = _have(context, ON_CONTROLLER, f"{CHANGED}.path", f"{FILES}.path")
    if not set(included(context)) <= set(slurm.includes(context.root)):
        # rewritten since our part was put there, when nobody watched yet
        context.root.write(MARK, "")
    return said


def refresh_login(context: Context) -> str:
    """Have the configuration fetched again within a minute and a half after the controller's has changed."""
    return _have(context, ON_LOGIN, f"{LOGIN}.timer")


def _have(context: Context, files: Mapping[str, str], *started: str) -> str:
    changed = [name for name, text in files.items() if context.root.write(f"{UNITS}/{name}", text)]
    if changed:
        units.read_again(context, {name: f"{UNITS}/{name}" for name in files})
    for unit in started:
        units.enable(context, unit, start=True)
    return f"{' and '.join(started)} {'are' if len(started) > 1 else 'is'} on"
