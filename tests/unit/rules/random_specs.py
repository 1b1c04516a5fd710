"""Random specs: sound ones, and ones with something changed that the API or the service minds."""

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from hyperpod_cdk.service.instance_types import catalogue
from hyperpod_cdk.spec import (
    AccountingDatabase,
    BatchSize,
    BatchSizeType,
    CapacityType,
    Cluster,
    DeepHealthCheck,
    EbsVolume,
    ExistingFileSystem,
    ExistingNetwork,
    ExistingSubnet,
    HyperPodSpec,
    InstanceGroup,
    Lifecycle,
    LifeCycleConfig,
    LifecycleMode,
    LustreFileSystem,
    Mount,
    Network,
    NetworkInterfaceType,
    NodeProvisioningMode,
    NodeRecovery,
    NodeType,
    OpenZfsFileSystem,
    Orchestrator,
    OverrideVpcConfig,
    RollingUpdatePolicy,
    ScheduledUpdateConfig,
    SlurmConfig,
    SlurmConfigStrategy,
    SlurmOrchestrator,
    UpdateDeploymentConfig,
)
from tests.unit.rules.members import CARRIED, leaves, refused_values, taken_values
from tests.unit.rules.specs import REMOVED, changed

ZONES = ("usw2-az4", "usw2-az1")
KEY = "arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"
SECRET = "arn:aws:secretsmanager:us-west-2:111122223333:secret:slurm-AbCdEf"
PLAN = "arn:aws:sagemaker:us-west-2:111122223333:training-plan/large"
ROLE = "arn:aws:iam::111122223333:role/Nodes"
DNS = "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com"
LUSTRE = Mount(file_system_type="LUSTRE", dns_name=DNS, mount_name="abcdefgh", mount_path="/data")
OPENZFS = Mount(file_system_type="OPENZFS", dns_name=DNS, mount_path="/users")
TYPES = sorted(
    known.name
    for known in catalogue().values()
    if known.efa_interfaces is not None and known.threads_per_core
)
ELSEWHERE = OverrideVpcConfig(availability_zone_id=ZONES[1])
OWN = OverrideVpcConfig(subnet_ids=("subnet-9",), security_group_ids=("sg-1", "sg-9"))
STORAGE = {
    "scratch": LustreFileSystem(),
    "old": LustreFileSystem(existing=ExistingFileSystem(dns_name=DNS, mount_name="abcdefgh")),
    "home": OpenZfsFileSystem(),
}
LUSTRES = ((), (LUSTRE,), (Mount(storage="scratch"),), (Mount(storage="old", mount_path="/old"),))
SUBNETS = tuple(
    ExistingSubnet(subnet_id=f"subnet-{number}", availability_zone_id=zone)
    for number, zone in enumerate(ZONES, start=1)
)
MODES = (LifecycleMode.AMI, LifecycleMode.EXTENSION, LifecycleMode.CUSTOM)


def maybe(*values: Any) -> st.SearchStrategy[Any]:
    """None, or one of the values."""
    return st.sampled_from((None, *values))


def updates() -> st.SearchStrategy[ScheduledUpdateConfig]:
    """Scheduled updates with and without a policy."""
    batches = st.one_of(
        st.builds(BatchSize, type=st.just(BatchSizeType.INSTANCE_COUNT), value=st.integers(1, 50)),
        st.builds(BatchSize, type=st.just(BatchSizeType.CAPACITY_PERCENTAGE), value=st.integers(1, 100)),
    )
    policies = st.builds(
        RollingUpdatePolicy, maximum_batch_size=batches, rollback_maximum_batch_size=st.none() | batches
    )
    deployments = st.builds(
        UpdateDeploymentConfig,
        rolling_update_policy=st.none() | policies,
        wait_interval_in_seconds=st.none() | st.integers(0, 3600),
        auto_rollback_alarm_names=st.lists(st.sampled_from(("a", "b")), max_size=2, unique=True),
    )
    return st.builds(
        ScheduledUpdateConfig,
        schedule_expression=st.just("cron(0 3 ? * SUN *)"),
        deployment_config=st.none() | deployments,
    )


@st.composite
def groups(
    draw: st.DrawFn, name: str, node_type: NodeType, *, continuous: bool, legacy: bool, existing: bool
) -> InstanceGroup:
    """A sound group of a cluster."""
    compute = node_type is NodeType.COMPUTE
    kind = catalogue()[draw(st.sampled_from(TYPES))]
    count = 1 if node_type is NodeType.CONTROLLER else draw(st.integers(0, 12))
    image, release = draw(st.sampled_from([(None, None), ("ami-0123456789abcdef0", None), (None, "1.2.3")]))
    checked = compute and kind.accelerators and (kind.accelerator or "").startswith("NVIDIA")
    mode = None if legacy else draw(maybe(*MODES))
    own_scripts = draw(st.booleans()) and mode is LifecycleMode.CUSTOM
    return InstanceGroup(
        instance_group_name=name,
        instance_type=kind.name,
        instance_count=count,
        min_instance_count=draw(st.none() | st.integers(0, count)) if continuous else None,
        slurm_config=SlurmConfig(
            node_type=node_type,
            partition_names=(draw(st.sampled_from(("gpu", "a-b"))),) if compute else (),
        ),
        threads_per_core=draw(maybe(*kind.threads_per_core or ())),
        root_volume=draw(maybe(EbsVolume(volume_kms_key_id=KEY))) if continuous else None,
        secondary_volume=draw(st.none() | st.builds(EbsVolume, volume_size_in_gb=st.integers(1, 16384))),
        mounts=(
            *draw(st.sampled_from(LUSTRES)),
            *draw(st.sampled_from(((), (OPENZFS,), (Mount(storage="home"),)))),
        ),
        override_vpc_config=draw(maybe(OWN) if existing else maybe(ELSEWHERE, OWN)),
        training_plan_arn=draw(maybe(PLAN)) if compute else None,
        on_start_deep_health_checks=(
            draw(st.lists(st.sampled_from(list(DeepHealthCheck)), unique=True)) if checked else ()
        ),
        capacity_requirements=draw(maybe(*CapacityType)) if continuous and compute else None,
        network_interface=draw(maybe(*NetworkInterfaceType)) if kind.efa_interfaces else None,
        scheduled_update_config=draw(st.none() | updates()),
        image_id=image,
        image_release_version=release,
        lifecycle_mode=mode,
        life_cycle_config=LifeCycleConfig(source_s3_uri="s3://b/p/", on_create="a.sh")
        if own_scripts
        else None,
        execution_role_arn=draw(maybe(ROLE)),
    )


@st.composite
def sound_specs(draw: st.DrawFn) -> HyperPodSpec:
    """A spec that breaks no rule."""
    legacy = draw(st.integers(0, 9)) == 0
    continuous = not legacy and draw(st.booleans())
    existing = draw(st.booleans())
    strategy = draw(st.sampled_from(list(SlurmConfigStrategy)))
    kind = {"continuous": continuous, "legacy": legacy, "existing": existing}
    made = [draw(groups("controller", NodeType.CONTROLLER, **kind))]
    if draw(st.booleans()):
        made.append(draw(groups("login", NodeType.LOGIN, **kind)))
    for number in range(draw(st.integers(0, 3))):
        made.append(draw(groups(f"compute-{number}", NodeType.COMPUTE, **kind)))
    network = Network(
        existing=ExistingNetwork(
            vpc_id="vpc-1", vpc_cidr="10.0.0.0/16", subnets=SUBNETS, security_group_ids=("sg-1",)
        )
    )
    return HyperPodSpec(
        stack_name="random",
        region="us-west-2",
        network=network if existing else Network(availability_zone_ids=ZONES),
        storage=STORAGE,
        lifecycle=Lifecycle(mode=LifecycleMode.LEGACY if legacy else draw(st.sampled_from(MODES))),
        cluster=Cluster(
            cluster_name=draw(maybe("random")),
            instance_groups=made,
            orchestrator=Orchestrator(
                slurm=SlurmOrchestrator(
                    slurm_config_strategy=None if legacy or continuous else strategy,
                    accounting_database=(
                        draw(maybe(AccountingDatabase(endpoint="db", secret_arn=SECRET, port=3306, name="a")))
                        if continuous
                        else None
                    ),
                )
            ),
            node_provisioning_mode=(
                NodeProvisioningMode.CONTINUOUS if continuous else NodeProvisioningMode.ALL_AT_ONCE
            ),
            node_recovery=draw(maybe(*NodeRecovery)),
            tags=draw(st.sampled_from(({}, {"Project": "x"}))),
        ),
    )


def _member_changes() -> Mapping[str, list[Any]]:
    shapes = dict(leaves())
    values = {
        place: [*refused_values(shapes[member]), *taken_values(shapes[member])]
        for member, place in CARRIED.items()
        if member in shapes and member not in ("InstanceGroups", "VpcConfig.Subnets", "Tags")
    }
    return {place: [*found, None] for place, found in values.items()}


_ANY_GROUP: Mapping[str, list[Any]] = {
    "slurm_config": [None, *(SlurmConfig(node_type=one) for one in NodeType)],
    "slurm_config.partition_names": [(), ("x",), ("a", "b"), ("a b",)],
    "instance_count": [0, 1, 2, 6758, 6759],
    "min_instance_count": [0, 1, 7, 6759],
    "instance_group_name": ["controller", "login", "x", "a_b"],
    "root_volume": [None, EbsVolume(), EbsVolume(volume_kms_key_id=KEY, volume_size_in_gb=5)],
    "secondary_volume": [EbsVolume(volume_kms_key_id=KEY, volume_size_in_gb=5), EbsVolume()],
    "mounts": [(LUSTRE, LUSTRE), (OPENZFS, OPENZFS), (Mount(),), (Mount(storage="none"),), (LUSTRE, OPENZFS)],
    "training_plan_arn": [PLAN],
    "capacity_requirements": list(CapacityType),
    "life_cycle_config": [
        LifeCycleConfig(source_s3_uri="s3://b/p/"),
        LifeCycleConfig(source_s3_uri="s3://b/p/", on_create="a", on_init_complete="b"),
        LifeCycleConfig(source_s3_uri="", on_create="a"),
    ],
    "lifecycle_mode": list(LifecycleMode),
    "override_vpc_config": [OverrideVpcConfig(), OverrideVpcConfig(subnet_ids=("subnet-1", "subnet-1"))],
    "": [REMOVED],
}
_CLUSTER: Mapping[str, list[Any]] = {
    "cluster.node_provisioning_mode": list(NodeProvisioningMode),
    "slurm.slurm_config_strategy": [None, *SlurmConfigStrategy],
    "slurm.accounting_database": [None, AccountingDatabase(endpoint="db", secret_arn=SECRET)],
    "cluster.tags": [{f"t{number}": "x" for number in range(count)} for count in (46, 47, 51)],
    "lifecycle.mode": list(LifecycleMode),
    "cluster.instance_groups": [()],
}


@st.composite
def changed_specs(draw: st.DrawFn) -> HyperPodSpec:
    """A sound spec in which one to three values are others, often such as the API refuses."""
    spec = draw(sound_specs())
    for _ in range(draw(st.integers(1, 3))):
        count = len(spec.cluster.instance_groups)
        if not count:
            return spec
        index = draw(st.integers(0, count - 1))
        table = draw(st.sampled_from((_member_changes(), _ANY_GROUP, _CLUSTER)))
        place = draw(st.sampled_from(sorted(table)))
        value = draw(st.sampled_from(table[place]))
        here = f"cluster.instance_groups[{index}]"
        if table is _ANY_GROUP:
            place = f"{here}.{place}" if place else here
        for short in ("compute", "login", "controller"):
            place = here + place.removeprefix(short) if place.startswith(short) else place
        try:
            spec = changed({place: value}, spec)
        except (TypeError, AttributeError):
            # the value lies below something that this spec does not have
            continue
    return spec
