"""Images that hosts are copies of: built once from packages, and kept by the hash of their recipe."""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hyperpod_cdk.rehearsal.hosts.requirements import CannotRunHostsError
from hyperpod_cdk.rehearsal.scratch import scratch

STANDINS = Path(__file__).parent / "standins"
PREPARATION = STANDINS / "image_prep.sh"
PACKAGES = tuple(
    name
    for line in (
        # a node's own programs, of those that an Amazon machine image has
        "systemd systemd-sysv dbus iproute2 iputils-ping procps psmisc sudo python3 openssh-server",
        "openssh-client rsync curl ca-certificates kmod cron logrotate nfs-common libpam-slurm-adopt",
        # Slurm and its accounting
        "slurm-wlm slurmdbd munge mariadb-server",
        # what stands in for FSx
        "bindfs fuse3 libnfs-utils nfs-ganesha-vfs",
    )
    for name in line.split()
)
SOURCE_FILES = ("/etc/apt/sources.list", "/etc/apt/sources.list.d")
HOME_SUITES = ("bookworm", "trixie")
UNUSED_SECONDS = 86400.0
# so that nothing of a build outlives whoever wanted it, mounts in the draft among the rest
APART = ["setpriv", "--pdeathsig", "KILL"]
APART += ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--"]


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How an image is made.

    Args:
        suite: release of Debian.
        slurm: the version of Slurm in it, major and minor.
        packages: what is installed in it.
    """

    suite: str
    slurm: str
    packages: tuple[str, ...] = PACKAGES

    @property
    def digest(self) -> str:
        """Names the image: the same recipe makes the same image."""
        text = "\0".join([self.suite, *self.packages, PREPARATION.read_text(encoding="utf-8")])
        return hashlib.sha256(text.encode()).hexdigest()[:12]


RECIPES = {
    # slurm-wlm 22.05.8-4 and 24.11.5-4: apt-cache policy
    "22.05": Recipe(suite="bookworm", slurm="22.05"),
    "24.11": Recipe(suite="trixie", slurm="24.11"),
}


def cache() -> Path:
    """Where images are kept: outside the checkout, shared by all."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "hyperpod-cdk" / "images"


def image(recipe: Recipe) -> Path:
    """Give the root of an image, building it unless it is there; about 25 s on two idle cores (measured).

    Args:
        recipe: what it is made of.

    Raises:
        CannotRunHostsError: it could not be built; the text has mmdebstrap's last lines.
    """
    place = cache() / f"{recipe.suite}-{recipe.digest}"
    place.parent.mkdir(parents=True, exist_ok=True)
    with _locked(place.with_suffix(".lock")):
        if not place.exists():
            _build(recipe, place)
            _forget_older(recipe, place)
    os.utime(place)
    return place


def _build(recipe: Recipe, place: Path) -> None:
    print(
        f"building an image of {recipe.suite} with Slurm {recipe.slurm}, once: half a minute", file=sys.stderr
    )
    draft = place.with_suffix(".draft")
    shutil.rmtree(draft, ignore_errors=True)
    command = [
        *APART,
        "mmdebstrap",
        "--mode=root",
        "--variant=minbase",
        f"--include={','.join(recipe.packages)}",
    ]
    # "$1" in a hook is the tree
    command += [
        f'--customize-hook=bash {PREPARATION} "$1"',
        recipe.suite,
        str(draft),
        *sources(recipe.suite),
    ]
    log = place.with_suffix(".log")
    try:
        with log.open("w", encoding="utf-8") as stream, scratch("hyperpod-image-") as folder:
            done = subprocess.run(
                command,
                stdout=stream,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env={**os.environ, "TMPDIR": str(folder)},
                check=False,
            )
    except BaseException:
        # it is killed by now, and with it every process and mount of its namespaces
        shutil.rmtree(draft, ignore_errors=True)
        log.unlink()
        raise
    if done.returncode:
        shutil.rmtree(draft, ignore_errors=True)
        last = "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-15:])
        raise CannotRunHostsError(f"the image of {recipe.suite} could not be built; {log} ends:\n{last}")
    draft.rename(place)
    log.unlink()


def sources(suite: str) -> list[str]:
    """The machine's own source of Debian packages, for the wanted release; none: mmdebstrap's own choice."""
    found = []
    for text in _source_texts():
        for stanza in re.split(r"\n\s*\n", text):
            fields = dict(re.findall(r"^(\w[\w-]*):\s*(.+?)\s*$", stanza, re.MULTILINE))
            if "deb" in fields.get("Types", "").split() and set(HOME_SUITES) & set(
                fields.get("Suites", "").split()
            ):
                found += [f"deb {uri} {suite} main" for uri in fields.get("URIs", "").split()]
        found += [
            f"deb {uri} {suite} main"
            for uri, release in re.findall(r"^deb\s+(?:\[[^\]]*\]\s+)?(\S+)\s+(\S+)", text, re.MULTILINE)
            if release in HOME_SUITES
        ]
    return found[:1]


def _source_texts() -> Iterator[str]:
    for name in SOURCE_FILES:
        path = Path(name)
        files = sorted(path.iterdir()) if path.is_dir() else [path] if path.is_file() else []
        yield from (
            file.read_text(encoding="utf-8") for file in files if file.suffix in (".list", ".sources")
        )


def _forget_older(recipe: Recipe, place: Path) -> None:
    """Remove images of the same release by older recipes that nobody has used for a day."""
    for path in place.parent.glob(f"{recipe.suite}-*"):
        if path.is_dir() and path != place and time.time() - path.stat().st_mtime > UNUSED_SECONDS:
            shutil.rmtree(path, ignore_errors=True)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One builder at a time; the others wait, and find the image."""
    with path.open("w", encoding="utf-8") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield
