"""The benchmark's measure of the node scripts: it must see waiting that nothing declares."""

from collections.abc import Sequence
from typing import Any

import pytest

from benchmarks.critical_path import critical_path


def step(
    name: str, seconds: float, *needs: str, after: Sequence[str] = (), attempts: int = 1
) -> dict[str, Any]:
    return {"name": name, "seconds": seconds, "needs": needs, "after": list(after), "attempts": attempts}


def test_the_longest_chain_of_steps_that_wait_for_one_another() -> None:
    steps = [
        step("facts", 0.5),
        step("mount", 2.0),
        step("users", 1.0, "mount"),
        step("accounting", 2.5),
        step("check", 0.5, after=("users", "accounting")),
    ]
    found = critical_path({"steps": steps})
    assert found.steps == ("facts", "mount", "users", "check")
    assert found.seconds == pytest.approx(4.0)


def test_a_step_without_work_holds_nobody_up() -> None:
    steps = [
        step("facts", 0.0),
        step("accounting", 9.0),
        step("docker", 0.0, "accounting", attempts=0),
        step("slurmd", 1.0, after=("docker",)),
    ]
    assert critical_path({"steps": steps}).steps == ("facts", "accounting")


def test_what_no_step_declares_is_in_no_chain() -> None:
    # both held the same lock, one after the other: a run of four seconds on a path of two
    steps = [step("facts", 0.0), step("home", 2.0), step("docker", 2.0)]
    assert critical_path({"steps": steps}).seconds == 2.0
