"""What a request has to pass before the service accepts it, beyond the API model."""

from collections import Counter

from hyperpod_cdk.rehearsal.hyperpod import orchestrator, references, rules
from hyperpod_cdk.rehearsal.hyperpod.faults import RoleNotAssumable
from hyperpod_cdk.rehearsal.hyperpod.rules.common import configures_slurm, groups, volumes
from hyperpod_cdk.rehearsal.hyperpod.simulation import Simulation
from hyperpod_cdk.rehearsal.hyperpod.state import Spec


def admit(sim: Simulation, request: Spec, *, changed: Spec) -> None:
    """Refuse a cluster that the service would not make.

    Args:
        sim: the simulation.
        request: the whole cluster as a CreateCluster request.
        changed: the part of it that is new: the CreateCluster or UpdateCluster request.

    Raises:
        ValidationError: a rule of the service, a role, a subnet or a security group.
        AccessDeniedError: the caller may not pass a role.
        LimitExceededError: a quota.
    """
    rules.check_cluster(request)
    if sim.check_references:
        references.check_passing(sim.account, changed, sim.caller_role)
        references.check_network(sim.account, changed)
        orchestrator.check(sim, request)
    not_assumable = sim.faults.strike(RoleNotAssumable) is not None
    if sim.check_references or not_assumable:
        references.check_roles(sim.account, changed, not_assumable=not_assumable)
    if configures_slurm(request):
        references.check_legacy_file(sim.account, request)
    _check_quotas(sim, request)


def _check_quotas(sim: Simulation, request: Spec) -> None:
    name = request["ClusterName"]
    wanted: Counter[str] = Counter()
    for group in references.groups_of(request):
        types = group.get("InstanceRequirements", {}).get("InstanceTypes", [group.get("InstanceType")])
        wanted[types[0]] += group["InstanceCount"]
    elsewhere: Counter[str] = Counter()
    for other in sim.clusters.values():
        if other.name != name:
            elsewhere += other.instances()
    sizes = [
        volume.get("VolumeSizeInGB", 0)
        for group in groups(request)
        for volume in volumes(group, "EbsVolumeConfig")
    ]
    sim.quotas.check(
        wanted=wanted,
        elsewhere=elsewhere,
        current=sim.clusters[name].instances() if name in sim.clusters else Counter(),
        largest_volume_gib=max(sizes, default=0),
    )
