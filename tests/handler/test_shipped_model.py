"""The API model that ships with the handler (field reports 22, 50)."""

import json
from pathlib import Path

from botocore.stub import Stubber
from botocore.validate import ParamValidator
from handler.clients import Aws
from handler.cluster.request import FORM

from hyperpod_cdk.service.botocore_files import api_model
from hyperpod_cdk.service.cut_model import OPERATIONS, cut_model_json
from tests.api_shapes import input_shape, walk
from tests.handler.maximal import REQUEST, paths
from tests.handler.samples import properties, stringified


def test_it_is_small_and_the_same_every_time() -> None:
    text = cut_model_json()
    cut_model_json.cache_clear()
    assert cut_model_json() == text
    assert 30_000 < len(text) < 60_000


def test_it_has_the_operations_and_no_prose() -> None:
    model = json.loads(cut_model_json())
    assert set(model["operations"]) == set(OPERATIONS)
    assert '"documentation"' not in cut_model_json()
    assert model["metadata"] == api_model("sagemaker")["metadata"]


def test_22_the_client_speaks_the_shipped_model(aws: Aws) -> None:
    names = aws.sagemaker.meta.service_model.operation_names
    assert sorted(names) == sorted(OPERATIONS), "botocore did not load the model from AWS_DATA_PATH"


def test_22_a_maximal_request_survives_cloudformation_byte_for_byte(aws: Aws) -> None:
    assert {member.path for member in walk(input_shape("CreateCluster"))} <= set(paths(REQUEST))
    desired = FORM.read(stringified(properties(REQUEST)), aws)
    assert json.dumps(desired.request, sort_keys=True) == json.dumps(REQUEST, sort_keys=True)


def test_22_a_maximal_request_passes_the_validation_of_the_shipped_model(aws: Aws) -> None:
    report = ParamValidator().validate(REQUEST, aws.input_shape("CreateCluster"))
    assert not report.has_errors(), report.generate_report()
    arn = "arn:aws:sagemaker:us-west-2:123456789012:cluster/abcdefghijkl"
    with Stubber(aws.sagemaker) as stubber:
        stubber.add_response("create_cluster", {"ClusterArn": arn}, REQUEST)
        assert aws.sagemaker.create_cluster(**REQUEST)["ClusterArn"] == arn


def test_a_real_request_goes_through_too(aws: Aws) -> None:
    """The request of the service's own guide, with four groups."""
    path = Path(__file__).parents[1] / "unit" / "cluster" / "reference_request.json"
    request = json.loads(path.read_text(encoding="utf-8"))
    assert FORM.read(stringified(properties(request)), aws).request == request


def test_walking_meets_every_member_once() -> None:
    paths = [member.path for member in walk(input_shape("CreateCluster"))]
    assert len(paths) == len(set(paths)) > 100
    assert "InstanceGroups[].KubernetesConfig.Taints[].Effect" in paths
    required = {member.path for member in walk(input_shape("CreateCluster")) if member.required}
    assert "ClusterName" in required
    assert "InstanceGroups[].InstanceType" not in required
