"""What a node's set-up is told, when it is called, and what its result does."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from hyperpod_cdk.rehearsal.hyperpod import HyperPodService, NodeSetup, NodeSetupResult, find_readable_script
from hyperpod_cdk.rehearsal.hyperpod.scripts import join
from tests.rehearsal.hyperpod.samples import Account, client, nodes

Create = Callable[..., dict[str, Any]]


@pytest.fixture
def told(service: HyperPodService) -> list[NodeSetup]:
    seen: list[NodeSetup] = []

    def note(setup: NodeSetup) -> NodeSetupResult:
        seen.append(setup)
        return NodeSetupResult(log_lines=(f"hello from {setup.group_name}",))

    service.node_setup = note
    return seen


def test_told_about_the_node(in_service: Create, told: list[NodeSetup], sagemaker: Any) -> None:
    arn = in_service()["ClusterArn"]
    assert [(setup.group_name, setup.node_type, setup.number) for setup in told] == [
        ("controller", "Controller", 1),
        ("compute", "Compute", 1),
        ("compute", "Compute", 2),
    ]
    first = told[0]
    assert (first.cluster_arn, first.cluster_id) == (arn, arn.rpartition("/")[2])
    assert (first.script, first.trigger, first.attempt) == ("on_create.sh", "OnCreate", 1)
    assert first.instance_id == nodes(sagemaker)[0]["InstanceId"]
    assert first.request["InstanceGroups"][1]["InstanceCount"] == 2


def test_resource_config(in_service: Create, told: list[NodeSetup]) -> None:
    in_service()
    config = told[2].resource_config
    assert json.loads(json.dumps(config)) == config
    assert config["ClusterConfig"] == {"ClusterArn": told[2].cluster_arn, "ClusterName": "ml"}
    assert [(group["Name"], group["InstanceType"]) for group in config["InstanceGroups"]] == [
        ("controller", "ml.c5.large"),
        ("compute", "ml.c5.large"),
    ]
    own = config["InstanceGroups"][1]["Instances"][1]
    assert own == {
        "InstanceName": "compute-2",
        "AgentIpAddress": told[2].agent_ip,
        "CustomerIpAddress": told[2].private_ip,
        "InstanceId": told[2].instance_id,
    }
    assert {setup.resource_config["InstanceGroups"][1]["Instances"][0]["InstanceId"] for setup in told} == {
        told[1].instance_id
    }


def test_its_lines_are_the_node_s_log(in_service: Create, told: list[NodeSetup]) -> None:
    in_service()
    setup = told[1]
    events = client("logs").get_log_events(
        logGroupName=f"/aws/sagemaker/Clusters/ml/{setup.cluster_id}",
        logStreamName=f"LifecycleConfig/compute/{setup.instance_id}",
    )["events"]
    assert [event["message"] for event in events] == [
        "hello from compute",
        "[SageMaker] The lifecycle scripts succeeded.",
    ]


def test_not_called_without_a_script(account: Account, in_service: Create, told: list[NodeSetup]) -> None:
    groups = [account.group("controller", "Controller"), account.group("compute")]
    for group in groups:
        del group["LifeCycleConfig"]
    assert in_service(**account.cluster(*groups))["ClusterStatus"] == "InService"
    assert told == []


def test_after_hyperpod_s_own_part(account: Account, service: HyperPodService, sagemaker: Any) -> None:
    called_at: dict[str, float] = {}

    def note(setup: NodeSetup) -> NodeSetupResult:
        called_at[setup.trigger] = service.timeline.elapsed()
        return NodeSetupResult()

    service.node_setup = note
    config = {"SourceS3Uri": account.scripts, "OnInitComplete": "x.sh"}
    compute = account.group("compute", LifeCycleConfig=config)
    sagemaker.create_cluster(**account.cluster(account.group("controller", "Controller"), compute))
    service.settle()
    assert called_at == {"OnCreate": 360, "OnInitComplete": 540}


def test_takes_as_long_as_it_says(account: Account, service: HyperPodService, sagemaker: Any) -> None:
    service.node_setup = lambda setup: NodeSetupResult(seconds=1000)
    sagemaker.create_cluster(**account.cluster())
    service.clock.advance(1359)
    assert {node["InstanceStatus"]["Status"] for node in nodes(sagemaker)} == {"Pending"}
    service.clock.advance(1)
    assert {node["InstanceStatus"]["Status"] for node in nodes(sagemaker)} == {"Running"}


def test_exception_is_a_failed_script(in_service: Create, service: HyperPodService) -> None:
    def broken(setup: NodeSetup) -> NodeSetupResult:
        raise RuntimeError("no bash here")

    service.node_setup = broken
    described = in_service()
    assert described["ClusterStatus"] == "Failed"
    group = f"/aws/sagemaker/Clusters/ml/{described['ClusterArn'].rpartition('/')[2]}"
    lines = [event["message"] for event in client("logs").filter_log_events(logGroupName=group)["events"]]
    assert "RuntimeError: no bash here" in lines


@pytest.mark.parametrize("uri", ["s3://sagemaker-scripts/nowhere", "s3://no-such-bucket/scripts"])
def test_missing_script_fails_by_default(account: Account, in_service: Create, uri: str) -> None:
    config = {"SourceS3Uri": uri, "OnCreate": "on_create.sh"}
    controller = account.group("controller", "Controller", LifeCycleConfig=config)
    described = in_service(**account.cluster(controller, account.group("compute")))
    assert described["ClusterStatus"] == "Failed"
    group = f"/aws/sagemaker/Clusters/ml/{described['ClusterArn'].rpartition('/')[2]}"
    lines = [event["message"] for event in client("logs").filter_log_events(logGroupName=group)["events"]]
    assert f"[ERROR] can not download {uri}/on_create.sh: not found" in lines


READ = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::sagemaker-scripts/*"}
ON_BUCKET = {**READ, "Resource": "arn:aws:s3:::sagemaker-scripts"}
SOMETIMES = {"Condition": {"StringEquals": {"aws:ResourceAccount": "${aws:PrincipalAccount}"}}}
PERMISSIONS: dict[str, tuple[list[dict[str, Any]], bool]] = {
    "key": ([READ], True),
    "everything": ([{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}], True),
    "under a condition": ([{**READ, **SOMETIMES}], True),
    "none": ([], False),
    "bucket instead of key": ([ON_BUCKET], False),
    "other bucket": ([{**READ, "Resource": "arn:aws:s3:::other/*"}], False),
    "denied": ([READ, {**READ, "Effect": "Deny"}], False),
    "denied under a condition": ([READ, {**READ, "Effect": "Deny", **SOMETIMES}], True),
}


@pytest.mark.parametrize("kind", ["inline", "managed"])
@pytest.mark.parametrize(("statements", "may_read"), PERMISSIONS.values(), ids=PERMISSIONS)
def test_role_that_may_read_its_script(
    in_service: Create, service: HyperPodService, kind: str, statements: Any, may_read: bool
) -> None:
    service.node_setup = find_readable_script
    for number, statement in enumerate(statements):
        name, document = f"policy{number}", json.dumps({"Version": "2012-10-17", "Statement": statement})
        if kind == "inline":
            client("iam").put_role_policy(RoleName="node", PolicyName=name, PolicyDocument=document)
        else:
            arn = client("iam").create_policy(PolicyName=name, PolicyDocument=document)["Policy"]["Arn"]
            client("iam").attach_role_policy(RoleName="node", PolicyArn=arn)
    described = in_service()
    assert described["ClusterStatus"] == ("InService" if may_read else "Failed")
    group = f"/aws/sagemaker/Clusters/ml/{described['ClusterArn'].rpartition('/')[2]}"
    lines = [event["message"] for event in client("logs").filter_log_events(logGroupName=group)["events"]]
    assert any("AccessDenied" in line and "/scripts/on_create.sh" in line for line in lines) is not may_read


@pytest.mark.parametrize(
    "uri",
    [
        "s3://bucket/a/b",
        "s3://bucket/a/b/",
        "https://bucket.s3.us-west-2.amazonaws.com/a/b",
        "https://s3.us-west-2.amazonaws.com/bucket/a/b",
    ],
)
def test_where_scripts_are(uri: str) -> None:
    assert join(uri, "x.sh") == ("bucket", "a/b/x.sh")
