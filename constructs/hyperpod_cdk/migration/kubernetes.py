"""What a request says of a cluster on Amazon EKS alone: of its groups, and of the whole."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from hyperpod_cdk.config.writer import Noted
from hyperpod_cdk.migration.filling import fill
from hyperpod_cdk.migration.notes import Kind, Note
from hyperpod_cdk.migration.part import Part
from hyperpod_cdk.migration.updates import deployment
from hyperpod_cdk.service.eks import OPERATOR_TAG
from hyperpod_cdk.spec import AutoScalerType, FsxLustreDeletionPolicy, NodeProvisioningMode

_LUSTRE = {"size_in_gib": "SizeInGiB", "per_unit_storage_throughput": "PerUnitStorageThroughput"}
_ON, _OFF = "Enable", "Disable"


def is_on_eks(request: Part) -> bool:
    """Whether a request is for a cluster that Amazon EKS runs."""
    return request.below("Orchestrator").has("Eks")


def read_group(part: Part, notes: list[Note]) -> dict[str, Any]:
    """Settings of a group that only clusters on Amazon EKS have.

    Args:
        part: an entry of InstanceGroups.
        notes: where what needs saying goes.
    """
    types = part.below("InstanceRequirements").take("InstanceTypes")
    return {
        "instance_requirements": {"instance_types": types} if types else None,
        "kubernetes_config": _labels_and_taints(part.below("KubernetesConfig"), notes),
        "auto_patch_config": _auto_patch(part.below("AutoPatchConfig"), notes),
    }


def read_environment(part: Part, notes: list[Note]) -> dict[str, Any]:
    """What makes a group a restricted one.

    Args:
        part: an entry of RestrictedInstanceGroups.
        notes: where what needs saying goes.
    """
    environment = part.below("EnvironmentConfig")
    if not environment.value:
        # it says that there is none of its own, as its absence does
        part.take("EnvironmentConfig")
    if not environment.has("FSxLustreConfig"):
        return {}
    return {"fsx_lustre_config": _lustre(environment, notes)}


def read_platform(part: Part, tags: dict[str, Any], notes: list[Note]) -> dict[str, Any]:
    """Orchestrator, memory for checkpoints, autoscaling and the restricted groups' file system.

    Args:
        part: the request.
        tags: the cluster's; the one that the training operator's setting gives by itself is removed.
        notes: where what needs saying goes.
    """
    orchestrator = part.below("Orchestrator").below("Eks")
    eks: dict[str, Any] = {"cluster_arn": orchestrator.take("ClusterArn")}
    fill(eks, orchestrator, {"cluster_arn": "ClusterArn"}, notes)
    eks["training_operator"] = _operator(tags, notes)
    settings = {
        "orchestrator": {"eks": Noted(value=eks, above="It is there already; its access and chart stay.")},
        "tiered_storage_config": _tiered(part, notes),
        "auto_scaling": _auto_scaling(part, notes),
        "shared_environment_config": _shared(part, notes),
    }
    return {key: value for key, value in settings.items() if value is not None}


def tell_first_node(
    cluster: Mapping[str, Any], groups: Sequence[tuple[str, Mapping[str, Any]]], notes: list[Note]
) -> None:
    """Tell of the minimum of one node that the training operator brings where no group says one.

    Args:
        cluster: its settings.
        groups: paths of the groups in the request, and their settings.
        notes: are added to.
    """
    operator = cluster["orchestrator"]["eks"].value["training_operator"].value
    said = any("min_instance_count" in settings for _, settings in groups)
    if operator is None or said or cluster["node_provisioning_mode"] != NodeProvisioningMode.CONTINUOUS:
        return
    for path, settings in groups:
        if "environment_config" not in settings and settings["instance_count"] != 0:
            text = "1 is written where none is given, since the training operator needs a node to run on"
            notes.append(Note(kind=Kind.CHANGED, path=f"{path}.MinInstanceCount", text=text))
            return


def _operator(tags: dict[str, Any], notes: list[Note]) -> Any:
    if tags.get(OPERATOR_TAG) != "true":
        return Noted(value=None, beside=f"there is no tag {OPERATOR_TAG}=true, without which it sees no node")
    del tags[OPERATOR_TAG]
    text = (
        f"the tag {OPERATOR_TAG}=true says that the training operator is used, and the stack installs it: "
        f"where it is installed already, write training_operator: null and the tag under tags"
    )
    notes.append(Note(kind=Kind.CHANGED, path="Tags", text=text))
    return Noted(value={}, beside=f"gives the tag {OPERATOR_TAG}=true")


def _labels_and_taints(part: Part, notes: list[Note]) -> dict[str, Any] | None:
    taints = []
    for one in part.items("Taints"):
        taint = {"key": one.take("Key"), "value": one.take("Value"), "effect": one.take("Effect")}
        if one.value:
            fill(taint, one, {"key": "Key", "effect": "Effect"}, notes)
            taints.append(_given(taint))
    return _given({"labels": part.take("Labels"), "taints": taints}) or None


def _auto_patch(part: Part, notes: list[Note]) -> dict[str, Any] | None:
    if not part.value:
        return None
    drain = part.below("DrainPolicy")
    config: dict[str, Any] = {
        "patching_strategy": part.take("PatchingStrategy"),
        "next_patch_date": _moment(part.below("PatchSchedule"), notes),
        "deployment_config": deployment(part.below("DeploymentConfig"), notes),
        "idle_wait_window_in_seconds": part.take("IdleWaitWindowInSeconds"),
        "drain_policy": _given(
            {
                "drain_timeout_in_seconds": drain.take("DrainTimeoutInSeconds"),
                "on_drain_timeout": drain.take("OnDrainTimeout"),
            }
        ),
    }
    fill(config, part, {"patching_strategy": "PatchingStrategy"}, notes)
    return _given(config)


def _moment(part: Part, notes: list[Note]) -> str | None:
    """A date as text: YAML reads one that stands without quotes, and some tools write seconds."""
    given = part.take("NextPatchDate")
    if given is None or isinstance(given, str):
        return given
    moment = given if isinstance(given, datetime) else datetime.fromtimestamp(given, tz=UTC)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    text = moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    notes.append(
        Note(kind=Kind.CHANGED, path=f"{part.path}.NextPatchDate", text=f"is written as text, {text}")
    )
    return text


def _tiered(part: Part, notes: list[Note]) -> dict[str, Any] | None:
    config = _switched_on(part, "TieredStorageConfig", notes)
    if config is None:
        return None
    key = "instance_memory_allocation_percentage"
    return _given({key: config.take("InstanceMemoryAllocationPercentage")})


def _auto_scaling(part: Part, notes: list[Note]) -> dict[str, Any] | None:
    config = _switched_on(part, "AutoScaling", notes)
    if config is None:
        return None
    scaler, role = config.take("AutoScalerType"), part.take("ClusterRole")
    if scaler is None:
        scaler = AutoScalerType.KARPENTER
        text = f"{scaler} is written, the only one that there is"
        notes.append(Note(kind=Kind.CHANGED, path=f"{config.path}.AutoScalerType", text=text))
    if role is None:
        text = "none is given, so that one is made"
        notes.append(Note(kind=Kind.CHANGED, path="ClusterRole", text=text))
    return _given({"auto_scaler_type": scaler, "cluster_role_arn": role})


def _switched_on(part: Part, member: str, notes: list[Note]) -> Part | None:
    """A member that has a mode, if it is on; where it says no mode, it is left, and told."""
    config = part.below(member)
    mode = config.value.get("Mode") if isinstance(config.value, dict) else None
    if mode == _OFF:
        part.take(member)
        text = "is off, which here goes without saying"
        notes.append(Note(kind=Kind.CHANGED, path=config.path, text=text))
    if mode != _ON:
        return None
    config.take("Mode")
    return config


def _shared(part: Part, notes: list[Note]) -> dict[str, Any] | None:
    config = part.below("RestrictedInstanceGroupsConfig").below("SharedEnvironmentConfig")
    if not config.value:
        return None
    policy = config.take("FSxLustreDeletionPolicy")
    if policy is None:
        policy = FsxLustreDeletionPolicy.KEEP
        text = f"none is given, and {policy} is written"
        notes.append(Note(kind=Kind.CHANGED, path=f"{config.path}.FSxLustreDeletionPolicy", text=text))
    return {"fsx_lustre_config": _lustre(config, notes), "fsx_lustre_deletion_policy": policy}


def _lustre(part: Part, notes: list[Note]) -> dict[str, Any]:
    config = part.below("FSxLustreConfig")
    settings = {ours: config.take(theirs) for ours, theirs in _LUSTRE.items()}
    fill(settings, config, _LUSTRE, notes)
    return settings


def _given(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in settings.items() if value not in (None, [], {})}
