"""Runs the real scripts of an EKS node for one emulated node: in a temporary root, with stand-in commands.

Nothing of the machine itself is touched: every path goes through the root.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from hyperpod_cdk.rehearsal.node_commands.machine import CommandFault

SETTINGS = "settings"
"""Lies beside these scripts, and tells them from others."""
DISK = "/opt/sagemaker"
TIME_LIMIT_SECONDS = 120
_STATE = ".node"
_RUNNING = ("containerd", "kubelet")
_FILES = {
    "/proc/self/mounts": f"/dev/root / ext4 rw 0 0\nproc /proc proc rw 0 0\n/dev/nvme1n1 {DISK} xfs rw 0 0\n",
    "/var/lib/containerd/io.containerd.metadata.v1.bolt/meta.db": "images of the AMI\n",
    "/var/lib/kubelet/kubeconfig": "of the node\n",
}
_COMMANDS: Mapping[str, str] = {
    # a unit is a file while it is active; a mount unit's place is its name
    "systemctl": """
unit="${@: -1}"
place="/${unit%.mount}"
place="${place//-//}"
case "$1" in
is-active) [[ -e "$STATE/units/$unit" ]] ;;
start) touch "$STATE/units/$unit" ;;
stop) rm -f "$STATE/units/$unit" ;;
enable) printf '%s %s none rw,bind 0 0\\n' "$unit" "$place" >>"$HYPERPOD_CDK_ROOT/proc/self/mounts" ;;
disable) sed -i "\\|^$unit |d" "$HYPERPOD_CDK_ROOT/proc/self/mounts" ;;
esac
""",
    # nobody waits for a pretended disk, nor for an agent that takes a log away
    "sleep": "",
    "sync": "",
}


def run_eks_node(
    scripts_dir: Path,
    root: Path,
    *,
    faults: Sequence[CommandFault] = (),
    env: Mapping[str, str] | None = None,
) -> tuple[int, list[str]]:
    """Run a node's on_create.sh to its end.

    Args:
        scripts_dir: what the node would have downloaded: the scripts, settings beside them, extra/.
        root: the node's temporary root; made when missing, kept for a second run.
        faults: commands that fail, always.
        env: on top of the script's environment.

    Returns:
        The script's exit code and the lines that it printed, which are those of its log.
    """
    state = root / _STATE
    if not state.is_dir():
        _make(root, state)
    _install(state / "bin", faults)
    done = subprocess.run(
        ["bash", str(scripts_dir.resolve() / "on_create.sh")],
        cwd=root,
        env={
            "PATH": f"{state / 'bin'}:/usr/bin:/bin",
            "STATE": str(state),
            "HYPERPOD_CDK_ROOT": str(root),
            **(env or {}),
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIME_LIMIT_SECONDS,
        check=False,
    )
    return done.returncode, done.stdout.splitlines()


def _make(root: Path, state: Path) -> None:
    """A root as the service hands a node over: containerd and the kubelet run, the second volume is there."""
    (state / "units").mkdir(parents=True)
    for unit in _RUNNING:
        (state / "units" / unit).touch()
    for path, text in _FILES.items():
        target = root / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    (root / DISK.lstrip("/")).mkdir(parents=True)


def _install(folder: Path, faults: Sequence[CommandFault]) -> None:
    folder.mkdir(exist_ok=True)
    bash = str(shutil.which("bash"))
    for name, body in _COMMANDS.items():
        lines = [f"#!{bash}", *(_failing(fault) for fault in faults if fault.command == name), body]
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
        (folder / name).chmod(0o755)


def _failing(fault: CommandFault) -> str:
    return (
        f'[[ "{fault.command} $*" != *{shlex.quote(fault.contains)}* ]] || '
        f"{{ echo {shlex.quote(fault.output)}; exit {fault.exit_code}; }}"
    )
