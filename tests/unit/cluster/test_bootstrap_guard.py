"""The bootstrap guard: when it stops a group, what it sends, and what it may do."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import botocore.session
import pytest
from aws_cdk.assertions import Match, Template
from botocore.stub import Stubber
from botocore.validate import ParamValidator

from hyperpod_cdk.cluster.guard_function import guard as module
from hyperpod_cdk.cluster.guard_function.guard import Guard
from hyperpod_cdk.cluster.handler.cluster.live import LIVE_NAMES
from hyperpod_cdk.spec import BootstrapGuard, Deployment, InstanceGroup, Lifecycle, Provisioning
from tests.unit.cluster.test_cluster import Made, compute, statements

ARN = "arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefghijkl"
ROLE = "arn:aws:iam::111122223333:role/nodes"
PLAN = "arn:aws:sagemaker:us-west-2:111122223333:training-plan/large"
NOW = datetime.now(UTC)


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    values = {"CLUSTER_NAME": "ml", "MAX_FAILURES": "3", "WINDOW_MINUTES": "60", "AWS_REGION": "us-west-2"}
    values |= {"AWS_DEFAULT_REGION": "us-west-2", "AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x"}
    for name, value in values.items():
        monkeypatch.setenv(name, value)


def failure(instance: str, text: str = "Lifecycle scripts did not run successfully", **more: Any) -> Any:
    return {
        "EventId": "83ea0bb5-be77-45e8-a458-0a87f778a205",
        "ClusterArn": ARN,
        "ClusterName": "ml",
        "InstanceGroupName": "gpu",
        "InstanceId": instance,
        "ResourceType": "Instance",
        "EventTime": NOW,
        "EventLevel": "Error",
        "Description": text,
        **more,
    }


def node(instance: str, *, age_hours: float, status: str = "Running", group: str = "gpu") -> dict[str, Any]:
    return {
        "InstanceGroupName": group,
        "InstanceId": instance,
        "InstanceType": "ml.p5.48xlarge",
        "LaunchTime": NOW - timedelta(hours=age_hours),
        "InstanceStatus": {"Status": status},
    }


class Service:
    """The three APIs, each answer checked by botocore against its model."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.guard = Guard("ml")
        self.sagemaker = Stubber(self.guard._sagemaker)
        self.logs = Stubber(self.guard._logs)
        self.events = Stubber(self.guard._events)
        self.updates: list[dict[str, Any]] = []
        self.told: list[dict[str, Any]] = []
        for stubber in (self.sagemaker, self.logs, self.events):
            stubber.activate()
        self.guard._sagemaker.meta.events.register("provide-client-params.*.UpdateCluster", self._updated)
        self.guard._events.meta.events.register("provide-client-params.*.PutEvents", self._put)

    def _updated(self, params: dict[str, Any], **_more: Any) -> None:
        self.updates.append(params)

    def _put(self, params: dict[str, Any], **_more: Any) -> None:
        self.told.append(json.loads(params["Entries"][0]["Detail"]))

    def has(
        self,
        events: list[Any],
        nodes: list[Any],
        *,
        target: int = 8,
        node_type: str = "Compute",
        minimum: int = 4,
        acts: bool = True,
    ) -> None:
        self.sagemaker.add_response("list_cluster_events", {"Events": events[:2], "NextToken": "more"})
        self.sagemaker.add_response("list_cluster_events", {"Events": events[2:]})
        self.sagemaker.add_response("list_cluster_nodes", {"ClusterNodeSummaries": nodes})
        details = {
            "InstanceGroupName": "gpu",
            "InstanceType": "ml.p5.48xlarge",
            "CurrentCount": len(nodes),
            "TargetCount": target,
            "MinCount": minimum,
            "ExecutionRole": ROLE,
            "ThreadsPerCore": 1,
            "LifeCycleConfig": {"SourceS3Uri": "s3://b/p/", "OnCreate": "on_create.sh"},
            "SlurmConfig": {"NodeType": node_type, "PartitionNames": ["gpu"]},
            "Status": "Updating",
        }
        cluster = {"ClusterArn": ARN, "ClusterStatus": "InService", "InstanceGroups": [details]}
        self.sagemaker.add_response("describe_cluster", cluster)
        if acts:
            lines = [{"timestamp": 1, "message": "FAILED mount: port 988 is closed\n"}]
            self.logs.add_response(
                "get_log_events",
                {"events": lines},
                {
                    "logGroupName": "/aws/sagemaker/Clusters/ml/abcdefghijkl",
                    "logStreamName": "LifecycleConfig/gpu/i-3",
                    "startFromHead": False,
                    "limit": 20,
                },
            )
            self.sagemaker.add_response("update_cluster", {"ClusterArn": ARN})
            self.events.add_response("put_events", {"FailedEntryCount": 0, "Entries": []})


THREE = [failure("i-3"), failure("i-2"), failure("i-1")]


def test_a_group_whose_nodes_keep_failing_is_stopped_at_what_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service(monkeypatch)
    service.has(THREE, [node("i-a", age_hours=9), node("i-b", age_hours=0, status="Pending")])
    found = service.guard.judge("gpu")
    assert (found["Action"], found["TargetCount"], found["NewTargetCount"]) == ("stopped", 8, 1)
    assert service.updates == [
        {
            "ClusterName": "ml",
            "InstanceGroups": [
                {
                    "InstanceGroupName": "gpu",
                    "InstanceType": "ml.p5.48xlarge",
                    "InstanceCount": 1,
                    "MinInstanceCount": 1,
                    "ExecutionRole": ROLE,
                    "ThreadsPerCore": 1,
                    "LifeCycleConfig": {"SourceS3Uri": "s3://b/p/", "OnCreate": "on_create.sh"},
                    "SlurmConfig": {"NodeType": "Compute", "PartitionNames": ["gpu"]},
                }
            ],
        }
    ]
    [told] = service.told
    assert told["LastLines"] == ["FAILED mount: port 988 is closed"]
    assert list(told["Failures"]) == ["i-3", "i-2", "i-1"]


def test_a_few_failures_are_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service(monkeypatch)
    again = [failure("i-3"), failure("i-3"), failure("i-2")]
    warning = failure("i-1", EventLevel="Warn")
    full = failure("i-0", "failed: InsufficientInstanceCapacity")
    service.sagemaker.add_response("list_cluster_events", {"Events": [*again, warning, full]})
    assert service.guard.judge("gpu")["Reason"] == "2 failures, fewer than 3"


def test_failures_among_more_successes_are_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service(monkeypatch)
    service.has(THREE, [node(f"i-{n}", age_hours=0.5) for n in range(3)], acts=False)
    assert service.guard.judge("gpu")["Reason"] == "3 failures, but 3 nodes came up"
    other = Service(monkeypatch)
    other.has(THREE, [node(f"i-{n}", age_hours=0.5, group="gpu-2") for n in range(3)], target=0, acts=False)
    assert other.guard.judge("gpu")["Reason"] == "the group's target is 0 nodes already"


def test_nodes_that_ran_before_are_no_success(monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service(monkeypatch)
    service.has(THREE, [node(f"i-{n}", age_hours=2) for n in range(5)])
    assert service.guard.judge("gpu")["NewTargetCount"] == 5


def test_a_controller_is_told_and_not_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service(monkeypatch)
    service.has(THREE, [], target=1, node_type="Controller")
    assert service.guard.judge("gpu")["Action"] == "told"
    assert service.updates == []
    assert service.told[0]["Action"] == "told"


def test_a_node_without_a_log_is_stopped_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service(monkeypatch)
    service.has(THREE, [], acts=False)
    service.logs.add_client_error("get_log_events", "ResourceNotFoundException")
    service.sagemaker.add_response("update_cluster", {"ClusterArn": ARN})
    service.events.add_response("put_events", {"FailedEntryCount": 0, "Entries": []})
    assert service.guard.judge("gpu")["LastLines"] == []


def test_a_busy_cluster_is_an_error_so_that_lambda_tries_again(monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service(monkeypatch)
    service.has(THREE, [], acts=False)
    service.logs.add_client_error("get_log_events", "ResourceNotFoundException")
    service.sagemaker.add_client_error("update_cluster", "ConflictException")
    with pytest.raises(service.guard._sagemaker.exceptions.ConflictException):
        service.guard.judge("gpu")
    assert service.told == []


def test_the_event_names_the_group(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    judged = []

    def judge(_guard: Guard, group: str) -> dict[str, Any]:
        judged.append(group)
        return {"Action": "none"}

    monkeypatch.setattr(Guard, "judge", judge)
    event = {"detail-type": "SageMaker HyperPod Cluster Event", "detail": {"EventDetails": failure("i-1")}}
    module.handle(event)
    assert judged == ["gpu"]
    assert json.loads(capsys.readouterr().out) == {"InstanceGroupName": "gpu", "Action": "none"}
    assert module.handle({"detail": {}})["Action"] == "none"


def specification(monkeypatch: pytest.MonkeyPatch, software: str = "{}", **details: Any) -> dict[str, Any]:
    """What the guard asks for of a group that DescribeCluster tells of."""
    monkeypatch.setenv("SOFTWARE", software)
    known = {"InstanceGroupName": "gpu", "ExecutionRole": ROLE, "TargetCount": 8}
    return Guard("ml")._specification({**known, **details}, 2)


def test_a_group_keeps_what_the_answer_names_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    """Labels, taints and types that were left out would be taken away, or the update be refused."""
    taint = {"Key": "gpu", "Effect": "NoSchedule"}
    found = specification(
        monkeypatch,
        InstanceRequirements={"DesiredInstanceTypes": ["ml.g6.12xlarge"], "CurrentInstanceTypes": ["x"]},
        KubernetesConfig={"CurrentLabels": {"pool": "a"}, "DesiredTaints": [taint], "CurrentTaints": []},
        AutoPatchConfig={"PatchingStrategy": "WhenIdle", "CurrentPatchSchedule": {"NextPatchDate": NOW}},
    )
    assert found["InstanceRequirements"] == {"InstanceTypes": ["ml.g6.12xlarge"]}
    assert found["KubernetesConfig"] == {"Labels": {"pool": "a"}, "Taints": [taint]}
    assert found["AutoPatchConfig"] == {
        "PatchingStrategy": "WhenIdle",
        "PatchSchedule": {"NextPatchDate": NOW},
    }
    model = botocore.session.get_session().get_service_model("sagemaker")
    request = {"ClusterName": "ml", "InstanceGroups": [found]}
    report = ParamValidator().validate(request, model.operation_model("UpdateCluster").input_shape)
    assert not report.has_errors(), report.generate_report()


@pytest.mark.parametrize(
    ("software", "expected"),
    [({}, {}), ({"gpu": ["ImageId"]}, {"ImageId": "ami-1"}), ({"other": ["ImageId"]}, {})],
)
def test_an_image_that_was_asked_for_stays(
    monkeypatch: pytest.MonkeyPatch, software: dict[str, list[str]], expected: dict[str, str]
) -> None:
    details = {"CurrentImageId": "ami-1", "CurrentImageReleaseVersion": "1.0.0"}
    found = specification(monkeypatch, json.dumps(software), **details)
    assert {name: found[name] for name in module.SOFTWARE if name in found} == expected


def test_names_are_those_that_the_handler_knows() -> None:
    """But for counts and software, which are treated apart, and groups that run no scripts."""
    apart = {"ClusterInstanceGroupSpecification", "ClusterRestrictedInstanceGroupSpecification"}
    apart.add("ClusterSharedEnvironmentConfig")
    assert {key: names for key, names in LIVE_NAMES.items() if key[0] not in apart} == module.LIVE_NAMES


def test_a_group_that_runs_no_scripts_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Restricted groups are told of elsewhere in the answer."""
    service = Service(monkeypatch)
    service.sagemaker.add_response("list_cluster_events", {"Events": THREE})
    service.sagemaker.add_response("list_cluster_nodes", {"ClusterNodeSummaries": []})
    answer = {"ClusterArn": ARN, "ClusterStatus": "InService", "InstanceGroups": []}
    service.sagemaker.add_response("describe_cluster", answer)
    assert service.guard.judge("gpu")["Action"] == "none"


def made(*groups: InstanceGroup, **members: Any) -> Template:
    return Template.from_stack(Made(*groups, lifecycle=Lifecycle(**members)).stack)


@pytest.fixture(scope="module")
def template() -> Template:
    return made(bootstrap_guard=BootstrapGuard(max_failures=5))


def test_it_hears_of_failed_nodes_of_its_cluster_only(template: Template) -> None:
    pattern = {
        "source": ["aws.sagemaker"],
        "detail-type": ["SageMaker HyperPod Cluster Event"],
        "detail": {
            "EventDetails": {
                "ClusterName": [Match.any_value()],
                "ResourceType": ["Instance"],
                "EventLevel": ["Error"],
            }
        },
    }
    template.has_resource_properties("AWS::Events::Rule", {"EventPattern": pattern})
    function = {
        "Handler": "guard.handle",
        "Environment": {"Variables": Match.object_like({"MAX_FAILURES": "5"})},
    }
    template.has_resource_properties("AWS::Lambda::Function", function)


def test_it_passes_only_the_roles_of_the_groups(template: Template) -> None:
    statement = {
        "Sid": "PassRoles",
        "Action": "iam:PassRole",
        "Condition": {"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}},
        "Effect": "Allow",
        "Resource": Match.array_with([Match.object_like({"Fn::GetAtt": Match.any_value()})]),
    }
    statements = Match.array_with([statement])
    template.has_resource_properties(
        "AWS::IAM::ManagedPolicy",
        {
            "Description": "What the bootstrap guard of a HyperPod cluster uses",
            "PolicyDocument": Match.object_like({"Statement": statements}),
        },
    )


def test_it_may_lower_a_group_of_a_training_plan() -> None:
    """UpdateCluster names the plan again, and wants to be allowed it and its capacity."""
    guarded = made(
        compute(training_plan_arn=PLAN, image_id="ami-0123456789abcdef0"), bootstrap_guard=BootstrapGuard()
    )
    allowed = {one["Sid"]: one for one in statements(guarded, "BootstrapGuard")}
    assert allowed["UseTrainingPlans"]["Resource"][0] == PLAN
    assert "reserved-capacity/*" in json.dumps(allowed["UseTrainingPlans"]["Resource"])
    assert "ec2:ModifyImageAttribute" in allowed["ShareImages"]["Action"]
    guarded.has_resource_properties(
        "AWS::Lambda::Function",
        {"Environment": {"Variables": Match.object_like({"SOFTWARE": '{"cpu": ["ImageId"]}'})}},
    )
    plain = {one["Sid"] for one in statements(made(bootstrap_guard=BootstrapGuard()), "BootstrapGuard")}
    assert not plain & {"UseTrainingPlans", "ShareImages", "ReadImages"}


def test_it_may_stop_its_own_cluster_and_look_at_any(template: Template) -> None:
    """By the tags that the custom resource gives; CloudFormation's own resource gives none."""
    allowed = {one["Sid"]: one for one in statements(template, "BootstrapGuardPolicy")}
    (resource,) = template.find_resources("Custom::HyperPodCluster")
    assert allowed["Stop"]["Condition"]["StringEquals"] == {
        "aws:ResourceTag/hyperpod-cdk:stack-id": {"Ref": "AWS::StackId"},
        "aws:ResourceTag/hyperpod-cdk:logical-id": resource,
    }
    assert "Condition" not in allowed["Look"]
    assert not {"sagemaker:UpdateCluster", "sagemaker:DeleteCluster"} & set(allowed["Look"]["Action"])
    lifecycle = Lifecycle(bootstrap_guard=BootstrapGuard())
    native = Made(lifecycle=lifecycle, deployment=Deployment(provisioning=Provisioning.CLOUDFORMATION))
    (stop,) = [one for one in statements(native.template, "BootstrapGuardPolicy") if one["Sid"] == "Stop"]
    assert "Condition" not in stop


def test_nobody_who_does_not_ask_has_one() -> None:
    made().resource_count_is("AWS::Events::Rule", 0)


def test_the_asset_knows_every_member_of_a_group() -> None:
    shape = (
        botocore.session.get_session()
        .get_service_model("sagemaker")
        .shape_for("ClusterInstanceGroupSpecification")
    )
    assert {"SlurmConfig", "CapacityRequirements", "MinInstanceCount"} <= set(shape.members)
