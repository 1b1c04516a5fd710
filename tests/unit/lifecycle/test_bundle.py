"""LifecycleBundle: a folder of downloads in the nodes' bucket, for networks without internet."""

from pathlib import Path

import aws_cdk as cdk
import pytest
from aws_cdk import aws_s3 as s3
from aws_cdk.assertions import Template

from hyperpod_cdk.faults import ConstructError
from hyperpod_cdk.lifecycle import LifecycleBucket, LifecycleBundle


def bundle(folder: Path) -> Template:
    stack = cdk.Stack()
    bucket = LifecycleBucket.from_bucket(stack, "B", s3.Bucket.from_bucket_name(stack, "Given", "scripts"))
    LifecycleBundle(stack, "Bundle", bucket=bucket, folder=folder)
    return Template.from_stack(stack)


def test_it_goes_where_nodes_look_and_removes_nothing(tmp_path: Path) -> None:
    (tmp_path / "abc").mkdir()
    (tmp_path / "abc" / "tool.tar.gz").write_bytes(b"x")
    template = bundle(tmp_path)
    template.has_resource_properties(
        "Custom::CDKBucketDeployment",
        {"DestinationBucketKeyPrefix": "bundle", "Prune": False, "RetainOnDelete": True},
    )
    template.has_resource_properties(
        "AWS::Lambda::Function", {"MemorySize": 1024, "EphemeralStorage": {"Size": 4096}}
    )


@pytest.mark.parametrize("name", ["missing", "."])
def test_an_empty_folder_is_a_mistake(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConstructError, match="fill it with `hyperpod-cdk bundle`"):
        bundle(tmp_path / name)
