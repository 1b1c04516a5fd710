"""What add-ons and nodes put into Kubernetes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from hyperpod_cdk.rehearsal.eks.catalogue import ADD_ONS, HYPERPOD_LABEL, HYPERPOD_NODE, KUEUE, AddOn
from hyperpod_cdk.rehearsal.eks.state import ACTIVE, Cluster
from hyperpod_cdk.rehearsal.kubernetes import KubernetesApi, StatusError
from hyperpod_cdk.rehearsal.kubernetes.kinds import Kind

_MANAGER = "eks"
_KUBELET = "kubelet"
_METAL = 96
_SIZE = re.compile(r"\.(\d*)xlarge$")


def install(api: KubernetesApi, add_on: AddOn) -> None:
    """Put an add-on's objects into Kubernetes; those that are there stay."""
    _put(api, _objects(add_on))


def make_queue(api: KubernetesApi, namespace: str) -> None:
    """Put a namespace with a queue into Kubernetes, where Kueue is; what is there stays."""
    if not serves(api, KUEUE):
        return
    queue = {
        "apiVersion": f"{KUEUE}/v1beta1",
        "kind": "LocalQueue",
        "metadata": {"name": f"{namespace}-localqueue", "namespace": namespace},
        "spec": {"clusterQueue": f"{namespace}-clusterqueue"},
    }
    _put(api, [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}, queue])


def _put(api: KubernetesApi, documents: list[dict[str, Any]]) -> None:
    for document in documents:
        try:
            api.store.create(_kind(api, document), document, manager=_MANAGER)
        except StatusError as error:
            if error.reason != "AlreadyExists":
                raise


def remove(api: KubernetesApi, add_on: AddOn) -> None:
    """Take an add-on's objects out of Kubernetes again; its namespace stays."""
    for document in _objects(add_on):
        if document["kind"] == "Namespace":
            continue
        kind = _kind(api, document)
        metadata = document["metadata"]
        try:
            api.store.delete(kind, metadata.get("namespace", ""), metadata["name"])
        except StatusError as error:
            if error.code != 404:
                raise


def serves(api: KubernetesApi, group: str) -> bool:
    """Tell whether Kubernetes knows kinds of a group."""
    return any(kind.group == group for kind in api.store.kinds)


def join(api: KubernetesApi, name: str, *, labels: Mapping[str, str], taints: Any = (), ready: bool) -> None:
    """Let a node join, or change one that has.

    Args:
        api: of the cluster.
        name: of the node.
        labels: on it.
        taints: on it, as Kubernetes has them.
        ready: whether pods can run on it: it has a network.
    """
    kind = api.store.kinds.find("", "v1", "nodes")
    status = "True" if ready else "False"
    document: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **labels}},
        "spec": {"taints": list(taints)} if taints else {},
        "status": {"conditions": [{"type": "Ready", "status": status}]},
    }
    try:
        found = api.store.get(kind, "", name).document
    except StatusError:
        api.store.create(kind, document, manager=_KUBELET)
        return
    same = (document["metadata"]["labels"], document["spec"], document["status"])
    if (found["metadata"]["labels"], found["spec"], found["status"]) != same:
        api.store.change(kind, "", name, lambda _old, _owners: document, manager=_KUBELET)


def leave(api: KubernetesApi, name: str) -> None:
    """Let a node go; one that is gone is no error."""
    kind = api.store.kinds.find("", "v1", "nodes")
    try:
        api.store.delete(kind, "", name)
    except StatusError as error:
        if error.code != 404:
            raise


def lacking(cluster: Cluster, wanted: Mapping[str, str]) -> list[str]:
    """Tell which add-ons are not there, or too old.

    Args:
        cluster: where.
        wanted: the least version of each.
    """
    found = {name: one["addonVersion"] for name, one in cluster.add_ons.items() if one["status"] == ACTIVE}
    return [
        f"{name} {least} or later"
        for name, least in wanted.items()
        if _numbers(found.get(name, "")) < _numbers(least)
    ]


def ready_nodes(api: KubernetesApi, *, hyperpod_only: bool = False, room: int = 0) -> list[str]:
    """Give the names of nodes on which pods can run.

    Args:
        api: of the cluster.
        hyperpod_only: whether ordinary nodes do not count.
        room: the ``xlarge`` multiple of the smallest node that counts.
    """
    ready = (node["metadata"] for node in api.objects("nodes") if _is_ready(node))
    labels = {str(about["name"]): about.get("labels", {}) for about in ready}
    return [
        name
        for name, given in labels.items()
        if (not hyperpod_only or given.get(HYPERPOD_LABEL) == HYPERPOD_NODE)
        and _size(given.get("node.kubernetes.io/instance-type", "")) >= room
    ]


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)]


def _size(instance_type: str) -> int:
    """The multiple of ``xlarge``; metal is as large as any."""
    found = _SIZE.search(instance_type)
    return int(found[1] or 1) if found else _METAL * (".metal" in instance_type)


def has_network(cluster: Cluster) -> bool:
    """Tell whether a node of the cluster gets a network: the VPC CNI is there."""
    return bool(_workload(cluster.api, ADD_ONS["vpc-cni"]))


def _workload(api: KubernetesApi, add_on: AddOn) -> list[dict[str, Any]]:
    plural = "daemonsets" if add_on.on_each_node else "deployments"
    found = api.objects(plural, group="apps", namespace=add_on.namespace)
    return [one for one in found if one["metadata"]["name"] == add_on.workload]


def _is_ready(node: Mapping[str, Any]) -> bool:
    conditions = node.get("status", {}).get("conditions", [])
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)


def _kind(api: KubernetesApi, document: Mapping[str, Any]) -> Kind:
    wanted = (document["apiVersion"], document["kind"])
    return next(kind for kind in api.store.kinds if (kind.api_version, kind.kind) == wanted)


def _objects(add_on: AddOn) -> list[dict[str, Any]]:
    labels = {"app.kubernetes.io/name": add_on.workload}
    metadata = {"name": add_on.workload, "namespace": add_on.namespace, "labels": labels}
    pod = {"containers": [{"name": add_on.workload, "image": f"{add_on.workload}:{add_on.version}"}]}
    if add_on.on_hyperpod:
        pod = {**pod, "nodeSelector": {HYPERPOD_LABEL: HYPERPOD_NODE}}  # type: ignore[dict-item]
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": add_on.namespace}},
        *(definition.document() for definition in add_on.definitions),
        {
            "apiVersion": "apps/v1",
            "kind": "DaemonSet" if add_on.on_each_node else "Deployment",
            "metadata": metadata,
            "spec": {
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": pod},
            },
        },
    ]
