"""The largest cluster: 100 instance groups and 6,758 nodes."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from handler import index

from hyperpod_cdk.rehearsal.hyperpod import HyperPodService
from tests.handler.cloudformation import Stack
from tests.handler.conftest import Calls
from tests.handler.samples import Request, cluster, group, properties, regroup

NODES = 6_758
"""InstanceCount of a group at most (API reference, ClusterInstanceGroupSpecification); here of all groups."""

SECONDS = 2.0


def plain(name: str, kind: str = "Compute", *, count: int = 1) -> Request:
    """A group without a lifecycle script: its nodes are set up at once."""
    made = group(name, kind, count=count)
    del made["LifeCycleConfig"]
    return made


# Every name has the controller's in it, so that a look for the controller's node lists all nodes.
REQUEST = cluster(
    plain("g", "Controller"),
    *[plain(f"g-{number:02d}", count=69 if number < 25 else 68) for number in range(99)],
)


class Stopwatch:
    """Measures the handler's own seconds: those of the emulated service do not count."""

    def __init__(self) -> None:
        self.others = 0.0

    def __call__(self, function: Any, event: Request) -> tuple[Any, float]:
        before, started = self.others, time.process_time()
        answer = function(event)
        return answer, time.process_time() - started - (self.others - before)


@pytest.fixture
def stopwatch(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stopwatch]:
    watch, answer = Stopwatch(), HyperPodService.answer

    def timed(service: HyperPodService, *arguments: Any, **more: Any) -> Any:
        started = time.process_time()
        try:
            return answer(service, *arguments, **more)
        finally:
            watch.others += time.process_time() - started

    monkeypatch.setattr(HyperPodService, "answer", timed)
    yield watch


@pytest.mark.usefixtures("http")
def test_it_is_described_compared_and_answered_in_two_seconds(
    stack: Stack, service: HyperPodService, calls: Calls, stopwatch: Stopwatch, record_property: Any
) -> None:
    assert sum(entry["InstanceCount"] for entry in REQUEST["InstanceGroups"]) == NODES

    def run(event: Request) -> float:
        """The seconds of on_event, and of the poll that ends it."""
        made, asking = stopwatch(index.on_event, event)
        service.settle()
        calls.clear()
        answer, answering = stopwatch(index.is_complete, {**event, "PhysicalResourceId": "ml", **made})
        assert answer["IsComplete"]
        assert answer["Data"]["ControllerSsmTarget"]
        assert calls.names.count("ListClusterNodes") == 68, "page by page"
        assert len(json.dumps(answer)) < 1000
        return asking + answering

    larger = regroup(REQUEST, "g-98", InstanceCount=69)
    seconds = {
        "create": run(stack.event("Create", properties(REQUEST))),
        "no change": run(stack.event("Update", properties(REQUEST), properties(REQUEST), "ml")),
        "scale": run(stack.event("Update", properties(larger), properties(REQUEST), "ml")),
    }
    for name, taken in seconds.items():
        record_property(name, round(taken, 3))
    assert max(seconds.values()) <= SECONDS, seconds
