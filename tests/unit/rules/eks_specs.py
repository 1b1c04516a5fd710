"""What the rows of Amazon EKS are made of."""

from typing import Any

from hyperpod_cdk.spec import (
    AccessEntry,
    AccessPolicy,
    DeepHealthCheck,
    EksOrchestrator,
    ExistingNetwork,
    ExistingSubnet,
    HelmChart,
    InstanceRequirements,
    KubernetesConfig,
    NatGateways,
    Network,
    NodeProvisioningMode,
    PatchingStrategy,
    SharedEnvironmentConfig,
    SharedLustre,
    Taint,
    TaintEffect,
    TaskGovernance,
    Team,
)
from hyperpod_cdk.spec.eks_storage import BucketVolume, Volume
from tests.unit.rules.specs import NUMBER_TOKEN, TEXT_TOKEN

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
