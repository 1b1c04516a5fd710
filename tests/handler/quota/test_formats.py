"""Property formats of the past: each can be deleted and rolled back to for ever (field report 55).

formats/ has a file for each released format, with the properties as CloudFormation sends them. Once a format
is released its file does not change: it is what lies in stacks.
"""

import copy
import json
from pathlib import Path

import pytest
from handler import index
from handler.clients import Aws
from handler.quota.request import FORM, PARTS

from hyperpod_cdk.rehearsal.hyperpod import HyperPodService
from tests.api_shapes import input_shape, walk
from tests.handler.cloudformation import Stack
from tests.handler.quota.samples import there
from tests.handler.samples import Request

FILES = {path.stem: path for path in (Path(__file__).parent / "formats").glob("*.json")}
ARN = "arn:aws:sagemaker:us-west-2:123456789012:cluster/abcdefghijkl"


@pytest.fixture(params=sorted(FILES))
def written(request: pytest.FixtureRequest, cluster_arn: str) -> Request:
    """Properties that a release wrote, of a cluster that is there."""
    text = FILES[request.param].read_text(encoding="utf-8")
    read: Request = json.loads(text.replace(ARN, cluster_arn))
    return read


def test_every_format_has_its_file() -> None:
    assert set(FILES) == FORM.formats
    assert all(json.loads(path.read_text())["Format"] == name for name, path in FILES.items())


def test_50_a_whole_request_gets_its_types_back(written: Request, aws: Aws) -> None:
    """Every member of the API is in the newest file."""
    request = FORM.read(written, aws).request

    def names(value: object) -> set[str]:
        if isinstance(value, dict):
            return set(value) | {name for inner in value.values() for name in names(inner)}
        return {name for inner in value for name in names(inner)} if isinstance(value, list) else set()

    assert names(request) == {member.name for member in walk(input_shape("CreateComputeQuota"))}
    resources = request["ComputeQuotaConfig"]["ComputeQuotaResources"]
    assert [one.get("VCpu") for one in resources] == [None, 9.5, None]
    assert request["ComputeQuotaTarget"]["FairShareWeight"] == 40


def test_55_it_can_be_deleted(team: Stack, written: Request, service: HyperPodService) -> None:
    response = team.framework.run(team.event("Create", written))
    assert response.ok, response.reason
    team.physical_id, team.current = response.physical_id, written
    assert team.delete().ok
    assert there(service) == []


def test_55_it_can_be_rolled_back_to(
    team: Stack, written: Request, service: HyperPodService, aws: Aws
) -> None:
    """From a request of today that has failed half way."""
    response = team.framework.run(team.event("Create", written))
    team.physical_id, team.current = response.physical_id, written
    failed = copy.deepcopy(written)
    failed["Request"]["ComputeQuotaConfig"]["ComputeQuotaResources"][0]["Count"] = "3"
    index.on_event(team.event("Update", failed, written, team.physical_id))
    back = team.roll_back(failed, team.physical_id)
    assert back.ok, back.reason
    (one,) = there(service)
    asked = FORM.read(written, aws).request
    assert {name: one.content[name] for name in PARTS} == {name: asked[name] for name in PARTS}


def test_55_it_can_be_deleted_after_a_failed_create(
    team: Stack, written: Request, service: HyperPodService
) -> None:
    """With the id that CloudFormation makes up."""
    index.on_event(team.event("Create", written))
    assert team.framework.run(team.event("Delete", written, physical_id="Quota-1ABCDEFGHIJKL")).ok
    assert there(service) == []
