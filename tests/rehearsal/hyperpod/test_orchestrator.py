"""Clusters on Amazon EKS: what the control plane must be like, and the nodes that join it."""

import json
from collections.abc import Callable
from typing import Any

import boto3
import pytest

from hyperpod_cdk.rehearsal import hyperpod
from hyperpod_cdk.rehearsal.eks import Cluster as ControlPlane
from hyperpod_cdk.rehearsal.eks.provided import provide
from hyperpod_cdk.rehearsal.eks.state import Entry
from hyperpod_cdk.rehearsal.hyperpod import orchestrator
from hyperpod_cdk.rehearsal.hyperpod.references import SCALING_PRINCIPAL
from tests.rehearsal.hyperpod.samples import REGION, Account, client

ARN = "arn:aws:eks:us-west-2:123456789012:cluster/k8s"
EKS = {"Eks": {"ClusterArn": ARN}}
PASS = "iam:PassRole"
Create = Callable[..., dict[str, Any]]
Refused = Callable[..., tuple[str, str]]


@pytest.fixture
def plane(account: Account, service: hyperpod.HyperPodService) -> ControlPlane:
    return provide(service.account.eks, "k8s", subnet_ids=[account.subnet_id, account.small_subnet_id])


def request(account: Account, **group: Any) -> dict[str, Any]:
    return account.cluster(account.group("workers", None, **group), Orchestrator=EKS)


def joined(plane: ControlPlane) -> dict[str, dict[str, Any]]:
    """HyperPod's nodes in Kubernetes, by name."""
    nodes = {node["metadata"]["name"]: node for node in plane.api.objects("nodes")}
    return {name: node for name, node in nodes.items() if name.startswith("hyperpod-")}


def test_nodes_join_and_leave(
    account: Account,
    plane: ControlPlane,
    in_service: Create,
    sagemaker: Any,
    service: hyperpod.HyperPodService,
) -> None:
    config = {"Labels": {"pool": "a"}, "Taints": [{"Key": "gpu", "Value": "x", "Effect": "NoSchedule"}]}
    group = account.group("workers", None, InstanceCount=2, KubernetesConfig=config)
    assert in_service(**account.cluster(group, Orchestrator=EKS))["ClusterStatus"] == "InService"
    ids = {
        node["InstanceId"] for node in sagemaker.list_cluster_nodes(ClusterName="ml")["ClusterNodeSummaries"]
    }
    assert set(joined(plane)) == {f"hyperpod-{one}" for one in ids}
    (node, _) = joined(plane).values()
    labels = node["metadata"]["labels"]
    assert labels["sagemaker.amazonaws.com/compute-type"] == "hyperpod"
    assert (labels["sagemaker.amazonaws.com/instance-group-name"], labels["pool"]) == ("workers", "a")
    assert labels["sagemaker.amazonaws.com/node-health-status"] == "Schedulable"
    assert node["spec"]["taints"] == [{"key": "gpu", "value": "x", "effect": "NoSchedule"}]
    assert plane.entries[account.role_arn].about["type"] == "HYPERPOD_LINUX"

    relabelled = {**group, "InstanceCount": 1, "KubernetesConfig": {"Labels": {"pool": "b"}}}
    sagemaker.update_cluster(ClusterName="ml", InstanceGroups=[relabelled])
    service.clock.advance(900)
    service.catch_up()
    (node,) = joined(plane).values()
    assert (node["metadata"]["labels"]["pool"], node["spec"]) == ("b", {})

    plane.entries["of-a-group-that-was-removed"] = plane.entries[account.role_arn]
    plane.entries["somebody-else's"] = Entry(about={"type": "STANDARD"})
    sagemaker.delete_cluster(ClusterName="ml")
    service.clock.advance(900)
    service.catch_up()
    assert joined(plane) == {}
    ours = {account.role_arn, "of-a-group-that-was-removed"}
    assert (ours & set(plane.entries), "somebody-else's" in plane.entries) == (set(), True)
    assert len(plane.api.objects("nodes")) == 1, "the system node is none of HyperPod's"


def test_checked_nodes_are_kept_from_pods(
    account: Account, plane: ControlPlane, in_service: Create, service: hyperpod.HyperPodService
) -> None:
    group = {
        **account.group("workers", None, OnStartDeepHealthChecks=["InstanceStress"]),
        "InstanceType": "ml.g5.8xlarge",
    }
    in_service(**account.cluster(group, Orchestrator=EKS))
    (node,) = joined(plane).values()
    health = "sagemaker.amazonaws.com/node-health-status"
    assert node["metadata"]["labels"][health] == "Unschedulable"
    assert node["spec"]["taints"] == [{"key": health, "value": "Unschedulable", "effect": "NoSchedule"}]
    service.settle()
    service.catch_up()
    (node,) = joined(plane).values()
    assert (node["metadata"]["labels"][health], node["spec"]) == ("Schedulable", {})
    assert node["metadata"]["labels"]["sagemaker.amazonaws.com/deep-health-check-status"] == "Passed"


def without_chart(plane: ControlPlane) -> None:
    kind = plane.api.store.kinds.find("", "v1", "secrets")
    for entry in plane.api.store.entries(kind, "kube-system"):
        plane.api.store.delete(kind, "kube-system", entry.document["metadata"]["name"])


def in_map_mode(plane: ControlPlane) -> None:
    plane.about["accessConfig"]["authenticationMode"] = "CONFIG_MAP"


REFUSED: dict[str, tuple[Callable[[ControlPlane], Any], str]] = {
    "it comes up": (lambda plane: plane.about.update(status="CREATING"), "is CREATING; it must be ACTIVE"),
    "it knows no entries": (in_map_mode, "has authentication mode CONFIG_MAP"),
    "it is too old": (lambda plane: plane.about.update(version="1.27"), "runs Kubernetes 1.27"),
    "it is elsewhere": (
        lambda plane: plane.vpc.update(vpcId="vpc-other"),
        "lies in vpc-other, and VpcConfig in vpc-",
    ),
    "it has no chart": (without_chart, "install the Helm chart HyperPodHelmChart as hyperpod-dependencies"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(account: Account, plane: ControlPlane, sagemaker: Any, refused: Refused, name: str) -> None:
    spoil, message = REFUSED[name]
    spoil(plane)
    code, told = refused(sagemaker.create_cluster, **request(account))
    assert (code, message in told) == ("ValidationException", True), told
    assert sagemaker.list_clusters()["ClusterSummaries"] == []


def test_one_cluster_a_control_plane(
    account: Account, plane: ControlPlane, sagemaker: Any, refused: Refused
) -> None:
    sagemaker.create_cluster(**request(account))
    code, told = refused(sagemaker.create_cluster, **{**request(account), "ClusterName": "second"})
    assert (code, "is used by HyperPod cluster ml already" in told) == ("ValidationException", True)


def test_a_control_plane_that_is_not_there(
    account: Account, plane: ControlPlane, sagemaker: Any, refused: Refused
) -> None:
    other = {"Eks": {"ClusterArn": ARN.replace("k8s", "other")}}
    told = refused(sagemaker.create_cluster, **{**request(account), "Orchestrator": other})[1]
    assert told == f"The EKS cluster {ARN.replace('k8s', 'other')} does not exist."


@pytest.mark.parametrize("missing", [*orchestrator.CALLER_ACTIONS, PASS, ""])
def test_the_caller_lets_the_nodes_in(
    account: Account, plane: ControlPlane, service: hyperpod.HyperPodService, missing: str
) -> None:
    """What the service does to the EKS cluster it does in the caller's name, in roles that it is passed."""
    iam, sts = client("iam"), client("sts")
    trust = {"Version": "2012-10-17", "Statement": []}
    iam.create_role(RoleName="caller", AssumeRolePolicyDocument=json.dumps(trust))
    allowed = [action for action in (*orchestrator.CALLER_ACTIONS, PASS) if action != missing]
    statement = {"Effect": "Allow", "Action": [*allowed, "sagemaker:*"], "Resource": "*"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    iam.put_role_policy(RoleName="caller", PolicyName="p", PolicyDocument=document)
    arn = "arn:aws:iam::123456789012:role/caller"
    session = sts.assume_role(RoleArn=arn, RoleSessionName="s")["Credentials"]
    keys = {"aws_access_key_id": session["AccessKeyId"], "aws_secret_access_key": session["SecretAccessKey"]}
    own = boto3.session.Session(**keys, aws_session_token=session["SessionToken"])
    caller = own.client("sagemaker", region_name=REGION)
    if not missing:
        assert caller.create_cluster(**request(account))["ClusterArn"]
        return
    with pytest.raises(caller.exceptions.ClientError) as caught:
        caller.create_cluster(**request(account))
    error = caught.value.response["Error"]
    assert error["Code"] == "AccessDeniedException"
    on = account.role_arn if missing == PASS else ARN
    assert error["Message"] == f"User: {arn} is not authorized to perform: {missing} on resource: {on}"


def test_pods_take_addresses_too(
    account: Account, plane: ControlPlane, in_service: Create, service: hyperpod.HyperPodService
) -> None:
    """81 a P5: docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html."""
    group = {**account.group("workers", None), "InstanceType": "ml.p5.48xlarge"}
    in_service(**account.cluster(group, Orchestrator=EKS))
    (node,) = service.clusters["ml"].nodes
    interfaces = [service.account.ec2.enis[one] for one in node.placement.interface_ids]
    assert (len(interfaces), sum(len(one.private_ip_addresses) for one in interfaces)) == (32, 81)


def test_governance_waits_for_its_add_on(
    plane: ControlPlane, account: Account, in_service: Create, service: hyperpod.HyperPodService
) -> None:
    in_service(**request(account))
    cluster = service.clusters["ml"]
    assert "amazon-sagemaker-hyperpod-taskgovernance is not installed" in service.governance_readiness(
        cluster
    )
    plane.add_ons[orchestrator.GOVERNANCE] = {"status": "ACTIVE"}
    assert service.governance_readiness(cluster) == ""


def test_the_role_that_scales_stays_while_it_does(
    account: Account, plane: ControlPlane, in_service: Create, sagemaker: Any, refused: Refused
) -> None:
    trust = {"Effect": "Allow", "Principal": {"Service": SCALING_PRINCIPAL}, "Action": "sts:AssumeRole"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [trust]})
    other = client("iam").create_role(RoleName="other", AssumeRolePolicyDocument=document)["Role"]["Arn"]
    described = in_service(**scaled(account, account.scaling_role_arn))
    assert described["AutoScaling"]["Status"] == "InService"
    told = refused(sagemaker.update_cluster, ClusterName="ml", ClusterRole=other)[1]
    assert told == "ClusterRole can not be changed while AutoScaling is enabled."
    off = {"AutoScaling": {"Mode": "Disable"}}
    assert sagemaker.update_cluster(ClusterName="ml", ClusterRole=other, **off)["ClusterArn"]


def scaled(account: Account, role_arn: str) -> dict[str, Any]:
    """A request for a cluster that scales itself in a role."""
    scaling = {"AutoScaling": {"Mode": "Enable", "AutoScalerType": "Karpenter"}, "ClusterRole": role_arn}
    return {**request(account), "NodeProvisioningMode": "Continuous", **scaling}


@pytest.mark.parametrize("role", ["node", "unheard-of"])
def test_a_role_that_the_service_may_not_take_scales_nothing(
    account: Account, plane: ControlPlane, sagemaker: Any, refused: Refused, role: str
) -> None:
    told = refused(sagemaker.create_cluster, **scaled(account, f"arn:aws:iam::123456789012:role/{role}"))[1]
    assert f"Could not assume role arn:aws:iam::123456789012:role/{role}." in told
    assert f"principal '{SCALING_PRINCIPAL}'" in told


def test_a_role_without_rights_scales_nothing_either(
    account: Account, plane: ControlPlane, in_service: Create
) -> None:
    client("iam").delete_role_policy(RoleName="scaler", PolicyName="scale")
    scaling = in_service(**scaled(account, account.scaling_role_arn))["AutoScaling"]
    assert scaling["Status"] == "Failed"
    assert (
        "not authorized to perform: sagemaker:BatchAddClusterNodes, sagemaker:Batch"
        in scaling["FailureMessage"]
    )
