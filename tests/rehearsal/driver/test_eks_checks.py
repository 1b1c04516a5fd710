"""What the rehearsal requires of a cluster on Amazon EKS, and what it puts there for a configuration."""

import io
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from moto import mock_aws
from ruamel.yaml import YAML

from hyperpod_cdk.config import load
from hyperpod_cdk.rehearsal import eks
from hyperpod_cdk.rehearsal.aws.resources.base import Created
from hyperpod_cdk.rehearsal.aws.stacks.records import Resource, Stack
from hyperpod_cdk.rehearsal.driver import eks_checks
from hyperpod_cdk.rehearsal.driver.charts import chart_zip
from hyperpod_cdk.rehearsal.driver.eks_standins import provide_eks
from hyperpod_cdk.rehearsal.driver.outcome import RehearsalError
from hyperpod_cdk.rehearsal.driver.standins import provide as provide_all
from hyperpod_cdk.rehearsal.eks.provided import provide
from hyperpod_cdk.rules.helm_chart import check_chart
from hyperpod_cdk.service.hyperpod_chart import SUB_CHARTS
from hyperpod_cdk.spec import HyperPodSpec
from hyperpod_cdk.spec import eks as spec_eks

OPERATOR = "amazon-sagemaker-hyperpod-training-operator"


def resource(name: str, type_: str, **properties: str) -> Resource:
    created = Created(physical_id="|".join(["c", *properties.values()]))
    return Resource(logical_id=name, type=type_, properties=properties, definition={}, created=created)


RESOURCES = (
    resource("plane", "AWS::EKS::Cluster"),
    resource("cni", "AWS::EKS::Addon", AddonName="vpc-cni"),
    resource("chart", eks_checks.CHART),
    resource("cluster", "Custom::HyperPodCluster"),
    resource("operator", "AWS::EKS::Addon", AddonName=OPERATOR),
    resource("bucket", "AWS::S3::Bucket"),
)


def history(*names: str, verb: str = "CREATE", forget: bool = False) -> Stack:
    """A stack whose resources came, or went, one after the other."""
    stack = Stack(name="s", stack_id="arn")
    by_name = {one.logical_id: one for one in RESOURCES}
    stack.resources = {} if forget else dict(by_name)
    for name in names:
        for state in ("IN_PROGRESS", "COMPLETE"):
            stack.set_resource_status(by_name[name], f"{verb}_{state}")
    return stack


def test_the_right_order() -> None:
    made = history("bucket", "plane", "cni", "chart", "cluster", "operator")
    assert eks_checks.expect_order(made, made.events, deleting=False) == 4
    gone = history("operator", "cluster", "chart", "cni", "plane", "bucket", verb="DELETE", forget=True)
    assert eks_checks.expect_order(gone, gone.events, deleting=True) == 4


def test_the_wrong_order_is_told() -> None:
    made = history("plane", "cluster", "cni", "chart", "operator")
    with pytest.raises(
        RehearsalError, match=r"should be: vpc-cni before cluster; .*HelmChart before cluster"
    ):
        eks_checks.expect_order(made, made.events, deleting=False)
    gone = history("plane", "cni", verb="DELETE", forget=True)
    with pytest.raises(
        RehearsalError, match=r"deleted in the wrong order; should be: vpc-cni before AWS::EKS::"
    ):
        eks_checks.expect_order(gone, gone.events, deleting=True)


def test_a_stack_of_slurm_has_no_such_order() -> None:
    made = history("bucket", "cluster")
    assert eks_checks.expect_order(made, made.events, deleting=False) == 0


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[eks.AmazonEks]:
    monkeypatch.setenv("MOTO_EC2_LOAD_DEFAULT_AMIS", "false")
    with mock_aws():
        yield eks.service()


@pytest.fixture
def plane(service: eks.AmazonEks) -> eks.Cluster:
    ec2 = service.account.ec2
    vpc = ec2.create_vpc("10.0.0.0/16")
    zones = ("us-west-2a", "us-west-2b")
    subnets = [
        ec2.create_subnet(vpc.id, f"10.0.{number}.0/24", availability_zone=zone).id
        for number, zone in enumerate(zones)
    ]
    return provide(service, "k8s", subnet_ids=subnets)


def test_nodes_and_add_ons(service: eks.AmazonEks, plane: eks.Cluster) -> None:
    assert eks_checks.control_plane(service, {"Orchestrator": {"Eks": {"ClusterArn": plane.arn}}}) is plane
    assert eks_checks.control_plane(service, {"Orchestrator": {"Slurm": {}}}) is None
    service.join(plane, "hyperpod-i-1", labels={"sagemaker.amazonaws.com/instance-group-name": "cpu"})
    assert "1 nodes in Kubernetes" in eks_checks.expect_platform(service, plane, {"cpu": 1})
    with pytest.raises(RehearsalError, match=r"nodes \{'cpu': 1\}; HyperPod has \{'cpu': 2\}"):
        eks_checks.expect_platform(service, plane, {"cpu": 2})
    plane.add_ons["coredns"]["status"] = "DEGRADED"
    with pytest.raises(RehearsalError, match=r"not ACTIVE: \{'coredns': 'DEGRADED'\}"):
        eks_checks.expect_platform(service, plane, {"cpu": 1})


def test_the_chart_that_stands_for_hyperpods_has_its_parts(tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(chart_zip())) as zipped:
        zipped.extractall(tmp_path)
    assert check_chart(spec_eks.HelmChart(path=str(tmp_path))) == []
    chart = YAML(typ="safe").load((tmp_path / "Chart.yaml").read_text())
    assert {one["name"] for one in chart["dependencies"]} == set(SUB_CHARTS)
    for name in SUB_CHARTS:
        workload = YAML(typ="safe").load(
            (tmp_path / "charts" / name / "templates" / "workload.yaml").read_text()
        )
        assert workload["metadata"]["namespace"] == "aws-hyperpod"


def configuration(**changes: Any) -> HyperPodSpec:
    spec = load(Path("clusters/eks-minimal.yaml"))
    orchestrator = spec.cluster.orchestrator
    assert orchestrator.eks is not None
    chosen = replace(orchestrator, eks=replace(orchestrator.eks, **changes))
    return replace(spec, cluster=replace(spec.cluster, orchestrator=chosen))


def test_what_a_configuration_takes_for_granted_is_there(service: eks.AmazonEks) -> None:
    account = service.account
    ours = spec_eks.AccessEntry(principal_arn=f"arn:aws:iam::{account.account_id}:role/team/admin")
    theirs = spec_eks.AccessEntry(principal_arn="arn:aws:iam::111122223333:role/admin")
    told = list(provide_eks(configuration(access=[ours, theirs]), account))
    assert told == [
        "chart s3://example-charts-111122223333/HyperPodHelmChart.zip",
        f"role {ours.principal_arn}",
    ]
    assert [role.arn for role in account.iam.roles.values()] == [ours.principal_arn]
    assert list(provide_eks(load(Path("clusters/slurm-minimal.yaml")), account)) == []


def test_a_registry_can_not_be_rehearsed(service: eks.AmazonEks) -> None:
    chart = spec_eks.HelmChart(oci_uri="oci://example.com/chart", version="1.0.0")
    with pytest.raises(RehearsalError, match=r"has no registry: rehearse with the chart's folder"):
        list(provide_eks(configuration(helm_chart=chart), service.account))


def test_a_control_plane_that_is_named_is_there(service: eks.AmazonEks, tmp_path: Path) -> None:
    """Its own subnets lie in two zones, also where the nodes' lie in one."""
    account = service.account
    config = tmp_path / "existing.yaml"
    config.write_text(
        f"""\
stack_name: existing
network:
  existing:
    vpc_id: vpc-0123456789abcdef0
    vpc_cidr: 10.20.0.0/16
    subnets: [{{subnet_id: subnet-0123456789abcdef0}}]
    security_group_ids: [sg-0123456789abcdef0]
cluster:
  orchestrator: {{eks: {{cluster_arn: "arn:aws:eks:us-west-2:{account.account_id}:cluster/shared"}}}}
  instance_groups: [{{instance_group_name: cpu, instance_type: ml.m5.4xlarge, instance_count: 1}}]
""",
        encoding="utf-8",
    )
    eks_service = eks.service(account.account_id, "us-west-2")
    provide_all(load(config), eks_service.account)
    plane = eks_service.cluster("shared")
    subnets = [eks_service.account.ec2.get_subnet(one) for one in plane.vpc["subnetIds"]]
    assert plane.vpc["vpcId"] == "vpc-0123456789abcdef0"
    assert len({one.availability_zone for one in subnets}) == 2
    assert plane.about["status"] == "ACTIVE"


def test_a_control_plane_without_its_network_is_no_use(service: eks.AmazonEks) -> None:
    named = configuration(cluster_arn="arn:aws:eks:us-west-2:123456789012:cluster/x", helm_chart=None)
    with pytest.raises(RehearsalError, match=r"network\.existing must name it"):
        list(provide_eks(named, service.account))
