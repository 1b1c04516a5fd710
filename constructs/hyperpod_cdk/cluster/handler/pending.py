"""The note that an update leaves on what is busy: it still has something to send."""

from collections.abc import Mapping
from dataclasses import dataclass

from .clients import Aws
from .ownership import PENDING_TAG, tag_list


@dataclass(frozen=True, kw_only=True)
class Pending:
    """The note on a cluster or quota that an update still has something to send.

    The newest request owns it, so that the poller of a cancelled update, which goes on, sends nothing.

    Args:
        request_id: of the CloudFormation request that may send.
        step: key of the step that was sent last; empty before the first.
        since: when that was, in seconds since 1970.
    """

    request_id: str
    step: str
    since: int

    @property
    def text(self) -> str:
        """The tag's value."""
        return f"{self.request_id}/{self.step}/{self.since}"


def pending_of(tags: Mapping[str, str]) -> Pending | None:
    """Read the note; None when there is none, or none that we wrote."""
    parts = tags.get(PENDING_TAG, "").split("/")
    if len(parts) != 3 or not parts[2].isdigit():
        return None
    return Pending(request_id=parts[0], step=parts[1], since=int(parts[2]))


def put_note(aws: Aws, arn: str, note: Pending | None, *, over: Mapping[str, str]) -> None:
    """Write the note over any earlier one; take that away when there is none to write.

    Args:
        aws: the way to AWS.
        arn: the thing's.
        note: what to write.
        over: the tags that the thing has.
    """
    if note:
        aws.sagemaker.add_tags(ResourceArn=arn, Tags=tag_list({PENDING_TAG: note.text}))
    elif PENDING_TAG in over:
        aws.sagemaker.delete_tags(ResourceArn=arn, TagKeys=[PENDING_TAG])
