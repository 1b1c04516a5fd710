"""Tags of clusters and of all that belongs to them."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_cdk.rehearsal.eks.errors import NotFoundError
from hyperpod_cdk.rehearsal.eks.service import AmazonEks
from hyperpod_cdk.rehearsal.eks.state import Spec

_ARNS = ("arn", "addonArn", "nodegroupArn", "accessEntryArn", "associationArn")


def tag_resource(eks: AmazonEks, request: Spec) -> Spec:
    """TagResource."""
    _tagged(eks, request).update(request["tags"])
    return {}


def untag_resource(eks: AmazonEks, request: Spec) -> Spec:
    """UntagResource."""
    tags = _tagged(eks, request)
    for key in request["tagKeys"]:
        tags.pop(key, None)
    return {}


def list_tags_for_resource(eks: AmazonEks, request: Spec) -> Spec:
    """ListTagsForResource."""
    return {"tags": dict(_tagged(eks, request))}


def _tagged(eks: AmazonEks, request: Spec) -> Spec:
    for about in _everything(eks):
        if request["resourceArn"] in [about.get(member) for member in _ARNS]:
            tags: Spec = about.setdefault("tags", {})
            return tags
    raise NotFoundError(f"No resource found for ARN: {request['resourceArn']}")


def _everything(eks: AmazonEks) -> Iterator[Spec]:
    for cluster in eks.clusters.values():
        yield cluster.about
        yield from cluster.add_ons.values()
        yield from cluster.identities.values()
        yield from (group.about for group in cluster.node_groups.values())
        yield from (entry.about for entry in cluster.entries.values())
