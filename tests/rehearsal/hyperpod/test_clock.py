from datetime import datetime

import pytest

from hyperpod_cdk.rehearsal.hyperpod.clock import Clock, Timeline


@pytest.fixture
def real() -> list[float]:
    return [100.0]


@pytest.fixture
def clock(real: list[float]) -> Clock:
    return Clock(datetime(2026, 1, 1), real_seconds=lambda: real[0])


def test_stands_still_until_advanced(clock: Clock, real: list[float]) -> None:
    real[0] += 50
    assert clock.now() == datetime(2026, 1, 1)
    clock.advance(90)
    assert clock.now() == datetime(2026, 1, 1, 0, 1, 30)


def test_speed_counts_from_when_it_is_set(clock: Clock, real: list[float]) -> None:
    clock.speed = 60
    real[0] += 2
    assert clock.elapsed() == 120
    clock.speed = 1
    real[0] += 5
    assert clock.elapsed() == 125


def test_never_goes_back(clock: Clock) -> None:
    with pytest.raises(ValueError, match="-1"):
        clock.advance(-1)
    with pytest.raises(ValueError, match="-2"):
        clock.speed = -2


def test_one_leap_gives_the_history_of_many_steps(clock: Clock) -> None:
    def history(steps: list[float]) -> list[tuple[str, float]]:
        own = Clock(clock.start, real_seconds=lambda: 0.0)
        timeline = Timeline(own)
        seen: list[tuple[str, float]] = []

        def first() -> None:
            seen.append(("first", timeline.elapsed()))
            timeline.after(10, lambda: seen.append(("second", timeline.elapsed())))

        timeline.after(30, lambda: seen.append(("other", timeline.elapsed())))
        timeline.after(5, first)
        for step in steps:
            own.advance(step)
            timeline.run_due()
        return seen

    assert history([100.0]) == [("first", 5), ("second", 15), ("other", 30)] == history([1.0] * 100)


def test_actions_at_one_instant_keep_their_order(clock: Clock) -> None:
    timeline, seen = Timeline(clock), []
    for name in ("a", "b", "c"):
        timeline.after(5, lambda name=name: seen.append(name))  # type: ignore[misc]
    clock.advance(4)
    timeline.run_due()
    assert seen == []
    assert timeline.next_due() == 1
    clock.advance(1)
    timeline.run_due()
    assert seen == ["a", "b", "c"]
    assert timeline.next_due() is None


def test_retry_later_ends_a_late_run(clock: Clock) -> None:
    timeline, tries = Timeline(clock), []

    def look() -> None:
        tries.append(timeline.elapsed())
        timeline.retry_later(0, look)

    timeline.after(1, look)
    clock.advance(1000)
    timeline.run_due()
    assert tries == [1]
    assert timeline.next_due() == 1
