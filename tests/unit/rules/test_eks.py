"""Rules of clusters on Amazon EKS (HP5xx): the control plane and what runs on it."""

from typing import Any

import pytest

from hyperpod_cdk.rules import check
from hyperpod_cdk.spec import (
    AddOn,
    EbsVolume,
    EnvironmentConfig,
    HelmChart,
    LifeCycleConfig,
    LifecycleMode,
    MultiHead,
    SlurmOrchestrator,
    SystemNodes,
    TaskGovernance,
)
from hyperpod_cdk.spec.node_disk import NodeDisk, NodeDiskPath
from tests.unit.rules.eks_specs import (
    ARN,
    CHART_AT,
    CLOSED,
    EKS,
    NUMBER,
    ROLE,
    TEAMS,
    TEXT,
    TWO,
    WITHOUT_SLURM,
    claim,
    counted,
    entry,
    plane,
    subnets,
    with_parts,
    within,
)
from tests.unit.rules.specs import BASE, LIST_TOKEN, TEXT_TOKEN, changed, findings, full_path

DISK = {"compute.secondary_volume": EbsVolume(volume_size_in_gb=500)}

ROWS = [
    ("HP566", plane(), []),
    ("HP566", plane(volumes={"data": claim("default", "hyperpod-ns-vision")}, task_governance=TEAMS), []),
    (
        "HP566",
        plane(volumes={"data": claim("default", "hyperpod-ns-visoin")}, task_governance=TEAMS),
        [f"{EKS}.volumes.data.namespaces[1]"],
    ),
    ("HP566", plane(volumes={"data": claim("mine")}), [f"{EKS}.volumes.data.namespaces[0]"]),
    ("HP566", plane(volumes={"data": claim(TEXT)}), []),
    ("HP566", plane(volumes={"data": claim("mine")}, cluster_arn="arn:x"), []),
    ("HP566", plane(access=[within("hyperpod-ns-vision")], task_governance=TEAMS), []),
    ("HP566", plane(access=[within("tools")]), []),
    (
        "HP566",
        plane(access=[within("tools", "hyperpod-ns-text")], task_governance=TEAMS),
        [f"{EKS}.access[0].policies[0].namespaces[1]"],
    ),
    ("HP568", {}, []),
    ("HP568", {**plane(), **DISK}, []),
    ("HP568", {**plane(), "compute.instance_type": "ml.c5.xlarge"}, []),
    ("HP568", {**plane(), "compute.instance_type": TEXT}, []),
    ("HP568", plane(node_disk=NodeDisk(mount_path=NodeDiskPath.INSTANCE_STORE)), []),
    ("HP568", plane(node_disk=NodeDisk(mount_path=NodeDiskPath.NONE)), []),
    ("HP568", plane(node_disk=NodeDisk(mount_path=TEXT)), []),
    ("HP568", plane(node_disk=NodeDisk(required=True)), []),
    ("HP568", {**plane(), "compute.environment_config": EnvironmentConfig()}, []),
    ("HP568", {**plane(), "compute.image_id": "ami-1234567"}, []),
    (
        "HP568",
        {
            **plane(),
            "compute.life_cycle_config": LifeCycleConfig(source_s3_uri="s3://b/p/", on_create="a.sh"),
        },
        [],
    ),
    ("HP568", plane(), ["compute.secondary_volume"]),
    ("HP568", {**plane(), "compute.image_id": "default"}, ["compute.secondary_volume"]),
    ("HP568", {**plane(), **TWO}, ["compute.secondary_volume"]),
    ("HP567", plane(), []),
    ("HP567", plane(helm_chart=with_parts(mpi_operator=False)), []),
    ("HP567", plane(helm_chart=with_parts(health_monitoring_agent=TEXT)), []),
    (
        "HP567",
        plane(helm_chart=with_parts(health_monitoring_agent=False)),
        [f"{CHART_AT}.sub_charts.health-monitoring-agent"],
    ),
    (
        "HP567",
        plane(helm_chart=with_parts(nvidia_device_plugin=False)),
        [f"{CHART_AT}.sub_charts.nvidia-device-plugin"],
    ),
    ("HP567", plane(helm_chart=with_parts(nvidia_device_plugin=False, gpu_operator=True)), []),
    ("HP567", plane(helm_chart=with_parts(neuron_device_plugin=False)), []),
    (
        "HP567",
        {**plane(helm_chart=with_parts(neuron_device_plugin=False)), "compute.instance_type": TEXT},
        [f"{CHART_AT}.sub_charts.neuron-device-plugin"],
    ),
    ("HP567", plane(helm_chart=with_parts(job_auto_restart=False), cluster_arn="arn:x"), []),
    (
        "HP567",
        {
            **plane(helm_chart=with_parts(neuron_device_plugin=False)),
            "compute.instance_type": "ml.c5.xlarge",
            "login.instance_type": TEXT,
            "login.instance_requirements": None,
        },
        [f"{CHART_AT}.sub_charts.neuron-device-plugin"],
    ),
    ("HP565", CLOSED, []),
    ("HP565", plane(), []),
    ("HP565", {**plane(), **CLOSED}, [CHART_AT]),
    ("HP565", {**plane(cluster_arn="arn:x"), **CLOSED}, []),
    ("HP565", {**plane(), "network.nat_gateways": TEXT}, []),
    ("HP500", plane(), []),
    ("HP500", {**plane(), "slurm": SlurmOrchestrator(slurm_config_strategy=TEXT)}, []),
    (
        "HP500",
        {
            **plane(),
            "slurm": SlurmOrchestrator(
                multi_head=MultiHead(
                    slurm_database_secret_arn="x",
                    slurm_database_endpoint="x",
                    slurm_shared_directory="x",
                    slurm_database_user="x",
                    slurm_sns_arn="x",
                )
            ),
        },
        ["slurm"],
    ),
    ("HP502", {}, []),
    (
        "HP502",
        plane(),
        [
            "lifecycle.users",
            *(
                f"{group}.{name}"
                for group in ("controller", "login", "compute")
                for name in ("slurm_config", "mounts")
            ),
        ],
    ),
    (
        "HP502",
        {
            **plane(),
            "lifecycle.users": (),
            "lifecycle.mode": LifecycleMode.LEGACY,
            "compute.lifecycle_mode": LifecycleMode.CUSTOM,
            **WITHOUT_SLURM,
        },
        ["lifecycle.mode"],
    ),
    (
        "HP502",
        {
            **plane(),
            "lifecycle.users": LIST_TOKEN,
            **WITHOUT_SLURM,
        },
        [],
    ),
    ("HP503", plane(kubernetes_version="1.30"), []),
    ("HP503", plane(kubernetes_version="1.35"), []),
    ("HP503", plane(kubernetes_version=TEXT_TOKEN), []),
    ("HP503", plane(kubernetes_version="1.29"), [f"{EKS}.kubernetes_version"]),
    ("HP503", plane(kubernetes_version="1.36"), [f"{EKS}.kubernetes_version"]),
    ("HP504", plane(kubernetes_version="1.33"), []),
    ("HP504", plane(kubernetes_version="1.34", training_operator=None), []),
    ("HP504", plane(kubernetes_version=TEXT_TOKEN), []),
    ("HP504", plane(kubernetes_version="1.34"), [f"{EKS}.kubernetes_version"]),
    ("HP505", {**plane(), "network.availability_zone_ids": ("usw2-az4", "usw2-az1")}, []),
    ("HP505", {**plane(), "network.availability_zone_ids": (TEXT_TOKEN,)}, []),
    ("HP505", plane(cluster_arn=ARN), []),
    ("HP505", {**plane(), "network.availability_zone_ids": ("usw2-az4",)}, ["network.availability_zone_ids"]),
    ("HP505", {**plane(), "network": subnets("usw2-az4", "usw2-az4")}, ["network.existing.subnets"]),
    ("HP505", {**plane(), "network": subnets("usw2-az4", "usw2-az1")}, []),
    ("HP505", {**plane(), "network": subnets(None, None)}, []),
    ("HP506", plane(), []),
    ("HP506", plane(helm_chart=HelmChart(path=TEXT_TOKEN)), []),
    ("HP506", plane(helm_chart=None, cluster_arn=ARN), []),
    ("HP506", plane(helm_chart=None), [f"{EKS}.helm_chart"]),
    ("HP507", plane(helm_chart=None, cluster_arn=ARN), []),
    ("HP507", plane(helm_chart=None, cluster_arn=ARN, public_access_cidrs=LIST_TOKEN), []),
    ("HP507", plane(cluster_arn=ARN), [f"{EKS}.helm_chart"]),
    (
        "HP507",
        plane(helm_chart=None, cluster_arn=ARN, public_access_cidrs=["203.0.113.0/24"]),
        [f"{EKS}.public_access_cidrs"],
    ),
    ("HP508", plane(public_access_cidrs=["203.0.113.0/24", "0.0.0.0/1"]), []),
    ("HP508", plane(public_access_cidrs=[TEXT_TOKEN]), []),
    ("HP508", plane(public_access_cidrs=["203.0.113.0/24", "0.0.0.0/0"]), [f"{EKS}.public_access_cidrs[1]"]),
    ("HP508", plane(public_access_cidrs=["office"]), [f"{EKS}.public_access_cidrs[0]"]),
    ("HP508", plane(public_access_cidrs=["2001:db8::/32"]), [f"{EKS}.public_access_cidrs[0]"]),
    (
        "HP508",
        plane(public_access_cidrs=["10.1.0.0/16", "100.64.1.0/24", "172.32.0.0/16"]),
        [f"{EKS}.public_access_cidrs[0]", f"{EKS}.public_access_cidrs[1]"],
    ),
    ("HP509", plane(access=[entry(ROLE), entry(f"{ROLE}2")]), []),
    ("HP509", plane(access=[entry(TEXT_TOKEN), entry(TEXT_TOKEN)]), []),
    ("HP509", plane(access=[entry(ROLE), entry(ROLE)]), [f"{EKS}.access[1].principal_arn"]),
    ("HP509", plane(access=[entry("admin")]), [f"{EKS}.access[0].principal_arn"]),
    ("HP510", plane(), []),
    ("HP510", plane(helm_chart=HelmChart(oci_uri="oci://x/y", version="1.0.0")), []),
    ("HP510", plane(helm_chart=HelmChart(s3_uri=TEXT_TOKEN)), []),
    ("HP510", plane(helm_chart=HelmChart()), [f"{EKS}.helm_chart"]),
    ("HP510", plane(helm_chart=HelmChart(s3_uri="charts/x.zip")), [f"{EKS}.helm_chart.s3_uri"]),
    ("HP510", plane(helm_chart=HelmChart(oci_uri="oci://x/y")), [f"{EKS}.helm_chart.version"]),
    ("HP511", plane(helm_chart=HelmChart(s3_uri="s3://x", sub_charts={"mpi-operator": False})), []),
    ("HP511", plane(helm_chart=HelmChart(s3_uri="s3://x", sub_charts={"mpi-operator": TEXT})), []),
    (
        "HP511",
        plane(helm_chart=HelmChart(s3_uri="s3://x", sub_charts={"mpi": False})),
        [f"{EKS}.helm_chart.sub_charts.mpi"],
    ),
    ("HP512", plane(), []),
    ("HP512", plane(helm_chart=HelmChart(path=TEXT_TOKEN)), []),
    ("HP512", plane(helm_chart=HelmChart(path="clusters")), [f"{EKS}.helm_chart.path"]),
    ("HP513", plane(system_nodes=SystemNodes(count=1)), []),
    ("HP513", plane(system_nodes=SystemNodes(count=NUMBER)), []),
    ("HP513", plane(system_nodes=SystemNodes(count=0)), [f"{EKS}.system_nodes.count"]),
    (
        "HP513",
        plane(system_nodes=SystemNodes(instance_type="ml.m5.large")),
        [f"{EKS}.system_nodes.instance_type"],
    ),
    ("HP514", plane(add_ons={"vpc-cni": AddOn(version="v1.18.3-eksbuild.1")}), []),
    (
        "HP514",
        plane(add_ons={"vpc-cni": AddOn(version="v1.20.0-eksbuild.1"), "coredns": AddOn(version="v1.1")}),
        [],
    ),
    ("HP514", plane(add_ons={"vpc-cni": AddOn(version=TEXT_TOKEN)}), []),
    (
        "HP514",
        plane(add_ons={"vpc-cni": AddOn(version="v1.18.2-eksbuild.1")}),
        [f"{EKS}.add_ons.vpc-cni.version"],
    ),
    ("HP515", {**plane(), "tags": {"SageMaker": "true"}}, []),
    ("HP515", {**plane(training_operator=None), "tags": {"SageMaker": "no"}}, []),
    ("HP515", {**plane(), "tags": {"SageMaker": TEXT_TOKEN}}, []),
    ("HP515", {**plane(), "tags": {"SageMaker": "no"}}, ["tags.SageMaker"]),
    ("HP515", {**plane(), "cluster.tags": {"SageMaker": "True"}}, ["cluster.tags.SageMaker"]),
    ("HP516", plane(access=[entry(ROLE, "AmazonEKSViewPolicy")]), []),
    ("HP516", plane(access=[entry(ROLE, TEXT_TOKEN)]), []),
    ("HP516", plane(access=[entry(ROLE, "AmazonEKSViewerPolicy")]), [f"{EKS}.access[0].policies[0].name"]),
    ("HP563", {**plane(cluster_arn=ARN), "network": subnets("usw2-az4")}, []),
    ("HP563", {**plane(cluster_arn=TEXT), "network": subnets("usw2-az4")}, []),
    ("HP563", plane(cluster_arn=ARN), ["network"]),
    *(
        (
            "HP564",
            plane(task_governance=TaskGovernance(add_on=AddOn(version=version)), training_operator=operator),
            paths,
        )
        for version, operator, paths in (
            (None, AddOn(), []),
            (TEXT, AddOn(), []),
            ("v1.3.0-eksbuild.1", AddOn(), []),
            ("v1.2.9-eksbuild.1", None, []),
            ("v1.2.9-eksbuild.1", AddOn(), [f"{EKS}.task_governance.add_on.version"]),
        )
    ),
    ("HP562", {**plane(), **counted(0, 0, 1)}, []),
    ("HP562", {**plane(training_operator=None), **counted(0, 0, 0)}, []),
    ("HP562", {**plane(), **counted(0, 0, NUMBER)}, []),
    ("HP562", {**plane(), **counted(0, 0, 0)}, ["cluster.instance_groups"]),
    (
        "HP562",
        {**plane(), **counted(0, 0, 1), "compute.environment_config": EnvironmentConfig()},
        ["cluster.instance_groups"],
    ),
]


@pytest.mark.parametrize(("code", "changes", "paths"), ROWS)
def test_row(code: str, changes: dict[str, Any], paths: list[str]) -> None:
    assert findings(changed(changes), code) == [full_path(path) for path in paths]


def test_a_cluster_on_eks_without_a_fault() -> None:
    spec = changed(
        {
            **plane(),
            **WITHOUT_SLURM,
            **DISK,
            "network.availability_zone_ids": ("usw2-az4", "usw2-az1"),
            "lifecycle.users": (),
            "storage": {},
        }
    )
    assert check(spec) == []


def test_rules_of_slurm_are_silent_on_eks_and_the_other_way_round() -> None:
    codes = {one.code for one in check(changed({**plane(), "compute.slurm_config": None}))}
    assert not [code for code in codes if code.startswith("HP4")]
    assert not [one for one in check(BASE) if one.code.startswith("HP5")]


OPERATORS = "training-operators (docker.io), mpi-operator (docker.io)"


@pytest.mark.parametrize(
    ("changes", "settings", "told"),
    [
        ({}, {}, f"installs nvidia-device-plugin (nvcr.io), {OPERATORS}"),
        (
            {"region": "us-east-1"},
            {},
            f"installs nvidia-device-plugin (nvcr.io), aws-efa-k8s-device-plugin (us-west-2), {OPERATORS}",
        ),
        (
            {"compute.instance_type": "ml.trn2.48xlarge"},
            {},
            f"installs neuron-device-plugin (public.ecr.aws), {OPERATORS}",
        ),
        ({"compute.instance_type": "ml.c5.xlarge"}, {}, f"installs {OPERATORS}"),
        (
            {"compute.instance_type": "ml.c5.xlarge"},
            {"sub_charts": {"mpi-operator": False}},
            "installs training-operators (docker.io)",
        ),
        (
            {"compute.instance_type": "ml.c5.xlarge"},
            {"values": {"mpi-operator": {"mpiOperator": {"image": {"repository": "mine"}}}}},
            "installs training-operators (docker.io)",
        ),
        (
            {"compute.instance_type": "ml.c5.xlarge"},
            {"sub_charts": {"mpi-operator": False, "training-operators": False}},
            None,
        ),
    ],
)
def test_images_of_the_internet_are_named_in_a_closed_network(
    changes: dict[str, Any], settings: dict[str, Any], told: str | None
) -> None:
    chart = HelmChart(s3_uri="s3://example-charts-111122223333/chart.zip", **settings)
    found = check(changed({**plane(helm_chart=chart), **WITHOUT_SLURM, **CLOSED, **changes}))
    assert [one.message for one in found if one.code == "HP565"] == ([told] if told else [])
