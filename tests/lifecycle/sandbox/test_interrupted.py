"""Ctrl-C at a terminal, and kill -9, in the middle of a rehearsal on real nodes and of `make nodes`."""

import os
import pty
import re
import select
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hyperpod_cdk.rehearsal.hosts.room import BASE
from tests.lifecycle.sandbox.test_room import expect_gone, interfaces_now

pytestmark = pytest.mark.long_nodes
ROOT = Path(__file__).parents[3]
REHEARSAL = ["-m", "hyperpod_cdk.rehearsal", str(ROOT / "clusters" / "slurm-minimal.yaml"), "--real-nodes"]
NODES = ["-m", "hyperpod_cdk.rehearsal.hosts", "up"]
CTRL_C = b"\x03"
DEFAULTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Terminal:
    """A program at a terminal of its own: what it is told by Ctrl-C, its whole process group is told."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.text = ""
        self.temporary = folder / "tmp"
        self.temporary.mkdir(exist_ok=True)
        if not (folder / "node_modules").is_symlink():
            (folder / "node_modules").symlink_to(ROOT / "node_modules")
        self._mark = f"HYPERPOD_CDK_MARK={folder}"
        self.pid, self._descriptor = pty.fork()
        if self.pid == 0:  # pragma: no cover (another process)
            for number in DEFAULTS:
                signal.signal(number, signal.SIG_DFL)
            os.chdir(folder)
            more = {"HYPERPOD_CDK_MARK": str(folder), "TMPDIR": str(self.temporary)}
            os.execve(sys.executable, [sys.executable, *arguments], {**os.environ, **more})

    def expect(self, pattern: str, seconds: float = 300.0) -> None:
        """Wait until something shows."""
        deadline = time.monotonic() + seconds
        while not re.search(pattern, self.text):
            assert time.monotonic() < deadline, self.text[-3000:]
            assert self._read(1.0), f"it ended without {pattern}:\n{self.text[-3000:]}"

    def type(self, keys: bytes) -> None:
        """Press keys."""
        os.write(self._descriptor, keys)

    def end(self, seconds: float = 60.0) -> int:
        """Wait until it has ended; its exit code, or the signal below zero."""
        deadline = time.monotonic() + seconds
        while self._read(1.0):
            assert time.monotonic() < deadline, self.text[-3000:]
        os.close(self._descriptor)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def processes(self) -> list[str]:
        """The command lines of every process that came of it and still runs."""
        found = []
        for path in Path("/proc").glob("[0-9]*"):
            try:
                if self._mark.encode() in (path / "environ").read_bytes().split(b"\0"):
                    found.append((path / "cmdline").read_bytes().replace(b"\0", b" ").decode())
            except OSError:
                continue
        return found

    def room(self) -> str:
        """The name of the room that it keeps."""
        return str(re.findall(rf"{BASE}/(\w+)", "\n".join(self.processes()))[0])

    def _read(self, seconds: float) -> bool:
        if not select.select([self._descriptor], [], [], seconds)[0]:
            return True
        try:
            piece = os.read(self._descriptor, 65536)
        except OSError:
            return False
        self.text += re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", piece.decode("utf-8", "replace"))
        return bool(piece)


@contextmanager
def left_as_it_was() -> Iterator[None]:
    before = interfaces_now()
    yield
    assert interfaces_now() == before


def nothing_left(terminal: Terminal, room: str) -> None:
    expect_gone(room)
    deadline = time.monotonic() + 20
    while (left := terminal.processes()) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert left == []
    assert list(terminal.temporary.iterdir()) == []


@pytest.mark.parametrize(
    ("moment", "seconds"),
    [
        (r"cdk bootstrap", 1.0),
        (r"CREATE_IN_PROGRESS +Custom::HyperPodCluster", 0.5),
        (r"CREATE_IN_PROGRESS +Custom::HyperPodCluster", 5.0),
        (r"scale group compute up[^$]*UPDATE_IN_PROGRESS +Custom::HyperPodCluster", 2.0),
        (r" s  destroy", 6.0),
    ],
    ids=["bootstrap", "nodes boot", "scripts run", "scaling up", "destroying"],
)
def test_ctrl_c_in_a_rehearsal(tmp_path: Path, moment: str, seconds: float) -> None:
    with left_as_it_was():
        terminal = Terminal(tmp_path, *REHEARSAL)
        terminal.expect(moment, 600)
        time.sleep(seconds)
        room = terminal.room()
        terminal.type(CTRL_C)
        terminal.expect("interrupted: taking everything down", 10)
        # impatience must not leave half of it
        terminal.type(CTRL_C)
        assert terminal.end() == 130
        assert "interrupted; nothing of it is left running" in terminal.text
        assert "Traceback" not in terminal.text
        nothing_left(terminal, room)


def test_ctrl_c_ends_what_was_kept(tmp_path: Path) -> None:
    with left_as_it_was():
        terminal = Terminal(tmp_path, *REHEARSAL, "--keep")
        terminal.expect("until Ctrl-C")
        room = terminal.room()
        terminal.type(CTRL_C)
        assert terminal.end() == 0, "this is how it is meant to be ended"
        nothing_left(terminal, room)


def test_a_killed_rehearsal_is_swept_up_by_the_next(tmp_path: Path) -> None:
    with left_as_it_was():
        killed = Terminal(tmp_path, *REHEARSAL)
        killed.expect("CREATE_IN_PROGRESS +Custom::HyperPodCluster")
        room = killed.room()
        os.kill(killed.pid, signal.SIGKILL)
        assert killed.end() == -signal.SIGKILL
        expect_gone(room)
        second = Terminal(tmp_path, *REHEARSAL)
        second.expect("cdk bootstrap")
        room = second.room()
        second.type(CTRL_C)
        assert second.end() == 130
        nothing_left(second, room)


def test_ctrl_c_in_the_shell_of_make_nodes_is_the_shell_s(tmp_path: Path) -> None:
    with left_as_it_was():
        terminal = Terminal(tmp_path, *NODES)
        terminal.expect("a shell on the login node as alice")
        room = terminal.room()
        terminal.type(b"sleep 600; echo went-$((1 + 1))\r")
        time.sleep(1)
        terminal.type(CTRL_C)
        terminal.type(b"srun -N2 hostname | wc -l | sed s/^/nodes-/\r")
        terminal.expect(r"nodes-2", 60)
        assert "went-2" not in terminal.text
        terminal.type(b"exit\r")
        assert terminal.end() == 0
        nothing_left(terminal, room)


def test_ctrl_c_while_make_nodes_comes_up(tmp_path: Path) -> None:
    with left_as_it_was():
        terminal = Terminal(tmp_path, *NODES)
        terminal.expect("hosts are up")
        room = terminal.room()
        terminal.type(CTRL_C)
        assert terminal.end() == 130
        assert "interrupted; nothing of it is left running" in terminal.text
        assert "Traceback" not in terminal.text
        nothing_left(terminal, room)
