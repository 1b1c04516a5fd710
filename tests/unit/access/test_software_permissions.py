"""What nodes may do for their software: exactly what is declared, on exactly those things."""

from typing import Any

import aws_cdk as cdk
import pytest

from hyperpod_cdk.access import ExecutionRole
from hyperpod_cdk.cluster.node_permissions import allow_software, services
from hyperpod_cdk.spec import (
    BucketMount,
    Directory,
    Downloads,
    InstanceGroup,
    Lifecycle,
    Monitoring,
    NodeType,
    SlurmConfig,
)
from tests.unit.access.test_execution_role import SECRET_ARN, statements, text

WORKSPACE = "arn:aws:aps:us-west-2:111122223333:workspace/ws-1"
KEY = "arn:aws:kms:us-west-2:111122223333:key/00000000-0000-0000-0000-000000000000"
BUCKET = "arn:{AWS::Partition}:s3:::data"
DIRECTORY = Directory(
    domain="a.b",
    uris=("ldaps://a.b",),
    search_base="dc=a",
    bind_dn="cn=x",
    bind_password_secret_arn=SECRET_ARN,
    node_types=(NodeType.LOGIN,),
)


def granted(
    lifecycle: Lifecycle, node_type: NodeType = NodeType.COMPUTE
) -> dict[str, tuple[set[str], list[str]]]:
    stack = cdk.Stack()
    role = ExecutionRole(stack, "Role", vpc=False)
    group = InstanceGroup(
        instance_group_name="g",
        instance_type="ml.c5.large",
        instance_count=1,
        slurm_config=SlurmConfig(node_type=node_type),
    )
    allow_software(role, group, lifecycle)
    return {
        sid: (actions, [text(resource) for resource in resources])
        for sid, (actions, resources) in statements(stack).items()
    }


def mounted(**members: Any) -> Lifecycle:
    return Lifecycle(bucket_mounts=(BucketMount(bucket="data", mount_path="/data", **members),))


def test_nothing_asked_for_is_nothing_granted() -> None:
    assert granted(Lifecycle()) == {}
    assert services(Lifecycle()) == []


def test_metrics_go_to_one_workspace() -> None:
    lifecycle = Lifecycle(monitoring=Monitoring(workspace_arn=WORKSPACE))
    assert granted(lifecycle) == {"WriteMetrics": ({"aps:RemoteWrite"}, [WORKSPACE])}
    assert services(lifecycle) == ["aps-workspaces"]


def test_the_directorys_secret_is_read_where_the_directory_is() -> None:
    lifecycle = Lifecycle(directory=DIRECTORY)
    actions = {"secretsmanager:GetSecretValue", "secretsmanager:DescribeSecret"}
    assert granted(lifecycle, NodeType.LOGIN) == {"ReadSecret": (actions, [SECRET_ARN])}
    assert granted(lifecycle, NodeType.COMPUTE) == {}
    assert services(lifecycle) == ["secretsmanager"]


@pytest.mark.parametrize(
    ("members", "wanted"),
    [
        (
            {},
            {"ListBucket": ({"s3:ListBucket"}, [BUCKET]), "ReadObjects": ({"s3:GetObject"}, [f"{BUCKET}/*"])},
        ),
        (
            {"prefix": "a/", "read_only": False},
            {
                "ListBucket": ({"s3:ListBucket"}, [BUCKET]),
                "ReadObjects": ({"s3:GetObject"}, [f"{BUCKET}/a/*"]),
                "WriteObjects": ({"s3:AbortMultipartUpload", "s3:PutObject"}, [f"{BUCKET}/a/*"]),
            },
        ),
        (
            {"read_only": False, "allow_delete": True, "kms_key_arn": KEY},
            {
                "ListBucket": ({"s3:ListBucket"}, [BUCKET]),
                "ReadObjects": ({"s3:GetObject"}, [f"{BUCKET}/*"]),
                "WriteObjects": ({"s3:AbortMultipartUpload", "s3:PutObject"}, [f"{BUCKET}/*"]),
                "DeleteObjects": ({"s3:DeleteObject"}, [f"{BUCKET}/*"]),
                "UseBucketKey": ({"kms:Decrypt", "kms:GenerateDataKey"}, [KEY]),
            },
        ),
        (
            {"kms_key_arn": KEY, "allow_delete": True},
            {
                "ListBucket": ({"s3:ListBucket"}, [BUCKET]),
                "ReadObjects": ({"s3:GetObject"}, [f"{BUCKET}/*"]),
                "Decrypt": ({"kms:Decrypt"}, [KEY]),
            },
        ),
        ({"node_types": (NodeType.LOGIN,)}, {}),
    ],
)
def test_a_mounted_bucket(members: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert granted(mounted(**members)) == wanted


def test_the_source_of_downloads_is_read_below_its_prefix() -> None:
    lifecycle = Lifecycle(downloads=Downloads(source="s3://soft/a/bundle/"))
    assert granted(lifecycle) == {
        "ReadObjects": ({"s3:GetObject"}, ["arn:{AWS::Partition}:s3:::soft/a/bundle/*"])
    }
