"""HP17x: what becomes of a deployed cluster and its groups when the configuration changes."""

from collections.abc import Iterator, Mapping
from typing import Any

from hyperpod_cdk.rules.change import SpecChange, told
from hyperpod_cdk.rules.finding import Finding, Severity
from hyperpod_cdk.rules.look import groups, groups_of, is_eks
from hyperpod_cdk.rules.network import addresses_by_zone
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service.layout import lay_out
from hyperpod_cdk.service.sources import API, GUIDE
from hyperpod_cdk.spec import CapacityType, HyperPodSpec, InstanceGroup, Network, NodeType

GROUP_FIELDS: Mapping[str, Any] = {
    "instance_type": None,
    "threads_per_core": 1,
    "override_vpc_config": None,
    "execution_role_arn": None,
    "capacity_requirements": CapacityType.ON_DEMAND,
    "network_interface": None,
}
"""Fixed for a group's life (API_UpdateCluster), with the service's defaults; beside its node type and the
keys of its disks."""


@checks(
    Rule(
        code="HP170",
        title="a change of what is fixed for a group's life",
        why="the service refuses it, and so does our custom resource before anything is changed",
        fix="add a group of another name with the new value, move the work, and remove the old group",
        source=f"{API}API_UpdateCluster.html",
    )
)
def group_is_fixed(change: SpecChange, rule: Rule) -> Iterator[Finding]:
    for path, before, group in _staying(change):
        for field, was in _fixed(before).items():
            now = _fixed(group)[field]
            if was != now and not unresolved(was, now):
                yield rule.finding(f"{path}.{field}", f"was {told(was)} when the group was made", given=now)


@checks(
    Rule(
        code="HP171",
        title="a controller group that goes, or changes its name",
        why="the service keeps the controller for the cluster's life; a rename is a removal and a new group",
        fix="keep the group's name, or deploy a cluster of another name beside this one",
        source=f"{API}API_UpdateCluster.html",
    )
)
def controller_stays(change: SpecChange, rule: Rule) -> Iterator[Finding]:
    names = [group.instance_group_name for _, group in groups_of(change.after, NodeType.CONTROLLER)]
    for _, group in groups_of(change.before, NodeType.CONTROLLER):
        if names and not unresolved(names) and group.instance_group_name not in names:
            message = f"lack the controller group {group.instance_group_name}"
            yield rule.finding("cluster.instance_groups", message)


@checks(
    Rule(
        code="HP172",
        title="mounts that running nodes do not get",
        why="the service mounts file systems when it sets a node up; nodes that run keep what they have",
        fix="scale the group to 0 and up again, or replace its nodes one by one",
        source=f"{GUIDE}sagemaker-hyperpod-ref.html",
        severity=Severity.WARNING,
    )
)
def mounts_of_new_nodes(change: SpecChange, rule: Rule) -> Iterator[Finding]:
    for path, before, group in _staying(change):
        runs = before.instance_count != 0 and group.instance_count != 0
        if runs and list(before.mounts) != list(group.mounts):
            yield rule.finding(f"{path}.mounts", "differ from those of running nodes")


@checks(
    Rule(
        code="HP173",
        title="a change that makes a new cluster",
        why="the service fixes network, orchestrator and EKS cluster for a cluster's life: a new one is made "
        "first, then the old one is deleted with the disks of its nodes and all that runs on them",
        fix="let jobs end and copy what lies on nodes' disks first; file systems and buckets are kept",
        source=f"{API}API_UpdateCluster.html, {GUIDE}sagemaker-hyperpod-eks.html",
        severity=Severity.WARNING,
    )
)
def new_cluster(change: SpecChange, rule: Rule) -> Iterator[Finding]:
    if _refusal(change) is None:
        for path, message, given in _replacing(change):
            yield rule.finding(path, message, given=given)


@checks(
    Rule(
        code="HP174",
        title="a change that needs a new cluster, and can not have one",
        why="the new cluster is made before the old one is deleted: a fixed name is taken until then, and an "
        "EKS cluster carries one HyperPod cluster",
        fix="take the change back; or delete the stack's cluster first, or give the new one another "
        "cluster_name, and another control plane on Amazon EKS",
        source=f"{API}API_CreateCluster.html, {GUIDE}sagemaker-hyperpod-eks-prerequisites.html",
    )
)
def no_new_cluster(change: SpecChange, rule: Rule) -> Iterator[Finding]:
    reason = _refusal(change)
    if reason is not None:
        for path, message, given in _replacing(change):
            yield rule.finding(path, f"{message}; {reason}", given=given)


@checks(
    Rule(
        code="HP175",
        title="a change that moves a subnet",
        why="a subnet's range is fixed: CloudFormation makes the new subnet before it deletes the old one, "
        "which lies where the new one is to lie, and the update fails",
        fix="add zones at the end of the list, three at most; leave groups as large as their zone's subnet "
        "holds, or put them into another zone with override_vpc_config",
        source="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/"
        "aws-resource-ec2-subnet.html (CidrBlock: Replacement), hyperpod_cdk.service.layout",
    )
)
def moved_subnets(change: SpecChange, rule: Rule) -> Iterator[Finding]:
    before, after = _subnets(change.before), _subnets(change.after)
    if change.before.network.cidr != change.after.network.cidr:
        # another VPC, and so other subnets anyhow
        return
    for zone, was in before.items():
        now = after.get(zone, was)
        if now != was:
            yield rule.finding("network", f"has {was} in {zone}, which would become {now}")


@checks(
    Rule(
        code="HP176",
        title="nodes that go",
        why="the service ends nodes of its own choice, with what runs on them and what lies on their disks",
        fix="drain nodes and delete exactly those with `aws sagemaker batch-delete-cluster-nodes`, then "
        "deploy the lower count; copy what lies on their disks to S3 or a file system first",
        source=f"{GUIDE}smcluster-scale-down.html",
        severity=Severity.WARNING,
    )
)
def nodes_that_go(change: SpecChange, rule: Rule) -> Iterator[Finding]:
    staying = list(_staying(change))
    for path, before, group in staying:
        was, now = before.instance_count, group.instance_count
        if not unresolved(was, now) and now < was:
            yield rule.finding(f"{path}.instance_count", f"was {was}: {was - now} of its nodes go", given=now)
    names = [group.instance_group_name for _, group in groups(change.after)]
    kept = {before.instance_group_name for _, before, _ in staying}
    if not kept or unresolved(names):
        return
    for _, group in groups(change.before):
        name, nodes = group.instance_group_name, group.instance_count
        if name not in names and nodes != 0 and not _is_controller(group):
            yield rule.finding("cluster.instance_groups", f"lack {name}, whose {nodes} nodes go")


def _is_controller(group: InstanceGroup) -> bool:
    return group.slurm_config is not None and group.slurm_config.node_type == NodeType.CONTROLLER


def _subnets(spec: HyperPodSpec) -> Mapping[str, str]:
    """Ranges of the nodes' subnets by their zones; none where they are not made here, or not known."""
    network = spec.network
    counts = [group.instance_count for group in spec.cluster.instance_groups]
    if network.existing is not None or unresolved(network.cidr, network.availability_zone_ids, *counts):
        return {}
    return lay_out(network.cidr, network.availability_zone_ids, addresses_by_zone(spec)).private


def _staying(change: SpecChange) -> Iterator[tuple[str, InstanceGroup, InstanceGroup]]:
    """Path and both states of groups that stay, in a cluster that is not made anew."""
    if _refusal(change) is None and any(_replacing(change)):
        return
    if is_eks(change.before) is not is_eks(change.after):
        return
    old = {group.instance_group_name: group for _, group in groups(change.before)}
    for path, group in groups(change.after):
        before = old.get(group.instance_group_name)
        if before is not None:
            yield path, before, group


def _replacing(change: SpecChange) -> Iterator[tuple[str, str, Any]]:
    """Path, what was before, and the value given, of each change that the service does not make in place."""
    before, after = change.before.cluster, change.after.cluster
    if is_eks(change.before) is not is_eks(change.after):
        names = ("Slurm", "Amazon EKS")
        yield "cluster.orchestrator", f"was {names[is_eks(change.before)]}", names[is_eks(change.after)]
    elif change.planes:
        arn, new_arn = (plane.cluster_arn for plane in change.planes)
        if arn != new_arn and not unresolved(arn, new_arn):
            goes = "one made here, which is deleted with all that lies in Kubernetes"
            yield "cluster.orchestrator.eks.cluster_arn", f"was {arn or goes}", new_arn
    if _place(change.before.network) != _place(change.after.network) and not _unknown_place(change):
        yield "network", f"was {_place_told(change.before.network)}", _place_told(change.after.network)
    was, now = before.cluster_name, after.cluster_name
    if was != now and not unresolved(was, now):
        yield "cluster.cluster_name", f"was {told(was)}", now


def _refusal(change: SpecChange) -> str | None:
    """Why a new cluster can not be made beside the old one; None: it can, or is not needed."""
    before, after = change.before.cluster, change.after.cluster
    planes = change.planes
    if planes and planes[0].cluster_arn == planes[1].cluster_arn and not unresolved(planes[0].cluster_arn):
        return "the control plane carries the old cluster until that is gone"
    if after.cluster_name is not None and before.cluster_name == after.cluster_name:
        return f"the name {after.cluster_name} is the old cluster's until that is gone"
    return None


def _place(network: Network) -> Any:
    """Subnets and security groups of the cluster; of a network that is made, what they come of."""
    existing = network.existing
    if existing is None:
        return network.cidr, tuple(network.availability_zone_ids[:1])
    return frozenset(one.subnet_id for one in existing.subnets), frozenset(existing.security_group_ids)


def _unknown_place(change: SpecChange) -> bool:
    values = []
    for network in (change.before.network, change.after.network):
        existing = network.existing
        values += [network.cidr, network.availability_zone_ids]
        if existing is not None:
            values += [existing.security_group_ids, *(one.subnet_id for one in existing.subnets)]
    return unresolved(*values)


def _place_told(network: Network) -> str:
    existing = network.existing
    if existing is None:
        return f"{', '.join(network.availability_zone_ids[:1])} of a VPC {network.cidr} made here"
    return ", ".join([*(one.subnet_id for one in existing.subnets), *existing.security_group_ids])


def _fixed(group: InstanceGroup) -> Mapping[str, Any]:
    """What can not change, by its path below the group."""
    keys = {
        f"{name}.volume_kms_key_id": volume.volume_kms_key_id
        for name in ("root_volume", "secondary_volume")
        if (volume := getattr(group, name)) is not None
    }
    return {
        **{field: getattr(group, field) or default for field, default in GROUP_FIELDS.items()},
        "slurm_config.node_type": group.slurm_config.node_type if group.slurm_config else None,
        # restricted groups are in a list of their own, and a name is in one of the two
        "environment_config": None if group.environment_config is None else "restricted",
        "root_volume.volume_kms_key_id": None,
        "secondary_volume.volume_kms_key_id": None,
        **keys,
    }
