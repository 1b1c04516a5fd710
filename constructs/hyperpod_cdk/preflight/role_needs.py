"""What an existing execution role must allow, from what its groups do."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from hyperpod_cdk.preflight import eks_plan, places
from hyperpod_cdk.preflight.scripts import scripts
from hyperpod_cdk.rules.look import groups, node_type
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service import permissions
from hyperpod_cdk.spec import HyperPodSpec, InstanceGroup, LustreFileSystem, NodeType

_METRICS_NAMESPACE = "/aws/sagemaker/Clusters"
_SESSIONS = (
    *("ssmmessages:CreateControlChannel", "ssmmessages:CreateDataChannel"),
    *("ssmmessages:OpenControlChannel", "ssmmessages:OpenDataChannel"),
)
# any will do: what matters is the form of the ids
_INTERFACE = "network-interface/eni-0123456789abcdef0"
_CLUSTER_ID, _NODE_ID = "0123456789ab", "i-0123456789abcdef0"


@dataclass(frozen=True, kw_only=True)
class Need:
    """Actions that a role must allow on each of some resources.

    ``context`` holds values that the call will bring, for conditions.
    """

    actions: Sequence[str]
    resources: Sequence[str]
    context: Mapping[str, str] = field(default_factory=dict)


def needs(spec: HyperPodSpec, role_arn: str, region: str) -> list[Need]:
    """Everything that the nodes with a role do.

    Args:
        spec: what the user asks for.
        role_arn: an execution role that groups name.
        region: where.
    """
    role = _Role(spec=spec, arn=role_arn, region=region)
    return _together(
        [
            *(*_of_every_node(role), *_of_places(role), *_of_pods(role)),
            *(*_of_scripts(role), *_of_data(role), *_of_secrets(role)),
        ]
    )


def _together(found: Sequence[Need]) -> list[Need]:
    """Needs on the same resources as one: each is a question to IAM."""
    actions: dict[tuple[tuple[str, ...], tuple[tuple[str, str], ...]], list[str]] = {}
    for need in found:
        key = tuple(need.resources), tuple(sorted(need.context.items()))
        actions.setdefault(key, []).extend(need.actions)
    return [
        Need(actions=list(dict.fromkeys(names)), resources=resources, context=dict(context))
        for (resources, context), names in actions.items()
    ]


@dataclass(frozen=True, kw_only=True)
class _Role:
    """A role, and the groups whose nodes have it."""

    spec: HyperPodSpec
    arn: str
    region: str

    @property
    def groups(self) -> list[tuple[str, InstanceGroup]]:
        return [one for one in groups(self.spec) if one[1].execution_role_arn == self.arn]

    def resource(self, service: str, name: str) -> str:
        """ARN in the role's account."""
        _, partition, _, _, account, _ = self.arn.split(":", 5)
        return f"arn:{partition}:{service}:{self.region}:{account}:{name}"

    def bucket(self, name: str) -> str:
        return f"arn:{self.arn.split(':')[1]}:s3:::{name}"


def _of_every_node(role: _Role) -> Iterator[Need]:
    name = role.spec.cluster.cluster_name or "cluster"
    log_group = role.resource("logs", f"log-group:/aws/sagemaker/Clusters/{name}/{_CLUSTER_ID}")
    streams = [
        f"{log_group}:log-stream:LifecycleConfig/{group.instance_group_name}/{_NODE_ID}"
        for _, group in role.groups
    ]
    context = {"cloudwatch:namespace": _METRICS_NAMESPACE}
    interface = [
        *permissions.CREATE_INTERFACE,
        *permissions.CHANGE_INTERFACE,
        *permissions.DETACH_INTERFACE,
    ]
    yield Need(actions=["logs:CreateLogGroup"], resources=[log_group])
    yield Need(actions=permissions.WRITE_LOG_STREAMS, resources=streams)
    yield Need(actions=["cloudwatch:PutMetricData"], resources=["*"], context=context)
    yield Need(actions=_SESSIONS, resources=["*"])
    yield Need(actions=permissions.DESCRIBE_NETWORK, resources=["*"])
    yield Need(actions=interface, resources=[role.resource("ec2", _INTERFACE)])
    yield Need(actions=permissions.TAG_INTERFACE, resources=[role.resource("ec2", _INTERFACE)])


def _of_places(role: _Role) -> Iterator[Need]:
    resources = [
        role.resource("ec2", f"{kind}/{one}")
        for placement in places.placements(role.spec)
        if placement.group.execution_role_arn == role.arn
        for kind, ids in (("subnet", placement.subnet_ids), ("security-group", placement.security_group_ids))
        for one in ids
    ]
    if resources:
        yield Need(actions=permissions.CREATE_INTERFACE, resources=list(dict.fromkeys(resources)))


def _of_pods(role: _Role) -> Iterator[Need]:
    """On Amazon EKS pods get addresses, images and identities with the node's role."""
    eks = role.spec.cluster.orchestrator.eks
    if eks is None:
        return
    interface = role.resource("ec2", _INTERFACE)
    yield Need(actions=permissions.DESCRIBE_NODES, resources=["*"])
    yield Need(actions=[*permissions.SERVE_PODS, *permissions.ATTACH_INTERFACE], resources=[interface])
    yield Need(actions=permissions.ECR_LOGIN, resources=["*"])
    yield Need(actions=permissions.ECR_PULL, resources=[role.resource("ecr", "repository/any")])
    if eks.cluster_arn is not None and not unresolved(eks.cluster_arn):
        yield Need(actions=permissions.POD_IDENTITY, resources=[eks.cluster_arn])
    else:
        # the digits at its end are not known here
        name = f"{eks_plan.new_name(role.spec)}00000000"
        yield Need(actions=permissions.POD_IDENTITY, resources=[role.resource("eks", f"cluster/{name}")])
    metrics = eks.observability.prometheus_workspace_arn if eks.observability else None
    if metrics and any(group.environment_config for _, group in role.groups) and not unresolved(metrics):
        yield Need(actions=permissions.WRITE_METRICS, resources=[metrics])


def _of_scripts(role: _Role) -> Iterator[Need]:
    paths = {f"{path}.life_cycle_config" for path, _ in role.groups}
    for script in scripts(role.spec):
        if script.path in paths:
            bucket = role.bucket(script.bucket)
            yield Need(actions=permissions.LIST_BUCKET, resources=[bucket])
            yield Need(actions=permissions.READ_OBJECTS, resources=[f"{bucket}/{script.key}"])


def _of_data(role: _Role) -> Iterator[Need]:
    if any(_mounts_lustre(role.spec, group) for _, group in role.groups):
        yield Need(actions=permissions.DESCRIBE_FILE_SYSTEMS, resources=["*"])
    volumes = [one for _, group in role.groups for one in (group.root_volume, group.secondary_volume) if one]
    keys = [one.volume_kms_key_id for one in volumes if one.volume_kms_key_id]
    for key in dict.fromkeys(one for one in keys if not unresolved(one)):
        arn = key if key.startswith("arn:") else role.resource("kms", f"key/{key}")
        yield Need(actions=permissions.USE_VOLUME_KEY, resources=[arn])
    for mount in role.spec.lifecycle.bucket_mounts:
        yield Need(actions=permissions.LIST_BUCKET, resources=[role.bucket(mount.bucket)])
        objects = [f"{role.bucket(mount.bucket)}/{mount.prefix}any"]
        yield Need(actions=permissions.READ_OBJECTS, resources=objects)
        if not mount.read_only:
            yield Need(actions=["s3:PutObject"], resources=objects)
    if role.spec.lifecycle.monitoring:
        workspace = role.spec.lifecycle.monitoring.workspace_arn
        yield Need(actions=["aps:RemoteWrite"], resources=[workspace])


def _of_secrets(role: _Role) -> Iterator[Need]:
    """The controller reads that of its database, every node that of a directory."""
    controls = any(node_type(group) == NodeType.CONTROLLER for _, group in role.groups)
    for path, secret in places.secrets(role.spec):
        if controls or path.startswith("lifecycle."):
            yield Need(actions=["secretsmanager:GetSecretValue"], resources=[secret])


def _mounts_lustre(spec: HyperPodSpec, group: InstanceGroup) -> bool:
    return any(
        mount.file_system_type == "LUSTRE"
        or isinstance(spec.storage.get(mount.storage or ""), LustreFileSystem)
        for mount in group.mounts
    )
