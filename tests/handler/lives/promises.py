"""What must hold: after every step, at each response, and when CloudFormation is done."""

from typing import Any

from handler.cluster.interfaces import NAMED_SECONDS
from hypothesis.stateful import invariant

from hyperpod_cdk.rehearsal.hyperpod.state import ClusterStatus
from tests.handler import random_requests as random
from tests.handler.cloudformation import Response
from tests.handler.comparison import differences
from tests.handler.conftest import MUTATING
from tests.handler.lives.life import Life
from tests.handler.lives.world import is_mine
from tests.handler.samples import Request


class Promises(Life):
    """None is lost, leaked or lied about."""

    def _check_response(self, event: Request, response: Response) -> None:
        self.service.catch_up()
        if self.changes_nothing:
            assert not [name for name in self.calls if name.startswith(MUTATING)]
        if not response.ok:
            return
        if event["RequestType"] == "Delete":
            self._check_deleted(event)
            return
        wanted = self.stack.asked[event["RequestId"]]
        live = self.service.clusters[response.physical_id]
        assert is_mine(live)
        assert live.name == wanted["ClusterName"]
        assert live.status is ClusterStatus.IN_SERVICE
        assert differences(wanted, live) == []
        assert response.data["ClusterArn"] == live.arn
        target = f"sagemaker-cluster:{live.cluster_id}_controller-"
        assert response.data["ControllerSsmTarget"].startswith(target)

    def _check_deleted(self, event: Request) -> None:
        names = {event["PhysicalResourceId"], event["ResourceProperties"]["Request"].get("ClusterName")}
        names -= {name for _, name in self.stack.abandoned}
        assert not names & {one.name for one in self.mine()}
        if self.service.clock.elapsed() - self.begun >= NAMED_SECONDS:
            return
        living = {one.arn for one in self.service.clusters.values()}
        gone = set(event.get("Handover", {}).get("Going", ())) - living
        for interface in self.service.account.ec2.enis.values():
            assert not any(arn in interface.description for arn in gone), "it holds the security group"

    def _check_end(self) -> None:
        """CloudFormation is done: the one cluster is there that it knows of, and no other."""
        assert self.first is None or self.expected in (None, self.first.ok), self.first
        self.service.catch_up()
        self.is_deleting = self.is_deleting and bool(self.stack.physical_id)
        if self.stack.abandoned or self.stack.failed_update or self.is_deleting:
            return
        self.harm = 0 if self._is_well() else self.harm
        known = {self.stack.physical_id} - {""}
        assert {one.name for one in self.mine()} <= known

    @invariant()
    def nothing_is_broken(self) -> None:
        """What is seen while the handler runs, which would take an exception for AWS's."""
        assert self.broken == []

    @invariant()
    def never_two(self) -> None:
        """One cluster for one resource, but for the span of a replacement."""
        left = len(self.stack.abandoned) + 2 * (self.stack.failed_update is not None)
        assert len(self.mine()) <= 1 + self.replaces + left

    @invariant()
    def the_foreign_cluster_is_as_it_was(self) -> None:
        """Nothing of it, whatever happens."""
        if hasattr(self, "foreign"):
            assert self._foreign() == self.foreign

    def _foreign(self) -> Any:
        other = self.service.clusters[random.FOREIGN]
        return other.arn, other.status, other.request(), list(other.tags)
