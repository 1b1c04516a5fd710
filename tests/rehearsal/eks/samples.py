"""Requests."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

REGION = "us-west-2"
ACCOUNT = "123456789012"
ARN = f"arn:aws:eks:{REGION}:{ACCOUNT}:cluster/plane"
Call = Callable[..., dict[str, Any]]
Refused = Callable[..., tuple[str, str]]


def role(name: str) -> str:
    return f"arn:aws:iam::{ACCOUNT}:role/{name}"


def policy(name: str) -> str:
    return f"arn:aws:eks::aws:cluster-access-policy/{name}"


@dataclass(frozen=True, kw_only=True)
class Network:
    """What a control plane stands in."""

    vpc_id: str
    subnet_ids: Sequence[str]

    def cluster(self, **changes: Any) -> dict[str, Any]:
        return {
            "name": "plane",
            "roleArn": role("plane"),
            "version": "1.33",
            "resourcesVpcConfig": {"subnetIds": list(self.subnet_ids)},
            "accessConfig": {"authenticationMode": "API", "bootstrapClusterCreatorAdminPermissions": False},
            **changes,
        }

    def node_group(self, **changes: Any) -> dict[str, Any]:
        return {
            "clusterName": "plane",
            "nodegroupName": "system",
            "nodeRole": role("nodes"),
            "subnets": list(self.subnet_ids),
            "scalingConfig": {"minSize": 2, "maxSize": 3, "desiredSize": 2},
            **changes,
        }
