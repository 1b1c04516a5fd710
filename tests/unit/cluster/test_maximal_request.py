"""Every member of CreateCluster, from the construct's template to the call (field reports 21, 22, 50, 51)."""

import json
from types import SimpleNamespace
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_logs as logs
from aws_cdk.assertions import Template
from botocore.validate import ParamValidator

from hyperpod_cdk.cluster.handler.clients import Aws
from hyperpod_cdk.cluster.handler.cluster.request import FORM
from hyperpod_cdk.cluster.provider import ClusterProvider
from hyperpod_cdk.cluster.provisioned import CUSTOM_TYPE, custom_resource
from hyperpod_cdk.spec import Deployment
from tests.api_shapes import input_shape, service_model, walk
from tests.handler.maximal import REQUEST, paths
from tests.handler.samples import stringified


def canonical(value: Any) -> bytes:
    """The same bytes for the same value."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


@pytest.fixture(scope="module")
def properties() -> dict[str, Any]:
    """The custom resource's properties in a synthesized template."""
    stack = cdk.Stack(cdk.App(), "Maximal")
    provider = ClusterProvider(stack, "Provider", cluster_names="x")
    custom_resource(
        stack,
        "Resource",
        REQUEST,
        controller_group=None,
        provider=provider,
        deployment=Deployment(),
        log_retention=logs.RetentionDays.ONE_WEEK,
        encryption_key=None,
        depends_on=[],
    )
    (resource,) = Template.from_stack(stack).find_resources(CUSTOM_TYPE).values()
    made: dict[str, Any] = resource["Properties"]
    return made


@pytest.fixture(scope="module")
def aws() -> Aws:
    """What the handler asks for the API model."""
    client = SimpleNamespace(meta=SimpleNamespace(service_model=service_model()))
    return Aws(clients=SimpleNamespace(sagemaker=client), started=0)  # type: ignore[arg-type]


def test_the_request_leaves_no_member_out() -> None:
    assert {member.path for member in walk(input_shape("CreateCluster"))} <= set(paths(REQUEST))


def test_it_arrives_unchanged_byte_for_byte(properties: dict[str, Any], aws: Aws) -> None:
    assert canonical(properties["Request"]) == canonical(REQUEST)
    sent = json.loads(json.dumps(stringified(properties)))
    assert canonical(sent["Request"]) != canonical(REQUEST), "CloudFormation has made strings of numbers"
    assert canonical(FORM.read(sent, aws).request) == canonical(REQUEST)


def test_it_passes_the_validation_of_the_slim_model(properties: dict[str, Any], aws: Aws) -> None:
    request = dict(FORM.read(stringified(properties), aws).request)
    report = ParamValidator().validate(request, service_model().operation_model("CreateCluster").input_shape)
    assert not report.has_errors(), report.generate_report()


def test_55_the_format_that_is_written_can_be_read(properties: dict[str, Any]) -> None:
    assert properties["Format"] in FORM.formats
