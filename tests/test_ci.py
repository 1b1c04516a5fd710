"""What ends .ci/run ends its jobs."""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

MAKE = """#!/bin/sh
[ "$1" = -j2 ] && exit
echo $$ >> "$PIDS"
exec sleep 60
"""
"""Stands in for make: is done with setup at once, and with nothing else."""


def lives(pid: int) -> bool:
    """Whether a process runs; one that nobody has waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_for(condition: Callable[[], bool], seconds: float = 10) -> bool:
    """Look until it holds, or time is up."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        os.sched_yield()
    return True


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_the_script_alone_ends_its_jobs(tmp_path: Path, number: signal.Signals) -> None:
    make, started = tmp_path / "make", tmp_path / "pids"
    make.write_text(MAKE)
    make.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "PIDS": str(started)}

    def pids() -> list[int]:
        return [int(line) for line in started.read_text().split()] if started.exists() else []

    with subprocess.Popen(
        [ROOT / ".ci/run"],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        # whoever started the tests by nohup, or in the background, has it ignored, and bash leaves it at that
        preexec_fn=partial(signal.signal, number, signal.SIG_DFL),  # noqa: PLW1509 (one thread here)
    ) as running:
        assert wait_for(lambda: len(pids()) >= 2)
        running.send_signal(number)
        try:
            assert running.wait(10) == 128 + number
            assert wait_for(lambda: not any(map(lives, pids())))
        finally:
            running.kill()
            for pid in filter(lives, pids()):
                os.kill(pid, signal.SIGKILL)
