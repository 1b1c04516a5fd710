"""Access entries, policies and pod identities; who a token belongs to, and what they may do."""

import base64
import json
from typing import Any

import pytest
from moto.sts.models import sts_backends

from hyperpod_cdk.rehearsal.eks import AmazonEks, Cluster
from hyperpod_cdk.rehearsal.eks.authentication import caller, user_of
from hyperpod_cdk.rehearsal.eks.authorization import may
from hyperpod_cdk.rehearsal.kubernetes import Request, StatusError, User
from hyperpod_cdk.rehearsal.kubernetes.requests import target
from tests.rehearsal.eks.samples import Call, Network, Refused, policy, role

SCIENTIST = role("scientist")
WHOLE, TEAM = {"type": "cluster"}, {"type": "namespace", "namespaces": ["team"]}


@pytest.fixture
def entry(plane: Cluster, call: Call) -> dict[str, str]:
    call("CreateAccessEntry", clusterName="plane", principalArn=SCIENTIST, kubernetesGroups=["scientists"])
    return {"clusterName": "plane", "principalArn": SCIENTIST}


def test_a_life(entry: dict[str, str], call: Call, refused: Refused) -> None:
    call("AssociateAccessPolicy", **entry, policyArn=policy("AmazonEKSViewPolicy"), accessScope=TEAM)
    call("AssociateAccessPolicy", **entry, policyArn=policy("AmazonEKSViewPolicy"), accessScope=WHOLE)
    listed = call("ListAssociatedAccessPolicies", **entry)["associatedAccessPolicies"]
    assert [one["accessScope"]["type"] for one in listed] == ["cluster"], "the scope is changed, not added"
    call("UpdateAccessEntry", **entry, kubernetesGroups=["others"])
    found = call("DescribeAccessEntry", **entry)["accessEntry"]
    assert (found["kubernetesGroups"], found["type"]) == (["others"], "STANDARD")
    assert call("ListAccessEntries", clusterName="plane")["accessEntries"] == [SCIENTIST]
    call("DisassociateAccessPolicy", **entry, policyArn=policy("AmazonEKSViewPolicy"))
    call("DeleteAccessEntry", **entry)
    assert refused("DescribeAccessEntry", **entry)[0] == "ResourceNotFoundException"


@pytest.mark.parametrize(
    ("request_", "code", "message"),
    [
        ({"principalArn": SCIENTIST}, "ResourceInUseException", "already in use"),
        ({"principalArn": role("nobody")}, "InvalidParameterException", "invalid principal"),
        (
            {"principalArn": role("nodes"), "kubernetesGroups": ["system:masters"]},
            "InvalidParameterException",
            "system:",
        ),
        (
            {"principalArn": role("nodes"), "type": "EC2_LINUX", "kubernetesGroups": ["a"]},
            "InvalidParameterException",
            "EC2_LINUX",
        ),
    ],
)
def test_refused_entries(
    entry: dict[str, str], refused: Refused, request_: dict[str, Any], code: str, message: str
) -> None:
    found, told = refused("CreateAccessEntry", clusterName="plane", **request_)
    assert (found, message in told) == (code, True)


def test_refused_policies(entry: dict[str, str], call: Call, refused: Refused) -> None:
    unknown = {"policyArn": policy("Unheard"), "accessScope": WHOLE}
    assert "policy not found" in refused("AssociateAccessPolicy", **entry, **unknown)[1]
    empty = {"policyArn": policy("AmazonEKSViewPolicy"), "accessScope": {"type": "namespace"}}
    assert "namespaces are missing" in refused("AssociateAccessPolicy", **entry, **empty)[1]
    call("CreateAccessEntry", clusterName="plane", principalArn=role("nodes"), type="EC2_LINUX")
    nodes = {"clusterName": "plane", "principalArn": role("nodes")}
    known = {"policyArn": policy("AmazonEKSViewPolicy"), "accessScope": WHOLE}
    assert refused("AssociateAccessPolicy", **nodes, **known)[0] == "InvalidRequestException"


def test_entries_need_a_cluster_that_reads_them(network: Network, call: Call, refused: Refused) -> None:
    call("CreateCluster", **network.cluster(accessConfig={"authenticationMode": "CONFIG_MAP"}))
    code, message = refused("CreateAccessEntry", clusterName="plane", principalArn=SCIENTIST)
    assert (code, "authentication mode" in message) == ("InvalidRequestException", True)


def test_pod_identities(plane: Cluster, call: Call, refused: Refused) -> None:
    request = {"clusterName": "plane", "namespace": "a", "serviceAccount": "b", "roleArn": role("pods")}
    made = call("CreatePodIdentityAssociation", **request)["association"]
    assert refused("CreatePodIdentityAssociation", **request) == (
        "ResourceInUseException",
        f"Association already exists: {made['associationId']}",
    )
    place = {"clusterName": "plane", "associationId": made["associationId"]}
    wrong = refused("UpdatePodIdentityAssociation", **place, roleArn=role("nodes"))
    assert wrong == ("InvalidParameterException", "Trust policy of the role provided is invalid")
    assert len(call("ListPodIdentityAssociations", clusterName="plane", namespace="a")["associations"]) == 1
    assert call("ListPodIdentityAssociations", clusterName="plane", namespace="x")["associations"] == []
    call("DeletePodIdentityAssociation", **place)
    assert plane.identities == {}


def token(service: AmazonEks, name: str = "") -> str:
    """What `aws eks get-token` gives for a session of a role."""
    key = "AKIDUNKNOWN"
    if name:
        sts = sts_backends[service.account.account_id]["aws"]
        session = sts.assume_role("us-west-2", "session", role(name), "", 900, "")
        key = session.access_key_id
    url = f"http://sts/?Action=GetCallerIdentity&X-Amz-Credential={key}%2F20260101%2Fus-west-2%2Fsts%2Faws4_request"
    return "k8s-aws-v1." + base64.urlsafe_b64encode(url.encode()).decode().rstrip("=")


def test_a_token_is_its_roles(entry: dict[str, str], plane: Cluster, service: AmazonEks) -> None:
    who = caller(service, token(service, "scientist"))
    assert (who.role_name, who.session) == ("scientist", "session")
    user = user_of(plane, who)
    assert user.name == "arn:aws:sts::123456789012:assumed-role/scientist/session"
    assert user.groups == ("scientists", "system:authenticated")


@pytest.mark.parametrize("name", ["nodes", ""])
def test_without_an_entry_nobody_is_known(
    entry: dict[str, str], plane: Cluster, service: AmazonEks, name: str
) -> None:
    with pytest.raises(StatusError) as caught:
        user_of(plane, caller(service, token(service, name)))
    assert caught.value.code == 401


@pytest.mark.parametrize("text", ["", "k8s-aws-v1.", "k8s-aws-v1.x", "other", "k8s-aws-v1.aHR0cDovL3N0cw"])
def test_no_token(service: AmazonEks, text: str) -> None:
    with pytest.raises(StatusError) as caught:
        caller(service, text)
    assert caught.value.code == 401


PODS, QUOTAS = "/api/v1/namespaces/team/pods", "/api/v1/namespaces/team/resourcequotas"
SECRETS, NODES, ROLES = (
    "/api/v1/namespaces/team/secrets",
    "/api/v1/nodes",
    "/apis/rbac.authorization.k8s.io/v1/namespaces/team/roles",
)


@pytest.mark.parametrize(
    "case",
    [
        ("AmazonEKSClusterAdminPolicy", WHOLE, {"get pods", "create pods", "create nodes", "create roles"}),
        ("AmazonEKSAdminPolicy", TEAM, {"get pods", "create pods", "get secrets", "create roles"}),
        ("AmazonEKSEditPolicy", TEAM, {"get pods", "create pods", "get secrets"}),
        ("AmazonEKSViewPolicy", TEAM, {"get pods"}),
        ("AmazonEKSAdminViewPolicy", WHOLE, {"get pods", "get secrets"}),
        ("AmazonEKSViewPolicy", {"type": "namespace", "namespaces": ["other"]}, set()),
        ("AmazonSagemakerHyperpodSpacePolicy", WHOLE, set()),
    ],
)
def test_policies(
    entry: dict[str, str], plane: Cluster, call: Call, case: tuple[str, dict[str, Any], set[str]]
) -> None:
    name, scope, allowed = case
    call("AssociateAccessPolicy", **entry, policyArn=policy(name), accessScope=scope)
    assert what_may(plane) & {"get pods", "create pods", "get secrets", "create nodes", "create roles"} == (
        allowed | ({"get secrets"} if name == "AmazonEKSClusterAdminPolicy" else set())
    )


def what_may(plane: Cluster, groups: tuple[str, ...] = ()) -> set[str]:
    user = User(name="x", groups=groups, principal=SCIENTIST)
    paths = {"pods": PODS, "secrets": SECRETS, "nodes": NODES, "roles": ROLES}
    return {
        f"{verb} {noun}"
        for noun, path in paths.items()
        for verb, method, name in (("get", "GET", "/a"), ("create", "POST", ""))
        if may(plane, user, target(plane.api.store.kinds, Request(method=method, path=path + name)))
    }


@pytest.mark.parametrize("namespace", ["", "team", "other"])
def test_roles_of_kubernetes_count_too(entry: dict[str, str], plane: Cluster, namespace: str) -> None:
    """As the chart's role bindings for scientists do; in a namespace or in all."""
    cluster = "" if namespace else "Cluster"
    place = {"namespace": namespace} if namespace else {}
    rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "create"]}]
    base = "/apis/rbac.authorization.k8s.io/v1" + (f"/namespaces/{namespace}" if namespace else "")
    admin = User(name="admin", principal="admin")
    plane.entries["admin"] = plane.entries[SCIENTIST].__class__(
        about={}, policies={"p": {"policyArn": policy("AmazonEKSClusterAdminPolicy"), "accessScope": WHOLE}}
    )

    def put(path: str, document: dict[str, Any]) -> None:
        request = Request(method="POST", path=path, body=json.dumps(document).encode())
        code, answer = plane.api.answer(request, admin)
        assert code == 201, answer

    version = {"apiVersion": "rbac.authorization.k8s.io/v1"}
    for name in filter(None, [namespace]):
        put("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    put(
        f"{base}/{cluster.lower()}roles",
        {**version, "kind": f"{cluster}Role", "metadata": {"name": "r", **place}, "rules": rules},
    )
    put(
        f"{base}/{cluster.lower()}rolebindings",
        {
            **version,
            "kind": f"{cluster}RoleBinding",
            "metadata": {"name": "b", **place},
            "subjects": [{"kind": "Group", "name": "scientists"}],
            "roleRef": {"kind": f"{cluster}Role", "name": "r"},
        },
    )
    expected = set() if namespace == "other" else {"get pods", "create pods"}
    assert what_may(plane, ("scientists",)) == expected
    assert what_may(plane, ("strangers",)) == set()
