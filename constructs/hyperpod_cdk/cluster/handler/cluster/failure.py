"""Why a cluster failed, in its own words: message, node, events, and the node's last log lines."""

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any
from urllib.parse import quote

from ..clients import Aws
from ..errors import AWS_ERRORS, code_of
from ..log import log
from ..reason import Part, compose
from .live import Live
from .result import nodes

ADVICE = (
    (
        "sufficient capacity",
        "what to do: another Availability Zone or instance type, fewer nodes, or a training plan",
    ),
    (
        "drift",
        "what to do: put back the partitions in slurm.conf that were changed by hand, or let "
        "SlurmConfigStrategy be Overwrite or Merge",
    ),
)
"""By what FailureMessage has in it. Sources: DG sagemaker-hyperpod-faq-slurm and
smcluster-getting-started-slurm-cli (strategies and drift)."""

LIFECYCLE_STREAMS = "LifecycleConfig/"
_BAD_NODES = frozenset({"Failure", "NotFound"})
_FAILURE = re.compile("fail|error", re.IGNORECASE)
_LOG_LINES = 20
_EVENTS = 3
_EVENTS_LOOKED_AT = 1000
_STREAMS_LOOKED_AT = 5
_SECONDS = 60
"""After an invocation has taken so long, no more is looked up: to answer in time comes first."""

_CONSOLES = {
    "aws": "console.aws.amazon.com",
    "aws-us-gov": "console.amazonaws-us-gov.com",
    "aws-cn": "console.amazonaws.cn",
}


def explain(aws: Aws, live: Live, headline: str) -> str:
    """Say why a cluster failed, in what CloudFormation takes for a reason.

    Nothing that can not be found out hides what can.

    Args:
        aws: the way to AWS.
        live: the cluster.
        headline: what failed; comes first.
    """
    node = _try(aws, _bad_node, live) or {}
    stream, tail = _try(aws, _lifecycle_tail, live, node) or ("", "")
    message = str(live.description.get("FailureMessage", ""))
    place = f"log group {live.log_group} {_link(aws, live)}"
    return compose(
        [
            Part(text=headline, most=700),
            Part(text=message, most=700),
            Part(text=next((advice for text, advice in ADVICE if text in message), ""), most=200),
            Part(text=_groups(live), most=300),
            Part(text=_node_text(node), most=300),
            Part(text=place, most=450),
            Part(text="\n".join(_try(aws, _error_events, live) or ()), most=600),
            Part(text=f"last lines of {stream}:" if tail else "", most=200),
            Part(text=tail, most=1500, keep_end=True),
        ]
    )


def _groups(live: Live) -> str:
    bad = [
        f"instance group {group['InstanceGroupName']}: {group.get('Status', '')}, "
        f"{group.get('CurrentCount', 0)} of {group.get('TargetCount', 0)} nodes"
        for group in live.description.get("InstanceGroups", ())
        if group.get("Status") in ("Failed", "Degraded")
        or group.get("CurrentCount", 0) < group.get("TargetCount", 0)
    ]
    return "\n".join(bad)


def _bad_node(aws: Aws, live: Live) -> dict[str, Any] | None:
    """The first node that failed; of a big cluster the first thousand are looked at."""
    for node in islice(nodes(aws, live.name), 1000):
        if node["InstanceStatus"]["Status"] in _BAD_NODES:
            return node
    return None


def _node_text(node: dict[str, Any]) -> str:
    if not node:
        return ""
    status = node["InstanceStatus"]
    message = f": {status['Message']}" if status.get("Message") else ""
    place = f"node {node['InstanceId']} of instance group {node['InstanceGroupName']}"
    return f"{place}: {status['Status']}{message}"


def _lifecycle_tail(aws: Aws, live: Live, node: dict[str, Any]) -> tuple[str, str] | None:
    """The log of the failed node; else of the node that wrote of a failure last."""
    names = (
        [f"{LIFECYCLE_STREAMS}{node['InstanceGroupName']}/{node['InstanceId']}"]
        if node
        else _streams(aws, live)
    )
    for name in names:
        tail = _tail(aws, live.log_group, name)
        if node or _FAILURE.search(tail):
            return name, tail
    return None


def _streams(aws: Aws, live: Live) -> list[str]:
    """The lifecycle streams that were written to last."""
    found: list[dict[str, Any]] = []
    page: dict[str, Any] = {}
    while len(found) < 1000:
        answer = aws.logs.describe_log_streams(
            logGroupName=live.log_group, logStreamNamePrefix=LIFECYCLE_STREAMS, **page
        )
        found += answer["logStreams"]
        if not answer.get("nextToken"):
            break
        page = {"nextToken": answer["nextToken"]}
    found.sort(key=lambda stream: stream.get("lastEventTimestamp", 0), reverse=True)
    return [stream["logStreamName"] for stream in found[:_STREAMS_LOOKED_AT]]


def _tail(aws: Aws, log_group: str, stream: str) -> str:
    answer = aws.logs.get_log_events(
        logGroupName=log_group, logStreamName=stream, limit=_LOG_LINES, startFromHead=False
    )
    return "\n".join(event["message"].rstrip() for event in answer["events"])


def _error_events(aws: Aws, live: Live) -> Iterator[str]:
    """The last different errors of a cluster with Continuous provisioning; only those have events."""
    if live.description.get("NodeProvisioningMode") != "Continuous":
        return
    kinds: set[tuple[str, str]] = set()
    told = [str(live.description.get("FailureMessage", ""))]
    for event in islice(_events(aws, live), _EVENTS_LOOKED_AT):
        kind = (event.get("InstanceGroupName", ""), event.get("Description", ""))
        if event.get("EventLevel") == "Error" and kind not in kinds:
            kinds.add(kind)
            reason = _try(aws, _event_failure, live, event) or ""
            yield _event_text(event, "" if any(reason in text for text in told) else reason)
            told.append(reason)
        if len(kinds) == _EVENTS:
            return


def _events(aws: Aws, live: Live) -> Iterator[dict[str, Any]]:
    """The cluster's events, page by page, the last one first."""
    page: dict[str, Any] = {}
    while True:
        answer = aws.sagemaker.list_cluster_events(
            ClusterName=live.name, SortBy="EventTime", SortOrder="Descending", MaxResults=100, **page
        )
        yield from answer.get("Events", ())
        if not answer.get("NextToken"):
            return
        page = {"NextToken": answer["NextToken"]}


def _event_text(event: dict[str, Any], reason: str) -> str:
    where = "/".join(filter(None, (event.get("InstanceGroupName"), event.get("InstanceId"))))
    when = f"event {event['EventTime']:%H:%M:%S}"
    return " ".join(filter(None, (when, where and f"{where}:", event.get("Description"), reason)))


def _event_failure(aws: Aws, live: Live, event: dict[str, Any]) -> str:
    """What went wrong, which only the whole event tells."""
    whole = aws.sagemaker.describe_cluster_event(ClusterName=live.name, EventId=event["EventId"])
    about = whole.get("EventDetails", {}).get("EventDetails", {}).get("EventMetadata", {})
    messages = (part.get("FailureMessage", "") for part in about.values())
    return next(filter(None, messages), "")


def _link(aws: Aws, live: Live) -> str:
    """The log group in the console; nothing in a partition whose console we do not know."""
    console = _CONSOLES.get(str(aws.sagemaker.meta.partition))
    name = quote(quote(live.log_group, safe=""), safe="").replace("%", "$")
    page = f"cloudwatch/home?region={aws.region}#logsV2:log-groups/log-group/{name}"
    return f"https://{aws.region}.{console}/{page}" if console else ""


def _try(aws: Aws, find: Callable[..., Any], *arguments: Any) -> Any:
    if aws.now() - aws.started > _SECONDS:
        log("part of the reason is left out", level="WARNING", part=find.__name__)
        return None
    try:
        found = find(aws, *arguments)
        return list(found) if isinstance(found, Iterator) else found
    except AWS_ERRORS as error:
        log("part of the reason is missing", level="WARNING", part=find.__name__, code=code_of(error))
        return None
