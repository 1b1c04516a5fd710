"""HP489, HP495, HP496: on which nodes, and where on them, things are set up."""

from collections.abc import Iterator, Sequence

from hyperpod_cdk.rules.finding import Finding, Severity
from hyperpod_cdk.rules.look import groups, lifecycle_mode, node_type
from hyperpod_cdk.rules.mounts import mount_paths
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.spec import HyperPodSpec, LifecycleMode, NodeType

_CONTAINERS = "lifecycle.containers.data_directory"
_BY_THE_SERVICE = (LifecycleMode.EXTENSION, LifecycleMode.AMI)


@checks(
    Rule(
        code="HP489",
        title="something that is set up on no node",
        why="node_types and instance_groups together name none of the cluster's nodes: nothing happens",
        fix="name node types and groups that there are",
        source="hyperpod_cdk.spec.OwnStep, hyperpod_cdk.spec.BucketMount",
        severity=Severity.WARNING,
    )
)
def on_no_node(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, kinds, names in _chosen(spec):
        all_of = [(node_type(group), group.instance_group_name) for _, group in groups(spec)]
        if unresolved(list(kinds), list(names), *(list(filter(None, one)) for one in all_of)):
            continue
        if not any(
            (not kinds or kind is None or kind in kinds) and (not names or name in names)
            for kind, name in all_of
        ):
            where = "node_types" if kinds else "instance_groups"
            yield rule.finding(f"{path}.{where}", "names no node of the cluster", given=list(kinds or names))


def _chosen(spec: HyperPodSpec) -> Iterator[tuple[str, Sequence[NodeType], Sequence[str]]]:
    """Path, node types and groups of what is set up on some nodes."""
    lifecycle = spec.lifecycle
    for index, step in enumerate(lifecycle.steps):
        yield f"lifecycle.steps[{index}]", step.node_types, step.instance_groups
    for index, mount in enumerate(lifecycle.bucket_mounts):
        yield f"lifecycle.bucket_mounts[{index}]", mount.node_types, ()
    if lifecycle.directory is not None:
        yield "lifecycle.directory", lifecycle.directory.node_types, ()


@checks(
    Rule(
        code="HP495",
        title="data of Docker on a file system that nodes share",
        why="one folder would be the data of Docker on every node, each of which takes it for its own; and "
        "Docker's overlay2 works on no Lustre and no NFS",
        fix="leave data_directory out, which takes the nodes' own disks; or set docker: false",
        source="https://docs.docker.com/engine/storage/drivers/select-storage-driver/",
    )
)
def shared_container_data(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    containers = spec.lifecycle.containers
    place = containers.data_directory if containers is not None and containers.docker else None
    if place is None or unresolved(place):
        return
    shared = [where for _, group in groups(spec) for where in mount_paths(spec, group) if where is not None]
    for where in dict.fromkeys(shared):
        if f"{place}/".startswith(f"{where.rstrip('/')}/"):
            yield rule.finding(_CONTAINERS, f"lies in the file system at {where}", given=place)


@checks(
    Rule(
        code="HP496",
        title="a place for containers that nobody reads",
        why="in extension and ami mode the service sets Docker and Enroot up, on disks of its own choice",
        fix="remove data_directory, or use lifecycle mode custom or legacy",
        source="hyperpod_cdk.spec.Containers",
        severity=Severity.WARNING,
    )
)
def unread_container_data(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    containers = spec.lifecycle.containers
    if containers is None or containers.data_directory is None or unresolved(containers.data_directory):
        return
    modes = [lifecycle_mode(spec, group) for _, group in groups(spec)]
    if not unresolved(modes) and all(mode in _BY_THE_SERVICE for mode in modes):
        yield rule.finding(_CONTAINERS, "is read in no group's mode", given=containers.data_directory)
