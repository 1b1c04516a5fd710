"""Wait conditions: signals that come before, in time, too late, or tell of a failure."""

import json
import urllib.request
from collections.abc import Callable
from threading import Thread
from typing import Any

import pytest

from hyperpod_cdk.rehearsal.aws import EmbeddedAws
from hyperpod_cdk.rehearsal.aws.resources import wait_conditions
from tests.rehearsal.aws.samples import AddCode, Deployer, function, role

HANDLE = {"Type": "AWS::CloudFormation::WaitConditionHandle"}


def condition(handle: str, *, count: int = 1, timeout: int = 3600) -> dict[str, Any]:
    properties = {"Handle": {"Ref": handle}, "Count": count, "Timeout": str(timeout)}
    return {"Type": "AWS::CloudFormation::WaitCondition", "Properties": properties}


def signal(address: str, unique_id: str, *, status: str = "SUCCESS", reason: str = "") -> None:
    body = {"Status": status, "UniqueId": unique_id, "Reason": reason, "Data": f"data of {unique_id}"}
    request = urllib.request.Request(address, data=json.dumps(body).encode(), method="PUT")
    with urllib.request.urlopen(request):
        pass


def when_waiting(aws: EmbeddedAws, stack: Deployer, act: Callable[[str], None]) -> None:
    """Act on the handle's address once the stack has made it."""
    cloudformation = aws.client("cloudformation")

    def look() -> None:
        while True:
            stacks = [s for s in aws.cloudformation.stacks() if s.name == stack.name]
            if stacks and "Condition" in stacks[0].resources:
                break
        resource = cloudformation.describe_stack_resource(StackName=stack.name, LogicalResourceId="Handle")
        act(resource["StackResourceDetail"]["PhysicalResourceId"])

    Thread(target=look, daemon=True).start()


def test_condition_is_met_by_as_many_different_signals(aws: EmbeddedAws, stack: Deployer) -> None:
    def act(address: str) -> None:
        signal(address, "one")
        signal(address, "one")
        signal(address, "two")

    when_waiting(aws, stack, act)
    outputs = {"Data": {"Value": {"Fn::GetAtt": ["Condition", "Data"]}}}
    created = stack.create({"Handle": HANDLE, "Condition": condition("Handle", count=2)}, Outputs=outputs)
    assert created.status == "CREATE_COMPLETE"
    assert json.loads(created.outputs["Data"]) == {"one": "data of one", "two": "data of two"}
    assert stack.delete().status == "DELETE_COMPLETE"


def test_failure_is_told_in_cloudformations_words(aws: EmbeddedAws, stack: Deployer) -> None:
    when_waiting(aws, stack, lambda address: signal(address, "node", status="FAILURE", reason="no capacity"))
    created = stack.create({"Handle": HANDLE, "Condition": condition("Handle")})
    message = "WaitCondition received failed message: 'no capacity' for uniqueId: node"
    assert ("CREATE_FAILED", message) in created.events("Condition")


def test_condition_runs_out_of_time(stack: Deployer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wait_conditions, "FUNCTION_SECONDS", 0.0)
    created = stack.create({"Handle": HANDLE, "Condition": condition("Handle", timeout=1)})
    message = "WaitCondition timed out. Received 0 conditions when expecting 1"
    assert ("CREATE_FAILED", message) in created.events("Condition")


def test_condition_is_never_updated(aws: EmbeddedAws, stack: Deployer) -> None:
    when_waiting(aws, stack, lambda address: signal(address, "one"))
    stack.create({"Handle": HANDLE, "Condition": condition("Handle")})
    updated = stack.update({"Handle": HANDLE, "Condition": condition("Handle", timeout=7200)})
    reasons = [reason for status, reason in updated.events("Condition") if status == "UPDATE_FAILED"]
    assert "is not supported" in reasons[0]


LOOK = """
import json, urllib.request
looks = 0

def handler(event, context):
    global looks
    looks += 1
    if looks < 3:
        return {"Done": False}
    body = json.dumps({"Status": "SUCCESS", "UniqueId": "watch", "Data": str(looks)}).encode()
    urllib.request.urlopen(urllib.request.Request(event["Handle"], data=body, method="PUT"))
    return {"Done": True}
"""
WATCH = {
    "StartAt": "Look",
    "States": {
        "Look": {"Type": "Task", "Resource": "${Look}", "ResultPath": "$.Seen", "Next": "Done?"},
        "Done?": {
            "Type": "Choice",
            "Choices": [{"Variable": "$.Seen.Done", "BooleanEquals": True, "Next": "Told"}],
            "Default": "Later",
        },
        "Later": {"Type": "Wait", "Seconds": 60, "Next": "Look"},
        "Told": {"Type": "Succeed"},
    },
}


def test_state_machine_waits_faster_than_the_wall_clock_and_tells_the_condition(
    aws: EmbeddedAws, stack: Deployer, code: AddCode
) -> None:
    def act(address: str) -> None:
        machine = aws.cloudformation.find(stack.name).resources["Watch"].physical_id
        start = aws.client("stepfunctions").start_execution
        start(stateMachineArn=machine, input=json.dumps({"Handle": address}))

    when_waiting(aws, stack, act)
    created = stack.create(
        {
            "Role": role(),
            "Look": function(code({"index.py": LOOK}), "index.handler"),
            "Watch": {
                "Type": "AWS::StepFunctions::StateMachine",
                "Properties": {
                    "DefinitionString": json.dumps(WATCH),
                    "DefinitionSubstitutions": {"Look": {"Fn::GetAtt": ["Look", "Arn"]}},
                    "RoleArn": {"Fn::GetAtt": ["Role", "Arn"]},
                },
            },
            "Handle": HANDLE,
            "Condition": {**condition("Handle"), "DependsOn": "Watch"},
        },
        Outputs={"Data": {"Value": {"Fn::GetAtt": ["Condition", "Data"]}}},
    )
    # two waits of a minute, at 200 times real time
    assert json.loads(created.outputs["Data"]) == {"watch": "3"}
