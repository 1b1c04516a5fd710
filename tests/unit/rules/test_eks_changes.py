"""What a change of a cluster on Amazon EKS replaces, and what of it is refused."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from hyperpod_cdk.cluster.handler.cluster.policy import TABLE, Policy
from hyperpod_cdk.config import load
from hyperpod_cdk.rules import RULES, Severity
from hyperpod_cdk.rules.changes import CHANGE_CHECKS, check_change
from hyperpod_cdk.service.eks import KUBERNETES_VERSIONS
from hyperpod_cdk.spec import (
    AutoScaling,
    EksOrchestrator,
    EnvironmentConfig,
    ExistingNetwork,
    ExistingSubnet,
    HelmChart,
    HyperPodSpec,
    InstanceRequirements,
    LustreFileSystem,
    Network,
    TaskGovernance,
    Team,
)
from hyperpod_cdk.spec.eks_storage import BucketVolume, Volume, VolumeAccess
from tests.unit.rules.specs import BASE, LIST_TOKEN, NUMBER_TOKEN, TEXT_TOKEN, changed, full_path

TEXT: Any = TEXT_TOKEN
NUMBER: Any = NUMBER_TOKEN
KEY = "arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"
ARN = "arn:aws:eks:us-west-2:111122223333:cluster/one"
ROLE = "arn:aws:iam::111122223333:role/scaling"
EKS = "cluster.orchestrator.eks"
VERSION = f"{EKS}.kubernetes_version"
GROUPS = ("controller", "login", "compute")
SCALING = "cluster.auto_scaling"
VOLUME = f"{EKS}.volumes.data"
FLEXIBLE = {"compute.instance_type": None}
REQUIREMENTS = "compute.instance_requirements"
DATA = Volume(storage="scratch")
BUCKET = Volume(bucket=BucketVolume(bucket_name="data-111122223333"))
Change = dict[str, Any]


def plane(**settings: Any) -> Change:
    """The settings of a control plane."""
    return {EKS: EksOrchestrator(**{"helm_chart": HelmChart(path="chart"), **settings})}


ON_EKS = changed(
    {
        **{f"{group}.slurm_config": None for group in GROUPS},
        **{f"{group}.mounts": () for group in GROUPS},
        **plane(),
    }
)


def types(*names: str) -> Change:
    return {**FLEXIBLE, REQUIREMENTS: InstanceRequirements(instance_types=names)}


def teams(*names: str) -> Change:
    return plane(task_governance=TaskGovernance(teams=[Team(team_name=name) for name in names]))


def volumes(**given: Volume) -> Change:
    return plane(volumes=given)


def scaling(role: str | None = None) -> Change:
    return {SCALING: AutoScaling(cluster_role_arn=role)}


def within(vpc: str | None) -> Change:
    existing = ExistingNetwork(
        subnets=[ExistingSubnet(subnet_id="subnet-0a1b2c3d4e5f60001")],
        security_group_ids=["sg-0a1b2c3d4e5f60001"],
        vpc_id=vpc,
    )
    return {"network": Network(existing=existing)}


LEFT: Change = {"storage": {}}
# a rule, before, after, and the paths that it complains of
CASES: list[tuple[str, Change, Change, list[str]]] = [
    ("HP590", plane(kubernetes_version="1.31"), plane(kubernetes_version="1.32"), []),
    ("HP590", plane(kubernetes_version="1.31"), plane(kubernetes_version="1.33"), [VERSION]),
    ("HP590", plane(kubernetes_version="1.31"), plane(kubernetes_version="1.30"), [VERSION]),
    ("HP590", plane(kubernetes_version="1.31"), plane(kubernetes_version=TEXT), []),
    ("HP590", plane(kubernetes_version="1.31"), plane(kubernetes_version="latest"), []),
    # what an existing one runs is not said here
    (
        "HP590",
        plane(cluster_arn=ARN, kubernetes_version="1.31"),
        plane(cluster_arn=ARN, kubernetes_version="1.33"),
        [],
    ),
    ("HP591", plane(kubernetes_version="1.31"), plane(kubernetes_version="1.32"), [VERSION]),
    ("HP591", plane(kubernetes_version="1.31"), plane(kubernetes_version="1.33"), []),
    ("HP591", plane(kubernetes_version="1.31"), plane(kubernetes_version="1.31"), []),
    ("HP591", plane(kubernetes_version="1.31"), plane(kubernetes_version=TEXT), []),
    ("HP592", {}, {"kms_key_arn": KEY}, ["kms_key_arn"]),
    ("HP592", {"kms_key_arn": KEY}, {}, ["kms_key_arn"]),
    ("HP592", {"kms_key_arn": KEY}, {"kms_key_arn": KEY}, []),
    ("HP592", {"kms_key_arn": KEY}, {"kms_key_arn": TEXT}, []),
    ("HP592", plane(cluster_arn=ARN), {**plane(cluster_arn=ARN), "kms_key_arn": KEY}, []),
    ("HP593", {}, {"network.cidr": "10.1.0.0/16"}, ["network.cidr"]),
    ("HP593", {}, {"network.availability_zone_ids": ("usw2-az1", "usw2-az2")}, []),
    ("HP593", {}, {"network.cidr": TEXT}, []),
    ("HP593", {}, within("vpc-0a1b2c3d4e5f60001"), ["network.existing"]),
    ("HP593", {}, within(None), []),
    ("HP593", within("vpc-0a1b2c3d4e5f60001"), within("vpc-0a1b2c3d4e5f60002"), ["network.existing.vpc_id"]),
    ("HP593", plane(cluster_arn=ARN), {**plane(cluster_arn=ARN), "network.cidr": "10.1.0.0/16"}, []),
    ("HP594", scaling(ROLE), scaling(ROLE + "-2"), [f"{SCALING}.cluster_role_arn"]),
    ("HP594", scaling(), scaling(ROLE), [f"{SCALING}.cluster_role_arn"]),
    ("HP594", scaling(ROLE), scaling(TEXT), []),
    ("HP594", {}, scaling(ROLE), []),
    ("HP594", scaling(ROLE), {}, []),
    ("HP595", types("a", "b"), types("b", "a", "c"), []),
    ("HP595", types("a", "b"), types("b"), [f"{REQUIREMENTS}.instance_types"]),
    ("HP595", types("a", "b"), types(*LIST_TOKEN), []),
    ("HP595", {}, types("b"), []),
    ("HP596", teams("a", "b"), teams("b", "a", "c"), []),
    ("HP596", teams("a", "b"), teams("a", "c"), [f"{EKS}.task_governance.teams"]),
    ("HP596", teams("a"), {}, [f"{EKS}.task_governance"]),
    ("HP596", teams("a"), teams(TEXT), []),
    ("HP596", {}, teams("a"), []),
    ("HP597", volumes(data=DATA), volumes(data=replace(DATA, namespaces=("default", "more"))), []),
    (
        "HP597",
        volumes(data=DATA),
        volumes(data=BUCKET),
        [f"{VOLUME}.bucket.bucket_name", f"{VOLUME}.storage"],
    ),
    ("HP597", volumes(data=DATA), volumes(data=replace(DATA, capacity_gib=1201)), [f"{VOLUME}.capacity_gib"]),
    (
        "HP597",
        volumes(data=DATA),
        volumes(data=replace(DATA, access=VolumeAccess.READ_ONLY)),
        [f"{VOLUME}.access"],
    ),
    ("HP597", volumes(data=DATA), volumes(data=replace(DATA, mount_options=("ro",))), []),
    ("HP597", volumes(data=DATA), volumes(data=replace(DATA, storage=TEXT)), []),
    ("HP597", volumes(data=DATA), volumes(data=replace(DATA, capacity_gib=NUMBER)), []),
    ("HP597", volumes(data=DATA), volumes(other=BUCKET), []),
    ("HP597", volumes(data=DATA), {**volumes(data=DATA), "scratch.kms_key_arn": KEY}, [f"{VOLUME}.storage"]),
    ("HP597", volumes(data=BUCKET), {**volumes(data=BUCKET), "scratch.kms_key_arn": KEY}, []),
    (
        "HP597",
        {**volumes(data=DATA), **LEFT},
        {**volumes(data=DATA), "storage": {"scratch": LustreFileSystem()}},
        [],
    ),
]


def found(before: HyperPodSpec, after: HyperPodSpec, code: str) -> list[str]:
    return [one.path for one in check_change(before, after) if one.code == code]


@pytest.mark.parametrize(("code", "before", "after", "paths"), CASES)
def test_change(code: str, before: Change, after: Change, paths: Sequence[str]) -> None:
    told = found(changed(before, ON_EKS), changed(after, ON_EKS), code)
    assert told == [full_path(path) for path in paths]


def test_every_rule_has_a_case_that_it_refuses_passes_and_can_not_know() -> None:
    mine = {one.rule.code for one in CHANGE_CHECKS if one.rule.code.startswith("HP59")}
    for kind in (
        {code for code, *_, paths in CASES if paths},
        {code for code, *_, after, paths in CASES if not paths and "Token[" not in repr(after)},
        {code for code, *_, after, paths in CASES if not paths and ("Token[" in repr(after))},
    ):
        assert kind == mine


def test_every_supported_version_is_reached_by_single_steps() -> None:
    steps = [plane(kubernetes_version=version) for version in KUBERNETES_VERSIONS]
    for before, after in pairwise(steps):
        assert found(changed(before, ON_EKS), changed(after, ON_EKS), "HP590") == []
        assert found(changed(after, ON_EKS), changed(before, ON_EKS), "HP590") == [VERSION]


NAMELESS = {"cluster.cluster_name": None}
FIXED: list[tuple[HyperPodSpec, HyperPodSpec, list[tuple[str, str]]]] = [
    # the same control plane carries the old cluster
    (ON_EKS, changed({"cluster.cluster_name": "other"}, ON_EKS), [("HP174", "cluster.cluster_name")]),
    (
        changed(NAMELESS, ON_EKS),
        changed({**NAMELESS, "network.availability_zone_ids": ("usw2-az1",), **LEFT}, ON_EKS),
        [("HP174", "network")],
    ),
    # another control plane, the same name
    (ON_EKS, changed(plane(cluster_arn=ARN), ON_EKS), [("HP174", f"{EKS}.cluster_arn")]),
    (
        changed(plane(cluster_arn=ARN), ON_EKS),
        changed({**plane(cluster_arn=ARN + "2"), "cluster.cluster_name": "other"}, ON_EKS),
        [("HP173", "cluster.cluster_name"), ("HP173", f"{EKS}.cluster_arn")],
    ),
    (changed(plane(cluster_arn=ARN), ON_EKS), changed(plane(cluster_arn=TEXT), ON_EKS), []),
    # from one orchestrator to the other, groups of the same names
    (BASE, ON_EKS, [("HP174", "cluster.orchestrator")]),
    (changed(NAMELESS), changed(NAMELESS, ON_EKS), [("HP173", "cluster.orchestrator")]),
    (changed(NAMELESS, ON_EKS), changed(NAMELESS), [("HP173", "cluster.orchestrator")]),
    # a group of its kind for life
    (
        ON_EKS,
        changed({"compute.environment_config": EnvironmentConfig()}, ON_EKS),
        [("HP170", full_path("compute.environment_config"))],
    ),
    (ON_EKS, changed(types("ml.p5.48xlarge"), ON_EKS), [("HP170", full_path("compute.instance_type"))]),
    (changed(types("ml.p5.48xlarge"), ON_EKS), ON_EKS, [("HP170", full_path("compute.instance_type"))]),
]


@pytest.mark.parametrize(("before", "after", "told"), FIXED)
def test_what_is_fixed(before: HyperPodSpec, after: HyperPodSpec, told: list[tuple[str, str]]) -> None:
    watched = [one for one in check_change(before, after) if one.code.startswith("HP17")]
    assert sorted((one.code, one.path) for one in watched) == sorted(told)


def test_what_becomes_of_the_old_cluster_is_told() -> None:
    (finding,) = [
        one for one in check_change(changed(NAMELESS, ON_EKS), changed(NAMELESS)) if one.code == "HP173"
    ]
    assert (finding.severity, finding.message, finding.given) == (Severity.WARNING, "was Amazon EKS", "Slurm")
    other = changed({**NAMELESS, **plane(cluster_arn=ARN)}, ON_EKS)
    (finding,) = [one for one in check_change(changed(NAMELESS, ON_EKS), other) if one.code == "HP173"]
    assert "deleted with all that lies in Kubernetes" in finding.message


def test_the_handler_says_the_same_of_the_orchestrator() -> None:
    assert {rule.policy for rule in TABLE["ClusterOrchestrator"].values()} == {Policy.NEW_CLUSTER}


@pytest.mark.parametrize("path", sorted(Path("clusters").glob("*.yaml")), ids=lambda path: path.stem)
def test_no_change_is_no_finding(path: Path) -> None:
    spec = load(path)
    assert check_change(spec, spec) == []


def test_all_of_them_can_be_explained() -> None:
    assert all(code in RULES for code, *_ in CASES)
