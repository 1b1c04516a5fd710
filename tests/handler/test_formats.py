"""Property formats of the past: each can be deleted and rolled back to for ever (field report 55).

formats/ has a file for each released format, with the properties as CloudFormation sends them. Once a format
is released its file does not change: it is what lies in stacks.
"""

import json
import re
from pathlib import Path

import pytest
from handler import index
from handler.clients import Aws
from handler.cluster.request import FORM

from hyperpod_cdk.rehearsal.hyperpod import HyperPodService
from tests.handler.cloudformation import Stack
from tests.handler.comparison import differences
from tests.handler.samples import Request, changed

FILES = {path.stem: path for path in (Path(__file__).parent / "formats").glob("*.json")}


@pytest.fixture(params=sorted(FILES))
def written(request: pytest.FixtureRequest, aws: Aws) -> Request:
    """Properties that a release wrote, in a network that the emulated account has."""
    text = FILES[request.param].read_text(encoding="utf-8")
    vpc = aws.ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    for number, subnet in enumerate(sorted(set(re.findall(r"subnet-\w+", text)))):
        made = aws.ec2.create_subnet(VpcId=vpc, CidrBlock=f"10.0.{number}.0/24")
        text = text.replace(subnet, made["Subnet"]["SubnetId"])
    for name in sorted(set(re.findall(r"sg-\w+", text))):
        made = aws.ec2.create_security_group(VpcId=vpc, GroupName=name, Description=name)
        text = text.replace(name, made["GroupId"])
    read: Request = json.loads(text)
    return read


@pytest.fixture
def made(stack: Stack, written: Request, service: HyperPodService) -> Stack:
    """A stack whose resource was created with them."""
    response = stack.framework.run(stack.event("Create", written))
    assert response.ok, response.reason
    stack.physical_id, stack.current = response.physical_id, written
    return stack


def test_every_format_has_its_file() -> None:
    assert set(FILES) == FORM.formats
    assert all(json.loads(path.read_text())["Format"] == name for name, path in FILES.items())


def test_a_file_has_text_only(written: Request) -> None:
    """CloudFormation leaves no number and no boolean."""

    def leaves(value: object) -> list[object]:
        if isinstance(value, dict):
            return [leaf for item in value.values() for leaf in leaves(item)]
        return [leaf for item in value for leaf in leaves(item)] if isinstance(value, list) else [value]

    assert all(isinstance(leaf, str) for leaf in leaves(written))


def test_55_it_can_be_deleted(made: Stack, service: HyperPodService) -> None:
    service.settle()
    assert made.delete().ok
    assert not service.clusters


def test_55_it_can_be_rolled_back_to(
    made: Stack, written: Request, service: HyperPodService, aws: Aws
) -> None:
    """From a request of today that has failed half way."""

    def grow(copied: Request) -> None:
        copied["Request"]["InstanceGroups"][1]["InstanceCount"] = "2"

    service.settle()
    failed = changed(written, grow)
    index.on_event(made.event("Update", failed, written, made.physical_id))
    back = made.roll_back(failed, made.physical_id)
    assert back.ok, back.reason
    service.settle()
    (cluster,) = service.clusters.values()
    assert differences(dict(FORM.read(written, aws).request), cluster) == []


def test_55_it_can_be_deleted_after_a_failed_create(
    stack: Stack, written: Request, service: HyperPodService
) -> None:
    """With the id that CloudFormation makes up."""
    index.on_event(stack.event("Create", written))
    assert stack.framework.run(stack.event("Delete", written, physical_id="Cluster-1ABCDEFGHIJKL")).ok
    assert not service.clusters
