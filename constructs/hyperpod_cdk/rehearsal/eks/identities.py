"""Pod identity associations.

docs.aws.amazon.com/eks/latest/userguide/pod-id-association.html
"""

from __future__ import annotations

from hyperpod_cdk.rehearsal.eks.errors import InUseError, InvalidParameterError, NotFoundError
from hyperpod_cdk.rehearsal.eks.service import AmazonEks, page
from hyperpod_cdk.rehearsal.eks.state import Spec

_PRINCIPAL = "pods.eks.amazonaws.com"


def create_pod_identity_association(eks: AmazonEks, request: Spec) -> Spec:
    """CreatePodIdentityAssociation; namespace and service account need not be there yet."""
    cluster = eks.cluster(request["clusterName"])
    place = (request["namespace"], request["serviceAccount"])
    for one in cluster.identities.values():
        if (one["namespace"], one["serviceAccount"]) == place:
            raise InUseError(f"Association already exists: {one['associationId']}")
    _check_role(eks, request["roleArn"])
    identity = f"a-{eks.new_id(17)}"
    about = {
        "clusterName": cluster.name,
        "namespace": request["namespace"],
        "serviceAccount": request["serviceAccount"],
        "roleArn": request["roleArn"],
        "associationArn": eks.arn("podidentityassociation", cluster.name, identity),
        "associationId": identity,
        "tags": request.get("tags", {}),
        "createdAt": eks.now(),
        "modifiedAt": eks.now(),
        "disableSessionTags": request.get("disableSessionTags", False),
    }
    cluster.identities[identity] = about
    return {"association": about}


def update_pod_identity_association(eks: AmazonEks, request: Spec) -> Spec:
    """UpdatePodIdentityAssociation."""
    about = _identity(eks, request)
    if "roleArn" in request:
        _check_role(eks, request["roleArn"])
    members = ("roleArn", "disableSessionTags", "targetRoleArn")
    about.update({member: request[member] for member in members if member in request}, modifiedAt=eks.now())
    return {"association": about}


def describe_pod_identity_association(eks: AmazonEks, request: Spec) -> Spec:
    """DescribePodIdentityAssociation."""
    return {"association": _identity(eks, request)}


def delete_pod_identity_association(eks: AmazonEks, request: Spec) -> Spec:
    """DeletePodIdentityAssociation."""
    about = _identity(eks, request)
    del eks.cluster(request["clusterName"]).identities[about["associationId"]]
    return {"association": about}


def list_pod_identity_associations(eks: AmazonEks, request: Spec) -> Spec:
    """ListPodIdentityAssociations."""
    shown = ("clusterName", "namespace", "serviceAccount", "associationArn", "associationId")
    wanted = [(member, request[member]) for member in ("namespace", "serviceAccount") if member in request]
    found = [
        {member: one[member] for member in shown}
        for one in eks.cluster(request["clusterName"]).identities.values()
        if all(one[member] == value for member, value in wanted)
    ]
    return page(found, request, "associations")


def _identity(eks: AmazonEks, request: Spec) -> Spec:
    found = eks.cluster(request["clusterName"]).identities.get(request["associationId"])
    if found is None:
        raise NotFoundError(f"Association id {request['associationId']} not found")
    return found


def _check_role(eks: AmazonEks, role_arn: str) -> None:
    if not eks.trusts(role_arn, _PRINCIPAL):
        raise InvalidParameterError("Trust policy of the role provided is invalid")
