"""The quota as it is: DescribeComputeQuota's answer, found by id or by name."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..clients import Aws
from ..core import thing
from ..errors import AWS_ERRORS, is_not_found

PHYSICAL_ID = re.compile(r"[a-z0-9]{12}/[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}")
"""``<cluster id>/<name>``."""

GONE = "Deleted"
BUSY = frozenset({"Creating", "Updating"})
NEVER_MADE = frozenset({"CreateFailed", "CreateRollbackFailed"})
UPDATE_FAILED = frozenset({"UpdateFailed", "UpdateRollbackFailed"})
DELETE_FAILED = frozenset({"DeleteFailed", "DeleteRollbackFailed"})


@dataclass(frozen=True, kw_only=True)
class Live(thing.Live):
    """A quota that exists; ``description`` is DescribeComputeQuota's answer."""

    KEY = "ComputeQuotaId"
    ARN = "ComputeQuotaArn"
    NAME = "Name"
    STATUS = "Status"

    @property
    def team(self) -> str:
        """The team's name."""
        return str(self.description["ComputeQuotaTarget"]["TeamName"])

    @property
    def version(self) -> int:
        """What an update must name."""
        return int(self.description["ComputeQuotaVersion"])


def look(aws: Aws, quota_id: str) -> Live | None:
    """Describe a quota; None when there is none, or it is shown as deleted.

    Args:
        aws: the way to AWS.
        quota_id: the service's.
    """
    try:
        live = Live(description=aws.sagemaker.describe_compute_quota(ComputeQuotaId=quota_id))
    except AWS_ERRORS as error:
        if is_not_found(error):
            return None
        raise
    return None if live.status == GONE else live


def find(aws: Aws, wanted: str, *, whole: bool = False) -> Live | None:
    """Describe a quota; None when there is none.

    Args:
        aws: the way to AWS.
        wanted: ``<cluster id>/<name>``, or the service's own id.
        whole: raise ResourceNotFound for one that a list shows and Describe does not know yet; otherwise
            what the list tells of it is given, which has no description.
    """
    if "/" not in wanted:
        return look(aws, wanted)
    cluster_id, _, name = wanted.partition("/")
    for summary in summaries(aws, NameContains=name):
        if summary["Name"] == name and summary.get("ClusterArn", "").endswith(f":cluster/{cluster_id}"):
            return _listed(aws, summary, whole=whole)
    return None


def of_team(aws: Aws, cluster_arn: str, team: str) -> Live | None:
    """Describe the quota that a team has in a cluster; None when it has none.

    Args:
        aws: the way to AWS.
        cluster_arn: the HyperPod cluster's.
        team: the team's name.
    """
    for summary in summaries(aws, ClusterArn=cluster_arn):
        if summary["ComputeQuotaTarget"]["TeamName"] == team:
            return _listed(aws, summary, whole=False)
    return None


def _listed(aws: Aws, summary: Mapping[str, Any], *, whole: bool) -> Live | None:
    try:
        live = Live(
            description=aws.sagemaker.describe_compute_quota(ComputeQuotaId=summary["ComputeQuotaId"])
        )
    except AWS_ERRORS as error:
        if is_not_found(error) and not whole:
            return Live(description=summary)
        raise
    return None if live.status == GONE else live


def summaries(aws: Aws, **filters: Any) -> Iterator[Mapping[str, Any]]:
    """Give what ListComputeQuotas tells of each quota that is not deleted, page by page.

    Args:
        aws: the way to AWS.
        filters: further arguments of ListComputeQuotas.
    """
    page: dict[str, Any] = {}
    while True:
        answer = aws.sagemaker.list_compute_quotas(MaxResults=100, **filters, **page)
        for summary in answer.get("ComputeQuotaSummaries", ()):
            if summary["Status"] != GONE:
                yield summary
        if not answer.get("NextToken"):
            return
        page = {"NextToken": answer["NextToken"]}
