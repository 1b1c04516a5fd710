"""How an update of a cluster begins: with the first step of its plan, if the cluster can take it now."""

from collections.abc import Callable
from functools import partial

from ..clients import Aws
from ..core.kind import Sent
from ..errors import RefusedError
from ..log import log
from .live import Live, as_request
from .plan import Plan, make_plan
from .request import Desired
from .step import send

STABLE = frozenset({"InService", "Failed"})
"""Statuses in which the service may take an update; in any other it waits for its turn."""


def plan(aws: Aws, desired: Desired, old: Desired | None, live: Live) -> Callable[[], Sent]:
    """Give what sends the first step of the plan; as :class:`~.core.kind.Kind` says."""
    made = make_plan(aws, desired=desired, old=old or Desired(request={}), live=as_request(aws, live))
    if made.refusals:
        raise RefusedError("\n".join(made.refusals))
    log("update planned", cluster=live.name, changes=made.summary, steps=[step.key for step in made.steps])
    return partial(_first_step, aws, live, made)


def _first_step(aws: Aws, live: Live, made: Plan) -> Sent:
    if live.status not in STABLE or live.is_losing_groups:
        return Sent(more=True)
    if not made.steps:
        return Sent()
    sent = send(aws, live.name, made.steps[0])
    return Sent(step=made.steps[0].key if sent else "", more=not sent or len(made.steps) > 1)
