"""An EKS cluster that is there already, as HyperPod wants it: for configurations that only name one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from hyperpod_cdk.rehearsal.eks import workloads
from hyperpod_cdk.rehearsal.eks.catalogue import ADD_ONS, BORN_WITH
from hyperpod_cdk.rehearsal.eks.clusters import SERVICE_PRINCIPAL, create_cluster
from hyperpod_cdk.rehearsal.eks.operators import AGENT
from hyperpod_cdk.rehearsal.eks.service import AmazonEks
from hyperpod_cdk.rehearsal.eks.state import ACTIVE, Cluster
from hyperpod_cdk.service.eks_add_ons import INFERENCE_MINIMUM_VERSIONS
from hyperpod_cdk.service.hyperpod_chart import NAMESPACE, RELEASE

_ADD_ONS = tuple(dict.fromkeys((*BORN_WITH, AGENT, *INFERENCE_MINIMUM_VERSIONS)))
_SYSTEM_NODE = "ip-10-0-0-10.system.internal"


def provide(eks: AmazonEks, name: str, *, subnet_ids: Sequence[str], **settings: Any) -> Cluster:
    """Put an EKS cluster into the account, active, with add-ons, a node, and HyperPod's chart.

    Args:
        eks: the service.
        name: of the cluster.
        subnet_ids: in two zones or more.
        settings: further members of CreateCluster, by their names in the API.
    """
    trust = {"Statement": [{"Effect": "Allow", "Principal": {"Service": SERVICE_PRINCIPAL}}]}
    role = eks.account.iam.create_role(f"eks-{name}", json.dumps(trust), "/", None, "", [], None)
    request = {
        "name": name,
        "roleArn": role.arn,
        "resourcesVpcConfig": {"subnetIds": list(subnet_ids)},
        "accessConfig": {"authenticationMode": "API"},
        **settings,
    }
    eks.served = True
    eks.call(create_cluster, request)
    cluster = eks.cluster(name)
    cluster.about["status"] = ACTIVE
    for add_on in _ADD_ONS:
        workloads.install(cluster.api, ADD_ONS[add_on])
        cluster.add_ons[add_on] = {
            "addonName": add_on,
            "clusterName": name,
            "status": ACTIVE,
            "addonVersion": ADD_ONS[add_on].version,
            "addonArn": eks.arn("addon", name, add_on, eks.new_id(36)),
            "health": {"issues": []},
        }
    eks.join(cluster, _SYSTEM_NODE, labels={})
    release(cluster)
    return cluster


def release(cluster: Cluster) -> None:
    """Leave behind what helm leaves of HyperPod's chart: the secret that says it is installed."""
    labels = {"owner": "helm", "name": RELEASE, "status": "deployed", "version": "1"}
    secret: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": f"sh.helm.release.v1.{RELEASE}.v1", "namespace": NAMESPACE, "labels": labels},
        "type": "helm.sh/release.v1",
    }
    kind = cluster.api.store.kinds.find("", "v1", "secrets")
    cluster.api.store.create(kind, secret, manager="helm")
