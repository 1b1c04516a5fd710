"""Preflight: how long all checks take, against the slowest call alone, when each call takes 200 ms.

The answers are recorded once from the embedded AWS and played back after the latency, so that what is
measured is preflight and botocore, and no server that shares the processor with them.
"""

import io
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar
from unittest.mock import patch

from botocore.awsrequest import AWSResponse
from botocore.httpsession import URLLib3Session

from benchmarks.pairs import ROUNDS, Timing
from hyperpod_cdk.preflight import CHECKS, Aws, Report, run
from hyperpod_cdk.preflight.aws import Made
from hyperpod_cdk.rehearsal import hyperpod
from hyperpod_cdk.rehearsal.aws import EmbeddedAws
from hyperpod_cdk.spec import HyperPodSpec
from tests.preflight import eks_account, eks_specs, specs
from tests.preflight.account import REGION, Account
from tests.preflight.changes import other_cluster
from tests.preflight.conftest import OneSetOfClients

LATENCY_SECONDS = 0.2
GOAL = 1.3
"""Times the slowest call, for each link of the longest chain."""
_Answer = TypeVar("_Answer")


@dataclass
class Tape:
    """Answers of the embedded AWS by what was asked."""

    answers: dict[tuple[str, str, bytes], tuple[int, Mapping[str, str], bytes]] = field(default_factory=dict)

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Keep every answer."""
        send = URLLib3Session.send

        def keep(session: URLLib3Session, request: Any) -> AWSResponse:
            answer = send(session, request)
            self.answers[_key(request)] = (answer.status_code, dict(answer.headers), answer.content)
            return _response(request.url, *self.answers[_key(request)])

        with patch.object(URLLib3Session, "send", keep):
            yield

    @contextmanager
    def playing(self) -> Iterator[None]:
        """Give every answer after the latency."""

        def play(_: URLLib3Session, request: Any) -> AWSResponse:
            time.sleep(LATENCY_SECONDS)
            return _response(request.url, *self.answers[_key(request)])

        with patch.object(URLLib3Session, "send", play):
            yield


class _Raw(io.BytesIO):
    def stream(self, **_: object) -> Iterator[bytes]:
        yield self.read()


def _response(url: str, status: int, headers: Mapping[str, str], body: bytes) -> AWSResponse:
    return AWSResponse(url, status, headers, _Raw(body))


def _key(request: Any) -> tuple[str, str, bytes]:
    body = request.body if isinstance(request.body, bytes) else str(request.body or "").encode()
    target = request.headers.get("X-Amz-Target", b"")
    return request.method, request.url + str(target), body


def measure(rounds: int = ROUNDS) -> list[dict[str, Any]]:
    """Measure both kinds of account, print and give the figures."""
    with ExitStack() as stack:
        aws = stack.enter_context(EmbeddedAws(region=REGION, extensions=[hyperpod.install]))
        stack.enter_context(patch.dict("os.environ", {"AWS_ENDPOINT_URL": aws.endpoint}))
        account = Account(aws=aws)
        account.build()
        eks_account.build(account)
        results = [
            _measured("an account without clusters", specs.existing(account), rounds),
            _measured("the same, with a control plane that is made", eks_specs.new(account), rounds),
        ]
        other_cluster(account)
        return [*results, _measured("an account with a cluster", specs.existing(account), rounds)]


def _measured(title: str, spec: HyperPodSpec, rounds: int) -> dict[str, Any]:
    tape, session = Tape(), OneSetOfClients()
    with tape.recording():
        run(spec, Aws(session, region=REGION))
    with tape.playing():
        runs = [_timed(lambda: _preflight(spec, session)) for _ in range(rounds)]
        report, made = runs[-1][1]
        slowest = max(made, key=lambda one: one.ended - one.begun).call
        alone = [_timed(lambda: Aws(session, region=REGION).answer(slowest))[0] for _ in range(rounds)]
        cold = [_timed(lambda: _preflight(spec, OneSetOfClients()))[0] for _ in range(rounds)]
    whole = Timing(name="all checks", seconds=[seconds for seconds, _ in runs])
    single = Timing(name=f"{slowest.api.action} alone", seconds=alone)
    links, last = _chain(made)
    ratio, goal = round(whole.median / single.median, 3), round(GOAL * links, 2)
    print(
        f"preflight of {title}: {len(report.results)} of {len(CHECKS)} checks, {len(made)} calls,\n"
        f"  up to {links} one after the other: {ratio} times {single.name}, goal {goal}: "
        f"{'met' if ratio <= goal else 'missed'}"
    )
    return {
        "title": f"preflight at {LATENCY_SECONDS * 1000:.0f} ms a call: {title}",
        "seconds": [whole.to_json(), single.to_json()],
        "seconds_with_new_clients": round(statistics.median(cold), 3),
        "calls": len(made),
        "longest_chain": {"calls": links, "last": last},
        "ratio": ratio,
        "goal": goal,
    }


def _preflight(spec: HyperPodSpec, session: Any) -> tuple[Report, list[Made]]:
    aws = Aws(session, region=REGION)
    report = run(spec, aws)
    if report.exit_code:
        raise RuntimeError(f"the account lacks something: {report.to_json()['counts']}")
    return report, aws.made


def _timed(action: Callable[[], _Answer]) -> tuple[float, _Answer]:
    start = time.perf_counter()
    answer = action()
    return time.perf_counter() - start, answer


def _chain(made: list[Made]) -> tuple[int, list[str]]:
    """How many calls are made one after the other at most, and which come last there."""
    places: list[tuple[Made, int]] = []
    for one in sorted(made, key=lambda call: call.begun):
        before = [place for other, place in places if other.ended <= one.begun]
        places.append((one, max(before, default=0) + 1))
    longest = max(place for _, place in places)
    last = {one.call.api.action for one, place in places if place == longest}
    return longest, sorted(last) if longest > 1 else []
