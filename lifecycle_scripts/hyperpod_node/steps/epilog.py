"""What is done on a compute node after a job: shared memory that nobody uses any more goes.

Jobs end and leave it behind, until the next one finds the node full. What logind would do by itself
(RemoveIPC) is worse: it takes the memory of a running job away when its user logs out.
"""

from __future__ import annotations

from hyperpod_node.context import Context
from hyperpod_node.steps.slurm_files import EPILOG_FOLDER

SCRIPT = f"{EPILOG_FOLDER}/500-hyperpod-cdk-ipc.sh"
LOGIND = "/etc/systemd/logind.conf.d/hyperpod-cdk.conf"
# A failing epilog drains the node, and one that asks slurmctld does so on all nodes of a job at once: this
# one looks at the node only, and ends well whatever it finds.
TEXT = """#!/bin/bash
# by hyperpod-cdk: the shared memory, semaphores and message queues of a user of whom nothing runs here
uid="${SLURM_JOB_UID:-0}"
case "$uid" in '' | *[!0-9]*) exit 0 ;; esac
[ "$uid" -ge 1000 ] || exit 0
# one process for all of /proc: 192 processors make thousands of entries, and the next job waits for this
stat -c %u /proc/[0-9]* 2>/dev/null | grep -qx "$uid" && exit 0
# by number: ipcs shows no more than ten letters of a name
for kind in m:shm s:sem q:msg; do
  awk -v uid="$uid" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "uid") column = i; next }
    $column == uid { print $2 }' "/proc/sysvipc/${kind#*:}" 2>/dev/null |
    while read -r id; do ipcrm "-${kind%:*}" "$id" 2>/dev/null; done
done
find /dev/shm -xdev -mindepth 1 -uid "$uid" -delete 2>/dev/null
exit 0
"""


def place_epilog(context: Context) -> str:
    """Have the script where slurm.conf looks for it, and logind leave shared memory alone."""
    context.root.write(SCRIPT, TEXT, mode=0o755)
    if context.root.write(LOGIND, "[Login]\nRemoveIPC=no\n"):
        # where there is no logind, nothing removes shared memory
        context.commands.run("systemctl", "try-restart", "systemd-logind", accept=(0, 1, 5))
    return SCRIPT
