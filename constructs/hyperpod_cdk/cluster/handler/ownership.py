"""Whose a thing is: the tags that say so."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from .clients import Aws
from .errors import RefusedError
from .event import Event

STACK_TAG = "hyperpod-cdk:stack-id"
LOGICAL_TAG = "hyperpod-cdk:logical-id"
REQUEST_TAG = "hyperpod-cdk:create-request"
PENDING_TAG = "hyperpod-cdk:pending-update"
NEWEST_TAG = "hyperpod-cdk:newest-update"
OWN_TAGS = frozenset({STACK_TAG, LOGICAL_TAG, REQUEST_TAG, PENDING_TAG, NEWEST_TAG})
"""Tags that are the handler's and never the user's."""

MAX_USER_TAGS = 50 - len(OWN_TAGS)
"""The service takes 50 tags of each resource (API reference, AddTags); ours are among them."""


def check_tags(tags: Mapping[str, str]) -> None:
    """Refuse tags of the user that would take the place of ours.

    Args:
        tags: the user's.

    Raises:
        RefusedError: one has a name of ours, or there are too many beside ours.
    """
    own = sorted(OWN_TAGS & set(tags))
    if own:
        raise RefusedError(f"Request.Tags[{own[0]}]: the name is kept for this resource; choose another")
    if len(tags) > MAX_USER_TAGS:
        raise RefusedError(f"Request.Tags: at most {MAX_USER_TAGS} of its 50 tags are free, got {len(tags)}")


def ownership_tags(event: Event) -> dict[str, str]:
    """Give the tags that mark what was made as this resource's."""
    return {STACK_TAG: event.stack_id, LOGICAL_TAG: event.logical_id}


def creation_tags(event: Event) -> dict[str, str]:
    """Give the tags of what is new: whose it is, and which request made it."""
    return {**ownership_tags(event), REQUEST_TAG: event.request_id}


def is_made_by(tags: Mapping[str, str], event: Event) -> bool:
    """Whether an earlier delivery of the same request made it."""
    return creation_tags(event).items() <= tags.items()


def is_ours(tags: Mapping[str, str], event: Event) -> bool:
    """Whether the tags say that it is this resource's."""
    return ownership_tags(event).items() <= tags.items()


def owner(tags: Mapping[str, str], noun: str = "cluster") -> str:
    """Say whose a thing is that is not ours, for people.

    Args:
        tags: the thing's.
        noun: what it is.
    """
    parts = tags.get(STACK_TAG, "").split("/")
    if len(parts) != 3:
        return f"it has no tags of a stack's {noun}"
    return f"it is {tags.get(LOGICAL_TAG, f'a {noun}')} of stack {parts[1]} ({parts[2]})"


def missing_tag(tags: Mapping[str, str], event: Event) -> str | None:
    """Name the tag that somebody took from what is this resource's; None when the tags say another thing.

    Both are put on it at once, so that one without the other tells of a hand that took the other.
    """
    wanted = ownership_tags(event)
    missing = [key for key in wanted if key not in tags]
    kept = [key for key, value in wanted.items() if tags.get(key) == value]
    return missing[0] if missing and kept else None


def tag_list(tags: Mapping[str, str]) -> list[dict[str, str]]:
    """Give tags as the API takes them."""
    return [{"Key": key, "Value": value} for key, value in tags.items()]


def read_tags(aws: Aws, arn: str) -> dict[str, str]:
    """Give every tag of what an ARN names."""
    tags: dict[str, str] = {}
    page: dict[str, Any] = {}
    while True:
        answer = aws.sagemaker.list_tags(ResourceArn=arn, **page)
        tags.update({tag["Key"]: tag["Value"] for tag in answer.get("Tags", ())})
        if not answer.get("NextToken"):
            return tags
        page = {"NextToken": answer["NextToken"]}


def send_tags(
    aws: Aws,
    arn: str,
    *,
    wanted: Mapping[str, str],
    before: AbstractSet[str],
    tags: Mapping[str, str],
) -> None:
    """Bring the user's tags in line, once; those that were not asked for before are others', and stay.

    Args:
        aws: the clients.
        arn: of what has the tags.
        wanted: the user's tags.
        before: names of those that were asked for before.
        tags: that it has.
    """
    wrong = {key: value for key, value in wanted.items() if tags.get(key) != value}
    gone = sorted((before - set(wanted) - OWN_TAGS) & set(tags))
    if wrong:
        aws.sagemaker.add_tags(ResourceArn=arn, Tags=tag_list(wrong))
    if gone:
        aws.sagemaker.delete_tags(ResourceArn=arn, TagKeys=gone)
