"""Logins to a compute node only with a job there, which they then belong to (pam_slurm_adopt).

Last of all on a compute node, after slurmd runs: before that nobody but administrators would get in.
Source: slurm.schedmd.com/pam_slurm_adopt.html.
"""

from __future__ import annotations

from hyperpod_node import slurm
from hyperpod_node.clock import wait_for
from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError, NotYetError
from hyperpod_node.steps.home import USER

MODULE = "pam_slurm_adopt.so"
PLACES = (
    "lib/security",
    "lib/*/security",
    "usr/lib/security",
    "usr/lib/*/security",
    "opt/slurm/lib/security",
)
SSHD = "/etc/pam.d/sshd"
ACCESS = "/etc/security/hyperpod-cdk-access.conf"
BEGIN, END = "# hyperpod-cdk begin", "# hyperpod-cdk end"
SESSION = "/etc/pam.d/common-session"
# the controller's scripts run at the same time
CONTAIN_LIMIT_SECONDS = 60
SLURM_ADVICE = "slurm.conf needs ProctrackType=proctrack/cgroup; the controller's scripts add the flag"
ADVICE = "install libpam-slurm-adopt of the image's Slurm version, in extra/before.d or in a custom image"


def adopt_logins(context: Context) -> str:
    """Have sshd ask Slurm, for everybody but root, the image's user and those with sudo."""
    if not any(path for place in PLACES for path in context.root.path("/").glob(f"{place}/{MODULE}")):
        raise NodeError(f"this image has no {MODULE}", advice=ADVICE)
    _check_slurm(context)
    always = ["root", USER, *(user.name for user in context.config.users if user.sudo)]
    context.root.write(ACCESS, f"+:{' '.join(always)}:ALL\n+:(sudo):ALL\n-:ALL:ALL\n")
    _leave_slices(context)
    text = context.root.read(SSHD)
    kept, inside = [], False
    for line in text.splitlines():
        inside = line == BEGIN or (inside and line != END)
        if not inside and line != END:
            kept.append(line)
    block = (
        BEGIN,
        f"account    sufficient    pam_access.so accessfile={ACCESS}",
        f"account    required      {MODULE}",
        END,
    )
    context.root.write(SSHD, "\n".join([*kept, *block]) + "\n")
    return f"logins need a job here, but for {', '.join(always)} and the group sudo"


def _check_slurm(context: Context) -> None:
    """Refuse to lock people out of a node whose Slurm has nothing that a login could be adopted into.

    A slurmd that the service started may have its configuration from before the controller's scripts added to
    it: that is waited for.
    """
    wait_for(
        lambda: _contained(context),
        what="a Slurm that logins can be adopted into",
        deadline=context.deadline,
        say=context.say,
        limit_seconds=CONTAIN_LIMIT_SECONDS,
        advice=SLURM_ADVICE,
    )


def _contained(context: Context) -> None:
    found = slurm.node_settings(context.root)
    if found.get("proctracktype", slurm.CGROUP) != slurm.CGROUP:
        raise NodeError("logins are left alone: this node's Slurm has no cgroups", advice=SLURM_ADVICE)
    if "contain" not in found.get("prologflags", "").lower().split(","):
        raise NotYetError("logins are left alone: this node's Slurm has no PrologFlags=Contain")


def _leave_slices(context: Context) -> None:
    """Take pam_systemd out: it would move an adopted login out of its job's cgroup again."""
    if "pam_systemd.so" in context.root.read(SESSION):
        context.commands.run("pam-auth-update", "--package", "--remove", "systemd", accept=(0, 127))
