"""CloudFormation's strings become the API's types (field reports 10, 21, 50, 51)."""

from typing import Any

import pytest
from handler.cast import cast
from handler.errors import RefusedError

from tests.api_shapes import input_shape, walk
from tests.handler.samples import stringified

CREATE = input_shape("CreateCluster")
QUOTA = input_shape("CreateComputeQuota")
GROUP = {
    "InstanceGroupName": "gpu",
    "InstanceCount": 2,
    "ExecutionRole": "arn:aws:iam::123456789012:role/node",
}


def cast_group(**members: Any) -> Any:
    group = {**stringified(GROUP), **members}
    return cast({"ClusterName": "ml", "InstanceGroups": [group]}, CREATE, "Request")["InstanceGroups"][0]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"InstanceCount": "3"}, {"InstanceCount": 3}),
        ({"InstanceCount": "0"}, {"InstanceCount": 0}),
        ({"InstanceCount": 3}, {"InstanceCount": 3}),
        ({"ThreadsPerCore": "1"}, {"ThreadsPerCore": 1}),
        (
            {"InstanceStorageConfigs": [{"EbsVolumeConfig": {"RootVolume": "true", "VolumeKmsKeyId": "k"}}]},
            {"InstanceStorageConfigs": [{"EbsVolumeConfig": {"RootVolume": True, "VolumeKmsKeyId": "k"}}]},
        ),
        (
            {"InstanceStorageConfigs": [{"EbsVolumeConfig": {"RootVolume": "false"}}]},
            {"InstanceStorageConfigs": [{"EbsVolumeConfig": {"RootVolume": False}}]},
        ),
        (
            {"KubernetesConfig": {"Labels": {"spot": "true", "rank": "123"}}},
            {"KubernetesConfig": {"Labels": {"spot": "true", "rank": "123"}}},
        ),
        (
            {"KubernetesConfig": {"Labels": {"spot": True}}},
            {"KubernetesConfig": {"Labels": {"spot": "true"}}},
        ),
    ],
)
def test_50_types_come_back_and_text_stays_text(given: dict[str, Any], expected: dict[str, Any]) -> None:
    assert cast_group(**given) == {**GROUP, **expected}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"OnStartDeepHealthChecks": []}, {}),
        ({"OnStartDeepHealthChecks": [""]}, {"OnStartDeepHealthChecks": [""]}),
        ({"InstanceStorageConfigs": []}, {"InstanceStorageConfigs": []}),
        ({"LifeCycleConfig": {"OnCreate": ""}}, {}),
        ({"LifeCycleConfig": None}, {}),
        (
            {"LifeCycleConfig": {"OnCreate": None, "SourceS3Uri": "s3://b/p"}},
            {"LifeCycleConfig": {"SourceS3Uri": "s3://b/p"}},
        ),
        ({"CapacityRequirements": {"Spot": {}}}, {"CapacityRequirements": {"Spot": {}}}),
        ({"KubernetesConfig": {"Labels": {}}}, {"KubernetesConfig": {"Labels": {}}}),
    ],
)
def test_51_what_is_empty_goes_where_the_model_wants_one(
    given: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert cast_group(**given) == {**GROUP, **expected}


def test_an_empty_structure_that_says_something_stays() -> None:
    assert cast({"Orchestrator": {"Slurm": {}}}, CREATE, "Request") == {"Orchestrator": {"Slurm": {}}}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"InstanceCount": "two"},
            "Request.InstanceGroups[0].InstanceCount: must be a whole number, got: 'two'",
        ),
        (
            {"InstanceCount": "2.5"},
            "Request.InstanceGroups[0].InstanceCount: must be a whole number, got: '2.5'",
        ),
        (
            {"InstanceStorageConfigs": [{"EbsVolumeConfig": {"RootVolume": "yes"}}]},
            "InstanceGroups[0].InstanceStorageConfigs[0].EbsVolumeConfig.RootVolume: must be true or false",
        ),
        ({"LifeCycleConfig": "x"}, "Request.InstanceGroups[0].LifeCycleConfig: must be an object, got: 'x'"),
        ({"InstanceType": ["ml.c5.large"]}, "Request.InstanceGroups[0].InstanceType: must be a string"),
        ({"OnStartDeepHealthChecks": "InstanceStress"}, "OnStartDeepHealthChecks: must be a list"),
    ],
)
def test_10_a_misfit_is_named_by_its_path(given: dict[str, Any], message: str) -> None:
    with pytest.raises(RefusedError) as error:
        cast_group(**given)
    assert message in str(error.value)


def test_21_an_unknown_member_is_named_with_the_nearest_known_one() -> None:
    with pytest.raises(RefusedError) as error:
        cast_group(InstanceTyp="ml.c5.large")
    assert "Request.InstanceGroups[0].InstanceTyp: the SageMaker API knows no such member" in str(error.value)
    assert "did you mean InstanceType?" in str(error.value)


def test_old_properties_lose_what_the_api_no_longer_knows() -> None:
    assert cast({"ClusterName": "ml", "Gone": "x"}, CREATE, "Request", strict=False) == {"ClusterName": "ml"}


def test_22_every_type_of_the_request_is_known_to_the_cast() -> None:
    types = {member.shape.type_name for shape in (CREATE, QUOTA) for member in walk(shape)}
    assert types == {"structure", "list", "map", "string", "integer", "float", "boolean", "timestamp"}


@pytest.mark.parametrize(("given", "expected"), [("2.50", 2.5), ("3", 3.0), (0.1, 0.1), ("1E-3", 0.001)])
def test_50_numbers_with_a_fraction_come_back(given: Any, expected: float) -> None:
    entry = {"InstanceType": "ml.c5.large", "VCpu": given, "Count": "2"}
    found = cast({"ComputeQuotaConfig": {"ComputeQuotaResources": [entry]}}, QUOTA, "Request")
    (resource,) = found["ComputeQuotaConfig"]["ComputeQuotaResources"]
    assert resource == {"InstanceType": "ml.c5.large", "VCpu": expected, "Count": 2}
    assert isinstance(resource["VCpu"], float)


def test_10_what_is_no_number_is_named_by_its_path() -> None:
    entry = {"InstanceType": "ml.c5.large", "MemoryInGiB": "16 GiB"}
    with pytest.raises(RefusedError, match=r"\[0\].MemoryInGiB: must be a number, got: '16 GiB'"):
        cast({"ComputeQuotaConfig": {"ComputeQuotaResources": [entry]}}, QUOTA, "Request")
