"""The logs of helm and kubectl, which the CDK's own functions write."""

import aws_cdk as cdk
from aws_cdk import aws_kms as kms
from aws_cdk.assertions import Template

from hyperpod_cdk.eks import EksControlPlane
from hyperpod_cdk.network import HyperPodNetwork
from hyperpod_cdk.spec.eks import EksOrchestrator
from hyperpod_cdk.spec.eks_storage import BucketVolume, Volume

FLAGS = {"@aws-cdk/aws-lambda:useCdkManagedLogGroup": True}
VOLUMES = {"models": Volume(bucket=BucketVolume(bucket_name="models"))}


def log_keys(*, flags: dict[str, bool], with_key: bool, orchestrator: EksOrchestrator) -> list[object]:
    """Keys of the log groups of the kubectl provider's functions, all of which go with the stack."""
    stack = cdk.Stack(cdk.App(context=flags), "S")
    network = HyperPodNetwork(stack, "Network", availability_zone_ids=("usw2-az4", "usw2-az1"))
    key = kms.Key(stack, "Key") if with_key else None
    EksControlPlane(stack, "Eks", orchestrator=orchestrator, network=network, encryption_key=key)
    every = Template.from_stack(stack).find_resources("AWS::Logs::LogGroup")
    groups = [group for name, group in every.items() if "KubectlProvider" in name]
    assert {group["DeletionPolicy"] for group in groups} <= {"Delete"}
    return [group["Properties"].get("KmsKeyId") for group in groups]


def test_they_are_under_the_key_where_there_is_one() -> None:
    asked = EksOrchestrator(volumes=VOLUMES)
    keys = log_keys(flags=FLAGS, with_key=True, orchestrator=asked)
    assert len(keys) == 2
    assert None not in keys
    assert log_keys(flags=FLAGS, with_key=False, orchestrator=asked) == [None, None]


def test_nothing_is_put_where_the_cdk_makes_no_log_groups_or_no_provider() -> None:
    assert log_keys(flags={}, with_key=True, orchestrator=EksOrchestrator(volumes=VOLUMES)) == []
    assert log_keys(flags=FLAGS, with_key=True, orchestrator=EksOrchestrator()) == []
