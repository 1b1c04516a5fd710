"""Compute quotas, as the core knows them."""

from collections.abc import Iterable
from functools import partial

from ..clients import Aws
from ..core.kind import Kind, Outcome
from ..errors import RefusedError
from ..event import Event
from ..ownership import owner, read_tags
from ..patience import patiently
from .converge import plan
from .live import DELETE_FAILED, PHYSICAL_ID, Live, find, of_team, summaries
from .request import FORM, Desired
from .settle import explain, judge

_NOUN = "compute quota"

OUTCOMES = {
    "Creating": Outcome.WAIT,
    "CreateFailed": Outcome.FAIL,
    "CreateRollbackFailed": Outcome.FAIL,
    "Created": Outcome.CHECK,
    "Updating": Outcome.WAIT,
    # an update that waits for its turn may follow one that failed
    "UpdateFailed": Outcome.CHECK,
    "UpdateRollbackFailed": Outcome.CHECK,
    "Updated": Outcome.CHECK,
    "Deleting": Outcome.FAIL,
    "DeleteFailed": Outcome.FAIL,
    "DeleteRollbackFailed": Outcome.FAIL,
}
"""By SchedulerResourceStatus, for Create and Update; what is Deleted counts as gone."""


def _last_look(aws: Aws, desired: Desired) -> Live | None:
    """A team has one quota; a list that lags may show a moment later what this request has made before."""
    live = patiently(aws, of_team, aws=aws, cluster_arn=desired.cluster_arn, team=desired.team)
    if live is None or live.name == desired.name:
        return live
    whose = owner(patiently(aws, read_tags, aws=aws, arn=live.arn), _NOUN)
    raise RefusedError(
        f"ComputeQuotaTarget.TeamName: team {live.team} has the quota {live.name} in this cluster: "
        f"{whose}. Choose another team, or delete that quota: it was not touched ({live.arn})"
    )


def _refuse_second_quota(desired: Desired, old: Desired) -> None:
    """A new quota is made before the old one goes, and a team has one."""
    if desired.cluster_arn == old.cluster_arn and desired.team == old.team:
        raise RefusedError(
            f"Name can not change from {old.name} to {desired.name} while it is the quota of team "
            f"{desired.team}, which can not have two at once: keep the name, or change the team as well"
        )


def _still_listed(aws: Aws, event: Event, keys: Iterable[str]) -> list[Live]:
    """What a list still shows: Describe may not know yet what was made a moment ago."""
    names = {event.physical_id, FORM.read_leniently(event.properties, aws).physical_id}
    shown = (
        summary
        for name in names
        if PHYSICAL_ID.fullmatch(name)
        for summary in summaries(aws, NameContains=name.partition("/")[-1])
    )
    return [Live(description=summary) for summary in shown if summary["ComputeQuotaId"] in keys]


KIND = Kind[Desired, Live](
    noun=_NOUN,
    anew="Take the team out, deploy, and put it back",
    where=" in this cluster",
    name="Name",
    form=FORM,
    create="create_compute_quota",
    answer="ComputeQuotaId",
    delete="delete_compute_quota",
    key="ComputeQuotaId",
    outcomes=OUTCOMES,
    delete_failed=DELETE_FAILED,
    unlisted_seconds=30.0,
    is_id=lambda _, text: PHYSICAL_ID.fullmatch(text) is not None,
    find=find,
    whole=partial(find, whole=True),
    last_look=_last_look,
    plan=plan,
    refuse=_refuse_second_quota,
    judge=judge,
    explain=explain,
    remains=_still_listed,
)
