"""Random specs of clusters on Amazon EKS: sound ones, and ones with something changed that somebody minds."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from hypothesis import strategies as st

from hyperpod_cdk.service.eks import KUBERNETES_VERSIONS
from hyperpod_cdk.service.instance_types import InstanceType, Orchestration, catalogue
from hyperpod_cdk.spec import (
    AutoPatchConfig,
    AutoScaling,
    CapacityType,
    Cluster,
    DeepHealthCheck,
    DrainPolicy,
    EbsVolume,
    EksOrchestrator,
    EnvironmentConfig,
    FsxLustreDeletionPolicy,
    HelmChart,
    HyperPodSpec,
    InstanceGroup,
    InstanceRequirements,
    KubernetesConfig,
    LifeCycleConfig,
    Network,
    NetworkInterfaceType,
    NodeProvisioningMode,
    NodeRecovery,
    NodeType,
    OnDrainTimeout,
    Orchestrator,
    OverrideVpcConfig,
    PatchingStrategy,
    SharedEnvironmentConfig,
    SharedLustre,
    SlurmConfig,
    Taint,
    TaintEffect,
    TieredStorageConfig,
)
from tests.unit.rules.members import ON_EKS, leaves, refused_values, taken_values
from tests.unit.rules.random_specs import CHECKS, EXISTING, KEY, PLAN, ROLE, TYPES, ZONES, Dice, updates
from tests.unit.rules.specs import changed

ARN = "arn:aws:eks:us-west-2:111122223333:cluster/own"
CHART = HelmChart(s3_uri="s3://charts/hyperpod.zip")
ON_CREATE = LifeCycleConfig(source_s3_uri="s3://b/p/", on_create="a.sh")
LUSTRE = SharedLustre(size_in_gib=1200, per_unit_storage_throughput=125)


def _kubernetes(dice: Dice, *, checked: bool) -> KubernetesConfig | None:
    taint = Taint(key="example.com/gpu", value=dice.maybe("yes"), effect=dice.one(list(TaintEffect)))
    found: KubernetesConfig | None = dice.maybe(
        KubernetesConfig(labels={"example.com/pool": "a"}),
        KubernetesConfig(labels={"team": "a"}, taints=() if checked else (taint,)),
    )
    return found


def _auto_patch(dice: Dice) -> AutoPatchConfig | None:
    strategy = dice.one(list(PatchingStrategy))
    policy = DrainPolicy(
        drain_timeout_in_seconds=dice.maybe(0, 5400), on_drain_timeout=dice.maybe(*OnDrainTimeout)
    )
    scheduled, drains = updates(dice), strategy is PatchingStrategy.DRAIN_FIRST
    config = AutoPatchConfig(
        patching_strategy=strategy,
        next_patch_date=dice.maybe("2026-12-31T03:00:00Z"),
        deployment_config=scheduled.deployment_config if scheduled else None,
        idle_wait_window_in_seconds=None if drains else dice.maybe(3600, 2160000),
        drain_policy=dice.maybe(policy) if drains else None,
    )
    return config if dice.often() else None


def _place(dice: Dice, *, existing: bool) -> OverrideVpcConfig | None:
    own = OverrideVpcConfig(subnet_ids=("subnet-9",), security_group_ids=("sg-1", "sg-9"))
    elsewhere = OverrideVpcConfig(availability_zone_id=ZONES[1])
    place: OverrideVpcConfig | None = dice.maybe(own) if existing else dice.maybe(elsewhere, own)
    return place


def _restricted(dice: Dice, name: str, *, shared: bool, existing: bool) -> InstanceGroup:
    kind = catalogue()[dice.one(TYPES)]
    return InstanceGroup(
        instance_group_name=name,
        instance_type=kind.name,
        instance_count=dice.upto(12),
        environment_config=EnvironmentConfig(fsx_lustre_config=None if shared else LUSTRE),
        threads_per_core=dice.maybe(*kind.threads_per_core or ()),
        root_volume=dice.maybe(EbsVolume(volume_kms_key_id=KEY)),
        secondary_volume=dice.maybe(EbsVolume(volume_size_in_gb=500)),
        override_vpc_config=_place(dice, existing=existing),
        training_plan_arn=dice.maybe(PLAN),
        on_start_deep_health_checks=_checks(dice, [kind]),
        scheduled_update_config=updates(dice),
        execution_role_arn=dice.maybe(ROLE),
    )


def _checks(dice: Dice, kinds: list[InstanceType]) -> tuple[DeepHealthCheck, ...]:
    checked = all(Orchestration.EKS in kind.deep_health_checks for kind in kinds)
    connected = checked and all(kind.efa_interfaces for kind in kinds)
    found: tuple[DeepHealthCheck, ...] = dice.one(CHECKS if connected else CHECKS[:2]) if checked else ()
    return found


def _group(dice: Dice, name: str, *, continuous: bool, existing: bool) -> InstanceGroup:
    flexible = continuous and dice.often(3)
    names = [dice.one(TYPES), dice.one(TYPES)] if flexible else [dice.one(TYPES)]
    kinds = [catalogue()[one] for one in dict.fromkeys(names)]
    threads = set.intersection(*(set(kind.threads_per_core or ()) for kind in kinds))
    count, checks = dice.upto(12), _checks(dice, kinds)
    image, release = dice.one([(None, None), ("ami-0123456789abcdef0", None), (None, "1.2.3")])
    return InstanceGroup(
        instance_group_name=name,
        instance_type=None if flexible else kinds[0].name,
        instance_requirements=(
            InstanceRequirements(instance_types=[kind.name for kind in kinds]) if flexible else None
        ),
        instance_count=count,
        min_instance_count=dice.maybe(0, count) if continuous else None,
        kubernetes_config=_kubernetes(dice, checked=bool(checks)),
        threads_per_core=dice.maybe(*sorted(threads)),
        root_volume=dice.maybe(EbsVolume(volume_kms_key_id=KEY)) if continuous else None,
        secondary_volume=dice.maybe(EbsVolume(volume_size_in_gb=1), EbsVolume(volume_size_in_gb=16384)),
        override_vpc_config=_place(dice, existing=existing),
        training_plan_arn=dice.maybe(PLAN),
        on_start_deep_health_checks=checks,
        capacity_requirements=dice.maybe(*CapacityType) if continuous else None,
        network_interface=(
            dice.maybe(*NetworkInterfaceType) if all(kind.efa_interfaces for kind in kinds) else None
        ),
        scheduled_update_config=updates(dice),
        auto_patch_config=_auto_patch(dice),
        image_id=image,
        image_release_version=release,
        life_cycle_config=dice.maybe(ON_CREATE),
        execution_role_arn=dice.maybe(ROLE),
    )


@st.composite
def sound_specs(draw: st.DrawFn) -> HyperPodSpec:
    """A spec that breaks no rule."""
    dice = Dice(draw=draw)
    continuous, existing, shared = (dice.often(), dice.often(), dice.often())
    own = existing and dice.often()
    groups = [
        _group(dice, f"group-{n}", continuous=continuous, existing=existing) for n in range(1 + dice.upto(2))
    ]
    # add-ons want a node
    groups[0] = replace(groups[0], instance_count=max(groups[0].instance_count, 1))
    # the volumes of restricted groups have keys, which need Continuous provisioning
    count = dice.upto(2) if continuous else 0
    groups += [_restricted(dice, f"nova-{n}", shared=shared, existing=existing) for n in range(count)]
    scaled = continuous and dice.often()
    environment = SharedEnvironmentConfig(
        fsx_lustre_config=LUSTRE, fsx_lustre_deletion_policy=dice.one(list(FsxLustreDeletionPolicy))
    )
    eks = (
        EksOrchestrator(cluster_arn=ARN, training_operator=None)
        if own
        else EksOrchestrator(helm_chart=CHART, kubernetes_version=dice.one(KUBERNETES_VERSIONS))
    )
    return HyperPodSpec(
        stack_name="random",
        region="us-west-2",
        network=EXISTING if existing else Network(availability_zone_ids=ZONES),
        cluster=Cluster(
            cluster_name=dice.maybe("random"),
            instance_groups=groups,
            orchestrator=Orchestrator(eks=eks),
            node_provisioning_mode=(
                NodeProvisioningMode.CONTINUOUS if continuous else NodeProvisioningMode.ALL_AT_ONCE
            ),
            node_recovery=NodeRecovery.AUTOMATIC if scaled else dice.maybe(*NodeRecovery),
            tiered_storage_config=dice.maybe(
                TieredStorageConfig(), TieredStorageConfig(instance_memory_allocation_percentage=20)
            ),
            auto_scaling=AutoScaling(cluster_role_arn=dice.maybe(ROLE)) if scaled else None,
            shared_environment_config=environment if shared and count else None,
            tags=dice.one(({}, {"Project": "x"})),
        ),
    )


@cache
def _member_changes() -> Mapping[str, list[Any]]:
    shapes = dict(leaves())
    return {
        place: [*refused_values(shapes[member]), *taken_values(shapes[member]), None]
        for member, place in ON_EKS.items()
    }


_ANY_GROUP: Mapping[str, list[Any]] = {
    "instance_type": [None, "ml.p5.48xlarge"],
    "instance_requirements": [None, InstanceRequirements(instance_types=["ml.g5.xlarge", "ml.g5.xlarge"])],
    "kubernetes_config": [KubernetesConfig(taints=[Taint(key="a", effect=TaintEffect.NO_EXECUTE)])],
    "on_start_deep_health_checks": [(DeepHealthCheck.INSTANCE_STRESS,), ()],
    "min_instance_count": [0, 1, 7],
    "slurm_config": [SlurmConfig(node_type=NodeType.LOGIN)],
    "environment_config": [None, EnvironmentConfig(), EnvironmentConfig(fsx_lustre_config=LUSTRE)],
    "life_cycle_config": [LifeCycleConfig(source_s3_uri="s3://b/p/", on_init_complete="a"), ON_CREATE],
    "image_id": ["ami-0123456789abcdef0"],
    "capacity_requirements": list(CapacityType),
}
_CLUSTER: Mapping[str, list[Any]] = {
    "cluster.node_provisioning_mode": list(NodeProvisioningMode),
    "cluster.node_recovery": list(NodeRecovery),
    "cluster.auto_scaling": [None, AutoScaling()],
    "cluster.shared_environment_config": [None, SharedEnvironmentConfig(fsx_lustre_config=LUSTRE)],
    "cluster.orchestrator.eks": [None],
}


@st.composite
def changed_specs(draw: st.DrawFn) -> HyperPodSpec:
    """A sound spec in which one or two values are others, often such as the API refuses."""
    spec = draw(sound_specs())
    dice = Dice(draw=draw)
    for _ in range(dice.one((1, 1, 1, 2))):
        here = f"cluster.instance_groups[{dice.upto(len(spec.cluster.instance_groups) - 1)}]"
        table = dice.one((_member_changes(), _ANY_GROUP, _CLUSTER))
        place = dice.one(sorted(table))
        value = dice.one(table[place])
        if table is _ANY_GROUP:
            place = f"{here}.{place}"
        for short in ("compute", "login", "controller"):
            place = here + place.removeprefix(short) if place.startswith(short) else place
        try:
            spec = changed({place: value}, spec)
        except (TypeError, AttributeError):
            # the value lies below something that this spec does not have
            continue
    return spec
