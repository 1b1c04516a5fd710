"""The emulated service of one account and Region: it takes requests and gives answers."""

from threading import RLock
from typing import Any

from hyperpod_cdk.rehearsal.hyperpod import model
from hyperpod_cdk.rehearsal.hyperpod.operations import OPERATIONS, Operation
from hyperpod_cdk.rehearsal.hyperpod.simulation import Simulation
from hyperpod_cdk.rehearsal.hyperpod.state import Spec


class HyperPodService(Simulation):
    """A :class:`Simulation` that answers API requests, one at a time.

    Before each request everything that is due by the clock happens.
    """

    def __init__(self, account_id: str, region: str) -> None:
        super().__init__(account_id, region)
        self.lock = RLock()

    def call(self, operation: str, request: Any) -> Spec:
        """Answer an API request.

        Args:
            operation: name as in the API, one of :data:`.OPERATIONS`.
            request: the parsed JSON body.

        Raises:
            ServiceError: the answer is an error.
        """
        return self.answer(operation, request, OPERATIONS[operation])

    def answer(self, operation: str, request: Any, act: Operation) -> Spec:
        """Answer a request with what a function does, between everything that surrounds each request.

        Args:
            operation: name in the API's model.
            request: the parsed JSON body.
            act: given the service and the request without nulls.

        Raises:
            ServiceError: the answer is an error.
        """
        with self.lock:
            self.timeline.run_due()
            self._fail_if_told(operation, answer_lost=False)
            model.check(operation, request)
            answer = act(self, model.without_nulls(request))
            self._fail_if_told(operation, answer_lost=True)
            return answer

    def catch_up(self) -> None:
        """Let everything happen that is due by the clock, as each request does first."""
        with self.lock:
            self.timeline.run_due()

    def settle(self, *, limit: float = 24 * 3600) -> float:
        """Advance the clock, step by step, until nothing more is to come.

        Args:
            limit: simulated seconds after which to stop; Continuous provisioning may try for ever.

        Returns:
            The simulated seconds by which the clock has advanced.
        """
        advanced = 0.0
        with self.lock:
            self.timeline.run_due()
            while (seconds := self.timeline.next_due()) is not None and advanced + seconds <= limit:
                self.clock.advance(seconds)
                advanced += seconds
                self.timeline.run_due()
        return advanced

    def _fail_if_told(self, operation: str, *, answer_lost: bool) -> None:
        error = self.faults.strike_operation(operation, answer_lost=answer_lost)
        if error is not None:
            raise error
