"""Specs on Amazon EKS: on a control plane that is there, and with one that the stack makes."""

from dataclasses import replace
from typing import Any

from hyperpod_cdk.spec import (
    AccessEntry,
    BucketVolume,
    Cluster,
    ComputeQuotaResource,
    EbsVolume,
    EksOrchestrator,
    EnvironmentConfig,
    ExistingFileSystem,
    ExistingNetwork,
    ExistingSubnet,
    Grafana,
    HelmChart,
    HyperPodSpec,
    Inference,
    InstanceGroup,
    InstanceRequirements,
    LifeCycleConfig,
    LustreFileSystem,
    Network,
    Observability,
    Orchestrator,
    SharedEnvironmentConfig,
    SharedLustre,
    TaskGovernance,
    Team,
    Volume,
)
from hyperpod_cdk.spec.add_on import AddOn
from tests.preflight.account import BUCKET, CHART_KEY, DATA_BUCKET, PLAN_ARN, PREFIX, SCRIPT, Account

_LUSTRE = SharedLustre(size_in_gib=2048, per_unit_storage_throughput=125)
TEAM = Team(
    team_name="vision",
    compute_quota_resources=(ComputeQuotaResource(instance_type="ml.p5.48xlarge", count=1),),
)


def there(account: Account, **changes: Any) -> HyperPodSpec:
    """On the account's own control plane.

    Args:
        changes: of an instance group, by ``gpu`` and so on; of the network, by ``network``; of the
            orchestrator, by ``eks``; of the spec itself.
    """
    eks = EksOrchestrator(
        cluster_arn=account.control_plane,
        task_governance=TaskGovernance(teams=(TEAM,)),
        observability=Observability(
            prometheus_workspace_arn=account.workspace,
            grafana=Grafana(name="dashboards", arn=account.grafana),
        ),
        inference=Inference(model_buckets=(DATA_BUCKET,)),
        oidc_provider_arn=account.provider,
    )
    network = ExistingNetwork(
        vpc_id=account.vpc,
        subnets=(ExistingSubnet(subnet_id=account.subnet, availability_zone_id=account.zone),),
        security_group_ids=(account.group,),
    )
    return _spec(account, eks, network, {"acknowledge": ("HP992",), **changes})


def new(account: Account, **changes: Any) -> HyperPodSpec:
    """With a control plane of the stack's own, in the account's network.

    Args:
        changes: as of :func:`there`.
    """
    eks = EksOrchestrator(
        access=(AccessEntry(principal_arn=account.admins), AccessEntry(principal_arn=account.ann)),
        helm_chart=HelmChart(s3_uri=f"s3://{BUCKET}/{CHART_KEY}"),
        add_ons={"vpc-cni": AddOn(version=account.plugin_version)},
        task_governance=TaskGovernance(add_on=AddOn(version=account.governance_version), teams=(TEAM,)),
        observability=Observability(prometheus_workspace_arn=account.workspace),
        inference=Inference(tls_bucket_name=DATA_BUCKET),
        volumes={
            "scratch": Volume(storage="scratch"),
            "data": Volume(bucket=BucketVolume(bucket_name=DATA_BUCKET, kms_key_arn=account.key)),
        },
    )
    network = ExistingNetwork(
        vpc_id=account.vpc,
        subnets=(
            ExistingSubnet(subnet_id=account.subnet, availability_zone_id=account.zone),
            ExistingSubnet(subnet_id=account.elsewhere, availability_zone_id="usw2-az1"),
        ),
        security_group_ids=(account.group,),
    )
    return _spec(account, eks, network, changes)


def from_registry(account: Account, **changes: Any) -> HyperPodSpec:
    """With a control plane of the stack's own, and a chart in Amazon ECR."""
    chart = {"helm_chart": HelmChart(oci_uri=account.chart, version="1.0.0")}
    return new(account, eks={**chart, **changes.pop("eks", {})}, **changes)


def in_new_network(account: Account, **changes: Any) -> HyperPodSpec:
    """With a control plane and a network of the stack's own."""
    spec = new(account, **changes)
    groups = tuple(replace(group, training_plan_arn=None) for group in spec.cluster.instance_groups)
    return replace(
        spec,
        network=Network(availability_zone_ids=("usw2-az4", "usw2-az1")),
        storage={},
        cluster=replace(spec.cluster, instance_groups=groups),
    )


def _spec(
    account: Account, eks: EksOrchestrator, network: ExistingNetwork, changes: dict[str, Any]
) -> HyperPodSpec:
    own = {name: replace(group, **changes.pop(name, {})) for name, group in _groups(account).items()}
    scratch = LustreFileSystem(
        existing=ExistingFileSystem(
            dns_name=f"{account.lustre}.fsx.us-west-2.amazonaws.com", mount_name=account.mount_name
        )
    )
    spec = HyperPodSpec(
        stack_name="full",
        region="us-west-2",
        kms_key_arn=account.key,
        storage={"scratch": scratch},
        network=Network(existing=replace(network, **changes.pop("network", {}))),
        cluster=Cluster(
            cluster_name="full",
            orchestrator=Orchestrator(eks=replace(eks, **changes.pop("eks", {}))),
            shared_environment_config=SharedEnvironmentConfig(fsx_lustre_config=_LUSTRE),
            instance_groups=tuple(own.values()),
        ),
    )
    return replace(spec, **changes)


def _groups(account: Account) -> dict[str, InstanceGroup]:
    role: dict[str, Any] = {"execution_role_arn": account.role}
    scripts = LifeCycleConfig(source_s3_uri=f"s3://{BUCKET}/{PREFIX}/", on_create=SCRIPT)
    return {
        "gpu": InstanceGroup(
            instance_group_name="gpu",
            instance_type="ml.p5.48xlarge",
            instance_count=1,
            training_plan_arn=PLAN_ARN,
            secondary_volume=EbsVolume(volume_size_in_gb=500, volume_kms_key_id=account.key),
            life_cycle_config=scripts,
            **role,
        ),
        "mixed": InstanceGroup(
            instance_group_name="mixed",
            instance_requirements=InstanceRequirements(instance_types=("ml.c5.xlarge", "ml.m5.xlarge")),
            instance_count=3,
            image_id=account.image,
            life_cycle_config=scripts,
            **role,
        ),
        "restricted": InstanceGroup(
            instance_group_name="restricted",
            instance_type="ml.m5.xlarge",
            instance_count=1,
            environment_config=EnvironmentConfig(),
            **role,
        ),
    }
