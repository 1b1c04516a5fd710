"""What a request says of the cluster as a whole, and of its network."""

from typing import Any

from hyperpod_cdk.config.writer import Noted
from hyperpod_cdk.migration import kubernetes
from hyperpod_cdk.migration.filling import fill
from hyperpod_cdk.migration.notes import Kind, Note
from hyperpod_cdk.migration.part import Part
from hyperpod_cdk.spec import NodeProvisioningMode, SlurmConfigStrategy


def read_network(part: Part, notes: list[Note]) -> dict[str, Any]:
    """The network that is there.

    Args:
        part: VpcConfig.
        notes: where what needs saying goes.
    """
    subnets, groups = part.take("Subnets"), part.take("SecurityGroupIds")
    for member, value in (("Subnets", subnets), ("SecurityGroupIds", groups)):
        if not value:
            text = "nodes need a network of yours: name it under network.existing, or zones for a new one"
            notes.append(Note(kind=Kind.MISSING, path=f"VpcConfig.{member}", text=text))
    if not subnets and not groups:
        return {}
    existing = {
        "subnets": [{"subnet_id": one} for one in subnets or ()],
        "security_group_ids": Noted(
            value=groups or [], above="One must allow all traffic from and to itself."
        ),
    }
    return {
        "existing": Noted(
            value=existing, above="It is there already; only rules that file systems need are added."
        )
    }


def read_cluster(part: Part, notes: list[Note], *, legacy: bool) -> dict[str, Any]:
    """Everything of the cluster but its groups.

    Args:
        part: the request.
        notes: where what needs saying goes.
        legacy: provisioning_parameters.json describes Slurm, and not the API.
    """
    name = part.take("ClusterName")
    if name is None and part.value:
        notes.append(
            Note(kind=Kind.CHANGED, path="ClusterName", text="none is given, so that one is generated")
        )
    mode = part.take("NodeProvisioningMode") or NodeProvisioningMode.ALL_AT_ONCE
    tags = _tags(part, notes)
    if kubernetes.is_on_eks(part):
        platform = kubernetes.read_platform(part, tags, notes)
    else:
        slurm = {} if legacy else _slurm(part, notes, all_at_once=mode == NodeProvisioningMode.ALL_AT_ONCE)
        platform = {"orchestrator": {"slurm": slurm}} if slurm else {}
    settings: dict[str, Any] = {
        **({"cluster_name": name} if name else {}),
        "node_provisioning_mode": mode,
        **platform,
        **({"tags": tags} if tags else {}),
    }
    recovery = part.take("NodeRecovery")
    settings["node_recovery"] = recovery or Noted(value=None, beside="left to the service")
    return settings


def _slurm(part: Part, notes: list[Note], *, all_at_once: bool) -> dict[str, Any]:
    orchestrator = part.below("Orchestrator").below("Slurm")
    strategy = orchestrator.take("SlurmConfigStrategy")
    if not part.below("Orchestrator").has("Slurm"):
        notes.append(Note(kind=Kind.CHANGED, path="Orchestrator", text="says Slurm, which the groups imply"))
    if strategy is None and all_at_once:
        strategy = SlurmConfigStrategy.MERGE
        text = "AWS's pages differ on what holds when none is given; Merge keeps what was edited by hand"
        notes.append(Note(kind=Kind.CHANGED, path="Orchestrator.Slurm.SlurmConfigStrategy", text=text))
    database = orchestrator.below("AccountingDatabase")
    login = {
        "endpoint": database.take("Endpoint"),
        "secret_arn": database.take("SecretArn"),
        "port": database.take("Port"),
        "name": database.take("Name"),
    }
    if database.value:
        fill(login, database, {"endpoint": "Endpoint", "secret_arn": "SecretArn"}, notes)
    slurm = {
        "slurm_config_strategy": strategy,
        "accounting_database": {key: value for key, value in login.items() if value is not None},
    }
    # an empty one was there, and says nothing
    part.below("Orchestrator").taken.update({"Orchestrator.Slurm"} if not orchestrator.value else ())
    return {key: value for key, value in slurm.items() if value}


def _tags(part: Part, notes: list[Note]) -> dict[str, Any]:
    tags: dict[str, Any] = {}
    for tag in part.items("Tags"):
        if tag.has("Key") and tag.value["Key"] not in tags:
            tags[str(tag.take("Key"))] = tag.take("Value") if tag.has("Value") else ""
            if not tag.has("Value"):
                notes.append(Note(kind=Kind.CHANGED, path=f"{tag.path}.Value", text="is empty from now on"))
    return tags
