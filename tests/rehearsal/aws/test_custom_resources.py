"""Custom resources: every request CloudFormation makes, and what it does with every answer."""

import json
from typing import Any

import pytest

from hyperpod_cdk.rehearsal.aws import EmbeddedAws
from hyperpod_cdk.rehearsal.aws.resources.custom import stringify
from tests.rehearsal.aws.samples import AddCode, Deployed, Deployer, function, needs_node, role

# answers as a handler without a framework does; keeps what it was sent
HANDLER = """
import json, os, urllib.request
import boto3

def handler(event, context):
    properties = event["ResourceProperties"]
    name = event["LogicalResourceId"]
    key = f"requests/{event['StackId'].split('/')[1]}/{context.aws_request_id}"
    boto3.client("s3").put_object(Bucket="code-of-functions", Key=key, Body=json.dumps(event))
    if properties.get("Crash") == event["RequestType"]:
        raise RuntimeError("crashed before it could answer")
    failed = properties.get("Fail") == event["RequestType"]
    answer = {
        "Status": "FAILED" if failed else "SUCCESS",
        "Reason": f"{name} can not {event['RequestType'].lower()}: no such device",
        "PhysicalResourceId": properties.get("Id", "thing"),
        "StackId": event["StackId"],
        "RequestId": event["RequestId"],
        "LogicalResourceId": name,
        "Data": {"Arn": "arn:" + properties.get("Id", "thing"), "Deep.Key": "x"},
    }
    body = json.dumps(answer).encode()
    urllib.request.urlopen(urllib.request.Request(event["ResponseURL"], data=body, method="PUT"))
"""


@pytest.fixture
def resources(code: AddCode) -> Any:
    code_property = code({"index.py": HANDLER})

    def make(**properties: Any) -> dict[str, Any]:
        token = {"Fn::GetAtt": ["Function", "Arn"]}
        return {
            "Role": role(),
            "Function": function(code_property, "index.handler"),
            "Thing": {"Type": "Custom::Thing", "Properties": {"ServiceToken": token, **properties}},
        }

    return make


OUTPUTS = {
    "Ref": {"Value": {"Ref": "Thing"}},
    "Arn": {"Value": {"Fn::GetAtt": ["Thing", "Arn"]}},
    "Deep": {"Value": {"Fn::GetAtt": ["Thing", "Deep.Key"]}},
}


def requests(aws: EmbeddedAws, stack: Deployer) -> list[dict[str, Any]]:
    """What the function was sent, oldest first."""
    s3 = aws.client("s3")
    found = s3.list_objects_v2(Bucket="code-of-functions", Prefix=f"requests/{stack.name}/")["Contents"]
    bodies = [s3.get_object(Bucket="code-of-functions", Key=entry["Key"])["Body"].read() for entry in found]
    events = [json.loads(body) for body in bodies]
    order = ["Create", "Update", "Delete"]
    return sorted(events, key=lambda event: order.index(event["RequestType"]))


def test_life_of_a_custom_resource(aws: EmbeddedAws, stack: Deployer, resources: Any) -> None:
    created = stack.create(
        resources(Count=3, Flag=True, Nested={"List": [1, {"Half": 0.5}]}), Outputs=OUTPUTS
    )
    assert created.outputs == {"Ref": "thing", "Arn": "arn:thing", "Deep": "x"}
    stack.update(resources(Count=4, Flag=False), Outputs=OUTPUTS)
    stack.delete()
    create, update, delete = requests(aws, stack)
    strings = {"Count": "3", "Flag": "true", "Nested": {"List": ["1", {"Half": "0.5"}]}}
    token = create["ResourceProperties"].pop("ServiceToken")
    assert create["ResourceProperties"] == strings
    assert token == create["ServiceToken"]
    assert "PhysicalResourceId" not in create
    assert create["ResourceType"] == "Custom::Thing"
    assert update["PhysicalResourceId"] == "thing"
    assert update["ResourceProperties"] == {"ServiceToken": token, "Count": "4", "Flag": "false"}
    assert update["OldResourceProperties"] == {"ServiceToken": token, **strings}
    assert delete["PhysicalResourceId"] == "thing"
    assert len({event["RequestId"] for event in (create, update, delete)}) == 3


def test_other_physical_id_replaces_and_deletes_the_old(
    aws: EmbeddedAws, stack: Deployer, resources: Any
) -> None:
    stack.create(resources(Id="one"))
    updated = stack.update(resources(Id="two"))
    assert updated.id_of("Thing") == "two"
    _, update, delete = requests(aws, stack)
    assert (update["PhysicalResourceId"], delete["PhysicalResourceId"]) == ("one", "one")
    # the old one goes with the properties it had
    assert delete["ResourceProperties"]["Id"] == "one"


def test_failed_creation_is_deleted_and_tells_the_reason(
    aws: EmbeddedAws, stack: Deployer, resources: Any
) -> None:
    created = stack.create(resources(Fail="Create"))
    assert created.status == "ROLLBACK_COMPLETE"
    reason = created.events("Thing")[1][1]
    assert reason == (
        "Received response status [FAILED] from custom resource. "
        "Message returned: Thing can not create: no such device"
    )
    assert [event["RequestType"] for event in requests(aws, stack)] == ["Create", "Delete"]


def test_failed_update_is_taken_back(aws: EmbeddedAws, stack: Deployer, resources: Any) -> None:
    stack.create(resources(Count=1))
    updated = stack.update(resources(Count=2, Fail="Update"))
    assert updated.status == "UPDATE_ROLLBACK_COMPLETE"
    _, *updates = requests(aws, stack)
    counts = {(e["ResourceProperties"]["Count"], e["OldResourceProperties"]["Count"]) for e in updates}
    assert counts == {("2", "1"), ("1", "2")}


def test_function_that_ends_without_an_answer_fails_at_once(stack: Deployer, resources: Any) -> None:
    created = stack.create(resources(Crash="Create"))
    assert "ended without an answer: crashed before it could answer" in created.events("Thing")[1][1]


def test_failed_deletion_leaves_the_stack(aws: EmbeddedAws, stack: Deployer, resources: Any) -> None:
    stack.create(resources(Fail="Delete"))
    deleted: Deployed = stack.delete()
    assert deleted.status == "DELETE_FAILED"
    assert "Thing can not delete" in deleted.events("Thing")[-1][1]
    # what it depends on stays, so that it can be tried again
    assert deleted.order("DELETE_COMPLETE") == []


def test_service_token_that_is_no_function(stack: Deployer) -> None:
    token = "arn:aws:lambda:us-west-2:123456789012:function:nothing"
    created = stack.create({"Thing": {"Type": "Custom::Thing", "Properties": {"ServiceToken": token}}})
    assert "is no function" in created.events("Thing")[1][1]


@needs_node
def test_node_handler_answers_over_https_as_cdks_do(stack: Deployer, code: AddCode) -> None:
    handler = (
        "const https = require('https'); const url = require('url');\n"
        "exports.handler = (event) => new Promise((resolve, reject) => {\n"
        "  const to = url.parse(event.ResponseURL);\n"
        "  const answer = { Status: 'SUCCESS', PhysicalResourceId: 'node', Data: { A: 'b' } };\n"
        "  const body = JSON.stringify(answer);\n"
        "  const headers = { 'content-type': '', 'content-length': Buffer.byteLength(body) };\n"
        "  const options = { hostname: to.hostname, path: to.path, method: 'PUT', headers };\n"
        "  const request = https.request(options, (answer) => { answer.resume(); resolve(); });\n"
        "  request.on('error', reject); request.write(body); request.end();\n"
        "});\n"
    )
    token = {"Fn::GetAtt": ["Function", "Arn"]}
    created = stack.create(
        {
            "Role": role(),
            "Function": function(code({"index.js": handler}), "index.handler", Runtime="nodejs22.x"),
            "Thing": {"Type": "Custom::Thing", "Properties": {"ServiceToken": token}},
        },
        Outputs={"A": {"Value": {"Fn::GetAtt": ["Thing", "A"]}}},
    )
    assert created.outputs == {"A": "b"}


@pytest.mark.parametrize(
    ("value", "text"),
    [(3, "3"), (0.5, "0.5"), (True, "true"), (False, "false"), ("x", "x"), ([1, [True]], ["1", ["true"]])],
)
def test_numbers_and_booleans_arrive_as_strings(value: Any, text: Any) -> None:
    assert stringify({"a": value}) == {"a": text}
