"""The cluster is at rest: is it what was asked for, and is anything left to send?"""

from ..clients import Aws
from ..core.kind import Turn, Verdict
from ..errors import RefusedError
from .autoscaling import judge_autoscaling
from .live import Live, as_request
from .plan import Plan, make_plan
from .reasons import explain
from .request import Desired
from .result import attributes
from .step import send

GRACE_SECONDS = 60
"""How long after an update is sent the cluster may still show the state before it."""

_Turn = Turn[Desired, Live]


def judge(turn: _Turn, aws: Aws) -> Verdict:
    """Compare a cluster at rest with the request; send what had to wait."""
    live = turn.live
    if live.is_losing_groups:
        return Verdict()
    plan = make_plan(aws, desired=turn.desired, old=_before(turn), live=as_request(aws, live))
    if plan.refusals:
        raise RefusedError("\n".join(plan.refusals))
    if live.status == "Failed":
        return _failed(turn, plan, aws)
    if turn.waits and plan.steps and plan.steps[0].key != turn.step:
        return Verdict(sent=plan.steps[0].key if send(aws, live.name, plan.steps[0]) else "")
    lost = _lost(turn, plan)
    if not lost:
        return judge_autoscaling(turn) or Verdict(data=attributes(aws, live, turn.desired))
    if _is_fresh(turn, aws):
        return Verdict()
    headline = (
        f"{turn.event.kind} of cluster {live.name} failed: in service again, but the service did not keep "
        f"{', '.join(lost)}"
    )
    return Verdict(lost=explain(aws, live, headline))


def _failed(turn: _Turn, plan: Plan, aws: Aws) -> Verdict:
    """The service gave up, perhaps on an update before this one, which has waited for its end."""
    unsent = turn.waits and not turn.step and plan.steps
    if unsent and send(aws, turn.live.name, plan.steps[0]):
        return Verdict(sent=plan.steps[0].key)
    if turn.step and _is_fresh(turn, aws):
        return Verdict()
    headline = f"{turn.event.kind} of cluster {turn.live.name} failed: its status is {turn.live.status}"
    return Verdict(lost=explain(aws, turn.live, headline))


def _is_fresh(turn: _Turn, aws: Aws) -> bool:
    return aws.now() - turn.since < GRACE_SECONDS


def _before(turn: _Turn) -> Desired:
    """The request that tells what the service does not show.

    Until something is sent it is the last one. Then it is the one asked for: what was sent counts as kept,
    unless the service says that something has failed.
    """
    failed = "Sent" in turn.event.handover and turn.live.description.get("FailureMessage")
    sent = not turn.waits or turn.step
    return turn.desired if sent and not failed else turn.old or Desired(request={})


def _lost(turn: _Turn, plan: Plan) -> list[str]:
    """What the cluster should have and has not.

    Of a cluster just made only the groups and their counts can be lost, when the service gave up on nodes.
    Any other difference is the service's spelling of what it was given.
    """
    if "Sent" in turn.event.handover:
        return plan.summary if plan.steps else []
    return [
        change.path for change in plan.changes if change.name == "InstanceCount" or change.path.endswith("]")
    ]
