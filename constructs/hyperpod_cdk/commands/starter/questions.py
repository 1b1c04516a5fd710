"""The questions of ``hyperpod-cdk init``: the few whose answers nobody can guess."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hyperpod_cdk.commands.charts.source import FOLDER
from hyperpod_cdk.commands.starter import readers as read
from hyperpod_cdk.commands.starter.readers import Answers, on_eks
from hyperpod_cdk.service.governance import POLICY_REGIONS
from hyperpod_cdk.service.zones import zone_prefix


@dataclass(frozen=True, kw_only=True)
class Question:
    """One question.

    ``name`` is that of its answer and, with hyphens, of its option. ``read`` makes the answer of a text, in
    the light of those before, and raises ValueError with what is wrong. ``default`` may depend on earlier
    answers; None: there is none. ``asked`` tells whether it matters at all; where it does not, an answer that
    is given nevertheless is a fault which ``only`` explains, or counts when that is empty.
    """

    name: str
    text: str
    read: Callable[[str, Answers], Any]
    default: Callable[[Answers], str | None]
    asked: Callable[[Answers], bool] = lambda _: True
    only: str = ""

    @property
    def option(self) -> str:
        """Its option on the command line."""
        return f"--{self.name.replace('_', '-')}"


def _existing(answers: Answers) -> bool:
    return bool(answers["vpc_id"])


def _on_slurm(answers: Answers) -> bool:
    return not on_eks(answers)


def _first_zone(answers: Answers) -> str:
    return read.zone_fit_for_eks(answers) if on_eks(answers) else f"{zone_prefix(answers['region'])}-az2"


_SLURM, _EKS = "clusters on Slurm", "--orchestrator eks"

QUESTIONS: tuple[Question, ...] = (
    Question(name="name", text="Name of the cluster", read=read.name, default=lambda _: "my-cluster"),
    Question(
        name="orchestrator",
        text="What runs the jobs, slurm or eks",
        read=read.orchestrator,
        default=lambda _: "slurm",
    ),
    Question(name="region", text="Region", read=read.region, default=lambda _: "us-west-2"),
    Question(
        name="zone",
        text="Availability Zone, by its id: where your capacity is",
        read=lambda text, answers: (read.control_plane_zone if on_eks(answers) else read.zone)(text, answers),
        default=_first_zone,
    ),
    Question(
        name="second_zone",
        text="Another zone, for the control plane",
        read=read.second_zone,
        default=lambda answers: read.zone_fit_for_eks(answers, but=answers["zone"]),
        asked=on_eks,
        only=_EKS,
    ),
    Question(
        name="instance_type",
        text="Instance type of the nodes that run jobs",
        read=read.instance_type,
        default=lambda _: "ml.c5.4xlarge",
    ),
    Question(name="instance_count", text="How many of them", read=read.count, default=lambda _: "2"),
    Question(
        name="training_plan_arn",
        text="ARN of the training plan that reserves them (Enter: none)",
        read=read.plan,
        default=lambda _: "",
        asked=lambda answers: read.has_accelerators(answers["instance_type"]),
    ),
    Question(
        name="login",
        text="A login node, so that nobody works on the controller",
        read=read.truth,
        default=lambda _: "yes",
        asked=_on_slurm,
        only=_SLURM,
    ),
    Question(
        name="lustre",
        text="GiB of shared Lustre storage (0: none)",
        read=read.capacity,
        default=lambda _: "1200",
        asked=_on_slurm,
        only=_SLURM,
    ),
    Question(
        name="home",
        text="Home directories on OpenZFS",
        read=read.truth,
        default=lambda _: "no",
        asked=_on_slurm,
        only=_SLURM,
    ),
    Question(
        name="chart",
        text="Folder of HyperPod's chart, which `hyperpod-cdk chart` gets",
        read=read.place,
        default=lambda _: FOLDER,
        asked=on_eks,
        only=_EKS,
    ),
    Question(
        name="training_operator",
        text="The training operator, for jobs that recover by themselves",
        read=read.truth,
        default=lambda _: "yes",
        asked=on_eks,
        only=_EKS,
    ),
    Question(
        name="task_governance",
        text="Task governance: queues and quotas of teams",
        read=read.truth,
        default=lambda _: "no",
        asked=lambda answers: on_eks(answers) and answers["region"] in POLICY_REGIONS,
        only=f"{_EKS}, in Regions where CloudFormation knows its policy",
    ),
    Question(
        name="admin_role_arn",
        text="ARN of the role that administers Kubernetes (Enter: none yet)",
        read=read.role,
        default=lambda _: "",
        asked=on_eks,
        only=_EKS,
    ),
    Question(
        name="vpc_id",
        text="Id of the VPC to use (Enter: make one)",
        read=read.identifier("vpc"),
        default=lambda _: "",
    ),
    Question(
        name="vpc_cidr",
        text="Address range of that VPC",
        read=read.needed(read.address_range, "its address range"),
        default=lambda _: None,
        asked=lambda answers: _existing(answers) and answers["home"],
        only="--vpc-id and --home",
    ),
    Question(
        name="subnet_id",
        text="Id of the private subnet for nodes and file systems",
        read=read.needed(read.identifier("subnet"), "the id of a private subnet"),
        default=lambda _: None,
        asked=_existing,
        only="--vpc-id",
    ),
    Question(
        name="second_subnet_id",
        text="Id of a private subnet in the other zone",
        read=read.needed(read.identifier("subnet"), "the id of a private subnet in the other zone"),
        default=lambda _: None,
        asked=lambda answers: _existing(answers) and on_eks(answers),
        only="--vpc-id and --orchestrator eks",
    ),
    Question(
        name="security_group_id",
        text="Id of a security group that allows all traffic to and from itself",
        read=read.needed(read.identifier("sg"), "the id of a security group"),
        default=lambda _: None,
        asked=_existing,
        only="--vpc-id",
    ),
    Question(
        name="internet",
        text="A way to the internet for the nodes, through a NAT gateway",
        read=read.truth,
        default=lambda _: "yes",
        asked=lambda answers: not _existing(answers),
        only="a new VPC, without --vpc-id",
    ),
)
"""In their order: later ones depend on earlier answers."""
