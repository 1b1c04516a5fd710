"""Starting programs: found on PATH, bounded, retried, and no secret in the log."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

from hyperpod_cdk.rehearsal.node import CommandFault
from hyperpod_node.clock import Clock, Deadline, wait_for
from hyperpod_node.commands import NOT_FOUND, TIMED_OUT, Commands, command_environment
from hyperpod_node.errors import GivenUpError, NodeError, NotYetError, TerminatedError
from hyperpod_node.log import Log
from hyperpod_node.root import Root
from tests.lifecycle.helpers import FakeClock, bench


@pytest.fixture
def commands(tmp_path: Path) -> Commands:
    """Commands that really start what the test machine has."""
    own = bench(tmp_path).context.commands
    clock = Clock(0.01)
    return Commands(
        clock=clock,
        deadline=Deadline.after(clock, 3600),
        environment={"PATH": os.environ["PATH"]},
        log=own.log,
        step="test",
        directory=tmp_path,
    )


def test_both_streams_are_kept_in_order(commands: Commands) -> None:
    done = commands.run("bash", "-c", "echo one; echo two >&2; echo three")
    assert done.lines == ("one", "two", "three")


def test_a_failure_has_command_exit_code_and_last_lines(commands: Commands) -> None:
    with pytest.raises(NodeError, match="bash ended with exit code 3: line 12") as error:
        commands.run("bash", "-c", "for i in {1..12}; do echo line $i; done; exit 3", advice="look")
    assert error.value.last_lines == tuple(f"line {n}" for n in range(3, 13))
    assert error.value.command.startswith("bash -c 'for i")
    assert error.value.advice == "look"


def test_a_missing_command_is_no_crash(commands: Commands) -> None:
    assert commands.run("no-such-command", accept=(NOT_FOUND,)).exit_code == NOT_FOUND
    with pytest.raises(NodeError, match="no-such-command is not on this node"):
        commands.run("no-such-command")


def test_a_hanging_command_is_ended(commands: Commands) -> None:
    done = commands.run(
        "bash", "-c", "echo begun; exec tail -f /dev/null", timeout_seconds=30, accept=(TIMED_OUT,)
    )
    assert (done.exit_code, done.lines) == (TIMED_OUT, ("begun",))


def test_the_steps_deadline_ends_it_too(commands: Commands) -> None:
    hasty = commands.bound(deadline=Deadline.after(commands.clock, 20), step="")
    with pytest.raises(NodeError, match="bash ran out of time"):
        hasty.run("bash", "-c", "exec tail -f /dev/null", timeout_seconds=3600)


def test_a_daemon_left_behind_does_not_hold_the_step(commands: Commands) -> None:
    done = commands.run("bash", "-c", "tail -f /dev/null & echo $!")
    os.kill(int(done.text), 9)
    assert done.exit_code == 0


def test_standard_input_is_closed_or_given_and_never_logged(tmp_path: Path, commands: Commands) -> None:
    assert commands.run("cat").lines == ()
    assert commands.run("cat", given="secret\n").lines == ("secret",)
    assert "secret" not in (tmp_path / "root/var/log/provision/provisioning.log").read_text()


def test_output_is_logged_where_asked(tmp_path: Path, commands: Commands) -> None:
    commands.run("bash", "-c", "echo loud", echo=True)
    commands.run("bash", "-c", "echo quiet")
    log = (tmp_path / "root/var/log/provision/provisioning.log").read_text()
    assert "test: | loud" in log
    assert "| quiet" not in log


def test_attempts_with_growing_pauses(tmp_path: Path) -> None:
    node = bench(tmp_path, faults=[CommandFault(command="curl", times=2)])
    node.context.commands.run("curl", attempts=3, pause_seconds=2)
    assert node.clock.sleeps == [2, 4]
    assert len(node.calls("curl")) == 3


def test_wait_ends_with_the_last_reason() -> None:
    clock = FakeClock()

    def never() -> None:
        raise NotYetError(f"only {clock.time:.2f} s")

    with pytest.raises(NodeError, match=r"rain: still not so after 10 s: only 10\.00 s") as error:
        wait_for(
            never,
            what="rain",
            deadline=Deadline.after(clock, 60),
            limit_seconds=10,
            say=lambda _text: None,
            advice="dance",
        )
    assert error.value.advice == "dance"
    assert clock.sleeps[:5] == [0.25, 0.5, 1, 2, 4]
    assert max(clock.sleeps) <= 5


def test_wait_heeds_the_steps_deadline() -> None:
    clock = FakeClock()

    def never() -> None:
        raise NotYetError("no")

    with pytest.raises(NodeError, match="after 3 s"):
        wait_for(
            never, what="rain", deadline=Deadline.after(clock, 3), limit_seconds=600, say=lambda _text: None
        )


def test_wait_says_each_reason_once() -> None:
    clock, said = FakeClock(), list[str]()

    def later() -> str:
        if clock.time > 8:
            return "rain"
        raise NotYetError("sun" if clock.time < 4 else "clouds")

    deadline = Deadline.after(clock, 60)
    assert wait_for(later, what="rain", deadline=deadline, limit_seconds=60, say=said.append) == "rain"
    assert said == ["waiting for rain: sun", "waiting for rain: clouds"]


def test_a_command_that_is_tried_again_is_logged_once(tmp_path: Path) -> None:
    node = bench(tmp_path)
    for name in ("a", "a", "b", "a"):
        node.context.commands.run("getent", "ahosts", name)
    assert [line[-1] for line in node.log.splitlines() if "getent" in line] == ["a", "b", "a"]


def test_home_is_set_and_slurm_is_on_path_on_a_node() -> None:
    on_node = command_environment({}, Root(Path("/")))
    assert on_node["HOME"] == "/root"
    assert on_node["PATH"].endswith("/opt/slurm/bin:/opt/slurm/sbin")
    assert on_node["LC_ALL"] == "C.UTF-8"
    elsewhere = command_environment({"PATH": "/pretended"}, Root(Path(sys.prefix)))
    assert elsewhere["PATH"] == "/pretended"


def test_files_are_put_in_place_whole_and_with_their_mode(tmp_path: Path) -> None:
    root = Root(tmp_path)
    assert root.write("/etc/secret", "a\n", mode=0o600)
    assert not root.write("/etc/secret", "a\n", mode=0o600)
    (tmp_path / "etc/secret").chmod(0o644)
    assert root.write("/etc/secret", "a\n", mode=0o600)
    assert (tmp_path / "etc/secret").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in (tmp_path / "etc").iterdir()] == ["secret"]
    with pytest.raises(ValueError, match="not an absolute path"):
        root.path("etc/secret")


def test_two_hosts_may_write_one_file_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As two controllers do whose configuration lies in a shared directory."""
    root, moved, rename = Root(tmp_path), [], Path.replace

    def beside(draft: Path, target: Path) -> Path:
        moved.append(draft.name)
        if len(moved) == 1:
            monkeypatch.setattr("os.uname", lambda: SimpleNamespace(nodename="other"))
            root.write("/shared/slurm.conf", "the other's\n")
        return rename(draft, target)

    monkeypatch.setattr(Path, "replace", beside)
    assert root.write("/shared/slurm.conf", "ours\n")
    assert root.read("/shared/slurm.conf") == "ours\n"
    assert len(set(moved)) == 2
    assert [path.name for path in (tmp_path / "shared").iterdir()] == ["slurm.conf"]


def test_a_signal_ends_the_command_too(commands: Commands) -> None:
    pids: list[int] = []
    halt = commands.clock.halt

    class Telling(Log):
        def line(self, text: str, *, step: str = "") -> None:
            if text.startswith("| "):
                pids.append(int(text[2:]))
                os.kill(os.getpid(), signal.SIGUSR1)

    before = signal.signal(signal.SIGUSR1, lambda _number, _frame: halt.terminate("ended by SIGUSR1"))
    try:
        telling = commands.telling(Telling(Root(commands.directory)))
        with pytest.raises(TerminatedError, match="ended by SIGUSR1"):
            telling.run("bash", "-c", "echo $$; exec tail -f /dev/null", echo=True, timeout_seconds=3600)
    finally:
        signal.signal(signal.SIGUSR1, before)
    # not by the end of its time, 36 real seconds
    assert telling.deadline.remaining() > 1800
    with suppress(ChildProcessError):  # the interpreter may have collected it already
        os.waitpid(pids[0], 0)
    assert not Path(f"/proc/{pids[0]}").exists()


def test_a_run_that_ends_waits_no_longer(commands: Commands) -> None:
    commands.clock.halt.give_up("given up, since mount failed")
    with pytest.raises(GivenUpError, match="since mount failed"):
        commands.clock.sleep(3600)
    assert commands.run("bash", "-c", "echo goes on").text == "goes on"
