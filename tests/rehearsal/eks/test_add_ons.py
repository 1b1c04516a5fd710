"""Add-ons: what they wait for, and why they fail."""

import json
from typing import Any

import pytest

from hyperpod_cdk.rehearsal import hyperpod
from hyperpod_cdk.rehearsal.eks import AddOnFails, AmazonEks, Cluster
from hyperpod_cdk.rehearsal.eks.service import Guest
from tests.rehearsal.eks.samples import ARN, Call, Network, Refused, role

OPERATOR = "amazon-sagemaker-hyperpod-training-operator"
GOVERNANCE = "amazon-sagemaker-hyperpod-taskgovernance"
CLUSTER_ARN = "arn:aws:sagemaker:us-west-2:123456789012:cluster/abcdefghijkl"


class Tenant:
    """A HyperPod that has a cluster on the control plane."""

    def __init__(self, **tags: str) -> None:
        self._guest = Guest(name="ml", arn=CLUSTER_ARN, tags=tags)

    def catch_up(self) -> None:
        """Nothing happens here."""

    def guests(self, cluster_arn: str) -> list[Guest]:
        assert cluster_arn == ARN
        return [self._guest]


@pytest.fixture
def install(service: AmazonEks, call: Call) -> Any:
    """Creates an add-on and waits until it is installed or not; gives status and the first issue."""

    def create(name: str, *, seconds: float = 60, **settings: Any) -> tuple[str, str]:
        call("CreateAddon", clusterName="plane", addonName=name, **settings)
        service.clock.advance(seconds)
        found = call("DescribeAddon", clusterName="plane", addonName=name)["addon"]
        issues = [f"{one['code']}: {one['message']}" for one in found["health"]["issues"]]
        return found["status"], "; ".join(issues)

    return create


def test_daemons_need_no_node(plane: Cluster, install: Any) -> None:
    assert [install(name)[0] for name in ("vpc-cni", "kube-proxy", "eks-pod-identity-agent")] == [
        "ACTIVE"
    ] * 3


def test_pods_wait_for_a_node(
    plane: Cluster, install: Any, service: AmazonEks, call: Call, network: Network
) -> None:
    assert install("coredns", seconds=1200)[0] == "CREATING"
    service.clock.advance(60)
    place = {"clusterName": "plane", "addonName": "coredns"}
    found = call("DescribeAddon", **place)["addon"]
    assert (found["status"], found["health"]["issues"][0]["code"]) == (
        "DEGRADED",
        "InsufficientNumberOfReplicas",
    )
    install("vpc-cni")
    call("CreateNodegroup", **network.node_group())
    service.clock.advance(300)
    assert call("DescribeAddon", **place)["addon"]["status"] == "ACTIVE", "it recovers by itself"


def test_a_copy_is_taken_over_only_if_asked(
    service: AmazonEks, network: Network, call: Call, install: Any
) -> None:
    call("CreateCluster", **network.cluster())
    service.clock.advance(540)
    status, issue = install("vpc-cni")
    assert (status, "ConfigurationConflict" in issue, "DaemonSet.apps aws-node" in issue) == (
        "CREATE_FAILED",
        True,
        True,
    )
    assert install("kube-proxy", resolveConflicts="OVERWRITE")[0] == "ACTIVE"


@pytest.mark.parametrize(
    "case",
    [
        ({"addonName": "vpc-cni"}, "ResourceInUseException", "Addon already exists."),
        ({"addonName": "unheard-of"}, "InvalidParameterException", "is not supported"),
        ({"addonName": "coredns", "resolveConflicts": "PRESERVE"}, "InvalidParameterException", "preserve"),
        (
            {
                "addonName": OPERATOR,
                "podIdentityAssociations": [{"serviceAccount": "a", "roleArn": role("pods")}],
            },
            "InvalidParameterException",
            "does not support pod identity associations",
        ),
    ],
)
def test_refused(
    plane: Cluster, install: Any, refused: Refused, case: tuple[dict[str, Any], str, str]
) -> None:
    request_, code, message = case
    install("vpc-cni")
    found, told = refused("CreateAddon", clusterName="plane", **request_)
    assert (found, message in told) == (code, True)


def test_not_before_the_control_plane(
    service: AmazonEks, network: Network, call: Call, refused: Refused
) -> None:
    call("CreateCluster", **network.cluster())
    assert "CREATING" in refused("CreateAddon", clusterName="plane", addonName="vpc-cni")[1]


def test_the_operator_needs_certificates_first(with_nodes: Cluster, install: Any) -> None:
    status, issue = install(OPERATOR)
    assert status == "CREATE_FAILED"
    assert issue == 'K8sResourceNotFound: no matches for kind "Certificate" in version "cert-manager.io/v1"'


@pytest.fixture
def ready(with_nodes: Cluster, install: Any, service: AmazonEks, call: Call) -> Cluster:
    """All that the operator needs but a tag: certificates, a HyperPod node, an identity with rights."""
    for name in ("coredns", "cert-manager", "eks-pod-identity-agent"):
        assert install(name)[0] == "ACTIVE"
    service.join(with_nodes, "hyperpod-i-1", labels={"sagemaker.amazonaws.com/compute-type": "hyperpod"})
    allowed = {"Effect": "Allow", "Action": "sagemaker:DescribeClusterNode", "Resource": "*"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [allowed]})
    service.account.iam.put_role_policy("pods", "look", document)
    place = {"namespace": "aws-hyperpod", "serviceAccount": "hp-training-operator-controller-manager"}
    call("CreatePodIdentityAssociation", clusterName="plane", **place, roleArn=role("pods"))
    service.tenants = [Tenant(SageMaker="true")]
    return with_nodes


def test_the_operator_comes_up(ready: Cluster, install: Any) -> None:
    assert install(OPERATOR) == ("ACTIVE", "")
    kinds = {kind.kind for kind in ready.api.store.kinds if kind.group == "sagemaker.amazonaws.com"}
    assert kinds == {"HyperPodPyTorchJob"}


def test_the_operator_without_the_tag_is_degraded(ready: Cluster, install: Any, service: AmazonEks) -> None:
    service.tenants = [Tenant(SageMaker="yes")]
    assert install(OPERATOR) == (
        "DEGRADED",
        "AddonPermissionFailure: sagemaker:DescribeClusterNode is denied: cluster ml has no tag "
        "SageMaker=true",
    )


def test_the_operator_without_rights_is_degraded(ready: Cluster, install: Any, service: AmazonEks) -> None:
    service.account.iam.delete_role_policy("pods", "look")
    assert "role/pods does not allow it" in install(OPERATOR)[1]


def test_the_operator_without_an_identity_is_degraded(ready: Cluster, install: Any) -> None:
    ready.identities.clear()
    assert "no pod identity is associated" in install(OPERATOR)[1]


def test_the_operator_without_the_agent_is_degraded(ready: Cluster, install: Any) -> None:
    del ready.add_ons["eks-pod-identity-agent"]
    assert "eks-pod-identity-agent is not there" in install(OPERATOR)[1]


def test_the_operator_runs_on_hyperpod_nodes_alone(ready: Cluster, install: Any, service: AmazonEks) -> None:
    service.leave(ready, "hyperpod-i-1")
    assert install(OPERATOR)[0] == "CREATING"


def test_task_governance_wants_no_other_kueue(
    ready: Cluster, install: Any, call: Call, service: AmazonEks
) -> None:
    assert install(GOVERNANCE)[0] == "ACTIVE"
    call("DeleteAddon", clusterName="plane", addonName=GOVERNANCE)
    service.clock.advance(30)
    service.catch_up()
    assert not [kind for kind in ready.api.store.kinds if kind.group == "kueue.x-k8s.io"], (
        "it takes its kinds along"
    )
    ready.api.store.create(
        ready.api.store.kinds.find("apiextensions.k8s.io", "v1", "customresourcedefinitions"),
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "clusterqueues.kueue.x-k8s.io"},
            "spec": {
                "group": "kueue.x-k8s.io",
                "scope": "Cluster",
                "names": {"kind": "ClusterQueue", "plural": "clusterqueues"},
                "versions": [{"name": "v1beta1", "served": True, "storage": True}],
            },
        },
        manager="helm",
    )
    status, issue = install(GOVERNANCE)
    assert (status, "kinds of kueue.x-k8s.io are installed already" in issue) == ("CREATE_FAILED", True)


def test_a_fault(plane: Cluster, install: Any, service: AmazonEks) -> None:
    service.faults.add(AddOnFails(name="vpc-cni", status="DEGRADED", code="AccessDenied", message="no"))
    assert install("vpc-cni") == ("DEGRADED", "AccessDenied: no")


def test_versions_change_in_place(plane: Cluster, install: Any, service: AmazonEks, call: Call) -> None:
    install("vpc-cni")
    place = {"clusterName": "plane", "addonName": "vpc-cni"}
    call("UpdateAddon", **place, addonVersion="v9.9.9-eksbuild.1")
    assert call("DescribeAddon", **place)["addon"]["status"] == "UPDATING"
    service.clock.advance(30)
    assert call("DescribeAddon", **place)["addon"]["addonVersion"] == "v9.9.9-eksbuild.1"
    listed = call("DescribeAddonVersions", addonName="vpc-cni", kubernetesVersion="1.33")["addons"]
    assert listed[0]["addonVersions"][0]["compatibilities"][0]["clusterVersion"] == "1.33"


def test_hyperpod_is_a_tenant() -> None:
    service = hyperpod.service(region="us-west-2")
    assert service in service.account.eks.tenants
