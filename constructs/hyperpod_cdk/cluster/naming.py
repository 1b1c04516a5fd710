"""Names of clusters that the user gave none."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import aws_cdk as cdk
from constructs import Construct

MAX_LENGTH = 63
"""API: CreateCluster, ClusterName."""

FORCES_NEW_CLUSTER = ("VpcConfig", "Orchestrator.Eks")
"""Members of the request that HyperPod fixes for the life of a cluster.

A test holds them to the handler's table. ``Orchestrator.Slurm`` is there too, and needs no place here: what
is not on EKS is on Slurm, described by the API or, in legacy mode, by a file, and of these the one becomes
the other in place.
"""

_DIGITS = 8


def named(scope: Construct, request: Mapping[str, Any]) -> dict[str, Any]:
    """The request with a name, if it has none, that changes with what HyperPod fixes for a cluster's life.

    CloudFormation then replaces the cluster: it makes one of the new name, and deletes the old one after it.
    Values known only at deployment count by what they refer to. So a subnet that is replaced under its
    logical id leaves the name as it is, and the handler refuses the change; and one that only moves to
    another logical id changes the name. Give the cluster a name of its own where neither will do.

    Args:
        scope: the cluster's construct, whose path is the name's beginning.
        request: the CreateCluster request; tokens allowed.
    """
    if "ClusterName" in request:
        return dict(request)
    fixed = {path: _member(request, path) for path in FORCES_NEW_CLUSTER}
    text = json.dumps(_unordered(cdk.Stack.of(scope).resolve(fixed)), sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]
    return {"ClusterName": f"{_beginning(scope)}-{digest}", **request}


def generated_names(scope: Construct) -> str:
    """Every name that a cluster may get here: ``?`` stands for any character.

    Args:
        scope: the cluster's construct.
    """
    return f"{_beginning(scope)}-{'?' * _DIGITS}"


def _beginning(scope: Construct) -> str:
    return cdk.Names.unique_resource_name(scope, max_length=MAX_LENGTH - _DIGITS - 1, separator="-")


def _member(request: Mapping[str, Any], path: str) -> Any:
    value: Any = request
    for name in path.split("."):
        value = (value or {}).get(name)
    return value


def _unordered(value: Any) -> Any:
    """The value with its lists sorted: subnets and security groups have no order."""
    if isinstance(value, Mapping):
        return {key: _unordered(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return sorted((_unordered(item) for item in value), key=lambda item: json.dumps(item, sort_keys=True))
    return value
