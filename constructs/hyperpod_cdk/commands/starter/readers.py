"""What answers are made of: each text is read in the light of the answers before."""

import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any

from hyperpod_cdk.service.eks import ZONES_WITHOUT_EKS
from hyperpod_cdk.service.fsx import LUSTRE_CAPACITY
from hyperpod_cdk.service.instance_types import Orchestration, catalogue, find
from hyperpod_cdk.service.zones import is_zone_id, prefix_of, zone_prefix
from hyperpod_cdk.spec import LustreDeploymentType, LustreStorageType

Answers = Mapping[str, Any]
"""What was answered so far, by the names of the questions."""

# the API takes no higher InstanceCount, API_ClusterInstanceGroupSpecification.html
_MOST_NODES = 6758
_NAME = re.compile(r"[A-Za-z](-*[A-Za-z0-9]){0,62}")
_TYPE = re.compile(r"ml\.[a-z0-9-]+\.[a-z0-9]+")
_PLAN = re.compile(r"arn:aws[a-z-]*:sagemaker:([a-z0-9-]+):\d{12}:training-plan/.+")
_ROLE = re.compile(r"arn:aws[a-z-]*:iam::\d{12}:role/[\w+=,.@/-]+")
_CIDR = re.compile(r"\d{1,3}(\.\d{1,3}){3}/\d{1,2}")
_YES, _NO = ("y", "yes", "true"), ("n", "no", "false")
_LUSTRE = LUSTRE_CAPACITY[LustreDeploymentType.PERSISTENT_2, LustreStorageType.SSD]


def on_eks(answers: Answers) -> bool:
    """Whether Amazon EKS is to run the jobs, and not Slurm."""
    return answers["orchestrator"] is Orchestration.EKS


def orchestrator(text: str, _: Answers) -> Orchestration:
    """Slurm or Amazon EKS."""
    known = {one.casefold(): one for one in Orchestration}
    if text.casefold() not in known:
        raise ValueError(f"{text!r} is neither {' nor '.join(known)}")
    return known[text.casefold()]


def zone_fit_for_eks(answers: Answers, *, but: str | None = None) -> str:
    """A zone of the Region where Amazon EKS puts control planes, the second one for choice."""
    prefix = zone_prefix(answers["region"])
    zones = [f"{prefix}-az{number}" for number in (2, 1, 3)]
    return next(zone for zone in zones if zone != but and zone not in ZONES_WITHOUT_EKS)


def control_plane_zone(text: str, answers: Answers) -> str:
    """A zone's id for a control plane."""
    found = zone(text, answers)
    if found in ZONES_WITHOUT_EKS:
        raise ValueError(f"{text!r} takes no control plane of Amazon EKS")
    return found


def second_zone(text: str, answers: Answers) -> str:
    """Another zone's id for a control plane."""
    if text == answers["zone"]:
        raise ValueError(f"{text!r} is the first already: a control plane lies in two")
    return control_plane_zone(text, answers)


def role(text: str, _: Answers) -> str | None:
    """ARN of a role; None: none."""
    if text and not _ROLE.fullmatch(text):
        raise ValueError(f"{text!r} is no ARN of a role, such as arn:aws:iam::111122223333:role/admin")
    return text or None


def place(text: str, _: Answers) -> str:
    """A folder's path."""
    if not text:
        raise ValueError("a folder has a name")
    return text


def name(text: str, _: Answers) -> str:
    """A cluster's name."""
    if not _NAME.fullmatch(text):
        raise ValueError(
            f"{text!r} can not name a cluster: use a letter, then up to 62 letters, digits, hyphens"
        )
    return text


def region(text: str, _: Answers) -> str:
    """A Region's name."""
    if zone_prefix(text) is None:
        raise ValueError(f"{text!r} is no Region, such as us-west-2")
    return text


def zone(text: str, answers: Answers) -> str:
    """A zone's id, in the Region that was answered."""
    prefix = zone_prefix(answers["region"])
    if not is_zone_id(text):
        raise ValueError(
            f"{text!r} is no zone id, such as {prefix}-az2: names like us-west-2a differ by account"
        )
    if prefix_of(text) != prefix:
        raise ValueError(f"{text!r} is not in {answers['region']}, whose zones begin with {prefix}")
    return text


def instance_type(text: str, _: Answers) -> str:
    """An instance type; ``ml.`` may be left out."""
    if find(text) is None and find(f"ml.{text}") is not None:
        return f"ml.{text}"
    if not _TYPE.fullmatch(text):
        nearest = ", ".join(get_close_matches(text, catalogue(), n=3)) or "ml.p5.48xlarge"
        raise ValueError(f"{text!r} is no instance type; nearest: {nearest}")
    # one that is not in the catalogue may be new: the rules warn
    return text


def count(text: str, _: Answers) -> int:
    """A number of nodes."""
    if not text.isdigit() or not 1 <= int(text) <= _MOST_NODES:
        raise ValueError(f"{text!r} is no number of nodes: 1 to {_MOST_NODES}")
    return int(text)


def capacity(text: str, _: Answers) -> int:
    """A capacity of Lustre in GiB; 0: none."""
    if not text.isdigit() or (int(text) and int(text) not in _LUSTRE):
        nearest = ", ".join(map(str, _LUSTRE.nearest(int(text)))) if text.isdigit() else "1200, 2400"
        raise ValueError(f"{text!r} is no capacity: 0 for none, {_LUSTRE}; nearest: {nearest}")
    return int(text)


def truth(text: str, _: Answers) -> bool:
    """Yes or no."""
    if text.casefold() not in (*_YES, *_NO):
        raise ValueError(f"{text!r} is neither yes nor no")
    return text.casefold() in _YES


def plan(text: str, answers: Answers) -> str | None:
    """ARN of a training plan in the Region that was answered; None: none."""
    found = _PLAN.fullmatch(text)
    if text and found is None:
        raise ValueError(f"{text!r} is no ARN of a training plan, arn:aws:sagemaker:…:training-plan/…")
    if found and found[1] != answers["region"]:
        raise ValueError(f"{text!r} is in {found[1]}, and the cluster in {answers['region']}")
    return text or None


def address_range(text: str, _: Answers) -> str:
    """A range of addresses."""
    if not _CIDR.fullmatch(text):
        raise ValueError(f"{text!r} is no address range, such as 10.0.0.0/16")
    return text


def identifier(kind: str) -> Callable[[str, Answers], str | None]:
    """Reads an id of EC2 such as ``vpc-…``; None: none."""
    form = re.compile(rf"{kind}-([0-9a-f]{{8}}|[0-9a-f]{{17}})")

    def read(text: str, _: Answers) -> str | None:
        if text and not form.fullmatch(text):
            raise ValueError(f"{text!r} is no id such as {kind}-0a1b2c3d4e5f60001")
        return text or None

    return read


def needed(read: Callable[[str, Answers], Any], what: str) -> Callable[[str, Answers], Any]:
    """Reads what may not be left out beside an existing VPC."""

    def checked(text: str, answers: Answers) -> Any:
        if not text:
            raise ValueError(f"{what} is needed with a VPC that is there already")
        return read(text, answers)

    return checked


def has_accelerators(instance_type: str) -> bool:
    """Whether nodes of a type have GPUs or Neuron chips."""
    known = find(instance_type)
    return known is not None and bool(known.accelerators)
