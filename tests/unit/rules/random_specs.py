"""Random specs: sound ones, and ones with something changed that the API or the service minds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from hypothesis import strategies as st

from hyperpod_cdk.service.instance_types import Orchestration, catalogue
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
    FileSystem,
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
STORAGE: Mapping[str, FileSystem] = {
    "scratch": LustreFileSystem(),
    "old": LustreFileSystem(existing=ExistingFileSystem(dns_name=DNS, mount_name="abcdefgh")),
    "home": OpenZfsFileSystem(),
}
LUSTRES = ((), (LUSTRE,), (Mount(storage="scratch"),), (Mount(storage="old", mount_path="/old"),))
SUBNETS = tuple(
    ExistingSubnet(subnet_id=f"subnet-{number}", availability_zone_id=zone)
    for number, zone in enumerate(ZONES, start=1)
)
EXISTING = Network(
    existing=ExistingNetwork(
        vpc_id="vpc-1", vpc_cidr="10.0.0.0/16", subnets=SUBNETS, security_group_ids=("sg-1",)
    )
)
MODES = (LifecycleMode.AMI, LifecycleMode.EXTENSION, LifecycleMode.CUSTOM)
OWN_SCRIPTS = {
    LifecycleMode.EXTENSION: LifeCycleConfig(source_s3_uri="s3://b/p/", on_init_complete="a.sh"),
    LifecycleMode.CUSTOM: LifeCycleConfig(source_s3_uri="s3://b/p/", on_create="a.sh"),
}
CHECKS = (
    (),
    (DeepHealthCheck.INSTANCE_STRESS,),
    (DeepHealthCheck.INSTANCE_STRESS, DeepHealthCheck.INSTANCE_CONNECTIVITY),
)
DATABASE = AccountingDatabase(endpoint="db", secret_arn=SECRET, port=3306, name="a")


@cache
def _below(count: int) -> st.SearchStrategy[int]:
    """Made once for each count: to make a strategy takes longer than to draw from it."""
    return st.integers(0, count - 1)


@dataclass(frozen=True, kw_only=True)
class Dice:
    """What a spec is made by, on top of hypothesis."""

    draw: st.DrawFn

    def one(self, values: Sequence[Any]) -> Any:
        """One of the values."""
        return values[self.draw(_below(len(values)))]

    def maybe(self, *values: Any) -> Any:
        """None, or one of the values."""
        return self.one((None, *values))

    def upto(self, most: int) -> int:
        """0 to ``most``."""
        return self.draw(_below(most + 1))

    def often(self, of: int = 2) -> bool:
        """True once in so many."""
        return self.upto(of - 1) == 0


@dataclass(frozen=True, kw_only=True)
class World:
    """What all groups of a cluster have in common."""

    legacy: bool
    continuous: bool
    existing: bool


def _batch(dice: Dice) -> BatchSize:
    if dice.often():
        return BatchSize(type=BatchSizeType.CAPACITY_PERCENTAGE, value=1 + dice.upto(99))
    return BatchSize(type=BatchSizeType.INSTANCE_COUNT, value=1 + dice.upto(49))


def updates(dice: Dice) -> ScheduledUpdateConfig | None:
    """How software goes through a group; None now and then."""
    if dice.often():
        return None
    policy = RollingUpdatePolicy(
        maximum_batch_size=_batch(dice), rollback_maximum_batch_size=_batch(dice) if dice.often() else None
    )
    deployment = UpdateDeploymentConfig(
        rolling_update_policy=policy if dice.often() else None,
        wait_interval_in_seconds=dice.maybe(0, 60, 3600),
        auto_rollback_alarm_names=dice.one(((), ("a",), ("a", "b"))),
    )
    return ScheduledUpdateConfig(
        schedule_expression="cron(0 3 ? * SUN *)", deployment_config=deployment if dice.often() else None
    )


def _group(dice: Dice, name: str, node_type: NodeType, world: World) -> InstanceGroup:
    """A sound group of a cluster."""
    compute = node_type is NodeType.COMPUTE
    kind = catalogue()[dice.one(TYPES)]
    count = 1 if node_type is NodeType.CONTROLLER else dice.upto(12)
    image, release = dice.one([(None, None), ("ami-0123456789abcdef0", None), (None, "1.2.3")])
    checked = compute and Orchestration.SLURM in kind.deep_health_checks
    mode = None if world.legacy else dice.maybe(*MODES)
    scripts = dice.maybe(OWN_SCRIPTS.get(mode)) if mode else None
    return InstanceGroup(
        instance_group_name=name,
        instance_type=kind.name,
        instance_count=count,
        min_instance_count=dice.maybe(0, count) if world.continuous else None,
        slurm_config=SlurmConfig(
            node_type=node_type, partition_names=(dice.one(("gpu", "a-b")),) if compute else ()
        ),
        threads_per_core=dice.maybe(*kind.threads_per_core or ()),
        root_volume=dice.maybe(EbsVolume(volume_kms_key_id=KEY)) if world.continuous else None,
        secondary_volume=dice.maybe(EbsVolume(volume_size_in_gb=1), EbsVolume(volume_size_in_gb=16384)),
        mounts=(*dice.one(LUSTRES), *dice.one(((), (OPENZFS,), (Mount(storage="home"),)))),
        override_vpc_config=dice.maybe(OWN) if world.existing else dice.maybe(ELSEWHERE, OWN),
        training_plan_arn=dice.maybe(PLAN) if compute else None,
        on_start_deep_health_checks=dice.one(CHECKS) if checked else (),
        capacity_requirements=dice.maybe(*CapacityType) if world.continuous and compute else None,
        network_interface=dice.maybe(*NetworkInterfaceType) if kind.efa_interfaces else None,
        scheduled_update_config=updates(dice),
        image_id=image,
        image_release_version=release,
        lifecycle_mode=mode,
        life_cycle_config=scripts,
        execution_role_arn=dice.maybe(ROLE),
    )


@st.composite
def sound_specs(draw: st.DrawFn) -> HyperPodSpec:
    """A spec that breaks no rule."""
    dice = Dice(draw=draw)
    legacy = dice.often(10)
    world = World(legacy=legacy, continuous=not legacy and dice.often(), existing=dice.often())
    made = [_group(dice, "controller", NodeType.CONTROLLER, world)]
    if dice.often():
        made.append(_group(dice, "login", NodeType.LOGIN, world))
    made += [_group(dice, f"compute-{number}", NodeType.COMPUTE, world) for number in range(dice.upto(3))]
    slurm = SlurmOrchestrator(
        slurm_config_strategy=None if legacy or world.continuous else dice.one(list(SlurmConfigStrategy)),
        accounting_database=dice.maybe(DATABASE) if world.continuous else None,
    )
    return HyperPodSpec(
        stack_name="random",
        region="us-west-2",
        network=EXISTING if world.existing else Network(availability_zone_ids=ZONES),
        storage=STORAGE,
        lifecycle=Lifecycle(mode=LifecycleMode.LEGACY if legacy else dice.one(MODES)),
        cluster=Cluster(
            cluster_name=dice.maybe("random"),
            instance_groups=made,
            orchestrator=Orchestrator(slurm=slurm),
            node_provisioning_mode=(
                NodeProvisioningMode.CONTINUOUS if world.continuous else NodeProvisioningMode.ALL_AT_ONCE
            ),
            node_recovery=dice.maybe(*NodeRecovery),
            tags=dice.one(({}, {"Project": "x"})),
        ),
    )


@cache
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
    "cluster.tags": [
        *({f"t{number}": "x" for number in range(count)} for count in (45, 46, 51)),
        *({"": "x"}, {"k" * 129: "x"}, {"k": "v" * 257}, {"k": "what?"}, {"k!": "v"}),
    ],
    "lifecycle.mode": list(LifecycleMode),
    "cluster.instance_groups": [()],
}


@st.composite
def changed_specs(draw: st.DrawFn) -> HyperPodSpec:
    """A sound spec in which one or two values are others, often such as the API refuses."""
    spec = draw(sound_specs())
    dice = Dice(draw=draw)
    for _ in range(dice.one((1, 1, 1, 2))):
        if not spec.cluster.instance_groups:
            return spec
        here = f"cluster.instance_groups[{dice.upto(len(spec.cluster.instance_groups) - 1)}]"
        table = dice.one((_member_changes(), _ANY_GROUP, _ANY_GROUP, _CLUSTER))
        place = dice.one(sorted(table))
        value = dice.one(table[place])
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
