"""What makes the cluster and what a deployment waits for."""

import inspect
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import cdk_nag
import pytest
from aws_cdk import aws_sagemaker as sagemaker
from aws_cdk.assertions import Match, Template

from hyperpod_cdk.checking import SpecError
from hyperpod_cdk.cluster.waiting import DEFINITION
from hyperpod_cdk.config import load
from hyperpod_cdk.spec import (
    BatchSize,
    BatchSizeType,
    Deployment,
    HyperPodSpec,
    Provisioning,
    RemovalPolicy,
    RollingUpdatePolicy,
    UpdateDeploymentConfig,
    Wait,
)
from hyperpod_cdk.stack import HyperPodStack
from tests.api_shapes import input_shape, walk

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def spec() -> HyperPodSpec:
    """An example with a minimum count."""
    return load(ROOT / "clusters" / "slurm-gpu.yaml")


def stack(spec: HyperPodSpec, **deployment: Any) -> HyperPodStack:
    """A stack deployed in a certain way."""
    return HyperPodStack(cdk.App(), "Made", spec=replace(spec, deployment=Deployment(**deployment)))


def one(template: Template, kind: str) -> tuple[str, dict[str, Any]]:
    """The only resource of a type: its logical id and what it says."""
    ((logical_id, resource),) = template.find_resources(kind).items()
    return logical_id, dict(resource)


def test_the_native_resource_takes_the_same_request(spec: HyperPodSpec) -> None:
    native = Template.from_stack(stack(spec, provisioning=Provisioning.CLOUDFORMATION))
    custom = Template.from_stack(stack(spec))
    _, resource = one(native, "AWS::SageMaker::Cluster")
    _, ours = one(custom, "Custom::HyperPodCluster")
    assert resource["Properties"] == ours["Properties"]["Request"]
    assert set(resource["DependsOn"]) < set(ours["DependsOn"])
    native.resource_count_is("Custom::HyperPodCluster", 0)
    native.resource_count_is("AWS::StepFunctions::StateMachine", 0)


def test_the_native_resource_has_attributes_too(spec: HyperPodSpec) -> None:
    made = stack(spec, provisioning=Provisioning.CLOUDFORMATION)
    outputs = Template.from_stack(made).find_outputs("*")
    assert "Connect" not in outputs
    assert "list-cluster-nodes" in json.dumps(outputs["Nodes"])
    assert "ClusterArn" in json.dumps(outputs["ClusterLogGroup"])
    assert made.cluster.controller_ssm_target is None


def test_the_native_resource_knows_every_member_that_we_send() -> None:
    """Decision 3 of the design is to be looked at anew when this set changes."""
    known = _members_of_the_l1()
    sent = {member.name.lower() for member in walk(input_shape("CreateCluster"))}
    assert sent - known == {
        "drainpolicy",
        "draintimeoutinseconds",
        "idlewaitwindowinseconds",
        "ondraintimeout",
    }


def _members_of_the_l1() -> set[str]:
    classes = [sagemaker.CfnCluster]
    classes += [value for name, value in vars(sagemaker.CfnCluster).items() if name.endswith("Property")]
    names = {
        parameter.replace("_", "")
        for cls in classes
        for parameter in inspect.signature(vars(cls)["__init__"]).parameters
    }
    # a list of tags is a CfnTag in every L1
    return names | {"key", "value"}


def test_by_default_nothing_waits_but_the_resource(spec: HyperPodSpec) -> None:
    template = Template.from_stack(stack(spec))
    template.resource_count_is("AWS::CloudFormation::WaitCondition", 0)
    assert set(one(template, "Custom::HyperPodCluster")[1]["Properties"]) == {
        "ServiceToken",
        "Format",
        "Request",
        "ControllerGroup",
    }


def test_how_software_is_updated_reaches_the_handler(spec: HyperPodSpec) -> None:
    batch = BatchSize(type=BatchSizeType.INSTANCE_COUNT, value=2)
    config = UpdateDeploymentConfig(
        rolling_update_policy=RollingUpdatePolicy(maximum_batch_size=batch), wait_interval_in_seconds=60
    )
    template = Template.from_stack(stack(spec, software_update=config, group_by_group=True))
    properties = one(template, "Custom::HyperPodCluster")[1]["Properties"]
    assert properties["DeploymentConfig"] == {
        "RollingUpdatePolicy": {"MaximumBatchSize": {"Type": "INSTANCE_COUNT", "Value": 2}},
        "WaitIntervalInSeconds": 60,
    }
    assert properties["GroupByGroup"] is True
    with pytest.raises(SpecError, match=r"deployment\.group_by_group(.|\n)*deployment\.software_update"):
        stack(
            spec,
            provisioning=Provisioning.CLOUDFORMATION,
            software_update=config,
            group_by_group=True,
        )


def test_minimum_counts_are_waited_for_by_a_condition(spec: HyperPodSpec) -> None:
    template = Template.from_stack(stack(spec, wait=Wait.MINIMUM_COUNTS, wait_timeout_hours=12))
    cluster, resource = one(template, "Custom::HyperPodCluster")
    handle, _ = one(template, "AWS::CloudFormation::WaitConditionHandle")
    _, condition = one(template, "AWS::CloudFormation::WaitCondition")
    assert resource["Properties"]["Wait"] == "MinimumCounts"
    assert resource["Properties"]["Watch"]["Handle"] == {"Ref": handle}
    assert resource["Properties"]["Watch"]["Seconds"] == 12 * 3600
    assert condition["Properties"] == {"Handle": {"Ref": handle}, "Timeout": "43200", "Count": 1}
    assert cluster in condition["DependsOn"]
    machine = resource["Properties"]["Watch"]["StateMachine"]["Ref"]
    assert machine in template.find_resources("AWS::StepFunctions::StateMachine")
    template.has_resource_properties(
        "AWS::IAM::ManagedPolicy",
        {
            "PolicyDocument": {
                "Statement": Match.array_with(
                    [Match.object_like({"Action": "states:StartExecution", "Resource": {"Ref": machine}})]
                )
            }
        },
    )


def test_the_condition_follows_the_request(spec: HyperPodSpec) -> None:
    """A condition can not be updated: a changed request needs a new one, an unchanged must keep it."""

    def condition(of: HyperPodSpec, **deployment: Any) -> str:
        made = stack(of, wait=Wait.MINIMUM_COUNTS, **deployment)
        return one(Template.from_stack(made), "AWS::CloudFormation::WaitCondition")[0]

    *others, compute = spec.cluster.instance_groups
    groups = [*others, replace(compute, instance_count=17)]
    scaled = replace(spec, cluster=replace(spec.cluster, instance_groups=groups))
    assert condition(spec) == condition(replace(spec, termination_protection=False))
    assert condition(spec) != condition(scaled)
    assert condition(spec) != condition(spec, wait_timeout_hours=5), "nor can its timeout be updated"


def test_a_watch_that_can_look_no_more_tells_the_condition() -> None:
    """Without it, the condition would run out of its hours and tell no reason."""
    states: Any = DEFINITION["States"]
    (caught,) = states["Look"]["Catch"]
    assert caught == {"ErrorEquals": ["States.ALL"], "ResultPath": "$.Error", "Next": "GiveUp"}
    assert states["GiveUp"]["Resource"] == states["Look"]["Resource"]
    (again,) = states["Look"]["Retry"]
    assert again["MaxAttempts"] * again["IntervalSeconds"] < 3600, "within the shortest timeout"


def test_the_signed_address_is_not_logged(spec: HyperPodSpec) -> None:
    template = Template.from_stack(stack(spec, wait=Wait.MINIMUM_COUNTS))
    for machine in template.find_resources("AWS::StepFunctions::StateMachine").values():
        assert machine["Properties"]["LoggingConfiguration"]["IncludeExecutionData"] is False


def test_accepted_asks_for_no_controller(spec: HyperPodSpec) -> None:
    template = Template.from_stack(stack(spec, wait=Wait.ACCEPTED))
    assert one(template, "Custom::HyperPodCluster")[1]["Properties"]["Wait"] == "Accepted"
    assert "Connect" not in template.find_outputs("*")


def test_logs_go_only_where_the_handler_may_delete_them(spec: HyperPodSpec) -> None:
    kept = json.dumps(Template.from_stack(stack(spec)).to_json())
    gone = Template.from_stack(stack(spec, log_group_removal_policy=RemovalPolicy.DESTROY))
    assert "logs:DeleteLogGroup" not in kept
    assert "logs:DeleteLogGroup" in json.dumps(gone.to_json())
    assert one(gone, "Custom::HyperPodCluster")[1]["Properties"]["LogGroupRemoval"] == "Delete"


@pytest.mark.parametrize(
    "deployment",
    [
        {"wait": Wait.MINIMUM_COUNTS, "log_group_removal_policy": RemovalPolicy.DESTROY},
        {"provisioning": Provisioning.CLOUDFORMATION},
    ],
)
def test_cdk_nag_finds_nothing(deployment: dict[str, Any], spec: HyperPodSpec) -> None:
    app = cdk.App()
    HyperPodStack(app, "Nag", spec=replace(spec, deployment=Deployment(**deployment)))
    packs = [
        cdk_nag.AwsSolutionsChecks(app),
        cdk_nag.HIPAASecurityChecks(app),
        cdk_nag.NIST80053R5Checks(app),
        cdk_nag.PCIDSS321Checks(app),
    ]
    cdk.Validations.of(app).add_plugins(*packs)
    app.synth()
