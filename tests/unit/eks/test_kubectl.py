"""The logs of helm and kubectl, which the CDK's own functions write."""

import aws_cdk as cdk
import pytest
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk.assertions import Template

from hyperpod_cdk.eks import EksControlPlane
from hyperpod_cdk.network import HyperPodNetwork
from hyperpod_cdk.spec.eks import EksOrchestrator
from hyperpod_cdk.spec.eks_storage import BucketVolume, Volume
from tests.unit.eks.order import Resources, before, resources

FLAGS = {"@aws-cdk/aws-lambda:useCdkManagedLogGroup": True}
ASKED = EksOrchestrator(volumes={"models": Volume(bucket=BucketVolume(bucket_name="models"))})


def made(*, flags: dict[str, bool], with_key: bool, orchestrator: EksOrchestrator) -> Resources:
    """The resources of a stack with a control plane."""
    stack = cdk.Stack(cdk.App(context=flags), "S")
    network = HyperPodNetwork(stack, "Network", availability_zone_ids=("usw2-az4", "usw2-az1"))
    key = kms.Key(stack, "Key") if with_key else None
    EksControlPlane(
        stack,
        "Eks",
        orchestrator=orchestrator,
        network=network,
        encryption_key=key,
        log_retention=logs.RetentionDays.ONE_YEAR,
    )
    return resources(Template.from_stack(stack))


def of_kubectl(resources: Resources, kind: str) -> set[str]:
    """Ids of a type in the kubectl provider."""
    return {
        name
        for name, resource in resources.items()
        if "KubectlProvider" in name and resource["Type"] == f"AWS::{kind}"
    }


def log_keys(*, flags: dict[str, bool], with_key: bool, orchestrator: EksOrchestrator) -> list[object]:
    """Keys of the log groups."""
    every = made(flags=flags, with_key=with_key, orchestrator=orchestrator)
    return [every[name]["Properties"].get("KmsKeyId") for name in of_kubectl(every, "Logs::LogGroup")]


@pytest.mark.parametrize("flags", [FLAGS, {}])
def test_they_are_under_the_key_where_there_is_one(flags: dict[str, bool]) -> None:
    keys = log_keys(flags=flags, with_key=True, orchestrator=ASKED)
    assert len(keys) == 2
    assert None not in keys
    assert log_keys(flags=flags, with_key=False, orchestrator=ASKED) == [None, None]


@pytest.mark.parametrize("flags", [FLAGS, {}])
def test_they_go_with_the_stack_and_after_the_functions_that_write_them(flags: dict[str, bool]) -> None:
    """Gone before, or made by AWS Lambda in an app without the flag, they would stay."""
    every = made(flags=flags, with_key=False, orchestrator=ASKED)
    groups, functions = of_kubectl(every, "Logs::LogGroup"), of_kubectl(every, "Lambda::Function")
    written = {every[name]["Properties"]["LoggingConfig"]["LogGroup"]["Ref"] for name in functions}
    assert written == groups
    assert len(groups) == 2
    for group in groups:
        assert every[group]["DeletionPolicy"] == "Delete"
        assert every[group]["Properties"]["RetentionInDays"] == 365
        assert not before(every, group) & functions


def test_nothing_is_done_where_there_is_no_provider() -> None:
    assert log_keys(flags=FLAGS, with_key=True, orchestrator=EksOrchestrator()) == []
