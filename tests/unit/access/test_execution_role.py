"""What the nodes may do, statement by statement."""

from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk.assertions import Match, Template

from hyperpod_cdk.access import ExecutionRole

KEY_ARN = "arn:aws:kms:us-west-2:111122223333:key/00000000-0000-0000-0000-000000000000"
SECRET_ARN = "arn:aws:secretsmanager:us-west-2:111122223333:secret:slurm-AbCdEf"


def statements(stack: cdk.Stack) -> dict[str, tuple[set[str], list[Any]]]:
    """Actions and resources by statement id, of all policies in the stack."""
    found = {}
    for policy in Template.from_stack(stack).find_resources("AWS::IAM::ManagedPolicy").values():
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]:
            actions, resources = statement["Action"], statement["Resource"]
            assert statement["Sid"] not in found
            found[statement["Sid"]] = (
                {actions} if isinstance(actions, str) else set(actions),
                resources if isinstance(resources, list) else [resources],
            )
    return found


def text(value: Any) -> str:
    """A resolved ARN with its references in braces."""
    if isinstance(value, dict) and "Fn::Join" in value:
        return "".join(map(text, value["Fn::Join"][1]))
    return f"{{{value['Ref']}}}" if isinstance(value, dict) and "Ref" in value else str(value)


def test_the_service_alone_assumes_the_role_with_its_managed_policy() -> None:
    stack = cdk.Stack()
    ExecutionRole(stack, "Role", vpc=False)
    template = Template.from_stack(stack)
    template.has_resource_properties(
        "AWS::IAM::Role",
        {
            "AssumeRolePolicyDocument": {
                "Statement": [
                    {
                        "Action": "sts:AssumeRole",
                        "Effect": "Allow",
                        "Principal": {"Service": "sagemaker.amazonaws.com"},
                    }
                ]
            },
            "ManagedPolicyArns": [
                {
                    "Fn::Join": [
                        "",
                        ["arn:", {"Ref": "AWS::Partition"}, Match.string_like_regexp("ClusterInstance")],
                    ]
                }
            ],
        },
    )
    template.resource_count_is("AWS::IAM::ManagedPolicy", 0)


def test_a_vpc_gives_what_the_guide_lists_narrowed_to_resources() -> None:
    stack = cdk.Stack()
    ExecutionRole(stack, "Role")
    found = statements(stack)
    interface = "arn:{AWS::Partition}:ec2:{AWS::Region}:{AWS::AccountId}:network-interface/*"
    anywhere = "arn:{AWS::Partition}:ec2:{AWS::Region}:*:"
    assert {sid: {text(one) for one in resources} for sid, (_, resources) in found.items()} == {
        "DescribeNetwork": {"*"},
        "CreateInterface": {interface, f"{anywhere}security-group/*", f"{anywhere}subnet/*"},
        "ChangeInterface": {interface},
        "DetachInterface": {interface, f"{anywhere}instance/*"},
        "TagInterface": {interface},
    }
    # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites-iam.html
    assert set().union(*(actions for actions, _ in found.values())) == {
        "ec2:CreateNetworkInterface",
        "ec2:CreateNetworkInterfacePermission",
        "ec2:CreateTags",
        "ec2:DeleteNetworkInterface",
        "ec2:DeleteNetworkInterfacePermission",
        "ec2:DescribeDhcpOptions",
        "ec2:DescribeNetworkInterfaces",
        "ec2:DescribeSecurityGroups",
        "ec2:DescribeSubnets",
        "ec2:DescribeVpcs",
        "ec2:DetachNetworkInterface",
    }


def test_no_action_has_a_wildcard_and_no_sid_comes_twice() -> None:
    stack = cdk.Stack()
    bucket = s3.Bucket(stack, "Bucket", encryption_key=kms.Key(stack, "BucketKey"))
    role = ExecutionRole(
        stack,
        "Role",
        lustre=True,
        lifecycle_bucket=bucket,
        volume_keys=[kms.Key(stack, "VolumeKey")],
        secrets=[secretsmanager.Secret(stack, "Secret", encryption_key=kms.Key(stack, "SecretKey"))],
    )
    role.grant_ecr_pull()
    found = statements(stack)
    assert not [action for actions, _ in found.values() for action in actions if "*" in action]
    bare = {sid for sid, (_, resources) in found.items() if "*" in resources}
    assert bare == {"DescribeNetwork", "DescribeFileSystems", "LogInToEcr"}
    assert len(found["Decrypt"][1]) == 2


@pytest.mark.parametrize("prefix", ["", "lifecycle/abc/"])
def test_listing_goes_to_the_bucket_and_reading_to_its_objects(prefix: str) -> None:
    stack = cdk.Stack()
    role = ExecutionRole(stack, "Role", vpc=False)
    role.grant_read_bucket(s3.Bucket.from_bucket_name(stack, "Bucket", "scripts"), prefix)
    found = statements(stack)
    assert found["ListBucket"][0] == {"s3:ListBucket"}
    assert [text(one) for one in found["ListBucket"][1]] == ["arn:{AWS::Partition}:s3:::scripts"]
    assert found["ReadObjects"][0] == {"s3:GetObject"}
    assert [text(one) for one in found["ReadObjects"][1]] == [
        f"arn:{{AWS::Partition}}:s3:::scripts/{prefix}*"
    ]
    assert "Decrypt" not in found


def test_a_second_bucket_joins_the_statements_of_the_first() -> None:
    stack = cdk.Stack()
    role = ExecutionRole(stack, "Role", lifecycle_bucket=s3.Bucket.from_bucket_name(stack, "One", "one"))
    role.grant_read_bucket(s3.Bucket.from_bucket_name(stack, "Two", "two"))
    assert [text(one).rpartition(":")[2] for one in statements(stack)["ListBucket"][1]] == ["one", "two"]


def test_keys_and_secrets_are_named() -> None:
    stack = cdk.Stack()
    ExecutionRole(
        stack,
        "Role",
        vpc=False,
        volume_keys=[kms.Key.from_key_arn(stack, "Key", KEY_ARN)],
        secrets=[secretsmanager.Secret.from_secret_complete_arn(stack, "Secret", SECRET_ARN)],
    )
    assert statements(stack) == {
        "UseVolumeKey": ({"kms:CreateGrant", "kms:DescribeKey"}, [KEY_ARN]),
        "ReadSecret": ({"secretsmanager:GetSecretValue", "secretsmanager:DescribeSecret"}, [SECRET_ARN]),
    }


def test_images_of_one_repository() -> None:
    stack = cdk.Stack()
    repository = ecr.Repository(stack, "Repository")
    ExecutionRole(stack, "Role", vpc=False).grant_ecr_pull(repository)
    assert statements(stack)["PullImages"][1] == [stack.resolve(repository.repository_arn)]


def test_others_can_grant_to_it_and_wait_for_what_they_granted() -> None:
    stack = cdk.Stack()
    role = ExecutionRole(stack, "Role")
    late = cdk.CfnResource(stack, "Late", type="Test::Resource")
    late.node.add_dependency(*role.policy_dependencies)
    s3.Bucket(stack, "Bucket").grant_read(role)
    template = Template.from_stack(stack)
    policies = [
        *template.find_resources("AWS::IAM::Policy"),
        *template.find_resources("AWS::IAM::ManagedPolicy"),
    ]
    assert len(policies) == 2
    assert set(policies) < set(template.to_json()["Resources"]["Late"]["DependsOn"])


@pytest.mark.parametrize(("mutable", "policies"), [(False, 0), (True, 1)])
def test_an_existing_role_is_changed_only_on_request(mutable: bool, policies: int) -> None:
    stack = cdk.Stack()
    role = ExecutionRole.from_role_arn(stack, "Role", "arn:aws:iam::111122223333:role/nodes", mutable=mutable)
    s3.Bucket(stack, "Bucket").grant_read(role.role)
    Template.from_stack(stack).resource_count_is("AWS::IAM::Policy", policies)
    assert role.role_arn == "arn:aws:iam::111122223333:role/nodes"
