"""A first configuration, with comments that say what to change and when."""

from typing import Any

from hyperpod_cdk.commands.starter import eks
from hyperpod_cdk.commands.starter.readers import Answers, has_accelerators, on_eks
from hyperpod_cdk.config.writer import Noted, write

LUSTRE, HOME = "shared", "home"
"""What the file systems are called."""

_HEAD = (
    "A HyperPod Slurm cluster. `hyperpod-cdk validate` checks it, `hyperpod-cdk explain CODE` says more\n"
    "of a finding. What is left out has a default, which your editor shows."
)


def starter(answers: Answers, *, schema: str) -> str:
    """The YAML text of a first configuration.

    Args:
        answers: from :func:`~hyperpod_cdk.commands.starter.answers.answer`.
        schema: path of the JSON Schema, for editors.
    """
    name = answers["name"]
    head = f"yaml-language-server: $schema={schema}\n\n{eks.HEAD if on_eks(answers) else _HEAD}"
    tree: dict[str, Any] = {"stack_name": name, "region": answers["region"], "network": _network(answers)}
    storage = _storage(answers)
    if storage:
        tree["storage"] = Noted(
            value=storage,
            apart=True,
            above="File systems, by names of yours. They are kept when the stack is deleted, unless you add\n"
            "`removal_policy: destroy`.",
        )
    cluster: dict[str, Any] = {"cluster_name": name}
    if on_eks(answers):
        cluster |= {"orchestrator": eks.orchestrator(answers), "instance_groups": [eks.group(answers)]}
    else:
        cluster["instance_groups"] = _groups(answers)
    tree["cluster"] = Noted(value=cluster, apart=True)
    return write(tree, head=head)


def _network(answers: Answers) -> Noted:
    zone = answers["zone"]
    if answers["vpc_id"]:
        existing: dict[str, Any] = {"vpc_id": answers["vpc_id"]}
        if answers["vpc_cidr"]:
            existing["vpc_cidr"] = answers["vpc_cidr"]
        subnet = {"subnet_id": answers["subnet_id"], "availability_zone_id": zone}
        private = "Private: nodes reach S3 through an endpoint or NAT."
        existing["subnets"] = [Noted(value=subnet, above=private)]
        if on_eks(answers):
            other = {"subnet_id": answers["second_subnet_id"], "availability_zone_id": answers["second_zone"]}
            existing["subnets"].append(
                Noted(value=other, above="For the control plane, which wants two zones.")
            )
        existing["security_group_ids"] = Noted(
            value=[answers["security_group_id"]],
            above="Allows all traffic from and to itself, which EFA needs.",
        )
        return Noted(value={"existing": existing}, apart=True)
    made: dict[str, Any] = {
        "availability_zone_ids": eks.zones(answers)
        if on_eks(answers)
        else Noted(
            value=[zone],
            above="Zones go by id, which means one place in all accounts; names such as us-west-2a do not.\n"
            "`aws ec2 describe-availability-zones` shows both. Nodes and file systems lie in the first.",
        )
    }
    if not answers["internet"]:
        made["nat_gateways"] = Noted(
            value="none", above="No way to the internet: endpoints for the AWS services that nodes need."
        )
    return Noted(value=made, apart=True)


def _storage(answers: Answers) -> dict[str, Any]:
    storage: dict[str, Any] = {}
    if answers["lustre"]:
        capacity = Noted(value=answers["lustre"], beside="1200, 2400, then multiples of 2400")
        storage[LUSTRE] = {"file_system_type": "LUSTRE", "capacity_gib": capacity}
    if answers["home"]:
        capacity = Noted(value=512, beside="64 to 524288")
        storage[HOME] = {"file_system_type": "OPENZFS", "capacity_gib": capacity}
    return storage


def _groups(answers: Answers) -> list[Noted]:
    groups = [
        Noted(
            value=_group("controller", "ml.c5.xlarge", 1, {"node_type": "Controller"}, answers),
            above="Runs Slurm's controller. Exactly one group does.",
        )
    ]
    if answers["login"]:
        login = _group("login", "ml.m5.xlarge", 1, {"node_type": "Login"}, answers)
        groups.append(Noted(value=login, above="Where people log in and submit jobs.", apart=True))
    slurm = {"node_type": "Compute", "partition_names": ["compute"]}
    compute = _group("compute", answers["instance_type"], answers["instance_count"], slurm, answers)
    above = "Runs the jobs. Add further groups, each with a partition, for other instance types."
    if answers["training_plan_arn"]:
        compute["training_plan_arn"] = answers["training_plan_arn"]
        above += "\nThe network's first zone has to be the training plan's."
    if has_accelerators(answers["instance_type"]):
        above += (
            "\nTo test each node for an hour or two before its first job, add\n"
            "`on_start_deep_health_checks: [InstanceStress, InstanceConnectivity]`."
        )
    return [*groups, Noted(value=compute, above=above, apart=True)]


def _group(
    name: str, instance_type: str, count: int, slurm: dict[str, Any], answers: Answers
) -> dict[str, Any]:
    group: dict[str, Any] = {
        "instance_group_name": name,
        "instance_type": instance_type,
        "instance_count": count,
        "slurm_config": slurm,
    }
    mounts = [
        {"storage": Noted(value=storage, beside=f"at {path}")}
        for storage, path, wanted in ((LUSTRE, "/fsx", answers["lustre"]), (HOME, "/home", answers["home"]))
        if wanted
    ]
    return {**group, "mounts": mounts} if mounts else group
