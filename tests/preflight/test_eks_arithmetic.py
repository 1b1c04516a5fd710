"""Amazon EKS: numbers, rules and versions that an emulated account does not bring about."""

from dataclasses import replace
from typing import Any

import pytest

from hyperpod_cdk.preflight import Outcome, eks_plan
from hyperpod_cdk.preflight.calls import Call
from hyperpod_cdk.service import quotas
from hyperpod_cdk.spec import (
    CapacityType,
    Cluster,
    EksOrchestrator,
    ExistingNetwork,
    ExistingSubnet,
    HyperPodSpec,
    InstanceGroup,
    InstanceRequirements,
    Network,
    Orchestrator,
    OverrideVpcConfig,
    SystemNodes,
    TaskGovernance,
    Team,
)
from hyperpod_cdk.spec.add_on import AddOn
from tests.preflight.fake import looked, missing, told

ARN = "arn:aws:eks:us-west-2:123456789012:cluster/training"
NO_STACK = missing("ValidationError")


def group(name: str, count: int, *types: str, **members: Any) -> InstanceGroup:
    several = InstanceRequirements(instance_types=types) if len(types) > 1 else None
    return InstanceGroup(
        instance_group_name=name,
        instance_count=count,
        instance_type=None if several else types[0],
        instance_requirements=several,
        **members,
    )


def spec(*groups: InstanceGroup, cluster_arn: str | None = None, **eks: Any) -> HyperPodSpec:
    existing = ExistingNetwork(
        vpc_id="vpc-1",
        subnets=(ExistingSubnet(subnet_id="subnet-a"), ExistingSubnet(subnet_id="subnet-b")),
        security_group_ids=("sg-nodes",),
    )
    return HyperPodSpec(
        stack_name="s",
        network=Network(existing=existing),
        cluster=Cluster(
            instance_groups=groups or (group("cpu", 1, "ml.c5.xlarge"),),
            orchestrator=Orchestrator(eks=EksOrchestrator(cluster_arn=cluster_arn, **eks)),
        ),
    )


# -- whose something is ---------------------------------------------------------------------------------

QUOTA = {
    "Name": "vision",
    "ComputeQuotaArn": "arn:q",
    "ComputeQuotaId": "q",
    "ClusterArn": "arn:aws:sagemaker:us-west-2:123456789012:cluster/abc",
    "Status": "Created",
    "ComputeQuotaTarget": {"TeamName": "vision"},
}


@pytest.mark.parametrize(
    ("change", "resource", "faults"),
    [
        ({}, None, 1),
        ({}, ("Custom::HyperPodComputeQuota", "abc/vision"), 0),
        ({}, ("Custom::HyperPodComputeQuota", "xyz/vision"), 1),
        ({}, ("AWS::SageMaker::ComputeQuota", "arn:q"), 0),
        ({"Status": "Deleting"}, None, 0),
        ({"Status": "CreateFailed"}, None, 1),
        ({"ClusterArn": "arn:aws:sagemaker:us-west-2:123456789012:cluster/xyz"}, None, 0),
        ({"Name": "by-hand"}, None, 1),
        ({"ComputeQuotaTarget": {"TeamName": "language"}}, None, 1),
        ({"Name": "a", "ComputeQuotaTarget": {"TeamName": "b"}}, None, 0),
    ],
)
def test_whose_a_quota_is(change: dict[str, Any], resource: tuple[str, str] | None, faults: int) -> None:
    resources = [{"ResourceType": "Custom::HyperPodCluster", "PhysicalResourceId": "ml"}]
    if resource:
        resources.append({"ResourceType": resource[0], "PhysicalResourceId": resource[1]})
    governed = spec(task_governance=TaskGovernance(teams=(Team(team_name="vision"),)))
    found = told(
        "compute-quotas",
        governed,
        list_clusters=[{"ClusterName": "ml"}],
        describe_cluster={"ClusterName": "ml", "ClusterArn": QUOTA["ClusterArn"]},
        list_stack_resources=resources,
        list_compute_quotas=[{**QUOTA, **change}],
    )
    assert len(found) == faults


@pytest.mark.parametrize(("own", "faults"), [("training|NAME", 0), ("training|other", 1), (None, 1)])
def test_an_add_on_of_the_stacks_own_is_not_taken(own: str | None, faults: int) -> None:
    name = "amazon-sagemaker-hyperpod-training-operator"
    resources = [
        {"ResourceType": "AWS::EKS::Addon", "PhysicalResourceId": own.replace("NAME", name)}
        for own in [own]
        if own
    ]
    found = told(
        "eks-taken-add-ons",
        spec(cluster_arn=ARN),
        describe_cluster={"cluster": {"name": "training", "arn": ARN}},
        describe_addon={"addon": {"addonVersion": "v1.3.0-eksbuild.1"}},
        list_stack_resources=resources,
    )
    assert len(found) == faults


# -- quotas --------------------------------------------------------------------------------------------


C5, M5, G5 = "ml.c5.xlarge", "ml.m5.xlarge", "ml.g5.xlarge"
FLEXIBLE: list[tuple[list[InstanceGroup], dict[str, float], list[str]]] = [
    ([group("a", 3, C5, M5)], {"c5": 1, "m5": 2}, []),
    ([group("a", 4, C5, M5)], {"c5": 1, "m5": 2}, ["[0]"]),
    # a group of one type comes first, wherever it stands
    ([group("a", 3, C5, M5), group("b", 1, C5)], {"c5": 1, "m5": 2}, ["[0]"]),
    ([group("a", 2, C5, M5), group("b", 1, C5)], {"c5": 1, "m5": 2}, []),
    # the most wanted type is taken first
    ([group("a", 2, C5, M5), group("b", 2, C5, G5)], {"c5": 2, "m5": 2, "g5": 1}, ["[1]"]),
    ([group("a", 2, M5, C5), group("b", 2, C5, G5)], {"c5": 2, "m5": 2, "g5": 0}, []),
    # Spot has quotas of its own
    ([group("a", 1, C5, M5, capacity_requirements=CapacityType.SPOT)], {"c5": 0, "m5": 0}, ["[0]"]),
    ([group("a", 0, C5, M5)], {}, []),
]


@pytest.mark.parametrize(("groups", "values", "faults"), FLEXIBLE)
def test_quotas_of_groups_of_several_types(
    groups: list[InstanceGroup], values: dict[str, float], faults: list[str]
) -> None:
    names = {f"ml.{name}.xlarge for cluster usage": value for name, value in values.items()}
    spot = {
        "ml.c5.xlarge for cluster spot instance usage": 0,
        "ml.m5.xlarge for cluster spot instance usage": 0,
    }
    listed = [{"QuotaName": name, "Value": value} for name, value in {**names, **spot}.items()]
    no_code = missing("NoSuchResourceException")
    found = told(
        "quota-instance-type",
        spec(*groups),
        list_stack_resources=NO_STACK,
        get_service_quota=no_code,
        get_aws_default_service_quota=no_code,
        list_service_quotas=listed,
    )
    assert [one[len("cluster.instance_groups") :].partition(".")[0] for one in found] == faults


def test_a_quota_that_is_not_known_makes_a_group_of_several_types_unknown() -> None:
    no_code = missing("NoSuchResourceException")
    answers = {
        "list_stack_resources": NO_STACK,
        "get_service_quota": no_code,
        "get_aws_default_service_quota": no_code,
        "list_service_quotas": [{"QuotaName": "ml.c5.xlarge for cluster usage", "Value": 0}],
    }
    found = looked("quota-instance-type", spec(group("a", 3, C5, M5)), **answers)
    assert found.findings == ()
    assert [one.path for one in found.unchecked] == [
        "cluster.instance_groups[0].instance_requirements.instance_types[1]"
    ]


@pytest.mark.parametrize(("limit", "faults"), [(119, 1), (120, 0)])
def test_network_interfaces_of_the_largest_type_count(limit: float, faults: int) -> None:
    mixed = spec(group("a", 3, C5, "ml.p5.48xlarge"))
    quota = {"Quota": {"QuotaName": quotas.NETWORK_INTERFACES.name, "Value": limit}}
    answers = {"get_service_quota": quota, "describe_network_interfaces": [{}] * 24}
    assert len(told("quota-network-interfaces", mixed, **answers)) == faults


def instance(cores: int = 1, **members: Any) -> dict[str, Any]:
    options = {"CoreCount": cores, "ThreadsPerCore": 2}
    return {"InstanceType": "m5.large", "CpuOptions": options, **members}


OWN_TAG = [{"Key": "eks:cluster-name", "Value": "s-Eks-ControlPlane-00000000"}]


@pytest.mark.parametrize(
    ("running", "faults"),
    [
        ([], 0),
        ([instance(cores=2)], 0),
        ([instance(cores=3)], 1),
        ([instance(cores=3, InstanceLifecycle="spot")], 0),
        ([instance(cores=3, InstanceLifecycle="capacity-block")], 0),
        ([instance(cores=3, Placement={"Tenancy": "host"})], 0),
        ([instance(cores=9, InstanceType="g5.xlarge")], 0),
        ([instance(cores=9, InstanceType="p4d.24xlarge")], 0),
        ([instance(cores=3, InstanceType="t3.large")], 1),
        # the stack's own two: nothing more comes
        ([instance(Tags=OWN_TAG), instance(Tags=OWN_TAG), instance(cores=9)], 0),
        ([instance(Tags=OWN_TAG), instance(cores=3)], 1),
        ([instance(Tags=OWN_TAG), instance(cores=2)], 0),
    ],
)
def test_vcpus_at_their_bounds(running: list[dict[str, Any]], faults: int) -> None:
    quota = quotas.on_demand_vcpus("m6i.large")
    found = told(
        "quota-vcpus",
        spec(system_nodes=SystemNodes(instance_type="m6i.large", count=2)),
        get_service_quota={"Quota": {"QuotaName": quota.name, "Value": 8}},
        describe_instance_types=[{"VCpuInfo": {"DefaultVCpus": 2}}],
        describe_instances=[{"Instances": running}],
        list_stack_resources=[
            {"ResourceType": "AWS::EKS::Cluster", "PhysicalResourceId": "s-Eks-ControlPlane-00000000"}
        ],
    )
    assert len(found) == faults


@pytest.mark.parametrize(
    ("instance_type", "kind"),
    [
        ("m6i.large", "Standard"),
        ("im4gn.large", "Standard"),
        ("is4gen.large", "Standard"),
        ("t3.medium", "Standard"),
        ("c7g.large", "Standard"),
        ("dl1.24xlarge", "DL"),
        ("d3.xlarge", "Standard"),
        ("gr6.4xlarge", "G and VT"),
        ("vt1.3xlarge", "G and VT"),
        ("g5.xlarge", "G and VT"),
        ("p5en.48xlarge", "P"),
        ("p6-b200.48xlarge", "P"),
        ("inf2.xlarge", "Inf"),
        ("i4i.large", "Standard"),
        ("trn2.48xlarge", "Trn"),
        ("u-6tb1.metal", "High Memory"),
        ("u7i-12tb.224xlarge", "High Memory"),
        ("x2gd.large", "X"),
        ("hpc7g.4xlarge", "HPC"),
        ("h1.2xlarge", "Standard"),
    ],
)
def test_kinds_of_instances(instance_type: str, kind: str) -> None:
    name = quotas.on_demand_vcpus(instance_type).name
    assert name.removeprefix("Running On-Demand ").startswith(kind)


# -- a control plane -----------------------------------------------------------------------------------


def plane(**members: Any) -> dict[str, Any]:
    """What Amazon EKS says of one that all is well with."""
    vpc = {
        "vpcId": "vpc-1",
        "subnetIds": ["subnet-b"],
        "clusterSecurityGroupId": "sg-plane",
        "endpointPrivateAccess": True,
        **members.pop("vpc", {}),
    }
    about = {"name": "training", "arn": ARN, "version": "1.33", "status": "ACTIVE", "resourcesVpcConfig": vpc}
    return {"cluster": {**about, **members}}


def test_a_control_plane_without_an_access_configuration_is_one_of_config_maps() -> None:
    (message,) = told("eks-authentication", spec(cluster_arn=ARN), describe_cluster=plane())
    assert "has authentication mode CONFIG_MAP" in message


def test_a_new_network_never_has_an_existing_control_plane() -> None:
    apart = replace(spec(cluster_arn=ARN), network=Network(availability_zone_ids=("usw2-az4",)))
    assert told("eks-network", apart, describe_cluster=plane()) == [
        "network.existing is missing: training lies in vpc-1"
    ]


@pytest.mark.parametrize(("compute", "faults"), [({}, 1), ({"enabled": False}, 1), ({"enabled": True}, 0)])
def test_auto_mode_brings_the_identity_agent(compute: dict[str, bool], faults: int) -> None:
    def add_on(call: Call) -> Any:
        if call.arguments["addonName"] == "eks-pod-identity-agent":
            raise missing("ResourceNotFoundException")
        return {"addon": {"status": "ACTIVE", "addonVersion": "v9"}}

    found = told(
        "eks-needed-add-ons",
        spec(cluster_arn=ARN),
        describe_cluster=plane(computeConfig=compute),
        describe_addon=add_on,
    )
    assert len(found) == faults


def rule(group: str | None = None, cidr: str | None = None, port: int = 443) -> dict[str, Any]:
    return {
        "IpProtocol": "tcp",
        "FromPort": port,
        "ToPort": port,
        "UserIdGroupPairs": [{"GroupId": group}] if group else [],
        "IpRanges": [{"CidrIp": cidr}] if cidr else [],
    }


ALL_OUT = {"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}
NODES = {"GroupId": "sg-nodes", "VpcId": "vpc-1"}
PLANE = {"GroupId": "sg-plane", "VpcId": "vpc-1"}


@pytest.mark.parametrize(
    ("into_plane", "into_nodes", "out", "faults"),
    [
        ([rule("sg-nodes")], [rule("sg-plane", port=10250)], [ALL_OUT], 0),
        ([rule(cidr="10.0.0.0/16")], [rule(cidr="10.0.0.0/16", port=10250)], [ALL_OUT], 0),
        # the nodes' subnets are both, the control plane's one of them
        ([rule(cidr="10.0.1.0/24")], [rule(cidr="10.0.2.0/24", port=10250)], [ALL_OUT], 1),
        ([], [rule("sg-plane", port=10250)], [ALL_OUT], 1),
        ([rule("sg-nodes")], [], [ALL_OUT], 1),
        ([rule("sg-nodes")], [rule("sg-plane", port=10250)], [], 1),
        ([rule("sg-nodes")], [rule("sg-plane", port=10250)], [rule("sg-plane")], 0),
        ([rule("sg-nodes", port=80)], [rule("sg-plane", port=443)], [], 3),
    ],
)
def test_traffic_of_a_control_plane(
    into_plane: list[Any], into_nodes: list[Any], out: list[Any], faults: int
) -> None:
    groups = [
        {**PLANE, "IpPermissions": into_plane, "IpPermissionsEgress": [ALL_OUT]},
        {**NODES, "IpPermissions": into_nodes, "IpPermissionsEgress": out},
    ]
    subnets = [
        {"SubnetId": "subnet-a", "CidrBlock": "10.0.1.0/24"},
        {"SubnetId": "subnet-b", "CidrBlock": "10.0.2.0/24"},
    ]
    answers = {"describe_security_groups": groups, "describe_subnets": subnets}
    wanted = spec(cluster_arn=ARN)
    assert len(told("eks-traffic", wanted, describe_cluster=plane(), **answers)) == faults
    # by the internet it is not the groups that shut the way to the API
    public = plane(vpc={"endpointPrivateAccess": False})
    assert len(told("eks-traffic", wanted, describe_cluster=public, **answers)) == (
        0 if any(one.get("FromPort") == 10250 for one in into_nodes) else 1
    )


def test_prefix_lists_of_a_control_plane_are_not_looked_into() -> None:
    through = {
        "IpProtocol": "tcp",
        "FromPort": 443,
        "ToPort": 443,
        "PrefixListIds": [{"PrefixListId": "pl-1"}],
    }
    groups = [
        {**PLANE, "IpPermissions": [through], "IpPermissionsEgress": [ALL_OUT]},
        {**NODES, "IpPermissions": [rule("sg-plane", port=10250)], "IpPermissionsEgress": [ALL_OUT]},
    ]
    found = looked(
        "eks-traffic", spec(cluster_arn=ARN), describe_cluster=plane(), describe_security_groups=groups
    )
    assert found.outcome is Outcome.UNKNOWN


# -- versions and names --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "lacks"),
    [
        ({"training_operator": None}, {"cert-manager", "amazon-sagemaker-hyperpod-training-operator"}),
        ({}, set()),
    ],
)
def test_add_ons_follow_what_is_asked_for(settings: dict[str, Any], lacks: set[str]) -> None:
    usual = {"vpc-cni", "kube-proxy", "eks-pod-identity-agent", "coredns", "cert-manager"}
    usual |= {"amazon-sagemaker-hyperpod-training-operator"}
    assert {one.name for one in eks_plan.add_ons(spec(**settings))} == usual - lacks


def test_an_add_on_without_a_version_for_the_kubernetes_of_the_control_plane() -> None:
    def versions(call: Call) -> Any:
        assert "kubernetesVersion" not in call.arguments
        fits = [{"clusterVersion": "1.32"}]
        return [{"addonVersions": [{"addonVersion": "v1.3.0-eksbuild.1", "compatibilities": fits}]}]

    wanted = spec(cluster_arn=ARN, training_operator=AddOn(version="v1.3.0-eksbuild.1"))
    assert (
        told(
            "eks-add-on-versions",
            wanted,
            describe_cluster=plane(version="1.32"),
            describe_addon_versions=versions,
        )
        == []
    )
    (message,) = told(
        "eks-add-on-versions",
        wanted,
        describe_cluster=plane(version="1.34"),
        describe_addon_versions=versions,
    )
    assert message.endswith(
        "has no version of amazon-sagemaker-hyperpod-training-operator for Kubernetes 1.34"
    )


def test_versions_that_fit_are_told_the_newest_first() -> None:
    known = ("v1.9.0-eksbuild.1", "v1.10.0-eksbuild.2", "v1.10.0-eksbuild.10")
    answer = [
        {
            "addonVersions": [
                {"addonVersion": one, "compatibilities": [{"clusterVersion": "1.33"}]} for one in known
            ]
        }
    ]
    wanted = spec(add_ons={"coredns": AddOn(version="v1.8.0-eksbuild.1")})
    found = looked("eks-add-on-versions", wanted, describe_addon_versions=answer).findings
    assert [one.allowed for one in found] == ["v1.10.0-eksbuild.10, v1.10.0-eksbuild.2, v1.9.0-eksbuild.1"]
    assert found[0].path == "cluster.orchestrator.eks.add_ons.coredns.version"


@pytest.mark.parametrize(
    ("name", "faults"),
    [
        ("s-Eks-ControlPlane-0A1B2C3D", 1),
        ("s-Eks-ControlPlane-0A1B2C3", 0),
        ("s-Eks-ControlPlane-other", 0),
        ("s2-Eks-ControlPlane-0A1B2C3D", 0),
    ],
)
def test_names_that_a_control_plane_of_the_stack_may_have(name: str, faults: int) -> None:
    log_groups = [{"logGroupName": f"/aws/eks/{name}/cluster"}]
    found = told("control-plane-name", spec(), list_clusters=[name], describe_log_groups=log_groups)
    assert len(found) == 2 * faults
    own = [
        {"ResourceType": "AWS::EKS::Cluster", "PhysicalResourceId": name},
        {"ResourceType": "AWS::Logs::LogGroup", "PhysicalResourceId": log_groups[0]["logGroupName"]},
    ]
    answers = {"list_clusters": [name], "describe_log_groups": log_groups, "list_stack_resources": own}
    assert told("control-plane-name", spec(), **answers) == []


@pytest.mark.parametrize(
    ("offered", "faults"), [(("usw2-az1",), 1), (("usw2-az2",), 0), (("usw2-az1", "usw2-az4"), 0), ((), 1)]
)
def test_system_nodes_lie_in_the_networks_subnets_alone(offered: tuple[str, ...], faults: int) -> None:
    elsewhere = group("cpu", 1, C5, override_vpc_config=OverrideVpcConfig(subnet_ids=("subnet-c",)))
    zones = {"subnet-a": "usw2-az4", "subnet-b": "usw2-az2", "subnet-c": "usw2-az1"}
    found = told(
        "system-node-offerings",
        spec(elsewhere),
        describe_subnets=[{"SubnetId": one, "AvailabilityZoneId": zone} for one, zone in zones.items()],
        describe_instance_type_offerings=[{"Location": zone} for zone in offered],
    )
    assert len(found) == faults
