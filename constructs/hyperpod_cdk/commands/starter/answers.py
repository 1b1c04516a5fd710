"""The questions of ``hyperpod-cdk init``: the few whose answers nobody can guess."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from hyperpod_cdk.service.fsx import LUSTRE_CAPACITY
from hyperpod_cdk.service.instance_types import catalogue, find
from hyperpod_cdk.service.zones import is_zone_id, prefix_of, zone_prefix
from hyperpod_cdk.spec import LustreDeploymentType, LustreStorageType

Answers = Mapping[str, Any]
"""What was answered so far, by the names of the questions."""

# the API takes no higher InstanceCount, API_ClusterInstanceGroupSpecification.html
_MOST_NODES = 6758
_NAME = re.compile(r"[A-Za-z](-*[A-Za-z0-9]){0,62}")
_TYPE = re.compile(r"ml\.[a-z0-9-]+\.[a-z0-9]+")
_PLAN = re.compile(r"arn:aws[a-z-]*:sagemaker:([a-z0-9-]+):\d{12}:training-plan/.+")
_CIDR = re.compile(r"\d{1,3}(\.\d{1,3}){3}/\d{1,2}")
_YES, _NO = ("y", "yes", "true"), ("n", "no", "false")
_LUSTRE = LUSTRE_CAPACITY[LustreDeploymentType.PERSISTENT_2, LustreStorageType.SSD]


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


def _name(text: str, _: Answers) -> str:
    if not _NAME.fullmatch(text):
        raise ValueError(
            f"{text!r} can not name a cluster: use a letter, then up to 62 letters, digits, hyphens"
        )
    return text


def _region(text: str, _: Answers) -> str:
    if zone_prefix(text) is None:
        raise ValueError(f"{text!r} is no Region, such as us-west-2")
    return text


def _zone(text: str, answers: Answers) -> str:
    prefix = zone_prefix(answers["region"])
    if not is_zone_id(text):
        raise ValueError(
            f"{text!r} is no zone id, such as {prefix}-az2: names like us-west-2a differ by account"
        )
    if prefix_of(text) != prefix:
        raise ValueError(f"{text!r} is not in {answers['region']}, whose zones begin with {prefix}")
    return text


def _instance_type(text: str, _: Answers) -> str:
    if find(text) is None and find(f"ml.{text}") is not None:
        return f"ml.{text}"
    if not _TYPE.fullmatch(text):
        nearest = ", ".join(get_close_matches(text, catalogue(), n=3)) or "ml.p5.48xlarge"
        raise ValueError(f"{text!r} is no instance type; nearest: {nearest}")
    # one that is not in the catalogue may be new: the rules warn
    return text


def _count(text: str, _: Answers) -> int:
    if not text.isdigit() or not 1 <= int(text) <= _MOST_NODES:
        raise ValueError(f"{text!r} is no number of nodes: 1 to {_MOST_NODES}")
    return int(text)


def _capacity(text: str, _: Answers) -> int:
    if not text.isdigit() or (int(text) and int(text) not in _LUSTRE):
        nearest = ", ".join(map(str, _LUSTRE.nearest(int(text)))) if text.isdigit() else "1200, 2400"
        raise ValueError(f"{text!r} is no capacity: 0 for none, {_LUSTRE}; nearest: {nearest}")
    return int(text)


def _truth(text: str, _: Answers) -> bool:
    if text.casefold() not in (*_YES, *_NO):
        raise ValueError(f"{text!r} is neither yes nor no")
    return text.casefold() in _YES


def _plan(text: str, answers: Answers) -> str | None:
    found = _PLAN.fullmatch(text)
    if text and found is None:
        raise ValueError(f"{text!r} is no ARN of a training plan, arn:aws:sagemaker:…:training-plan/…")
    if found and found[1] != answers["region"]:
        raise ValueError(f"{text!r} is in {found[1]}, and the cluster in {answers['region']}")
    return text or None


def _range(text: str, _: Answers) -> str:
    if not _CIDR.fullmatch(text):
        raise ValueError(f"{text!r} is no address range, such as 10.0.0.0/16")
    return text


def _id(kind: str) -> Callable[[str, Answers], str | None]:
    form = re.compile(rf"{kind}-([0-9a-f]{{8}}|[0-9a-f]{{17}})")

    def read(text: str, _: Answers) -> str | None:
        if text and not form.fullmatch(text):
            raise ValueError(f"{text!r} is no id such as {kind}-0a1b2c3d4e5f60001")
        return text or None

    return read


def _needed(read: Callable[[str, Answers], Any], what: str) -> Callable[[str, Answers], Any]:
    def checked(text: str, answers: Answers) -> Any:
        if not text:
            raise ValueError(f"{what} is needed with a VPC that is there already")
        return read(text, answers)

    return checked


def has_accelerators(instance_type: str) -> bool:
    """Whether nodes of a type have GPUs or Neuron chips."""
    known = find(instance_type)
    return known is not None and bool(known.accelerators)


def _existing(answers: Answers) -> bool:
    return bool(answers["vpc_id"])


QUESTIONS: tuple[Question, ...] = (
    Question(name="name", text="Name of the cluster", read=_name, default=lambda _: "my-cluster"),
    Question(name="region", text="Region", read=_region, default=lambda _: "us-west-2"),
    Question(
        name="zone",
        text="Availability Zone, by its id: where your capacity is",
        read=_zone,
        default=lambda answers: f"{zone_prefix(answers['region'])}-az2",
    ),
    Question(
        name="instance_type",
        text="Instance type of the nodes that run jobs",
        read=_instance_type,
        default=lambda _: "ml.c5.4xlarge",
    ),
    Question(name="instance_count", text="How many of them", read=_count, default=lambda _: "2"),
    Question(
        name="training_plan_arn",
        text="ARN of the training plan that reserves them (Enter: none)",
        read=_plan,
        default=lambda _: "",
        asked=lambda answers: has_accelerators(answers["instance_type"]),
    ),
    Question(
        name="login",
        text="A login node, so that nobody works on the controller",
        read=_truth,
        default=lambda _: "yes",
    ),
    Question(
        name="lustre", text="GiB of shared Lustre storage (0: none)", read=_capacity, default=lambda _: "1200"
    ),
    Question(name="home", text="Home directories on OpenZFS", read=_truth, default=lambda _: "no"),
    Question(
        name="vpc_id", text="Id of the VPC to use (Enter: make one)", read=_id("vpc"), default=lambda _: ""
    ),
    Question(
        name="vpc_cidr",
        text="Address range of that VPC",
        read=_needed(_range, "its address range"),
        default=lambda _: None,
        asked=lambda answers: _existing(answers) and answers["home"],
        only="--vpc-id and --home",
    ),
    Question(
        name="subnet_id",
        text="Id of the private subnet for nodes and file systems",
        read=_needed(_id("subnet"), "the id of a private subnet"),
        default=lambda _: None,
        asked=_existing,
        only="--vpc-id",
    ),
    Question(
        name="security_group_id",
        text="Id of a security group that allows all traffic to and from itself",
        read=_needed(_id("sg"), "the id of a security group"),
        default=lambda _: None,
        asked=_existing,
        only="--vpc-id",
    ),
    Question(
        name="internet",
        text="A way to the internet for the nodes, through a NAT gateway",
        read=_truth,
        default=lambda _: "yes",
        asked=lambda answers: not _existing(answers),
        only="a new VPC, without --vpc-id",
    ),
)
"""In their order: later ones depend on earlier answers."""


Ask = Callable[[Question, str | None, str | None], str]
"""Puts a question: with its default, and with what was wrong with the answer before, if anything was."""


def answer(given: Mapping[str, str], ask: Ask | None = None) -> dict[str, Any]:
    """All answers.

    Args:
        given: texts by the names of questions, which are then not asked.
        ask: puts the others; None: the defaults are taken.

    Raises:
        ValueError: with every given text that is wrong, a line each.
    """
    answers: dict[str, Any] = {}
    faults: list[str] = []
    for question in QUESTIONS:
        default = question.default(answers)
        text = given.get(question.name)
        try:
            answers[question.name] = _answer(question, text, default, answers, ask)
        except ValueError as fault:
            faults.append(f"{question.option}: {fault}")
            # the questions after it are looked at as if it had been answered well
            answers[question.name] = question.read(default, answers) if default is not None else None
    if faults:
        raise ValueError("\n".join(faults))
    return answers


def _answer(
    question: Question, text: str | None, default: str | None, answers: Answers, ask: Ask | None
) -> Any:
    if text is not None:
        if question.only and not question.asked(answers):
            raise ValueError(f"means nothing here; it is for {question.only}")
        return question.read(text, answers)
    if not question.asked(answers):
        return None
    return question.read(default or "", answers) if ask is None else _asked(question, default, answers, ask)


def _asked(question: Question, default: str | None, answers: Answers, ask: Ask) -> Any:
    fault = None
    while True:
        try:
            return question.read(ask(question, default, fault).strip(), answers)
        except ValueError as wrong:
            fault = str(wrong)
