"""AWS::SageMaker::ClusterSchedulerConfig and ComputeQuota: task governance by CloudFormation itself."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hyperpod_cdk.rehearsal.aws.resources.base import (
    Call,
    Created,
    ResourceError,
    ResourceType,
    absent,
    known,
)

_POLL_SECONDS = 0.1
"""Real seconds between two looks."""
_GOOD = frozenset({"Created", "Updated"})


@dataclass(frozen=True, kw_only=True)
class Governed:
    """A policy or a quota; Ref gives its ARN.

    Args:
        word: in the names of operations and members.
        method: in the names of the methods of boto3.
        settings: properties that are changed in place.
    """

    word: str
    method: str
    settings: frozenset[str]
    slow: bool = True

    def create(self, call: Call) -> Created:
        """Create it and wait until it is made."""
        known(call, {"Name", "ClusterArn", "Description", "Tags", *self.settings})
        answer = call.aws.call("sagemaker", f"create_{self.method}", **call.properties)
        arn = str(answer[f"{self.word}Arn"])
        return self._made(call, arn, left=arn)

    def update(self, call: Call) -> Created:
        """Make a new version; another name or cluster replaces it."""
        if call.changed & {"Name", "ClusterArn"}:
            return self.create(call)
        if call.changed - {"Tags"}:
            place = {f"{self.word}Id": _id(call.physical_id)}
            version = call.aws.call("sagemaker", f"describe_{self.method}", **place)[f"{self.word}Version"]
            settings = {k: v for k, v in call.properties.items() if k in {"Description", *self.settings}}
            call.aws.call("sagemaker", f"update_{self.method}", **place, TargetVersion=version, **settings)
        if "Tags" in call.changed:
            self._retag(call)
        return self._made(call, call.physical_id)

    def delete(self, call: Call) -> None:
        """Delete it and wait until it is gone; one that went with its cluster is gone already."""
        place = {f"{self.word}Id": _id(call.physical_id)}
        try:
            call.aws.call("sagemaker", f"delete_{self.method}", **place)
            while self._look(call, call.physical_id)["Status"] == "Deleting":
                time.sleep(_POLL_SECONDS)
        except ResourceError as error:
            if not absent(error):
                raise

    def _made(self, call: Call, arn: str, *, left: str = "") -> Created:
        while (found := self._look(call, arn))["Status"] not in _GOOD:
            if found["Status"].endswith("Failed"):
                raise ResourceError(f"{found['Status']}: {found.get('FailureReason')}", physical_id=left)
            time.sleep(_POLL_SECONDS)
        own = {f"{self.word}{member}": found[f"{self.word}{member}"] for member in ("Arn", "Id", "Version")}
        return Created(physical_id=arn, attributes={**own, "Status": found["Status"]})

    def _look(self, call: Call, arn: str) -> dict[str, Any]:
        return dict(call.aws.call("sagemaker", f"describe_{self.method}", **{f"{self.word}Id": _id(arn)}))

    def _retag(self, call: Call) -> None:
        old, new = (
            {tag["Key"]: tag["Value"] for tag in one.get("Tags", [])}
            for one in (call.old_properties, call.properties)
        )
        if gone := sorted(set(old) - set(new)):
            call.aws.call("sagemaker", "delete_tags", ResourceArn=call.physical_id, TagKeys=gone)
        if new:
            call.aws.call("sagemaker", "add_tags", ResourceArn=call.physical_id, Tags=call.properties["Tags"])


def _id(arn: str) -> str:
    return arn.rpartition("/")[2]


GOVERNANCE: Mapping[str, ResourceType] = {
    "AWS::SageMaker::ClusterSchedulerConfig": Governed(
        word="ClusterSchedulerConfig",
        method="cluster_scheduler_config",
        settings=frozenset({"SchedulerConfig"}),
    ),
    "AWS::SageMaker::ComputeQuota": Governed(
        word="ComputeQuota",
        method="compute_quota",
        settings=frozenset({"ComputeQuotaConfig", "ComputeQuotaTarget", "ActivationState"}),
    ),
}
