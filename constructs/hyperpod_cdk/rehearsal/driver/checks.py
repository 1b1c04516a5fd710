"""Whether the embedded AWS holds what a configuration asks for, looked up through its APIs."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hyperpod_cdk.rehearsal.driver.outcome import RehearsalError
from hyperpod_cdk.rehearsal.driver.variants import Variant

PATIENCE_SECONDS = 20.0
"""Real seconds for nodes that come up after the cluster is in service, as with Continuous provisioning."""
Clusters = Mapping[str, Mapping[str, Any]]
"""What the APIs show of clusters, by name."""
_NEWEST_UPDATE = "hyperpod-cdk:newest-update"
"""Tag that every update leaves, those that are taken back among them."""
_PASSING = frozenset({"FailureMessage", "ResponseMetadata"})
_UP = frozenset({"Running", "DeepHealthCheckInProgress"})


@dataclass(frozen=True, kw_only=True)
class ClusterView:
    """A cluster as its APIs show it.

    Args:
        description: DescribeCluster's answer.
        nodes: ListClusterNodes' entries.
    """

    description: dict[str, Any]
    nodes: list[dict[str, Any]]

    @property
    def groups(self) -> list[dict[str, Any]]:
        """Instance groups, restricted ones last."""
        return [*self.description["InstanceGroups"], *self.description.get("RestrictedInstanceGroups", ())]

    @property
    def running(self) -> dict[str, int]:
        """Nodes that are up, by instance group."""
        up = (node for node in self.nodes if node["InstanceStatus"]["Status"] in _UP)
        return dict(Counter(node["InstanceGroupName"] for node in up))

    @property
    def script_uris(self) -> set[str]:
        """Where the groups' lifecycle scripts lie."""
        return {g["LifeCycleConfig"]["SourceS3Uri"] for g in self.groups if g.get("LifeCycleConfig")}


def view(sagemaker: Any, name: str) -> ClusterView:
    """Look a cluster up.

    Args:
        sagemaker: a client of the embedded AWS.
        name: the cluster's name.
    """
    pages = sagemaker.get_paginator("list_cluster_nodes").paginate(ClusterName=name)
    nodes = [node for page in pages for node in page["ClusterNodeSummaries"]]
    return ClusterView(description=sagemaker.describe_cluster(ClusterName=name), nodes=nodes)


def expect_cluster(
    client: Callable[[str], Any], variant: Variant, name: str, *, patience: float = PATIENCE_SECONDS
) -> ClusterView:
    """Require a cluster in service with exactly the groups and nodes of a configuration.

    Args:
        client: gives a client of a service.
        variant: the configuration.
        name: the cluster's name.
        patience: real seconds for nodes that come up after the cluster is in service.

    Returns:
        The cluster.

    Raises:
        RehearsalError: naming what differs.
    """
    wanted = {group: count for group, count in variant.counts.items() if count}
    deadline = time.monotonic() + patience
    while True:
        cluster = view(client("sagemaker"), name)
        if cluster.running == wanted or time.monotonic() > deadline:
            break
        time.sleep(0.1)
    status = cluster.description["ClusterStatus"]
    if status != "InService":
        raise RehearsalError(f"cluster {name} is {status}: {cluster.description.get('FailureMessage')}")
    groups = {g["InstanceGroupName"]: g["TargetCount"] for g in cluster.groups}
    if groups != variant.counts:
        raise RehearsalError(f"cluster {name} has the groups {groups}; wanted: {variant.counts}")
    if cluster.running != wanted:
        raise RehearsalError(f"cluster {name} runs the nodes {cluster.running}; wanted: {wanted}")
    return cluster


def living_clusters(client: Callable[[str], Any]) -> Clusters:
    """Give all that the APIs show of the account's clusters, but for the message of a failure.

    Args:
        client: gives a client of a service.
    """
    sagemaker = client("sagemaker")
    names = [entry["ClusterName"] for entry in sagemaker.list_clusters()["ClusterSummaries"]]
    return {name: _shown(sagemaker, name) for name in names}


def expect_clusters(client: Callable[[str], Any], wanted: Clusters) -> None:
    """Require that the account's clusters are as they were, soon.

    Args:
        client: gives a client of a service.
        wanted: what :func:`living_clusters` gave.

    Raises:
        RehearsalError: naming the clusters that differ, with what they were and are.
    """
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (found := living_clusters(client)) != wanted:
        if time.monotonic() > deadline:
            raise RehearsalError("\n".join(_differences(wanted, found)))
        time.sleep(0.1)


def expect_new_scripts(
    client: Callable[[str], Any], before: ClusterView, after: ClusterView, *, added: str | None
) -> str:
    """Require that a cluster points at new scripts, and that the old ones are still there.

    Args:
        client: gives a client of a service.
        before: the cluster before the change of the scripts.
        after: the cluster after it.
        added: a file that is only with the new scripts; None to look for no file.

    Returns:
        Where the new scripts lie; empty where no group runs any.

    Raises:
        RehearsalError: naming what is wrong.
    """
    old, new = before.script_uris, after.script_uris
    if old & new:
        raise RehearsalError(f"groups still point at the old scripts: {', '.join(sorted(old & new))}")
    for uri in new:
        if added is not None and added not in _files(client("s3"), uri):
            raise RehearsalError(f"{added} is not in {uri}")
    for uri in old:
        if not _files(client("s3"), uri):
            raise RehearsalError(f"{uri} was emptied, and nodes may still be replaced from it")
    return ", ".join(sorted(new))


def _shown(sagemaker: Any, name: str) -> dict[str, Any]:
    found = view(sagemaker, name)
    about = {key: value for key, value in found.description.items() if key not in _PASSING}
    tags = sagemaker.list_tags(ResourceArn=found.description["ClusterArn"])["Tags"]
    return {
        **about,
        "Nodes": sorted(found.nodes, key=lambda node: str(node["InstanceId"])),
        "Tags": sorted(
            (tag for tag in tags if tag["Key"] != _NEWEST_UPDATE), key=lambda tag: str(tag["Key"])
        ),
    }


def _differences(wanted: Clusters, found: Clusters) -> Iterator[str]:
    for name in sorted(wanted.keys() | found.keys()):
        before, after = wanted.get(name), found.get(name)
        if before is None or after is None:
            yield f"cluster {name} is {'left, and was not there before' if after else 'gone'}"
            continue
        for key in sorted(before.keys() | after.keys()):
            if before.get(key) != after.get(key):
                yield f"cluster {name}: {key} was {before.get(key)}, is {after.get(key)}"


def _files(s3: Any, uri: str) -> set[str]:
    bucket, _, prefix = uri.removeprefix("s3://").partition("/")
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
    keys = (entry["Key"] for page in pages for entry in page.get("Contents", []))
    return {key.removeprefix(prefix).lstrip("/") for key in keys}
