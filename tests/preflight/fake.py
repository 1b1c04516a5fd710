"""An account that answers what a test says, without any AWS."""

from collections.abc import Mapping
from typing import Any

from hyperpod_cdk.preflight import CHECKS, Check, Result
from hyperpod_cdk.preflight.calls import Call, RefusedError
from hyperpod_cdk.preflight.check import result_of
from hyperpod_cdk.preflight.look import Look
from hyperpod_cdk.spec import HyperPodSpec

REGION = "us-west-2"


class FakeAws:
    """Answers by operation; an error is raised, and what is not told is empty."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self.region = REGION
        self._answers = answers

    def start(self, call: Call) -> None:
        """Nothing runs ahead."""

    def answer(self, call: Call) -> Any:
        answer = self._answers.get(call.api.operation, [] if call.api.items else {})
        if isinstance(answer, Exception):
            raise answer
        return answer(call) if callable(answer) else answer


def check(name: str) -> Check:
    return next(one for one in CHECKS if one.name == name)


def looked(name: str, spec: HyperPodSpec, **answers: Any) -> Result:
    """What a check says of an account."""
    aws: Any = FakeAws(answers)
    return result_of(check(name), Look(spec=spec, aws=aws))


def told(name: str, spec: HyperPodSpec, **answers: Any) -> list[str]:
    """What a check complains of."""
    result = looked(name, spec, **answers)
    assert not result.unchecked, result.unchecked
    return [f"{one.path} {one.message}" for one in result.findings]


def missing(code: str) -> RefusedError:
    return RefusedError(code, "there is none")
