"""What is deployed of a migrated configuration: the old request, and nothing that was there is made again."""

from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Template

from hyperpod_cdk import HyperPodStack
from hyperpod_cdk.config import read_text
from hyperpod_cdk.migration import Sources, migrate
from tests.unit.migration.requests import Request, differences, request_of
from tests.unit.migration.samples import BY_API, LEGACY, ON_EKS, PROVISIONING

MADE_ANEW = (
    "AWS::EC2::VPC",
    "AWS::EC2::Subnet",
    "AWS::EC2::SecurityGroup",
    "AWS::FSx::FileSystem",
    "AWS::S3::Bucket",
    "AWS::EKS::Cluster",
)


@pytest.mark.parametrize(
    ("request_", "provisioning"),
    [(BY_API, None), (LEGACY, PROVISIONING), (ON_EKS, None)],
    ids=["by-api", "legacy", "on-eks"],
)
def test_the_stack_asks_for_what_the_old_request_asked_for(
    request_: Request, provisioning: dict[str, Any] | None
) -> None:
    made = migrate(Sources(request=request_, provisioning=provisioning))
    spec = read_text(made.text, file="migrated.yaml").spec
    stack = HyperPodStack(cdk.App(), "Migrated", spec=spec, env=cdk.Environment(region="us-west-2"))
    template = Template.from_stack(stack)
    (resource,) = template.find_resources("Custom::HyperPodCluster").values()
    sent = resource["Properties"]["Request"]
    explicit = "InstanceGroups[2].InstanceStorageConfigs[0].FsxLustreConfig.MountPath"
    assert set(differences(request_, sent)) <= {explicit}
    assert differences(sent, request_of(spec)) == [], "the helper of the other tests tells the truth"
    for kind in MADE_ANEW:
        template.resource_count_is(kind, 0)
