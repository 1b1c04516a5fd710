"""Add-ons: what they wait for, and why they fail."""

import json
from typing import Any

import pytest
from moto.amp.models import amp_backends

from hyperpod_cdk.rehearsal import hyperpod
from hyperpod_cdk.rehearsal.eks import AddOnFails, AmazonEks, Cluster
from hyperpod_cdk.rehearsal.eks.service import Guest
from tests.rehearsal.eks.samples import ACCOUNT, ARN, REGION, Call, Network, Refused, role

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


OBSERVABILITY = "amazon-sagemaker-hyperpod-observability"
INFERENCE = "amazon-sagemaker-hyperpod-inference"
LABELS = {"sagemaker.amazonaws.com/compute-type": "hyperpod"}


@pytest.fixture
def large(ready: Cluster, service: AmazonEks) -> Cluster:
    """The same with a HyperPod node that has room for the larger add-ons."""
    labels = {**LABELS, "node.kubernetes.io/instance-type": "ml.m5.4xlarge"}
    service.join(ready, "hyperpod-i-2", labels=labels)
    return ready


@pytest.fixture
def metrics(large: Cluster, service: AmazonEks, call: Call) -> str:
    """All that observability needs; gives its configuration."""
    workspace = amp_backends[ACCOUNT][REGION].create_workspace("metrics", {})
    writes = {"Effect": "Allow", "Action": "aps:RemoteWrite", "Resource": workspace.arn}
    service.account.iam.put_role_policy(
        "pods", "write", json.dumps({"Version": "2012-10-17", "Statement": [writes]})
    )
    place = {
        "namespace": "hyperpod-observability",
        "serviceAccount": "hyperpod-observability-operator-otel-collector",
    }
    call("CreatePodIdentityAssociation", clusterName="plane", **place, roleArn=role("pods"))
    return json.dumps({"ampWorkspace": {"arn": workspace.arn}})


def test_observability_comes_up(metrics: str, install: Any) -> None:
    assert install(OBSERVABILITY, configurationValues=metrics) == ("ACTIVE", "")


@pytest.mark.parametrize("size", ["ml.m5.2xlarge", "ml.t3.medium"])
def test_observability_wants_a_node_with_room(
    metrics: str, large: Cluster, install: Any, service: AmazonEks, size: str
) -> None:
    service.join(large, "hyperpod-i-2", labels={**LABELS, "node.kubernetes.io/instance-type": size})
    status, issue = install(OBSERVABILITY, seconds=1300, configurationValues=metrics)
    assert (status, issue.partition(":")[0]) == ("DEGRADED", "InsufficientNumberOfReplicas")


@pytest.mark.parametrize("values", ["{}", "{", "[]"])
def test_observability_without_a_workspace_is_degraded(metrics: str, install: Any, values: str) -> None:
    assert "ampWorkspace.arn is not given" in install(OBSERVABILITY, configurationValues=values)[1]


def test_observability_with_a_workspace_that_has_gone_is_degraded(metrics: str, install: Any) -> None:
    amp_backends[ACCOUNT][REGION].workspaces.clear()
    assert "does not exist" in install(OBSERVABILITY, configurationValues=metrics)[1]


def test_observability_without_rights_is_degraded(metrics: str, install: Any, service: AmazonEks) -> None:
    service.account.iam.delete_role_policy("pods", "write")
    assert "aps:RemoteWrite" in install(OBSERVABILITY, configurationValues=metrics)[1]


@pytest.fixture
def serving(large: Cluster, install: Any, service: AmazonEks) -> dict[str, str]:
    """All that inference needs; gives its configuration."""
    for name in ("aws-fsx-csi-driver", "aws-mountpoint-s3-csi-driver", "metrics-server"):
        assert install(name)[0] == "ACTIVE"
    iam, issuer = service.account.iam, large.about["identity"]["oidc"]["issuer"]
    provider = iam.create_open_id_connect_provider(issuer, [], ["sts.amazonaws.com"], [])
    account = "system:serviceaccount:hyperpod-inference-system:hyperpod-inference-controller-manager"
    trust = {
        "Effect": "Allow",
        "Principal": {"Federated": provider.arn},
        "Action": "sts:AssumeRoleWithWebIdentity",
        "Condition": {"StringEquals": {f"{issuer.removeprefix('https://')}:sub": account}},
    }
    iam.create_role(
        "operator", json.dumps({"Version": "2012-10-17", "Statement": [trust]}), "/", None, "", [], None
    )
    service.account.s3.create_bucket("hyperpod-tls-1", REGION)
    service.account.s3.create_bucket("certificates", REGION)
    return {"executionRoleArn": role("operator"), "tlsCertificateS3Bucket": "hyperpod-tls-1"}


def test_inference_comes_up(serving: dict[str, str], install: Any) -> None:
    assert install(INFERENCE, configurationValues=json.dumps(serving)) == ("ACTIVE", "")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"executionRoleArn": role("pods")}, "role/pods does not trust its tokens"),
        ({"executionRoleArn": ""}, "no role does not trust its tokens"),
        (
            {"tlsCertificateS3Bucket": "certificates"},
            "there is no bucket hyperpod-tls… called 'certificates'",
        ),
        ({"tlsCertificateS3Bucket": "hyperpod-tls-2"}, "called 'hyperpod-tls-2'"),
    ],
)
def test_inference_with_a_wrong_role_or_bucket_is_degraded(
    serving: dict[str, str], install: Any, wrong: dict[str, str], message: str
) -> None:
    status, issue = install(INFERENCE, configurationValues=json.dumps({**serving, **wrong}))
    assert (status, message in issue) == ("DEGRADED", True), issue


def test_inference_without_the_clusters_provider_is_degraded(
    serving: dict[str, str], install: Any, service: AmazonEks
) -> None:
    service.account.iam.open_id_providers.clear()
    assert "does not trust its tokens" in install(INFERENCE, configurationValues=json.dumps(serving))[1]


def test_inference_wants_its_drivers_and_no_older_ones(
    serving: dict[str, str], install: Any, large: Cluster
) -> None:
    large.add_ons["aws-fsx-csi-driver"]["addonVersion"] = "v1.5.9-eksbuild.1"
    del large.add_ons["metrics-server"]
    status, issue = install(INFERENCE, configurationValues=json.dumps(serving))
    assert status == "CREATE_FAILED"
    assert "aws-fsx-csi-driver v1.6.0-eksbuild.1 or later, metrics-server v0.7.2-eksbuild.4 or later" in issue


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
