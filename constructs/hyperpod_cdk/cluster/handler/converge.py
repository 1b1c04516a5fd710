"""Sending an update: tags and the first call now, the rest noted on the cluster."""

from collections.abc import Mapping
from typing import Any

from .clients import Aws
from .errors import RefusedError
from .event import Event
from .live import Live, as_request
from .log import log
from .ownership import send_tags
from .patience import patiently
from .pending import Pending, forget_pending, note_pending, pending_of
from .plan import make_plan
from .request import Desired
from .step import send

STABLE = frozenset({"InService", "Failed"})
"""Statuses in which the service may take an update; in any other it waits for its turn."""


def converge(
    aws: Aws, event: Event, *, desired: Desired, old: Desired, live: Live, tags: Mapping[str, str]
) -> dict[str, Any]:
    """Send the tags, and the first step of the plan; note on the cluster whatever must wait.

    Returns:
        The physical id and what is_complete needs.

    Raises:
        RefusedError: a change that the service does not make; nothing was changed.
    """
    plan = make_plan(aws, desired=desired, old=old, live=as_request(aws, live))
    if plan.refusals:
        raise RefusedError("\n".join(plan.refusals))
    log("update planned", cluster=desired.name, changes=plan.summary, steps=[step.key for step in plan.steps])
    # of a cluster that is taken over nobody knows whose a tag is: it starts anew, with what is asked for
    before = set(old.tags) if event.kind != "Create" else {key for key in tags if not key.startswith("aws:")}
    send_tags(aws, live.arn, wanted=desired.tags, before=before, tags=tags)
    busy = live.status not in STABLE or live.is_losing_groups
    sent = bool(plan.steps) and not busy and send(aws, desired.name, plan.steps[0], patient=True)
    now = int(aws.now())
    pending = busy or len(plan.steps) > int(sent)
    if pending:
        step = plan.steps[0].key if sent else ""
        note = Pending(request_id=event.request_id, step=step, since=now)
        patiently(aws, note_pending, aws=aws, arn=live.arn, pending=note)
    elif pending_of(tags):
        patiently(aws, forget_pending, aws=aws, arn=live.arn)
    handover = {"Since": now, "Pending": pending, "Sent": sent}
    return {"PhysicalResourceId": desired.name, "Handover": handover}
