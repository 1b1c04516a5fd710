"""Order of work: dependencies first, slow things beside the others, nothing after a failure."""

from threading import Barrier

import pytest

from hyperpod_cdk.rehearsal.aws.stacks.graph import DependencyCycleError, run_in_order


def never(name: str) -> bool:
    return False


def test_dependencies_come_first() -> None:
    done: list[str] = []

    def act(name: str) -> bool:
        done.append(name)
        return True

    run_in_order({"c": ["b"], "a": [], "b": ["a", "unknown"]}, act, slow=never)
    assert done == ["a", "b", "c"]


def test_slow_ones_run_at_the_same_time_as_each_other_and_as_quick_ones() -> None:
    meeting = Barrier(2, timeout=10)
    done: list[str] = []

    def act(name: str) -> bool:
        if name.startswith("slow"):
            # returns only when both are here
            meeting.wait()
        done.append(name)
        return True

    run_in_order({"slow1": [], "slow2": [], "after": ["slow1", "slow2"]}, act, slow=lambda n: "slow" in n)
    assert done[-1] == "after"


@pytest.mark.parametrize(("keep_going", "reached"), [(False, {"a"}), (True, {"a", "c"})])
def test_what_depends_on_a_failure_is_never_begun(keep_going: bool, reached: set[str]) -> None:
    begun: set[str] = set()

    def act(name: str) -> bool:
        begun.add(name)
        return name != "a"

    run_in_order({"a": [], "b": ["a"], "c": []}, act, slow=never, keep_going=keep_going)
    assert begun == reached


def test_cycle_is_named() -> None:
    with pytest.raises(DependencyCycleError, match=r"\[a, b\]"):
        run_in_order({"a": ["b"], "b": ["a"], "c": []}, lambda name: True, slow=never)
