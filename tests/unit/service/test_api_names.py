"""Names of the API's members."""

import re

import pytest

from hyperpod_cdk.service.api_names import ELSEWHERE, in_spec_style
from tests.api_shapes import input_shape, walk


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("InstanceType", "instance_type"),
        ("SourceS3Uri", "source_s3_uri"),
        ("VolumeSizeInGB", "volume_size_in_gb"),
        ("mount_path", "mount_path"),
        ("Eks", "eks"),
    ],
)
def test_members_in_the_spec_s_style(name: str, ours: str) -> None:
    assert in_spec_style(name) == ours


def test_hints_are_about_members_of_the_api() -> None:
    members = {in_spec_style(re.sub(r"[\[\]]", "", one.name)) for one in walk(input_shape("CreateCluster"))}
    assert set(ELSEWHERE) <= members
