"""Which update of a thing is the newest: a tag that each leaves before it changes anything.

CloudFormation cancels an update when another resource fails, and rolls back at once. The function of the
cancelled one may still be asking, throttled for two minutes: it must see that there is a newer one, also when
that one has long found nothing to do and ended. The tag therefore stays.
"""

from collections.abc import Mapping

from .clients import Aws
from .errors import FailedError
from .event import Event
from .ownership import NEWEST_TAG, read_tags, tag_list


def refuse_overtaken(tags: Mapping[str, str], event: Event, begun: float, what: str) -> None:
    """Refuse to go on when the tags tell of an update that began later.

    Args:
        tags: the thing's.
        event: of the update that wants to go on.
        begun: when its function began, in seconds since 1970.
        what: the thing, for people.

    Raises:
        FailedError: there is a newer one; it alone may change anything.
    """
    request_id, _, since = tags.get(NEWEST_TAG, "").partition("/")
    if request_id != event.request_id and since.isdigit() and int(since) > begun:
        raise FailedError(f"a newer update of {what} took the place of this one")


def claim(aws: Aws, arn: str, event: Event, what: str) -> dict[str, str]:
    """Say on the thing that this update is the newest, unless it is not; one look, and one call at most.

    Args:
        aws: the way to AWS; its invocation is the update's.
        arn: the thing's.
        event: of the update.
        what: the thing, for people.

    Returns:
        The thing's tags.

    Raises:
        FailedError: a newer update has left its tag.
    """
    tags = read_tags(aws, arn)
    refuse_overtaken(tags, event, aws.started, what)
    mine = f"{event.request_id}/{int(aws.started)}"
    if tags.get(NEWEST_TAG, "").partition("/")[0] != event.request_id:
        aws.sagemaker.add_tags(ResourceArn=arn, Tags=tag_list({NEWEST_TAG: mine}))
    return tags
