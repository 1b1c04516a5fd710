"""AWS::EKS and what belongs to it; who reaches Kubernetes over the network, and as whom."""

import base64
import copy
import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from hyperpod_cdk.rehearsal import eks
from hyperpod_cdk.rehearsal.aws import EmbeddedAws
from tests.rehearsal.aws.samples import AddCode, Deployer, function, role

CLUSTER = {"Ref": "Plane"}
ASKS_KUBERNETES = """
import base64, ssl, urllib.error, urllib.request
import boto3


def handler(event, context):
    plane = boto3.client("eks").describe_cluster(name=event["name"])["cluster"]
    url = boto3.client("sts").generate_presigned_url("get_caller_identity")
    token = "k8s-aws-v1." + base64.urlsafe_b64encode(url.encode()).decode().rstrip("=")
    authority = base64.b64decode(plane["certificateAuthority"]["data"]).decode()
    trusted = ssl.create_default_context(cadata=authority)
    headers = {"Authorization": "Bearer " + token}
    request = urllib.request.Request(plane["endpoint"] + "/api/v1/nodes", headers=headers)
    try:
        return urllib.request.urlopen(request, context=trusted, timeout=10).status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return "no way"
"""


def subnet(number: int, zone: str) -> dict[str, Any]:
    properties = {"VpcId": {"Ref": "Vpc"}, "CidrBlock": f"10.0.{number}.0/24", "AvailabilityZone": zone}
    return {"Type": "AWS::EC2::Subnet", "Properties": properties}


def group(**properties: Any) -> dict[str, Any]:
    return {
        "Type": "AWS::EC2::SecurityGroup",
        "Properties": {"VpcId": {"Ref": "Vpc"}, "GroupDescription": "test", **properties},
    }


def arn(name: str) -> dict[str, Any]:
    return {"Fn::GetAtt": [name, "Arn"]}


def of_plane(type_: str, *, after: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    found: dict[str, Any] = {
        "Type": f"AWS::EKS::{type_}",
        "Properties": {"ClusterName": CLUSTER, **properties},
    }
    return {**found, "DependsOn": list(after)} if after else found


SUBNETS = [{"Ref": "One"}, {"Ref": "Two"}]
NETWORK: dict[str, Any] = {
    "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}},
    "One": subnet(0, "us-west-2a"),
    "Two": subnet(1, "us-west-2b"),
    "PlaneRole": role("eks.amazonaws.com"),
    "NodeRole": role("ec2.amazonaws.com"),
    "PodRole": role("pods.eks.amazonaws.com"),
    "Scientist": role(),
    "Plane": {
        "Type": "AWS::EKS::Cluster",
        "Properties": {
            "RoleArn": arn("PlaneRole"),
            "Version": "1.33",
            "ResourcesVpcConfig": {
                "SubnetIds": SUBNETS,
                "EndpointPublicAccess": False,
                "EndpointPrivateAccess": "true",
            },
            "AccessConfig": {"AuthenticationMode": "API", "BootstrapClusterCreatorAdminPermissions": False},
            "BootstrapSelfManagedAddons": False,
        },
    },
}
EVERYTHING: dict[str, Any] = {
    **NETWORK,
    "Cni": of_plane("Addon", AddonName="vpc-cni", ResolveConflicts="OVERWRITE"),
    "Template": {
        "Type": "AWS::EC2::LaunchTemplate",
        "Properties": {"LaunchTemplateData": {"MetadataOptions": {"HttpTokens": "required"}}},
    },
    "Nodes": of_plane(
        "Nodegroup",
        after=("Cni",),
        NodeRole=arn("NodeRole"),
        Subnets=SUBNETS,
        ScalingConfig={"MinSize": 1, "MaxSize": "3", "DesiredSize": 2},
        Labels={"pool": "system"},
        LaunchTemplate={
            "Id": {"Ref": "Template"},
            "Version": {"Fn::GetAtt": ["Template", "LatestVersionNumber"]},
        },
        Tags={"team": "a"},
        ForceUpdateEnabled=True,
    ),
    "Dns": of_plane("Addon", after=("Nodes",), AddonName="coredns"),
    "Access": of_plane(
        "AccessEntry",
        PrincipalArn=arn("Scientist"),
        AccessPolicies=[
            {
                "PolicyArn": "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy",
                "AccessScope": {"Type": "namespace", "Namespaces": ["a"]},
            }
        ],
    ),
    "Identity": of_plane("PodIdentityAssociation", Namespace="a", ServiceAccount="b", RoleArn=arn("PodRole")),
}


@pytest.fixture(autouse=True)
def fast(aws: EmbeddedAws) -> Iterator[eks.AmazonEks]:
    service = eks.service(aws.account_id, aws.region)
    speed, service.clock.speed = service.clock.speed, 5000.0
    yield service
    service.clock.speed = speed


def changed(resources: dict[str, Any], logical_id: str, **properties: Any) -> dict[str, Any]:
    result = copy.deepcopy(resources)
    result[logical_id]["Properties"].update(properties)
    return result


def test_it_comes_changes_and_goes(aws: EmbeddedAws, stack: Deployer) -> None:
    client = aws.client("eks")
    created = stack.create(EVERYTHING)
    assert created.status == "CREATE_COMPLETE", aws.failures()
    name = created.id_of("Plane")
    group_id = client.describe_cluster(name=name)["cluster"]["resourcesVpcConfig"]["clusterSecurityGroupId"]
    assert client.list_nodegroups(clusterName=name)["nodegroups"] == [created.id_of("Nodes").split("/")[1]]

    grown = changed(
        EVERYTHING, "Nodes", ScalingConfig={"MinSize": 1, "MaxSize": 3, "DesiredSize": 3}, Labels={}
    )
    grown = changed(grown, "Cni", AddonVersion="v1.99.0-eksbuild.1", Tags=[{"Key": "a", "Value": "b"}])
    grown = changed(grown, "Plane", Version="1.34", Tags=[{"Key": "a", "Value": "b"}])
    grown = changed(
        grown,
        "Plane",
        Logging={"ClusterLogging": {"EnabledTypes": [{"Type": "api"}]}},
        AccessConfig={"AuthenticationMode": "API", "BootstrapClusterCreatorAdminPermissions": False},
    )
    admin = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"
    scope = {"PolicyArn": admin, "AccessScope": {"Type": "cluster"}}
    grown = changed(grown, "Access", AccessPolicies=[scope], KubernetesGroups=["g"])
    ids = [created.id_of(name) for name in ("Plane", "Nodes", "Cni", "Access", "Identity")]
    updated = stack.update(grown)
    assert updated.status == "UPDATE_COMPLETE", aws.failures()
    assert ids == [updated.id_of(name) for name in ("Plane", "Nodes", "Cni", "Access", "Identity")]
    found = client.describe_cluster(name=name)["cluster"]
    assert (found["version"], found["tags"]) == ("1.34", {"a": "b"})
    assert found["logging"]["clusterLogging"][0] == {"types": ["api"], "enabled": True}
    nodes = client.describe_nodegroup(clusterName=name, nodegroupName=created.id_of("Nodes").split("/")[1])
    assert (nodes["nodegroup"]["scalingConfig"]["desiredSize"], nodes["nodegroup"]["labels"]) == (3, {})
    add_on = client.describe_addon(clusterName=name, addonName="vpc-cni")["addon"]
    assert (add_on["addonVersion"], add_on["tags"]) == ("v1.99.0-eksbuild.1", {"a": "b"})
    principal = created.id_of("Access").split("|")[0]
    policies = client.list_associated_access_policies(clusterName=name, principalArn=principal)
    assert [one["policyArn"] for one in policies["associatedAccessPolicies"]] == [admin]
    assert client.describe_access_entry(clusterName=name, principalArn=principal)["accessEntry"][
        "kubernetesGroups"
    ] == ["g"]

    moved = stack.update(changed(grown, "Identity", ServiceAccount="c"))
    assert (moved.status, moved.id_of("Identity") in ids) == ("UPDATE_COMPLETE", False)
    associations = client.list_pod_identity_associations(clusterName=name)["associations"]
    assert [one["serviceAccount"] for one in associations] == ["c"]

    deleted = stack.delete()
    assert deleted.status == "DELETE_COMPLETE"
    assert client.list_clusters()["clusters"] == []
    groups = aws.client("ec2").describe_security_groups()["SecurityGroups"]
    assert group_id not in {one["GroupId"] for one in groups}
    assert aws.unanswered() == []


def test_an_add_on_without_nodes_fails_with_its_reason(aws: EmbeddedAws, stack: Deployer) -> None:
    failed = stack.create({**NETWORK, "Dns": of_plane("Addon", AddonName="coredns")})
    assert failed.status == "ROLLBACK_COMPLETE"
    reasons = [reason for status, reason in failed.events("Dns") if status == "CREATE_FAILED"]
    assert "InsufficientNumberOfReplicas: The add-on is unhealthy" in reasons[0]
    assert aws.client("eks").list_clusters()["clusters"] == [], "it is rolled back with all of it"


def test_properties_that_are_not_emulated_are_refused(stack: Deployer) -> None:
    failed = stack.create(changed(NETWORK, "Plane", RemoteNetworkConfig={}))
    ((_, reason),) = [event for event in failed.events("Plane") if event[0] == "CREATE_FAILED"]
    assert reason == "AWS::EKS::Cluster: property RemoteNetworkConfig is not emulated"


def asked(place: dict[str, str], token: str) -> int:
    """The status of an answer about what an administrator alone may see, at a kubeconfig's place."""
    authority = base64.b64decode(place["certificate-authority-data"]).decode()
    trusted = ssl.create_default_context(cadata=authority)
    url = f"{place['server']}/api/v1/namespaces/kube-system/secrets"
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"})
    try:
        return int(urllib.request.urlopen(request, context=trusted, timeout=10).status)
    except urllib.error.HTTPError as error:
        return error.code


def test_a_private_api_is_open_to_whoever_has_its_kubeconfig(aws: EmbeddedAws, stack: Deployer) -> None:
    """With --keep: the rehearsal's own user has no role of the account's, and is not in the VPC."""
    created = stack.create(NETWORK)
    plane = eks.service(aws.account_id, aws.region).cluster(created.id_of("Plane"))
    config = json.loads(aws.kubeconfig(plane))
    place, token = config["clusters"][0]["cluster"], config["users"][0]["user"]["token"]
    assert (asked(place, token), asked(place, f"{token}x")) == (200, 401)
    stack.delete()
    assert asked(place, token) == 404


def test_only_who_is_inside_and_known_reaches_a_private_api(
    aws: EmbeddedAws, stack: Deployer, code: AddCode
) -> None:
    files = code({"index.py": ASKS_KUBERNETES})
    inside = {"SubnetIds": SUBNETS, "SecurityGroupIds": [{"Fn::GetAtt": ["Plane", "ClusterSecurityGroupId"]}]}
    stranger = {"SubnetIds": SUBNETS, "SecurityGroupIds": [{"Fn::GetAtt": ["Other", "GroupId"]}]}
    known = of_plane(
        "AccessEntry",
        PrincipalArn=arn("Role"),
        AccessPolicies=[
            {
                "PolicyArn": "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy",
                "AccessScope": {"Type": "cluster"},
            }
        ],
    )
    resources = {
        **NETWORK,
        "Other": group(),
        "Role": role(),
        "Stranger": role(),
        "Access": known,
        "Inside": function(files, "index.handler", VpcConfig=inside),
        "NotLetIn": function(files, "index.handler", VpcConfig=stranger),
        "Outside": function(files, "index.handler"),
        "Unknown": function(files, "index.handler", VpcConfig=inside, Role=arn("Stranger")),
    }
    created = stack.create(resources)
    assert created.status == "CREATE_COMPLETE", aws.failures()

    def ask(logical_id: str) -> Any:
        name = created.id_of(logical_id)
        payload = f'{{"name": "{created.id_of("Plane")}"}}'
        answer = aws.client("lambda").invoke(FunctionName=name, Payload=payload)
        return answer["Payload"].read().decode()

    assert {name: ask(name) for name in ("Inside", "NotLetIn", "Outside", "Unknown")} == {
        "Inside": "200",
        "NotLetIn": '"no way"',
        "Outside": '"no way"',
        "Unknown": "401",
    }
    opened = changed(
        resources,
        "Plane",
        ResourcesVpcConfig={
            "SubnetIds": SUBNETS,
            "EndpointPublicAccess": True,
            "EndpointPrivateAccess": True,
        },
    )
    assert stack.update(opened).status == "UPDATE_COMPLETE"
    assert ask("Outside") == "200"
    stack.delete()
