"""Access entries and the policies associated with them.

docs.aws.amazon.com/eks/latest/userguide/access-entries.html
"""

from __future__ import annotations

from hyperpod_cdk.rehearsal.eks.entries import STANDARD, associate, new_entry, policy_arn
from hyperpod_cdk.rehearsal.eks.errors import (
    InUseError,
    InvalidParameterError,
    InvalidRequestError,
    NotFoundError,
)
from hyperpod_cdk.rehearsal.eks.service import AmazonEks, page
from hyperpod_cdk.rehearsal.eks.state import Cluster, Entry, Spec
from hyperpod_cdk.service.eks import ACCESS_POLICIES


def create_access_entry(eks: AmazonEks, request: Spec) -> Spec:
    """CreateAccessEntry."""
    cluster = _manageable(eks, request)
    principal = request["principalArn"]
    if principal in cluster.entries:
        raise InUseError("The specified access entry resource is already in use on this cluster.")
    if not _principal_exists(eks, principal):
        raise InvalidParameterError("The specified principalArn is invalid: invalid principal.")
    _check_groups(request)
    entry = new_entry(eks, cluster, request)
    cluster.entries[principal] = entry
    return {"accessEntry": entry.about}


def update_access_entry(eks: AmazonEks, request: Spec) -> Spec:
    """UpdateAccessEntry."""
    entry = _entry(eks, request)
    _check_groups({**request, "type": entry.about["type"]})
    for member in ("kubernetesGroups", "username"):
        if member in request:
            entry.about[member] = request[member]
    entry.about["modifiedAt"] = eks.now()
    return {"accessEntry": entry.about}


def describe_access_entry(eks: AmazonEks, request: Spec) -> Spec:
    """DescribeAccessEntry."""
    return {"accessEntry": _entry(eks, request).about}


def delete_access_entry(eks: AmazonEks, request: Spec) -> Spec:
    """DeleteAccessEntry."""
    _entry(eks, request)
    del eks.cluster(request["clusterName"]).entries[request["principalArn"]]
    return {}


def list_access_entries(eks: AmazonEks, request: Spec) -> Spec:
    """ListAccessEntries."""
    cluster, policy = _manageable(eks, request), request.get("associatedPolicyArn")
    found = [arn for arn, entry in cluster.entries.items() if policy is None or policy in entry.policies]
    return page(sorted(found), request, "accessEntries")


def associate_access_policy(eks: AmazonEks, request: Spec) -> Spec:
    """AssociateAccessPolicy; of one that is associated already the scope is changed."""
    entry, arn, scope = _entry(eks, request), request["policyArn"], request["accessScope"]
    if arn not in {policy_arn(eks, name) for name in ACCESS_POLICIES}:
        raise InvalidParameterError("The specified policyArn is invalid: policy not found.")
    if entry.about["type"] != STANDARD:
        raise InvalidRequestError(
            f"Access policies can not be associated with entries of type {entry.about['type']}"
        )
    if scope["type"] == "namespace" and not scope.get("namespaces"):
        raise InvalidParameterError("The specified accessScope is invalid: namespaces are missing.")
    return {**_whose(request), "associatedAccessPolicy": associate(eks, entry, arn, scope)}


def disassociate_access_policy(eks: AmazonEks, request: Spec) -> Spec:
    """DisassociateAccessPolicy."""
    entry = _entry(eks, request)
    if entry.policies.pop(request["policyArn"], None) is None:
        raise NotFoundError("The specified policyArn could not be found for this access entry.")
    return {}


def list_associated_access_policies(eks: AmazonEks, request: Spec) -> Spec:
    """ListAssociatedAccessPolicies."""
    policies = list(_entry(eks, request).policies.values())
    return {**_whose(request), **page(policies, request, "associatedAccessPolicies")}


def list_access_policies(eks: AmazonEks, request: Spec) -> Spec:
    """ListAccessPolicies."""
    found = [{"name": name, "arn": policy_arn(eks, name)} for name in ACCESS_POLICIES]
    return page(found, request, "accessPolicies")


def _whose(request: Spec) -> Spec:
    return {"clusterName": request["clusterName"], "principalArn": request["principalArn"]}


def _manageable(eks: AmazonEks, request: Spec) -> Cluster:
    cluster = eks.cluster(request["clusterName"])
    if cluster.authentication_mode == "CONFIG_MAP":
        raise InvalidRequestError(
            "The cluster's authentication mode must be set to one of [API, API_AND_CONFIG_MAP] to perform "
            "this operation."
        )
    return cluster


def _entry(eks: AmazonEks, request: Spec) -> Entry:
    found = _manageable(eks, request).entries.get(request["principalArn"])
    if found is None:
        raise NotFoundError(
            "The specified principalArn could not be found. You can view your available access "
            "entries with 'list-access-entries'."
        )
    return found


def _check_groups(request: Spec) -> None:
    groups = request.get("kubernetesGroups", [])
    if groups and request.get("type", STANDARD) != STANDARD:
        raise InvalidParameterError(f"kubernetesGroups can not be set for entries of type {request['type']}")
    if any(group.startswith("system:") for group in groups):
        raise InvalidParameterError(
            "The kubernetes group name can not start with: system:, eks:, aws:, amazon:, iam:"
        )


def _principal_exists(eks: AmazonEks, arn: str) -> bool:
    iam = eks.account.iam
    if arn.split(":")[4] != eks.account.account_id:
        return ":iam:" in arn
    names = {role.arn for role in iam.roles.values()} | {user.arn for user in iam.users.values()}
    return arn in names or arn.endswith(":root")
