"""State machines really executed, with a clock that runs faster than the wall's."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from moto.core.config import default_user_config
from moto.stepfunctions.parser.asl.component.common.retry import retrier_decl
from moto.stepfunctions.parser.asl.component.state.wait.wait_function.wait_function import WaitFunction
from moto.stepfunctions.parser.asl.eval.environment import Environment
from moto.stepfunctions.parser.models import StepFunctionsParserBackend


@contextmanager
def state_machines_execute(*, speed: float) -> Iterator[None]:
    """Let moto execute state machines instead of only recording that they were started.

    Args:
        speed: How much faster than real time a Retry or a Wait waits; 10 turns an interval of 10 s into
            1 s. The number of attempts stays as declared.
    """
    start = StepFunctionsParserBackend.start_execution

    def start_with_name(backend: Any, arn: str, name: str | None = None, *rest: Any) -> Any:
        # Moto calls every execution without a name "None", and refuses the second.
        return start(backend, arn, name or str(uuid.uuid4()), *rest)

    def wait(_: WaitFunction, env: Environment, wait_seconds: float) -> None:
        end = time.monotonic() + wait_seconds / speed
        # the event is also set for other reasons than the end of the execution
        while env.is_running() and (left := end - time.monotonic()) > 0:
            env.program_state_event.wait(left)

    clock = SimpleNamespace(sleep=lambda seconds: time.sleep(seconds / speed))
    with (
        patch.dict(default_user_config, {"stepfunctions": {"execute_state_machine": True}}),
        patch.object(StepFunctionsParserBackend, "start_execution", start_with_name),
        # Where state machines spend time: between tries, and in Wait states.
        patch.object(retrier_decl, "time", clock),
        patch.object(WaitFunction, "_wait_interval", wait),
    ):
        yield
