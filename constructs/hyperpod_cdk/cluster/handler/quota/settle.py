"""The quota is at rest: is it what was asked for, and is anything left to send?"""

from ..clients import Aws
from ..core.kind import Turn, Verdict
from .converge import send
from .difference import changes, paths
from .live import UPDATE_FAILED, Live
from .request import Desired


def judge(turn: Turn[Desired, Live], aws: Aws) -> Verdict:
    """Compare a quota at rest with the request; send what had to wait."""
    live, what = turn.live, f"{turn.event.kind} of compute quota {turn.live.name}"
    if turn.waits and not turn.step:
        sent = send(aws, turn.desired, turn.old, live)
        if sent.step or sent.more:
            return Verdict(sent=sent.step)
    elif live.version < int(turn.step or 0):
        return Verdict()  # what was sent a moment ago is not shown yet
    if live.status in UPDATE_FAILED:
        return Verdict(lost=explain(aws, live, f"{what} failed: its status is {live.status}"))
    wrong = changes(turn.desired, turn.desired, live)
    if wrong:
        lost = (
            f"{what} failed: version {live.version} of it has another {paths(wrong)}. The service did not "
            f"keep what was sent, or somebody changed it since ({live.arn})"
        )
        return Verdict(lost=lost)
    return Verdict(data=attributes(live))


def attributes(live: Live) -> dict[str, str]:
    """Give the custom resource's Data: always the same keys.

    Source of the names: DG sagemaker-hyperpod-eks-operate-console-ui-governance-cli.
    """
    namespace = f"hyperpod-ns-{live.team}"
    return {
        "ComputeQuotaArn": live.arn,
        "ComputeQuotaId": live.key,
        "TeamName": live.team,
        "Namespace": namespace,
        "QueueName": f"{namespace}-localqueue",
    }


def explain(_aws: Aws, live: Live, headline: str) -> str:
    """Say why a quota failed, in the service's words behind ours.

    Args:
        live: the quota.
        headline: what failed.
    """
    reason = live.description.get("FailureReason") or "the service gives no reason"
    return f"{headline}: {reason} ({live.arn})"
