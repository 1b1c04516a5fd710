"""A process that somebody wants to end takes its things down, once and whole."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from hyperpod_cdk.rehearsal.interruptions import Interruptions
from hyperpod_cdk.rehearsal.scratch import scratch

PROGRAM = """
import sys, time
from hyperpod_cdk.rehearsal.interruptions import Interruptions
interruptions = Interruptions()
try:
    with interruptions:
        try:
            print("begun", flush=True)
            time.sleep(60)
        finally:
            print("ending", flush=True)
            sys.stdin.readline()
            print("ended", flush=True)
except KeyboardInterrupt:
    sys.exit(interruptions.exit_code)
"""


def started(number: signal.Signals, handler: signal.Handlers) -> "subprocess.Popen[str]":
    """The program, begun, with a signal's handler as whoever starts it has it."""
    before = signal.signal(number, handler)
    try:
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
    finally:
        signal.signal(number, before)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    return process


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_the_first_one_interrupts_and_no_further_one(number: signal.Signals, code: int) -> None:
    with started(number, signal.SIG_DFL) as process:
        assert process.stdout is not None
        process.send_signal(number)
        assert process.stdout.readline() == "ending\n"
        for again in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process.send_signal(again)
        assert process.communicate("\n", timeout=30)[0] == "ended\n"
        assert process.returncode == code


def test_what_is_ignored_stays_so() -> None:
    with started(signal.SIGINT, signal.SIG_IGN) as process:
        assert process.stdout is not None
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        assert process.stdout.readline() == "ending\n"
        process.communicate("\n", timeout=30)
        assert process.returncode == 143, "SIGINT came through"


def test_handlers_are_put_back() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt), Interruptions():
        os.kill(os.getpid(), signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) is before


SCRATCH = """
import sys
from hyperpod_cdk.rehearsal.scratch import scratch
with scratch("kept-") as folder:
    (folder / "file").touch()
    print(folder, flush=True)
    sys.stdin.readline()
"""


def scratching(base: Path) -> "tuple[subprocess.Popen[str], Path]":
    process = subprocess.Popen(
        [sys.executable, "-c", SCRATCH],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(base)},
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_a_killed_process_s_folder_goes_with_the_next_one_and_a_living_one_s_stays(tmp_path: Path) -> None:
    (tmp_path / "kept-by-somebody-else").mkdir()
    killed, left = scratching(tmp_path)
    with killed:
        killed.kill()
    assert (left / "file").exists()
    first, living = scratching(tmp_path)
    assert not left.exists()
    second, _ = scratching(tmp_path)
    assert (living / "file").exists()
    for process in (first, second):
        process.communicate("\n", timeout=30)
    assert [path.name for path in tmp_path.iterdir()] == ["kept-by-somebody-else"]


def test_no_folder_is_without_the_lock_by_which_the_next_process_finds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither after an end while it is made, nor when it can not be removed, being written to still."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    mkdir, locked = Path.mkdir, []

    def watched(self: Path, mode: int = 0o777) -> None:
        locked.append((tmp_path / f"{self.name}.lock").exists())
        mkdir(self, mode)

    monkeypatch.setattr(Path, "mkdir", watched)
    with monkeypatch.context() as broken:
        broken.setattr(shutil, "rmtree", lambda *_, **__: None)
        with scratch("kept-") as folder:
            pass
    assert locked == [True]
    assert sorted(path.name for path in tmp_path.iterdir()) == [folder.name, f"{folder.name}.lock"]
    with scratch("kept-"):
        assert not folder.exists()
    assert not list(tmp_path.iterdir())
