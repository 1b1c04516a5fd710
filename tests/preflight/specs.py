"""Specs that use as much as they can of an existing network, and of a new one."""

from dataclasses import replace
from typing import Any

from hyperpod_cdk.spec import (
    AccountingDatabase,
    BucketMount,
    Cluster,
    DataRepositoryAssociation,
    EbsVolume,
    ExistingFileSystem,
    ExistingNetwork,
    ExistingSubnet,
    HyperPodSpec,
    InstanceGroup,
    Lifecycle,
    LifeCycleConfig,
    LustreFileSystem,
    Monitoring,
    Mount,
    Network,
    NodeType,
    OpenZfsFileSystem,
    Orchestrator,
    SlurmConfig,
    SlurmOrchestrator,
)
from tests.preflight.account import BUCKET, DATA_BUCKET, PLAN_ARN, PREFIX, SCRIPT, Account

_TYPES = {
    NodeType.CONTROLLER: "ml.c5.xlarge",
    NodeType.LOGIN: "ml.m5.xlarge",
    NodeType.COMPUTE: "ml.p5.48xlarge",
}


def existing(account: Account, **changes: Any) -> HyperPodSpec:
    """Everything that can be there already is.

    Args:
        changes: of an instance group, by ``login`` and so on; of the network, by ``network``; of the storage
            section, by ``storage``; of the lifecycle section, by ``lifecycle``.
    """
    mounts = (Mount(storage="scratch"), Mount(storage="home"))
    common: dict[str, Any] = {
        "execution_role_arn": account.role,
        "life_cycle_config": LifeCycleConfig(
            source_s3_uri=f"s3://{BUCKET}/{PREFIX}/", on_init_complete=SCRIPT
        ),
        "mounts": mounts,
    }
    groups = {
        "controller": _group(NodeType.CONTROLLER, **common),
        "login": _group(NodeType.LOGIN, **common, image_id=account.image),
        "compute": _group(
            NodeType.COMPUTE,
            **common,
            instance_count=2,
            training_plan_arn=PLAN_ARN,
            secondary_volume=EbsVolume(volume_size_in_gb=500, volume_kms_key_id=account.key),
        ),
    }
    storage: dict[str, Any] = {
        "scratch": LustreFileSystem(
            existing=ExistingFileSystem(
                dns_name=f"{account.lustre}.fsx.us-west-2.amazonaws.com", mount_name=account.mount_name
            )
        ),
        "home": OpenZfsFileSystem(
            existing=ExistingFileSystem(dns_name=f"{account.openzfs}.fsx.us-west-2.amazonaws.com")
        ),
        "new": LustreFileSystem(
            data_repository_associations=(
                DataRepositoryAssociation(data_repository_path=f"s3://{DATA_BUCKET}/here"),
            )
        ),
    }
    lifecycle = Lifecycle(
        bucket_mounts=(BucketMount(bucket=DATA_BUCKET, mount_path="/data"),),
        monitoring=Monitoring(workspace_arn=account.workspace),
    )
    network = ExistingNetwork(
        vpc_id=account.vpc,
        subnets=(ExistingSubnet(subnet_id=account.subnet, availability_zone_id=account.zone),),
        security_group_ids=(account.group,),
    )
    return HyperPodSpec(
        stack_name="full",
        region="us-west-2",
        kms_key_arn=account.key,
        network=Network(existing=replace(network, **changes.pop("network", {}))),
        storage={**storage, **changes.pop("storage", {})},
        lifecycle=replace(lifecycle, **changes.pop("lifecycle", {})),
        cluster=Cluster(
            cluster_name="full",
            orchestrator=Orchestrator(
                slurm=SlurmOrchestrator(
                    accounting_database=AccountingDatabase(
                        endpoint="db.example.com", secret_arn=account.secret
                    )
                )
            ),
            instance_groups=tuple(replace(group, **changes.pop(name, {})) for name, group in groups.items()),
        ),
    )


def new(
    *,
    zones: tuple[str, ...] = ("usw2-az4",),
    storage: dict[str, Any] | None = None,
    instance_type: str = "ml.p5.48xlarge",
) -> HyperPodSpec:
    """Everything is made with the stack."""
    compute = _group(NodeType.COMPUTE, instance_count=2, instance_type=instance_type)
    return HyperPodSpec(
        stack_name="new",
        region="us-west-2",
        network=Network(availability_zone_ids=zones),
        storage=storage or {},
        cluster=Cluster(instance_groups=(_group(NodeType.CONTROLLER), compute)),
    )


def _group(node_type: NodeType, **settings: Any) -> InstanceGroup:
    name = node_type.lower()
    partitions = ("p5",) if node_type == NodeType.COMPUTE else ()
    return InstanceGroup(
        instance_group_name=name,
        slurm_config=SlurmConfig(node_type=node_type, partition_names=partitions),
        **{"instance_type": _TYPES[node_type], "instance_count": 1, **settings},
    )
