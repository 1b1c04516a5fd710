"""The emulated service of one account and Region: it takes requests and gives answers."""

from threading import RLock
from typing import TYPE_CHECKING, Any

from hyperpod_cdk.rehearsal.hyperpod import model, orchestrator
from hyperpod_cdk.rehearsal.hyperpod.operations import OPERATIONS, Operation
from hyperpod_cdk.rehearsal.hyperpod.simulation import Simulation
from hyperpod_cdk.rehearsal.hyperpod.state import Spec

if TYPE_CHECKING:
    from hyperpod_cdk.rehearsal.eks.service import Guest


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

    def answer(self, operation: str, request: Any, act: Operation, *, caller_role: str = "") -> Spec:
        """Answer a request with what a function does, between everything that surrounds each request.

        Args:
            operation: name in the API's model.
            request: the parsed JSON body.
            act: given the service and the request without nulls.
            caller_role: ARN of the role in which it is made. Default: somebody who may do everything.

        Raises:
            ServiceError: the answer is an error.
        """
        with self.lock:
            self.catch_up()
            self.caller_role = caller_role
            self._fail_if_told(operation, answer_lost=False)
            model.check(operation, request)
            answer = act(self, model.without_nulls(request))
            orchestrator.sync(self)
            self._fail_if_told(operation, answer_lost=True)
            return answer

    def catch_up(self) -> None:
        """Let everything happen that is due by the clock, as each request does first."""
        with self.lock:
            self.timeline.run_due()
            orchestrator.sync(self)

    def guests(self, cluster_arn: str) -> list["Guest"]:
        """Give the clusters that an EKS cluster orchestrates.

        Args:
            cluster_arn: of the EKS cluster.
        """
        return orchestrator.guests(self, cluster_arn)

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
