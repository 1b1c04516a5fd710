"""A pretended node of Amazon EKS: a root of its own, and stand-ins for what would act on the machine."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from tests.lifecycle.helpers import SCRIPTS

EKS_SCRIPTS = SCRIPTS / "eks"
DISK = "/opt/sagemaker"

STAND_INS = {
    # starts and stops what it is told to; a mount unit mounts its own content as a link would show it
    "systemctl": """
echo "systemctl $*" >>"$STATE/calls"
grep -qxF "$*" "$STATE/fails" && { sed -i "0,/^$*\\$/{//d}" "$STATE/fails"; exit 1; }
unit="${!#}"
where="/${unit%.mount}"; where="${where//-//}"
case "$1" in
is-active) [[ -e "$STATE/active/$unit" ]] ;;
stop) rm -f "$STATE/active/$unit" ;;
start) touch "$STATE/active/$unit" ;;
enable) echo "$unit $where ext4 rw 0 0" >>"$HYPERPOD_CDK_ROOT/proc/self/mounts" ;;
disable) sed -i "\\\\#^$unit #d" "$HYPERPOD_CDK_ROOT/proc/self/mounts" ;;
esac
""",
    # time passes, and the disk comes
    "sleep": """
echo "sleep $1" >>"$STATE/calls"
count="$(grep -c ^sleep "$STATE/calls")"
[[ -e "$STATE/disk_after" && "$count" == "$(cat "$STATE/disk_after")" ]] || exit 0
echo "/dev/nvme1n1 $(cat "$STATE/disk") ext4 rw 0 0" >>"$HYPERPOD_CDK_ROOT/proc/self/mounts"
""",
    "sync": 'echo "sync" >>"$STATE/calls"',
    "cp": """
echo "cp $*" >>"$STATE/calls"
[[ -e "$STATE/full" ]] && { echo "cp: No space left on device" >&2; exit 1; }
exec /usr/bin/cp "$@"
""",
}


@dataclass(frozen=True, kw_only=True)
class EksNode:
    """A node, and the scripts that it has downloaded."""

    folder: Path
    fails: list[str] = field(default_factory=list)
    """Arguments of systemctl that fail, once each."""

    @property
    def root(self) -> Path:
        return self.folder / "root"

    @property
    def scripts(self) -> Path:
        return self.folder / "src"

    @property
    def state(self) -> Path:
        return self.folder / "state"

    def settings(self, text: str) -> None:
        (self.scripts / "settings").write_text(text)

    def own_step(self, path: str, text: str) -> None:
        target = self.scripts / "extra" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode())

    def mount(self, where: str) -> None:
        with (self.root / "proc/self/mounts").open("a") as mounts:
            mounts.write(f"/dev/nvme1n1 {where} ext4 rw 0 0\n")

    def mounted(self) -> set[str]:
        return {line.split()[1] for line in (self.root / "proc/self/mounts").read_text().splitlines()}

    def disk_comes_after(self, sleeps: int, where: str = DISK) -> None:
        (self.state / "disk").write_text(where)
        (self.state / "disk_after").write_text(str(sleeps))

    def calls(self) -> list[str]:
        return (self.state / "calls").read_text().splitlines()

    def active(self) -> set[str]:
        return {path.name for path in (self.state / "active").iterdir()}

    def log(self) -> str:
        return (self.root / "var/log/provision/provisioning.log").read_text()

    def run(self, **env: str) -> tuple[int, str]:
        """Run the entry as the service does: elsewhere, without HOME."""
        (self.state / "calls").write_text("")
        (self.state / "fails").write_text("".join(f"{line}\n" for line in self.fails))
        done = subprocess.run(
            ["bash", str(self.scripts / "on_create.sh")],
            cwd="/",
            env={
                "PATH": f"{self.folder / 'bin'}:/usr/bin:/bin",
                "STATE": str(self.state),
                "HYPERPOD_CDK_ROOT": str(self.root),
                **env,
            },
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.stderr == ""
        return done.returncode, done.stdout


def eks_node(folder: Path, *, disk: bool = True, fails: list[str] | None = None) -> EksNode:
    """A node as the service hands it over: containerd and the kubelet run, and no pod yet."""
    node = EksNode(folder=folder, fails=fails or [])
    shutil.copytree(EKS_SCRIPTS, node.scripts)
    (node.state / "active").mkdir(parents=True)
    for name in ("containerd", "kubelet"):
        (node.state / "active" / name).touch()
    for path, text in {
        "var/lib/containerd/io.containerd.metadata.v1.bolt/meta.db": "pause",
        "var/lib/kubelet/kubeconfig": "kubeconfig",
        "proc/self/mounts": "/dev/root / ext4 rw 0 0\nproc /proc proc rw 0 0\n",
    }.items():
        (node.root / path).parent.mkdir(parents=True, exist_ok=True)
        (node.root / path).write_text(text)
    if disk:
        (node.root / DISK[1:]).mkdir(parents=True)
        node.mount(DISK)
    (folder / "bin").mkdir()
    for name, text in STAND_INS.items():
        (folder / "bin" / name).write_text(f"#!/bin/bash\n{text}\n")
        (folder / "bin" / name).chmod(0o755)
    return node
