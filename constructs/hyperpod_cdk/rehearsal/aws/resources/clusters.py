"""AWS::SageMaker::Cluster: CloudFormation's own resource, for stacks that prefer it to ours."""

from __future__ import annotations

import time
from typing import Any

from hyperpod_cdk.rehearsal.aws.resources.base import Call, Created, Properties, ResourceError, absent

POLL_SECONDS = 0.2
"""Real seconds between two looks at the cluster."""


class Cluster:
    """A HyperPod cluster whose properties are the CreateCluster request."""

    slow = True
    _REPLACING = frozenset({"ClusterName", "VpcConfig"})
    _UPDATABLE = frozenset(
        {"InstanceGroups", "RestrictedInstanceGroups", "NodeRecovery", "NodeProvisioningMode", "Orchestrator"}
        | {"AutoScaling", "ClusterRole", "TieredStorageConfig"}
    )

    def create(self, call: Call) -> Created:
        """Create the cluster and wait until it is in service."""
        arn = call.aws.call("sagemaker", "create_cluster", **call.properties)["ClusterArn"]
        return self._in_service(call, str(arn), left=str(arn))

    def update(self, call: Call) -> Created:
        """Update the cluster and wait; another name or network replaces it."""
        if call.changed & self._REPLACING:
            return self.create(call)
        old, new = _groups(call.old_properties), _groups(call.properties)
        request: dict[str, Any] = {k: v for k, v in call.properties.items() if k in self._UPDATABLE}
        if old - new:
            request["InstanceGroupsToDelete"] = sorted(old - new)
        call.aws.call("sagemaker", "update_cluster", ClusterName=call.physical_id, **request)
        return self._in_service(call, call.physical_id, left="")

    def delete(self, call: Call) -> None:
        """Delete the cluster and wait until it is gone."""
        call.aws.call("sagemaker", "delete_cluster", ClusterName=call.physical_id)
        while True:
            try:
                self._describe(call, call.physical_id)
            except ResourceError as error:
                if absent(error):
                    return
                raise
            time.sleep(POLL_SECONDS)

    def _in_service(self, call: Call, arn: str, *, left: str) -> Created:
        wanted = _groups(call.properties)
        # a group that is removed is still listed while its nodes go
        while (found := self._describe(call, arn))["ClusterStatus"] != "InService" or _groups(
            found
        ) != wanted:
            if found["ClusterStatus"] in ("Failed", "RollingBack"):
                raise ResourceError(found.get("FailureMessage") or "the cluster failed", physical_id=left)
            time.sleep(POLL_SECONDS)
        told = {name: found.get(name) for name in ("ClusterArn", "ClusterStatus", "FailureMessage")}
        return Created(physical_id=arn, attributes=told)

    def _describe(self, call: Call, arn: str) -> dict[str, Any]:
        return dict(call.aws.call("sagemaker", "describe_cluster", ClusterName=arn))


def _groups(cluster: Properties) -> set[str]:
    return {str(group["InstanceGroupName"]) for group in cluster.get("InstanceGroups", [])}
