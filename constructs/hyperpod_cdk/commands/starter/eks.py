"""A first configuration on Amazon EKS: what differs from one on Slurm."""

from typing import Any

from hyperpod_cdk.commands.starter.readers import Answers, has_accelerators
from hyperpod_cdk.config.writer import Noted

HEAD = (
    "A HyperPod cluster on Amazon EKS. `hyperpod-cdk validate` checks it, `hyperpod-cdk explain CODE` says\n"
    "more of a finding. What is left out has a default, which your editor shows."
)


def orchestrator(answers: Answers) -> dict[str, Any]:
    """The settings of Amazon EKS."""
    chart = answers["chart"]
    place: dict[str, Any] = {"path": chart}
    if not answers["vpc_id"] and not answers["internet"]:
        place["sub_charts"] = Noted(
            value={"training-operators": False, "mpi-operator": False},
            above="Nodes without internet do not reach the images of these. Device plugins' images go to\n"
            "Amazon ECR, and are named in `values`: `hyperpod-cdk explain HP565`.",
        )
    eks: dict[str, Any] = {
        "helm_chart": Noted(
            value=place,
            above="What HyperPod looks for in Kubernetes. To get it whole, in the folder of this file:\n"
            f"    hyperpod-cdk chart --output {chart}",
        ),
        "access": _access(answers["admin_role_arn"]),
        "training_operator": (
            Noted(value={}, beside="HyperPodPyTorchJob, which recovers from faults")
            if answers["training_operator"]
            else Noted(value=None, beside="{}: HyperPodPyTorchJob, which recovers from faults")
        ),
    }
    if answers["task_governance"]:
        eks["task_governance"] = Noted(
            value={},
            above="Queues and priorities. Give each team its part by `teams`, and kinds of jobs their rank\n"
            "by `priority_classes`.",
        )
    return {"eks": eks}


def group(answers: Answers) -> Noted:
    """The one group."""
    settings: dict[str, Any] = {
        "instance_group_name": "compute",
        "instance_type": answers["instance_type"],
        "instance_count": answers["instance_count"],
    }
    above = "Runs the pods. Add further groups for other instance types; `kubernetes_config` labels them."
    if answers["vpc_id"]:
        settings["override_vpc_config"] = Noted(
            value={"subnet_ids": [answers["subnet_id"]]}, beside="all in one zone, as EFA wants it"
        )
    if answers["training_plan_arn"]:
        settings["training_plan_arn"] = answers["training_plan_arn"]
        above += "\nThe network's first zone has to be the training plan's."
    if has_accelerators(answers["instance_type"]):
        settings["secondary_volume"] = Noted(
            value={"volume_size_in_gb": 500},
            above="For container images and pods' files: the root volume has 100 GB.",
        )
        above += (
            "\nTo test each node for an hour or two before its first job, add\n"
            "`on_start_deep_health_checks: [InstanceStress, InstanceConnectivity]`."
        )
    return Noted(value=settings, above=above)


def zones(answers: Answers) -> Noted:
    """The zones of a new network."""
    return Noted(
        value=[answers["zone"], answers["second_zone"]],
        above="Zones go by id, which means one place in all accounts; names such as us-west-2a do not.\n"
        "`aws ec2 describe-availability-zones` shows both. A control plane wants two; nodes lie in the\n"
        "first.",
    )


def second_subnet(answers: Answers) -> Noted:
    """The subnet in the other zone of an existing network."""
    subnet = {"subnet_id": answers["second_subnet_id"], "availability_zone_id": answers["second_zone"]}
    return Noted(value=subnet, above="For the control plane, which wants two zones.")


def _access(role: str | None) -> Noted:
    if role is None:
        return Noted(
            value=[],
            above="Who may use Kubernetes: nobody yet, but the deployment itself. Add such as\n"
            "    - principal_arn: arn:aws:iam::111122223333:role/platform-admin\n"
            "      policies:\n"
            "        - name: AmazonEKSClusterAdminPolicy",
        )
    policies = [{"name": "AmazonEKSClusterAdminPolicy"}]
    return Noted(
        value=[{"principal_arn": role, "policies": policies}],
        above="Who may use Kubernetes, beside the deployment itself.",
    )
