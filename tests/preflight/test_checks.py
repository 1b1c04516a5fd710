"""What holds for all checks, and the parts that need no account."""

import json
import re
import subprocess
import sys
from typing import Any
from urllib.parse import quote

import pytest

from hyperpod_cdk.preflight import CHECKS, RULES, Check, Outcome, Report, Result, Unchecked
from hyperpod_cdk.preflight.region_options import CHECKS as OPTIONS
from hyperpod_cdk.preflight.roles import _denied, _trusts, _UnsureError
from hyperpod_cdk.rules import RULES as SYNTH_RULES
from hyperpod_cdk.rules import Finding, Severity
from hyperpod_cdk.service.instance_types import catalogue
from hyperpod_cdk.service.quota_codes import CLUSTER_USAGE
from hyperpod_cdk.service.quotas import cluster_usage
from hyperpod_cdk.spec import (
    LustreDeploymentType,
    LustreFileSystem,
    LustreStorageType,
    OpenZfsDeploymentType,
    OpenZfsFileSystem,
)
from tests.preflight import specs


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_each_check_says_what_why_and_how(check: Check) -> None:
    rule = check.rule
    assert re.fullmatch(r"HP9\d\d", rule.code)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", check.name)
    for text in (rule.title, rule.why, rule.fix, rule.source):
        assert text and text == text.strip() and not text.endswith(".")
    assert rule.source.startswith("https://")


def test_names_and_codes_are_unique() -> None:
    assert len({check.name for check in CHECKS}) == len(CHECKS) == len(RULES)
    assert not set(RULES) & set(SYNTH_RULES)


# -- options by Region ---------------------------------------------------------------------------------

TIERED = LustreFileSystem(storage_type=LustreStorageType.INTELLIGENT_TIERING)
REGIONS: list[tuple[str, Any, list[str]]] = [
    ("us-west-2", LustreFileSystem(efa_enabled=True), []),
    ("us-west-2", OpenZfsFileSystem(), []),
    ("eu-west-3", None, ["region"]),
    ("eu-west-3", OpenZfsFileSystem(), ["region", "storage.a.deployment_type"]),
    ("eu-west-3", OpenZfsFileSystem(deployment_type=OpenZfsDeploymentType.SINGLE_AZ_1), ["region"]),
    ("me-south-1", LustreFileSystem(), ["region", "storage.a.deployment_type"]),
    ("me-south-1", LustreFileSystem(deployment_type=LustreDeploymentType.SCRATCH_2), ["region"]),
    ("il-central-1", LustreFileSystem(per_unit_storage_throughput=250), ["region"]),
    (
        "il-central-1",
        LustreFileSystem(per_unit_storage_throughput=500, efa_enabled=True),
        ["region", "storage.a.efa_enabled", "storage.a.per_unit_storage_throughput"],
    ),
    ("us-gov-west-1", TIERED, ["region", "storage.a.storage_type"]),
]


class _Look:
    def __init__(self, region: str, storage: Any) -> None:
        self.aws = self
        self.region = region
        self.spec = specs.new(storage={"a": storage} if storage else {})


@pytest.mark.parametrize(("region", "storage", "paths"), REGIONS)
def test_what_aws_does_not_name_for_a_region(region: str, storage: Any, paths: list[str]) -> None:
    (check,) = OPTIONS
    look: Any = _Look(region, storage)
    found = list(check.find(look, check.rule))
    assert [one.path for one in found] == paths
    assert all(isinstance(one, Finding) and one.severity is Severity.WARNING for one in found)


# -- IAM's simulation ----------------------------------------------------------------------------------


def test_both_forms_of_a_simulation() -> None:
    action = {"EvalActionName": "s3:GetObject"}
    parts = [
        {"EvalResourceName": "a", "EvalResourceDecision": "allowed"},
        {"EvalResourceName": "b", "EvalResourceDecision": "implicitDeny"},
        {"EvalResourceName": "c", "EvalResourceDecision": "explicitDeny", "MissingContextValues": ["x"]},
    ]
    whole = {
        "EvalActionName": "s3:GetObject",
        "EvalDecision": "explicitDeny",
        "ResourceSpecificResults": parts,
    }
    assert _denied(whole) == ["s3:GetObject on b", "s3:GetObject on c"]
    single = {**action, "EvalDecision": "implicitDeny", "EvalResourceName": "d"}
    assert _denied(single) == ["s3:GetObject on d"]
    assert _denied({**single, "EvalDecision": "allowed"}) == []


def test_a_simulation_that_depends_on_the_call() -> None:
    result = {
        "EvalActionName": "ec2:CreateTags",
        "EvalDecision": "implicitDeny",
        "MissingContextValues": ["ec2:CreateAction"],
    }
    with pytest.raises(_UnsureError, match="ec2:CreateTags depends on ec2:CreateAction"):
        _denied(result)


ALLOW = {"Effect": "Allow", "Principal": {"Service": "sagemaker.amazonaws.com"}, "Action": "sts:AssumeRole"}


@pytest.mark.parametrize(
    ("change", "trusts"),
    [
        ({}, True),
        ({"Principal": "*"}, True),
        ({"Principal": {"Service": ["ec2.amazonaws.com", "sagemaker.amazonaws.com"]}}, True),
        ({"Action": ["sts:AssumeRole", "sts:TagSession"]}, True),
        ({"Effect": "Deny"}, False),
        ({"Principal": {"AWS": "arn:aws:iam::111122223333:root"}}, False),
        ({"Action": "sts:TagSession"}, False),
    ],
)
def test_trust(change: dict[str, Any], trusts: bool) -> None:
    document = {"Version": "2012-10-17", "Statement": {**ALLOW, **change}}
    assert _trusts(document) is trusts
    assert _trusts(quote(json.dumps(document))) is trusts


# -- results -------------------------------------------------------------------------------------------

ERROR = next(check for check in CHECKS if check.rule.severity is Severity.ERROR)
WARNING = next(check for check in CHECKS if check.rule.severity is Severity.WARNING)


def result(check: Check, *, found: int = 0, unchecked: int = 0) -> Result:
    return Result(
        check=check,
        findings=[check.rule.finding("a", "is wrong")] * found,
        unchecked=[Unchecked(path="b", reason="no permission")] * unchecked,
    )


@pytest.mark.parametrize(
    ("results", "outcomes", "code"),
    [
        ([], [], 0),
        ([result(ERROR)], [Outcome.PASS], 0),
        ([result(WARNING, found=1)], [Outcome.WARN], 0),
        ([result(WARNING, found=1, unchecked=1)], [Outcome.UNKNOWN], 2),
        ([result(ERROR, unchecked=1), result(WARNING, found=1)], [Outcome.UNKNOWN, Outcome.WARN], 2),
        ([result(ERROR, found=1, unchecked=1)], [Outcome.FAIL], 1),
        ([result(ERROR, unchecked=1), result(ERROR, found=1)], [Outcome.UNKNOWN, Outcome.FAIL], 1),
    ],
)
def test_outcomes_and_exit_codes(results: list[Result], outcomes: list[Outcome], code: int) -> None:
    report = Report(region="us-west-2", account=None, caller=None, results=results)
    assert [one.outcome for one in results] == outcomes
    assert report.exit_code == code


# -- the package ---------------------------------------------------------------------------------------


def test_preflight_loads_neither_aws_cdk_nor_boto3() -> None:
    program = (
        "import sys; sys.path.insert(0, 'constructs'); import hyperpod_cdk.preflight;"
        "print(sorted({'aws_cdk', 'boto3', 'jsii', 'pydantic', 'rich'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_quotas_of_types() -> None:
    assert set(CLUSTER_USAGE) <= set(catalogue())
    assert len(set(CLUSTER_USAGE.values())) == len(CLUSTER_USAGE)
    assert all(re.fullmatch(r"L-[0-9A-F]{8}", code) for code in CLUSTER_USAGE.values())
    assert cluster_usage("ml.p5.48xlarge").name == "ml.p5.48xlarge for cluster usage"
    assert cluster_usage("ml.p9.48xlarge").code is None
    assert cluster_usage("ml.r7i.12xlarge").name == "cluster-ml-r7i-12xlarge for cluster usage"
