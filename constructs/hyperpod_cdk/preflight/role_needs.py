"""What an existing execution role must allow, from what its groups do."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from hyperpod_cdk.preflight import places
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
# any will do: what matters is the form of the id
_INTERFACE = "network-interface/eni-0123456789abcdef0"


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
    mine = [(path, group) for path, group in groups(spec) if group.execution_role_arn == role_arn]
    partition, account = role_arn.split(":")[1], role_arn.split(":")[4]

    def arn(service: str, resource: str) -> str:
        return f"arn:{partition}:{service}:{region}:{account}:{resource}"

    name = spec.cluster.cluster_name or "cluster"
    log_group = arn("logs", f"log-group:/aws/sagemaker/Clusters/{name}/0123456789ab")
    found = [
        Need(actions=["logs:CreateLogGroup"], resources=[log_group]),
        Need(
            actions=permissions.WRITE_LOG_STREAMS,
            resources=[
                f"{log_group}:log-stream:LifecycleConfig/{mine[0][1].instance_group_name}/i-0123456789abcdef0"
            ],
        ),
        Need(
            actions=["cloudwatch:PutMetricData"],
            resources=["*"],
            context={"cloudwatch:namespace": _METRICS_NAMESPACE},
        ),
        Need(actions=_SESSIONS, resources=["*"]),
        Need(actions=permissions.DESCRIBE_NETWORK, resources=["*"]),
        Need(
            actions=[
                *permissions.CREATE_INTERFACE,
                *permissions.CHANGE_INTERFACE,
                *permissions.DETACH_INTERFACE,
            ],
            resources=[arn("ec2", _INTERFACE)],
        ),
        Need(actions=permissions.TAG_INTERFACE, resources=[arn("ec2", _INTERFACE)]),
    ]
    found += _of_places(spec, role_arn, arn("ec2", ""))
    found += _of_scripts(spec, mine, partition)
    if any(_mounts_lustre(spec, group) for _, group in mine):
        found.append(Need(actions=permissions.DESCRIBE_FILE_SYSTEMS, resources=["*"]))
    for key in dict.fromkeys(_volume_keys(group) for _, group in mine):
        found += [
            Need(
                actions=permissions.USE_VOLUME_KEY,
                resources=[one if one.startswith("arn:") else arn("kms", f"key/{one}")],
            )
            for one in key
        ]
    if any(node_type(group) == NodeType.CONTROLLER for _, group in mine):
        found += [
            Need(actions=["secretsmanager:GetSecretValue"], resources=[one])
            for _, one in places.secrets(spec)
        ]
    return found


def _of_places(spec: HyperPodSpec, role_arn: str, prefix: str) -> Iterator[Need]:
    resources = [
        f"{prefix}{kind}/{one}"
        for placement in places.placements(spec)
        if placement.group.execution_role_arn == role_arn
        for kind, ids in (("subnet", placement.subnet_ids), ("security-group", placement.security_group_ids))
        for one in ids
    ]
    if resources:
        yield Need(actions=permissions.CREATE_INTERFACE, resources=list(dict.fromkeys(resources)))


def _of_scripts(
    spec: HyperPodSpec, mine: Sequence[tuple[str, InstanceGroup]], partition: str
) -> Iterator[Need]:
    paths = {f"{path}.life_cycle_config" for path, _ in mine}
    for script in scripts(spec):
        if script.path in paths:
            bucket = f"arn:{partition}:s3:::{script.bucket}"
            yield Need(actions=permissions.LIST_BUCKET, resources=[bucket])
            yield Need(actions=permissions.READ_OBJECTS, resources=[f"{bucket}/{script.key}"])


def _mounts_lustre(spec: HyperPodSpec, group: InstanceGroup) -> bool:
    return any(
        mount.file_system_type == "LUSTRE"
        or isinstance(spec.storage.get(mount.storage or ""), LustreFileSystem)
        for mount in group.mounts
    )


def _volume_keys(group: InstanceGroup) -> tuple[str, ...]:
    volumes = (group.root_volume, group.secondary_volume)
    ids = [volume.volume_kms_key_id for volume in volumes if volume and volume.volume_kms_key_id]
    return tuple(one for one in ids if not unresolved(one))
