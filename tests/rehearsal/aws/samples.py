"""Deploying a stack to its end, and the parts of templates."""

import json
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from hyperpod_cdk.rehearsal.aws import EmbeddedAws

CODE_BUCKET = "code-of-functions"
AddCode = Callable[[Mapping[str, str]], dict[str, str]]


@dataclass(frozen=True, kw_only=True)
class Deployed:
    """A stack as DescribeStacks shows it, and what happened to its resources."""

    aws: EmbeddedAws
    name: str
    description: Mapping[str, Any]

    @property
    def status(self) -> str:
        return str(self.description["StackStatus"])

    @property
    def outputs(self) -> dict[str, str]:
        return {o["OutputKey"]: o["OutputValue"] for o in self.description.get("Outputs", [])}

    def events(self, logical_id: str) -> list[tuple[str, str]]:
        """(status, reason) of a resource, oldest first."""
        cloudformation = self.aws.client("cloudformation")
        events = cloudformation.describe_stack_events(StackName=self.description["StackId"])["StackEvents"]
        return [
            (event["ResourceStatus"], event.get("ResourceStatusReason", ""))
            for event in reversed(events)
            if event["LogicalResourceId"] == logical_id
        ]

    def order(self, status: str) -> list[str]:
        """Logical ids in the order in which they reached a status."""
        cloudformation = self.aws.client("cloudformation")
        events = cloudformation.describe_stack_events(StackName=self.description["StackId"])["StackEvents"]
        return [
            e["LogicalResourceId"]
            for e in reversed(events)
            if e["ResourceStatus"] == status and e["LogicalResourceId"] != self.name
        ]

    def id_of(self, logical_id: str) -> str:
        resources = self.aws.client("cloudformation").describe_stack_resources(StackName=self.name)
        (found,) = (
            r["PhysicalResourceId"]
            for r in resources["StackResources"]
            if r["LogicalResourceId"] == logical_id
        )
        return str(found)


@dataclass(frozen=True, kw_only=True)
class Deployer:
    """Creates, updates and deletes one stack, each to its end."""

    aws: EmbeddedAws
    name: str

    def create(self, resources: Mapping[str, Any], **template: Any) -> Deployed:
        body = json.dumps({"Resources": resources, **template})
        cloudformation = self.aws.client("cloudformation")
        created = cloudformation.create_stack(StackName=self.name, TemplateBody=body)
        return self.settled(created["StackId"])

    def update(self, resources: Mapping[str, Any], **template: Any) -> Deployed:
        body = json.dumps({"Resources": resources, **template})
        cloudformation = self.aws.client("cloudformation")
        updated = cloudformation.update_stack(StackName=self.name, TemplateBody=body)
        return self.settled(updated["StackId"])

    def delete(self) -> Deployed:
        cloudformation = self.aws.client("cloudformation")
        stack_id = cloudformation.describe_stacks(StackName=self.name)["Stacks"][0]["StackId"]
        cloudformation.delete_stack(StackName=self.name)
        return self.settled(stack_id)

    def settled(self, stack_id: str) -> Deployed:
        deadline = time.monotonic() + 60
        while True:
            (stack,) = self.aws.client("cloudformation").describe_stacks(StackName=stack_id)["Stacks"]
            if not stack["StackStatus"].endswith("_IN_PROGRESS"):
                return Deployed(aws=self.aws, name=self.name, description=stack)
            assert time.monotonic() < deadline, f"{self.name} stays {stack['StackStatus']}"
            time.sleep(0.01)


def role(service: str = "lambda.amazonaws.com") -> dict[str, Any]:
    statement = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
    document = {"Version": "2012-10-17", "Statement": [statement]}
    return {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": document}}


def function(code: Mapping[str, str], handler: str, **properties: Any) -> dict[str, Any]:
    return {
        "Type": "AWS::Lambda::Function",
        "Properties": {
            "Code": dict(code),
            "Handler": handler,
            "Role": {"Fn::GetAtt": ["Role", "Arn"]},
            "Runtime": "python3.13",
            "Timeout": 20,
            **properties,
        },
    }


def parameter(value: Any, **definition: Any) -> dict[str, Any]:
    properties = {"Type": "String", "Value": value}
    return {"Type": "AWS::SSM::Parameter", "Properties": properties, **definition}


needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="Node is not on the PATH")
