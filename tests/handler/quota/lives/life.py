"""A quota in a stack, beside those of others: what there is, and what must hold of it."""

from typing import Any

from hypothesis.stateful import invariant

from hyperpod_cdk.rehearsal.hyperpod import allocation
from hyperpod_cdk.rehearsal.hyperpod.governance import Governed
from tests.handler.cloudformation import STACK_ID, Response
from tests.handler.comparison import OUTSIDE, OWN
from tests.handler.conftest import MUTATING, is_mark
from tests.handler.lives.life import Life
from tests.handler.quota.lives.random_quotas import FOREIGN
from tests.handler.quota.samples import eks_cluster, physical_id, quota, there
from tests.handler.samples import Request

SETTLED = ("Created", "Updated")


def tags_of(one: Governed) -> dict[str, str]:
    """A quota's tags."""
    return {tag["Key"]: tag["Value"] for tag in one.tags}


def is_mine(one: Governed) -> bool:
    """Whether a quota carries the tags of the resource."""
    tags = tags_of(one)
    return (tags.get(f"{OWN}stack-id"), tags.get(f"{OWN}logical-id")) == (STACK_ID, "Quota")


def is_disowned(one: Governed) -> bool:
    """Whether somebody took a tag from a quota of the resource."""
    tags = tags_of(one)
    return tags.get(f"{OWN}stack-id") == STACK_ID and f"{OWN}logical-id" not in tags


def key(one: Governed) -> str:
    """What CloudFormation knows a quota by."""
    return physical_id({"ClusterArn": one.cluster_arn, "Name": one.name})


def differences(request: Request, one: Governed) -> list[str]:
    """What of a quota does not hold as the request asks; its defaults count."""
    wanted, found = _effective(request), _effective(one.content)
    wrong = [f"{name}: {found[name]}" for name in wanted if wanted[name] != found[name]]
    tags = tags_of(one)
    asked = {tag["Key"]: tag["Value"] for tag in request.get("Tags", ())}
    users = {name: value for name, value in tags.items() if not name.startswith((OWN, OUTSIDE))}
    wrong += [] if users == asked else [f"tags: {users}"]
    return wrong + (["a note of a pending update"] if f"{OWN}pending-update" in tags else [])


def _effective(content: Request) -> Request:
    shown = allocation.shown(content)
    config = {**shown["ComputeQuotaConfig"]}
    config["ComputeQuotaResources"] = _sorted(config["ComputeQuotaResources"])
    sharing = {"AbsoluteBorrowLimits": [], **config["ResourceSharingConfig"]}
    if sharing["Strategy"] != "LendAndBorrow":
        sharing.pop("BorrowLimit", None)
    return {
        "Description": content.get("Description", ""),
        "ActivationState": shown["ActivationState"],
        "ComputeQuotaTarget": shown["ComputeQuotaTarget"],
        "ComputeQuotaConfig": {**config, "ResourceSharingConfig": sharing},
    }


def _sorted(entries: list[Request]) -> list[Request]:
    return sorted(entries, key=lambda entry: str(entry["InstanceType"]))


class QuotaLife(Life):
    """The service, the stack and the request that is on its way; two clusters, and somebody else's team."""

    def __init__(self) -> None:
        super().__init__()
        self.stack.resource_type, self.stack.logical_id = "Custom::HyperPodComputeQuota", "Quota"
        self.stack.identity = physical_id
        self.clusters = (eks_cluster(self.service), eks_cluster(self.service, "other"))
        self.service.call("CreateComputeQuota", quota(self.clusters[0], FOREIGN))
        self.service.clock.advance(60)
        self.service.catch_up()
        self.foreign = self._foreign()

    def watch(self, operation: str, request: Request) -> None:
        """A call that changes something goes to a quota of ours, or makes one."""
        if not is_mark(operation, request):
            self.calls.append(operation)
        if operation == "CreateComputeQuota" or not operation.startswith(MUTATING):
            return
        target = request.get("ComputeQuotaId") or request["ResourceArn"]
        found = [one for one in self.service.governed.values() if target in (one.id, one.arn)]
        if not all(is_mine(one) for one in found):
            self.broken.append(f"{operation} on another's quota {target}")

    def mine(self) -> list[Governed]:
        """The quotas of the resource."""
        return [one for one in there(self.service) if is_mine(one)]

    def _live(self) -> Governed | None:
        found = (one for one in there(self.service) if key(one) == self.stack.physical_id)
        return next(found, None)

    def _is_as_known(self) -> bool:
        """Whether the live quota is what CloudFormation takes it for, and at rest."""
        live = self._live()
        if live is None or not is_mine(live) or live.status not in SETTLED:
            return False
        return not differences(self.current, live)

    def _is_well(self) -> bool:
        """Whether nothing is left of a bad day."""
        if self.service.faults.active() or self.stray:
            return False
        return self._is_as_known() if self.stack.physical_id else not self.mine()

    def _foreign(self) -> Any:
        (other,) = [one for one in self.service.governed.values() if one.name == FOREIGN and not is_mine(one)]
        return other.arn, other.status, other.version, dict(other.content), list(other.tags)

    def _check_response(self, event: Request, response: Response) -> None:
        self.service.catch_up()
        if self.changes_nothing:
            assert not [name for name in self.calls if name.startswith(MUTATING)]
        if not response.ok:
            return
        if event["RequestType"] == "Delete":
            names = {event["PhysicalResourceId"], physical_id(event["ResourceProperties"]["Request"])}
            names -= {name for _, name in self.stack.abandoned}
            assert not names & {key(one) for one in self.mine()}
            return
        wanted = self.stack.asked[event["RequestId"]]
        (live,) = [one for one in there(self.service) if key(one) == response.physical_id]
        assert is_mine(live)
        assert response.physical_id == physical_id(wanted)
        assert live.status in SETTLED
        wrong = differences(wanted, live)
        assert not wrong, wrong
        assert response.data["ComputeQuotaId"] == live.id
        assert response.data["Namespace"] == f"hyperpod-ns-{live.team}"

    def _check_end(self) -> None:
        """CloudFormation is done: the one quota is there that it knows of, and no other."""
        assert self.first is None or self.expected in (None, self.first.ok), self.first
        self.is_deleting = self.is_deleting and bool(self.stack.physical_id)
        if self.stack.abandoned or self.stack.failed_update or self.is_deleting:
            return
        self.harm = 0 if self._is_well() else self.harm
        assert {key(one) for one in self.mine()} <= {self.stack.physical_id} - {""}

    @invariant()
    def nothing_is_broken(self) -> None:
        """What is seen while the handler runs, which would take an exception for AWS's."""
        assert self.broken == []

    @invariant()
    def never_two(self) -> None:
        """One quota for one resource, but for the span of a replacement."""
        left = len(self.stack.abandoned) + 2 * (self.stack.failed_update is not None)
        assert len(self.mine()) <= 1 + self.replaces + left

    @invariant()
    def the_foreign_quota_is_as_it_was(self) -> None:
        """Nothing of it, whatever happens."""
        assert self._foreign() == self.foreign
