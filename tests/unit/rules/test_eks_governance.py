"""Rules of task governance on Amazon EKS (HP520 to HP529), and the API's limits of its parts."""

from typing import Any

import pytest

from hyperpod_cdk.rules import check
from hyperpod_cdk.service.governance import POLICY_REGIONS, instances
from hyperpod_cdk.spec import (
    AcceleratorPartition,
    AutoScaling,
    ComputeQuotaResource,
    InstanceRequirements,
    PriorityClass,
    ResourceSharingConfig,
    ResourceSharingStrategy,
    TaskGovernance,
    Team,
)
from tests.unit.rules.eks_specs import EKS, plane
from tests.unit.rules.specs import LIST_TOKEN, NUMBER_TOKEN, TEXT_TOKEN, changed, findings, full_path

NUMBER: Any = NUMBER_TOKEN
TOKENS: Any = LIST_TOKEN
GOVERNANCE = f"{EKS}.task_governance"
TEAMS = f"{GOVERNANCE}.teams"
OWN, LIMITS = "compute_quota_resources", "resource_sharing_config.absolute_borrow_limits"
GPU, CPU = "ml.p5.48xlarge", "ml.c5.xlarge"
BOTH = ResourceSharingStrategy.LEND_AND_BORROW
MIG = AcceleratorPartition(type="mig-1g.10gb", count=4)


def governed(*teams: Team, **settings: Any) -> dict[str, Any]:
    """The change that makes it a cluster on Amazon EKS with teams."""
    return plane(task_governance=TaskGovernance(**{"teams": teams, **settings}))


def of(instance_type: str = GPU, **amounts: Any) -> ComputeQuotaResource:
    return ComputeQuotaResource(instance_type=instance_type, **amounts)


def team(*own: ComputeQuotaResource, name: str = "a", **settings: Any) -> Team:
    return Team(**{"team_name": name, "compute_quota_resources": own, **settings})


def sharing(*own: ComputeQuotaResource, **settings: Any) -> dict[str, Any]:
    return governed(team(*own, resource_sharing_config=ResourceSharingConfig(**settings)))


def limits(*entries: ComputeQuotaResource) -> dict[str, Any]:
    """Limits of a team that has GPUs of its own."""
    return sharing(of(count=1), absolute_borrow_limits=entries)


def classes(*names: str) -> dict[str, Any]:
    return governed(priority_classes=[PriorityClass(name=name, weight=1) for name in names])


TWO_TYPES = {
    "compute.instance_type": None,
    "compute.instance_requirements": InstanceRequirements(instance_types=[GPU, "ml.p4d.24xlarge"]),
}

ROWS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("HP520", governed(team(name="a" * 40)), []),
    ("HP520", governed(team(name="a" * 41)), [f"{TEAMS}[0].team_name"]),
    ("HP520", classes("a" * 40), []),
    ("HP520", classes("b", "a" * 41), [f"{GOVERNANCE}.priority_classes[1].name"]),
    ("HP520", governed(team(name=TEXT_TOKEN + "a" * 40)), []),
    ("HP521", governed(team(name="a"), team(name="b")), []),
    ("HP521", governed(team(name="a"), team(name="a")), [f"{TEAMS}[1].team_name"]),
    ("HP521", classes("a", "b", "a"), [f"{GOVERNANCE}.priority_classes[2].name"]),
    ("HP521", {**governed(team(name="a"), priority_classes=[PriorityClass(name="a", weight=1)])}, []),
    ("HP521", governed(team(name=TEXT_TOKEN), team(name=TEXT_TOKEN)), []),
    ("HP522", governed(team(of(count=0), of(CPU, vcpu=1))), []),
    ("HP522", governed(team(of(accelerator_partition=MIG), of(count=1))), []),
    ("HP522", governed(team(of())), [f"{TEAMS}[0].{OWN}[0]"]),
    ("HP522", governed(team(of(count=1), of(count=1))), [f"{TEAMS}[0].{OWN}[1].instance_type"]),
    ("HP522", limits(of(count=1), of()), [f"{TEAMS}[0].{LIMITS}[1]"]),
    ("HP522", governed(team(of(TEXT_TOKEN, count=1), of(TEXT_TOKEN, count=1))), []),
    ("HP523", governed(team(of(count=1), of(CPU, vcpu=1, memory_in_gib=2))), []),
    ("HP523", governed(team(of(count=1, vcpu=2.5))), [f"{TEAMS}[0].{OWN}[0].count"]),
    ("HP523", governed(team(compute_quota_resources=TOKENS)), []),
    ("HP524", governed(team(of(count=1), of(CPU, count=1))), []),
    ("HP524", governed(team(of("ml.g5.8xlarge", count=1))), [f"{TEAMS}[0].{OWN}[0].instance_type"]),
    ("HP524", {**TWO_TYPES, **governed(team(of("ml.p4d.24xlarge", count=1)))}, []),
    ("HP524", governed(team(of(TEXT_TOKEN, count=1))), []),
    ("HP525", governed(team(of(count=3)), team(of(count=1), name="b")), []),
    ("HP525", governed(team(of(count=3)), team(of(count=2), name="b")), [f"{TEAMS}[1].{OWN}[0]"]),
    ("HP525", governed(team(of(accelerators=32))), []),
    ("HP525", governed(team(of(accelerators=33))), [f"{TEAMS}[0].{OWN}[0]"]),
    ("HP525", governed(team(of(accelerators=1, vcpu=769))), [f"{TEAMS}[0].{OWN}[0]"]),
    ("HP525", governed(team(of(accelerators=1, memory_in_gib=8192))), []),
    ("HP525", governed(team(of(count=9)), team(of(count=9), name="b")), [f"{TEAMS}[0].{OWN}[0]"]),
    ("HP525", {**governed(team(of(count=9))), "cluster.auto_scaling": AutoScaling()}, []),
    ("HP525", {**governed(team(of(count=9))), "compute.instance_count": NUMBER}, []),
    ("HP525", governed(team(of(count=NUMBER))), []),
    ("HP526", governed(team(of(accelerators=1), of(CPU, vcpu=1))), []),
    ("HP526", governed(team(of(CPU, accelerators=1))), [f"{TEAMS}[0].{OWN}[0].accelerators"]),
    ("HP526", governed(team(of(CPU, accelerators=0, vcpu=1))), []),
    (
        "HP526",
        governed(team(of(CPU, accelerator_partition=MIG))),
        [f"{TEAMS}[0].{OWN}[0].accelerator_partition"],
    ),
    ("HP526", governed(team(of(CPU, accelerators=NUMBER))), []),
    ("HP527", sharing(strategy=BOTH, borrow_limit=1), []),
    (
        "HP527",
        sharing(strategy=BOTH, borrow_limit=0),
        [f"{TEAMS}[0].resource_sharing_config.borrow_limit"],
    ),
    (
        "HP527",
        sharing(strategy=ResourceSharingStrategy.LEND, borrow_limit=50),
        [f"{TEAMS}[0].resource_sharing_config.borrow_limit"],
    ),
    (
        "HP527",
        sharing(
            of(count=1), strategy=ResourceSharingStrategy.DONT_LEND, absolute_borrow_limits=[of(count=1)]
        ),
        [f"{TEAMS}[0].{LIMITS}"],
    ),
    ("HP527", governed(team(fair_share_weight=5)), []),
    ("HP527", governed(team(fair_share_weight=5), fair_share=False), [f"{TEAMS}[0].fair_share_weight"]),
    ("HP527", sharing(strategy=TEXT_TOKEN, borrow_limit=50), []),
    ("HP528", limits(of(count=1)), []),
    ("HP528", limits(of(CPU, vcpu=1)), [f"{TEAMS}[0].{LIMITS}[0].instance_type"]),
    ("HP528", limits(of(TEXT_TOKEN, vcpu=1)), []),
    ("HP529", {"region": "us-east-1", **governed()}, []),
    ("HP529", plane(), []),
    ("HP529", governed(), [GOVERNANCE]),
    ("HP529", {"region": TEXT_TOKEN, **governed()}, []),
]


@pytest.mark.parametrize(
    ("code", "changes", "paths"), ROWS, ids=[f"{row[0]}-{index}" for index, row in enumerate(ROWS)]
)
def test_rule(code: str, changes: dict[str, Any], paths: list[str]) -> None:
    assert findings(changed(changes), code) == [full_path(path) for path in paths]


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        (governed(team(name="Vision")), f"{TEAMS}[0].team_name"),
        (governed(team(name="-vision")), f"{TEAMS}[0].team_name"),
        (governed(team(fair_share_weight=101)), f"{TEAMS}[0].fair_share_weight"),
        (governed(team(description="x" * 1025)), f"{TEAMS}[0].description"),
        (governed(team(*[of(f"ml.p{n}.48xlarge", count=1) for n in range(16)])), f"{TEAMS}[0].{OWN}"),
        (governed(team(of(count=-1))), f"{TEAMS}[0].{OWN}[0].count"),
        (governed(team(of(vcpu=10_000_001))), f"{TEAMS}[0].{OWN}[0].vcpu"),
        (
            governed(team(of(accelerator_partition=AcceleratorPartition(type="mig-9g", count=1)))),
            f"{TEAMS}[0].{OWN}[0].accelerator_partition.type",
        ),
        (sharing(borrow_limit=10_001), f"{TEAMS}[0].resource_sharing_config.borrow_limit"),
        (classes(*(f"c{number}" for number in range(11))), f"{GOVERNANCE}.priority_classes"),
        (classes("Inference"), f"{GOVERNANCE}.priority_classes[0].name"),
        (
            governed(priority_classes=[PriorityClass(name="a", weight=101)]),
            f"{GOVERNANCE}.priority_classes[0].weight",
        ),
    ],
)
def test_the_limits_of_the_api(changes: dict[str, Any], path: str) -> None:
    assert path in findings(changed(changes), "HP100")


@pytest.mark.parametrize(
    "changes",
    [
        governed(team(name="vision-2", fair_share_weight=100, description="für Bilder: «alle»")),
        sharing(borrow_limit=10_000),
        classes(*(f"c{number}" for number in range(10))),
        governed(team(*[of(f"ml.p{n}.48xlarge", count=1) for n in range(15)])),
        governed(team(of(vcpu=0.5, memory_in_gib=10_000_000))),
        governed(team(of(accelerator_partition=MIG))),
    ],
)
def test_what_the_api_takes(changes: dict[str, Any]) -> None:
    assert [path for path in findings(changed(changes), "HP100") if path.startswith(EKS)] == []


def test_a_finding_says_what_the_groups_have() -> None:
    (finding,) = [one for one in check(changed(governed(team(of(count=5))))) if one.code == "HP525"]
    assert finding.message == "brings the quotas of ml.p5.48xlarge to 5 instances"
    assert finding.allowed == "4, which the instance groups have"


@pytest.mark.parametrize(
    ("amount", "taken"),
    [
        ({"count": 2}, 2),
        ({"accelerators": 4}, 0.5),
        ({"accelerators": 4, "vcpu": 192}, 1),
        ({"memory_in_gib": 512}, 0.25),
        ({}, 0),
    ],
)
def test_how_many_instances_an_allocation_takes(amount: dict[str, Any], taken: float) -> None:
    assert instances(GPU, **amount) == taken


def test_of_a_type_that_is_not_known_only_whole_instances_count() -> None:
    assert instances("ml.p9.48xlarge", count=2, accelerators=80) == 2


def test_policy_regions_are_cloudformations() -> None:
    """By the schemas that cfn-lint ships."""
    from cfnlint.helpers import REGIONS  # noqa: PLC0415
    from cfnlint.schema import PROVIDER_SCHEMA_MANAGER as SCHEMAS  # noqa: PLC0415

    kind = "AWS::SageMaker::ClusterSchedulerConfig"
    assert {region for region in REGIONS if kind in SCHEMAS.get_resource_types(region)} == POLICY_REGIONS
