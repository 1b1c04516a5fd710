"""What an add-on's pods need to work, beyond a node to run on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from moto.amp.models import amp_backends
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from hyperpod_cdk.rehearsal.eks.catalogue import ADD_ONS, AddOn
from hyperpod_cdk.rehearsal.eks.service import AmazonEks
from hyperpod_cdk.rehearsal.eks.state import ACTIVE, Cluster, Spec
from hyperpod_cdk.rehearsal.hyperpod.permissions import allows
from hyperpod_cdk.service.eks_add_ons import (
    INFERENCE,
    INFERENCE_NAMESPACE,
    OBSERVABILITY,
    TLS_BUCKET_PREFIX,
    TRAINING_OPERATOR,
)

AGENT = "eks-pod-identity-agent"
_LOOKS_AT_NODES = "sagemaker:DescribeClusterNode"
_WRITES_METRICS = "aps:RemoteWrite"
_INFERENCE_ACCOUNT = f"system:serviceaccount:{INFERENCE_NAMESPACE}:hyperpod-inference-controller-manager"
_TAG = ("SageMaker", "true")
"""AmazonSageMakerHyperPodTrainingOperatorAccess lets it see nodes of clusters with this tag alone.
docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-eks-operator-install.html"""
Look = Callable[[AmazonEks, Cluster, Mapping[str, Any], str], str]
"""From the service, the cluster, the add-on's configuration and its identity's role to what is wrong."""


def lacks(eks: AmazonEks, cluster: Cluster, about: Spec) -> str:
    """Tell what an add-on's pods lack; empty when they can work.

    Args:
        eks: the service.
        cluster: where they run.
        about: the add-on as DescribeAddon shows it.
    """
    add_on, look = ADD_ONS[about["addonName"]], _LOOKS.get(about["addonName"])
    role_arn, reason = _identity(cluster, add_on)
    if reason or look is None:
        return reason
    return look(eks, cluster, _configuration(about), role_arn)


def _identity(cluster: Cluster, add_on: AddOn) -> tuple[str, str]:
    """The role that an add-on's pods get by pod identity, or why they get none."""
    if add_on.identity is None:
        return "", ""
    namespace, account = add_on.identity
    without = f"service account {namespace}/{account} gets no credentials"
    if cluster.add_ons.get(AGENT, {}).get("status") != ACTIVE:
        return "", f"{without}: {AGENT} is not there"
    for one in cluster.identities.values():
        if (one["namespace"], one["serviceAccount"]) == add_on.identity:
            return str(one["roleArn"]), ""
    return "", f"{without}: no pod identity is associated"


def _configuration(about: Spec) -> Mapping[str, Any]:
    try:
        found = YAML(typ="safe").load(about.get("configurationValues") or "{}")
    except YAMLError:
        return {}
    return found if isinstance(found, dict) else {}


def _training_operator(eks: AmazonEks, cluster: Cluster, _: Mapping[str, Any], role_arn: str) -> str:
    for guest in (guest for tenant in eks.tenants for guest in tenant.guests(cluster.arn)):
        if guest.tags.get(_TAG[0]) != _TAG[1]:
            return f"{_LOOKS_AT_NODES} is denied: cluster {guest.name} has no tag {'='.join(_TAG)}"
        if not allows(eks.account, role_arn, _LOOKS_AT_NODES, guest.arn):
            return f"{_LOOKS_AT_NODES} is denied: {role_arn} does not allow it"
        return ""
    return f"no HyperPod cluster uses {cluster.arn}"


def _observability(eks: AmazonEks, _: Cluster, configuration: Mapping[str, Any], role_arn: str) -> str:
    """…/dg/hyperpod-observability-addon-setup.html: a workspace, and a role that writes to it."""
    workspace = configuration.get("ampWorkspace", {}).get("arn")
    if not workspace:
        return "ampWorkspace.arn is not given"
    region, account_id, place = str(workspace).split(":", 5)[3:]
    here = (region, account_id) == (eks.account.region, eks.account.account_id)
    known = amp_backends[eks.account.account_id][eks.account.region].workspaces
    if here and place.rpartition("/")[2] not in known:
        return f"workspace {workspace} does not exist"
    if not allows(eks.account, role_arn, _WRITES_METRICS, workspace):
        return f"{_WRITES_METRICS} on {workspace} is denied: {role_arn} does not allow it"
    return ""


def _inference(eks: AmazonEks, cluster: Cluster, configuration: Mapping[str, Any], _: str) -> str:
    """…/dg/sagemaker-hyperpod-model-deployment-setup.html: a role by the cluster's own tokens, a bucket."""
    role_arn = str(configuration.get("executionRoleArn", ""))
    if not _takes_tokens(eks, cluster, role_arn, _INFERENCE_ACCOUNT):
        return f"sts:AssumeRoleWithWebIdentity is denied: {role_arn or 'no role'} does not trust its tokens"
    bucket = str(configuration.get("tlsCertificateS3Bucket", ""))
    if not bucket.startswith(TLS_BUCKET_PREFIX) or bucket not in eks.account.s3.buckets:
        return f"s3:PutObject is denied: there is no bucket {TLS_BUCKET_PREFIX}… called {bucket!r}"
    return ""


def _takes_tokens(eks: AmazonEks, cluster: Cluster, role_arn: str, account: str) -> bool:
    """Whether tokens of a service account open a role, by a provider that is there."""
    issuer = str(cluster.about["identity"]["oidc"]["issuer"]).removeprefix("https://")
    providers = {arn for arn in eks.account.iam.open_id_providers if arn.endswith(f":oidc-provider/{issuer}")}
    role = next((one for one in eks.account.iam.roles.values() if one.arn == role_arn), None)
    document = json.loads(role.assume_role_policy_document) if role is not None else {}
    return any(
        statement.get("Principal", {}).get("Federated") in providers
        and any(fnmatchcase(account, wanted) for wanted in _subjects(statement, f"{issuer}:sub"))
        for statement in document.get("Statement", [])
    )


def _subjects(statement: Mapping[str, Any], key: str) -> Iterator[str]:
    for condition in statement.get("Condition", {}).values():
        given = condition.get(key, [])
        yield from [given] if isinstance(given, str) else given


_LOOKS: Mapping[str, Look] = {
    TRAINING_OPERATOR: _training_operator,
    OBSERVABILITY: _observability,
    INFERENCE: _inference,
}
