"""Rules of clusters on Amazon EKS (HP5xx)."""

from typing import Any

import pytest

from hyperpod_cdk.rules import check
from hyperpod_cdk.rules.eks_groups import NOT_RESTRICTED
from hyperpod_cdk.service.api_names import in_spec_style
from hyperpod_cdk.service.shapes import shape
from hyperpod_cdk.spec import (
    AccessEntry,
    AccessPolicy,
    AddOn,
    AutoPatchConfig,
    AutoScaling,
    DeepHealthCheck,
    DrainPolicy,
    EksOrchestrator,
    EnvironmentConfig,
    ExistingNetwork,
    ExistingSubnet,
    HelmChart,
    InstanceRequirements,
    KubernetesConfig,
    LifeCycleConfig,
    LifecycleMode,
    MultiHead,
    NatGateways,
    Network,
    NodeProvisioningMode,
    NodeRecovery,
    PatchingStrategy,
    SharedEnvironmentConfig,
    SharedLustre,
    SlurmOrchestrator,
    SystemNodes,
    Taint,
    TaintEffect,
    TaskGovernance,
    Team,
    TieredStorageConfig,
)
from hyperpod_cdk.spec.eks_storage import BucketVolume, Volume
from tests.unit.rules.specs import BASE, LIST_TOKEN, NUMBER_TOKEN, TEXT_TOKEN, changed, findings, full_path

NUMBER: Any = NUMBER_TOKEN
TEXT: Any = TEXT_TOKEN
CHART = HelmChart(s3_uri="s3://charts/hyperpod.zip")
ARN = "arn:aws:eks:us-west-2:111122223333:cluster/training"
ROLE = "arn:aws:iam::111122223333:role/admin"
EKS = "cluster.orchestrator.eks"
TIERED, SHARE = "cluster.tiered_storage_config", "instance_memory_allocation_percentage"
ALL_AT_ONCE = {"cluster.node_provisioning_mode": NodeProvisioningMode.ALL_AT_ONCE}
LUSTRE = SharedLustre(size_in_gib=1200, per_unit_storage_throughput=125)
SHARED = SharedEnvironmentConfig(fsx_lustre_config=LUSTRE)
STRATEGY = PatchingStrategy.WHEN_IDLE
GROUPS = ("controller", "login", "compute")
WITHOUT_SLURM = {
    f"{group}.{name}": value for group in GROUPS for name, value in (("slurm_config", None), ("mounts", ()))
}


def plane(**settings: Any) -> dict[str, Any]:
    """The change that makes it a cluster on Amazon EKS."""
    return {EKS: EksOrchestrator(**{"helm_chart": CHART, **settings})}


def entry(arn: str, *policies: str) -> AccessEntry:
    return AccessEntry(principal_arn=arn, policies=[AccessPolicy(name=name) for name in policies])


def labels(**given: str) -> dict[str, Any]:
    names = {key.replace("__", "/").replace("_", "."): value for key, value in given.items()}
    return {"compute.kubernetes_config": KubernetesConfig(labels=names)}


def of_types(*names: str) -> dict[str, Any]:
    return {**TWO, "compute.instance_requirements": InstanceRequirements(instance_types=names)}


def subnets(*zones: str | None) -> Network:
    return Network(
        existing=ExistingNetwork(
            vpc_id="vpc-1",
            subnets=[
                ExistingSubnet(subnet_id=f"subnet-{index}", availability_zone_id=zone)
                for index, zone in enumerate(zones)
            ],
            security_group_ids=["sg-1"],
        )
    )


CLOSED = {"network.nat_gateways": NatGateways.NONE}
CHART_AT = "cluster.orchestrator.eks.helm_chart"
TEAMS = TaskGovernance(teams=[Team(team_name="vision")])


def claim(*namespaces: str) -> Volume:
    return Volume(bucket=BucketVolume(bucket_name="data"), namespaces=namespaces)


def within(*namespaces: str) -> AccessEntry:
    policy = AccessPolicy(name="AmazonEKSEditPolicy", namespaces=namespaces)
    return AccessEntry(principal_arn="arn:aws:iam::111122223333:role/x", policies=[policy])


def with_parts(**parts: Any) -> HelmChart:
    sub_charts = {name.replace("_", "-"): wanted for name, wanted in parts.items()}
    return HelmChart(s3_uri="s3://example-charts-111122223333/chart.zip", sub_charts=sub_charts)


def counted(*counts: Any) -> dict[str, Any]:
    return {f"{group}.instance_count": count for group, count in zip(GROUPS, counts, strict=True)}


TAINT = KubernetesConfig(taints=[Taint(key="dedicated", effect=TaintEffect.NO_SCHEDULE)])
STRESSED = {"compute.on_start_deep_health_checks": (DeepHealthCheck.INSTANCE_STRESS,)}
TWO = {
    "compute.instance_type": None,
    "compute.instance_requirements": InstanceRequirements(instance_types=["ml.g5.8xlarge", "ml.g5.4xlarge"]),
}

ROWS = [
    ("HP105", {}, []),
    ("HP105", TWO, []),
    ("HP105", {"compute.instance_type": TEXT_TOKEN}, []),
    ("HP105", {"compute.instance_type": None}, ["compute.instance_type"]),
    (
        "HP105",
        {"compute.instance_requirements": TWO["compute.instance_requirements"]},
        ["compute.instance_requirements"],
    ),
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
    ("HP501", {}, []),
    ("HP501", {**plane(), "cluster.auto_scaling": AutoScaling()}, []),
    ("HP501", {"cluster.auto_scaling": AutoScaling()}, ["cluster.auto_scaling"]),
    ("HP501", {"cluster.tiered_storage_config": TieredStorageConfig()}, ["cluster.tiered_storage_config"]),
    ("HP501", TWO, ["compute.instance_requirements"]),
    ("HP501", labels(team="a"), ["compute.kubernetes_config"]),
    ("HP501", {"cluster.auto_scaling": TEXT_TOKEN}, []),
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
    ("HP517", {**plane(), **labels(team="a", example_com__team="a")}, []),
    ("HP517", {**plane(), "compute.kubernetes_config": TAINT}, []),
    ("HP517", {**plane(), "compute.kubernetes_config": KubernetesConfig(labels={TEXT_TOKEN: "a"})}, []),
    (
        "HP517",
        {**plane(), **labels(sagemaker_amazonaws_com__compute="a")},
        ['compute.kubernetes_config.labels["sagemaker.amazonaws.com/compute"]'],
    ),
    (
        "HP517",
        {**plane(), "compute.kubernetes_config": TAINT, **STRESSED},
        ["compute.kubernetes_config.taints"],
    ),
    ("HP518", {**plane(), **TWO}, []),
    (
        "HP518",
        {
            **plane(),
            **TWO,
            "compute.instance_requirements": InstanceRequirements(instance_types=[TEXT_TOKEN] * 2),
        },
        [],
    ),
    ("HP518", {**plane(), **TWO, **ALL_AT_ONCE}, ["compute.instance_requirements"]),
    (
        "HP518",
        {
            **plane(),
            **TWO,
            "compute.instance_requirements": InstanceRequirements(instance_types=["ml.a", "ml.a"]),
        },
        ["compute.instance_requirements.instance_types[1]"],
    ),
    ("HP519", {**plane(), "cluster.auto_scaling": AutoScaling()}, []),
    ("HP519", {**plane(), "cluster.auto_scaling": AutoScaling(), "cluster.node_recovery": TEXT_TOKEN}, []),
    (
        "HP519",
        {**plane(), "cluster.auto_scaling": AutoScaling(), "cluster.node_recovery": NodeRecovery.NONE},
        ["cluster.node_recovery"],
    ),
    (
        "HP519",
        {**plane(), "cluster.auto_scaling": AutoScaling(), **ALL_AT_ONCE},
        ["cluster.node_provisioning_mode"],
    ),
    *(
        (
            "HP545",
            {TIERED: TieredStorageConfig(**{SHARE: share})},
            paths,
        )
        for share, paths in (
            (20, []),
            (100, []),
            (None, []),
            (NUMBER, []),
            (19, [f"{TIERED}.{SHARE}"]),
            (101, [f"{TIERED}.{SHARE}"]),
        )
    ),
    ("HP546", {"compute.environment_config": EnvironmentConfig()}, []),
    ("HP546", {"compute.environment_config": EnvironmentConfig(), "compute.image_id": TEXT_TOKEN}, []),
    (
        "HP546",
        {"compute.environment_config": EnvironmentConfig(), "compute.image_id": "ami-1234567"},
        ["compute.image_id"],
    ),
    (
        "HP547",
        {"compute.environment_config": EnvironmentConfig(), "cluster.shared_environment_config": SHARED},
        [],
    ),
    ("HP547", {"compute.environment_config": EnvironmentConfig(fsx_lustre_config=LUSTRE)}, []),
    (
        "HP547",
        {
            "compute.environment_config": EnvironmentConfig(
                fsx_lustre_config=SharedLustre(size_in_gib=NUMBER, per_unit_storage_throughput=125)
            )
        },
        [],
    ),
    ("HP547", {"compute.environment_config": EnvironmentConfig()}, ["compute.environment_config"]),
    (
        "HP547",
        {
            "compute.environment_config": EnvironmentConfig(fsx_lustre_config=LUSTRE),
            "cluster.shared_environment_config": SHARED,
        },
        ["compute.environment_config"],
    ),
    ("HP547", {"cluster.shared_environment_config": SHARED}, ["cluster.shared_environment_config"]),
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
    ("HP561", {**plane(), **STRESSED}, []),
    ("HP561", {**plane(), **STRESSED, "compute.instance_type": TEXT_TOKEN}, []),
    ("HP561", {**plane(), **STRESSED, "compute.instance_type": "ml.trn1.32xlarge"}, []),
    (
        "HP561",
        {**plane(), **STRESSED, "compute.instance_type": "ml.c5.xlarge"},
        ["compute.on_start_deep_health_checks"],
    ),
    *(
        ("HP548", {"compute.auto_patch_config": AutoPatchConfig(**settings)}, paths)
        for settings, paths in (
            ({"patching_strategy": STRATEGY, "next_patch_date": "2026-12-31T03:00:00Z"}, []),
            ({"patching_strategy": PatchingStrategy.DRAIN_FIRST, "drain_policy": DrainPolicy()}, []),
            ({"patching_strategy": TEXT_TOKEN, "drain_policy": DrainPolicy()}, []),
            ({"patching_strategy": PatchingStrategy.WHEN_ALL_IDLE, "idle_wait_window_in_seconds": 3600}, []),
            (
                {"patching_strategy": PatchingStrategy.DRAIN_FIRST, "idle_wait_window_in_seconds": 3600},
                ["compute.auto_patch_config.idle_wait_window_in_seconds"],
            ),
            ({"patching_strategy": STRATEGY, "next_patch_date": TEXT_TOKEN}, []),
            (
                {"patching_strategy": STRATEGY, "drain_policy": DrainPolicy()},
                ["compute.auto_patch_config.drain_policy"],
            ),
            (
                {"patching_strategy": STRATEGY, "next_patch_date": "31.12.2026"},
                ["compute.auto_patch_config.next_patch_date"],
            ),
        )
    ),
    *(
        (
            "HP549",
            {**plane(), "compute.life_cycle_config": LifeCycleConfig(source_s3_uri="s3://b/p/", **scripts)},
            paths,
        )
        for scripts, paths in (
            ({"on_create": "a.sh"}, []),
            ({"on_create": TEXT_TOKEN}, []),
            ({"on_init_complete": "a.sh"}, ["compute.life_cycle_config"]),
            ({}, ["compute.life_cycle_config"]),
        )
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


def test_every_restricted_member_is_one_that_the_api_lacks_there() -> None:
    ordinary, restricted = (
        {
            in_spec_style(name)
            for name in shape(
                "sagemaker", f"Cluster{kind}InstanceGroupSpecification".replace("Ordinary", "")
            ).members
        }
        for kind in ("Ordinary", "Restricted")
    )
    assert ordinary - restricted == {*NOT_RESTRICTED, "slurm_config"}


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
