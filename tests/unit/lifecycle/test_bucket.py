"""LifecycleBucket in somebody else's stack."""

import json
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk.assertions import Match, Template

from hyperpod_cdk.lifecycle import LifecycleBucket
from hyperpod_cdk.spec import RemovalPolicy

PUBLIC_NEVER = {
    "BlockPublicAcls": True,
    "BlockPublicPolicy": True,
    "IgnorePublicAcls": True,
    "RestrictPublicBuckets": True,
}
BUCKET = "AWS::S3::Bucket"
FLAGS = {
    "@aws-cdk/aws-s3:serverAccessLogsUseBucketPolicy": True,
    "@aws-cdk/aws-s3:createDefaultLoggingPolicy": True,
}


def template_with(context: dict[str, Any] | None = None, **arguments: Any) -> Template:
    """A stack with one lifecycle bucket."""
    stack = cdk.Stack(cdk.App(context=context), "S")
    LifecycleBucket(stack, "Bucket", **arguments)
    return Template.from_stack(stack)


@pytest.fixture(scope="module")
def default() -> Template:
    """The bucket as it comes."""
    return template_with()


def both(template: Template) -> tuple[dict[str, Any], dict[str, Any]]:
    """The bucket and the bucket of its access logs."""
    buckets = [bucket["Properties"] for bucket in template.find_resources(BUCKET).values()]
    (logged,) = [bucket for bucket in buckets if "LoggingConfiguration" in bucket]
    (logs,) = [bucket for bucket in buckets if bucket is not logged]
    return logged, logs


def test_its_name_is_what_the_managed_policy_allows_and_nobody_else_has(default: Template) -> None:
    name = both(default)[0]["BucketName"]
    first, uuid, last = name["Fn::Join"][1]
    assert first == "sagemaker-"
    assert uuid == {"Fn::Select": [2, {"Fn::Split": ["/", {"Ref": "AWS::StackId"}]}]}
    assert len(first) + 36 + len(last) <= 63
    assert last.removeprefix("-").isalnum()
    assert last == last.lower()


def test_two_in_one_stack_have_two_names() -> None:
    stack = cdk.Stack()
    names = {json.dumps(stack.resolve(_name(LifecycleBucket(stack, name)))) for name in ("One", "Two")}
    assert len(names) == 2


def _name(made: LifecycleBucket) -> str:
    resource = made.bucket.node.default_child
    assert isinstance(resource, s3.CfnBucket)
    assert resource.bucket_name is not None
    return resource.bucket_name


def test_both_are_private_and_encrypted_and_the_scripts_versioned(default: Template) -> None:
    logged, logs = both(default)
    for bucket in (logged, logs):
        assert bucket["PublicAccessBlockConfiguration"] == PUBLIC_NEVER
        assert bucket["OwnershipControls"] == {"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]}
        (rule,) = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
        assert rule["ServerSideEncryptionByDefault"]["SSEAlgorithm"] == "AES256"
    assert logged["VersioningConfiguration"] == {"Status": "Enabled"}


def test_plain_http_is_denied_to_both(default: Template) -> None:
    denied = Match.object_like(
        {"Effect": "Deny", "Condition": {"Bool": {"aws:SecureTransport": "false"}}, "Principal": {"AWS": "*"}}
    )
    policies = default.find_resources(
        "AWS::S3::BucketPolicy", {"Properties": {"PolicyDocument": {"Statement": Match.array_with([denied])}}}
    )
    assert len(policies) == 2


@pytest.mark.parametrize("context", [{}, FLAGS])
def test_access_is_logged_for_this_bucket_alone_whatever_the_flags(context: dict[str, Any]) -> None:
    template = template_with(context, access_log_retention=cdk.Duration.days(30))
    logged, logs = both(template)
    assert logged["LoggingConfiguration"]["LogFilePrefix"] == "lifecycle/"
    assert "AccessControl" not in logs
    assert logs["LifecycleConfiguration"]["Rules"][0]["ExpirationInDays"] == 30
    (bucket_id,) = [
        name
        for name, b in template.find_resources(BUCKET).items()
        if "LoggingConfiguration" in b["Properties"]
    ]
    statements = [
        statement
        for policy in template.find_resources("AWS::S3::BucketPolicy").values()
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Allow"
    ]
    (statement,) = statements
    assert statement["Action"] == "s3:PutObject"
    assert statement["Principal"] == {"Service": "logging.s3.amazonaws.com"}
    assert statement["Condition"] == {
        "ArnLike": {"aws:SourceArn": {"Fn::GetAtt": [bucket_id, "Arn"]}},
        "StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}},
    }


def test_a_customer_managed_key_is_for_scripts_not_for_access_logs() -> None:
    stack = cdk.Stack()
    key = kms.Key(stack, "Key")
    LifecycleBucket(stack, "Bucket", encryption_key=key)
    logged, logs = both(Template.from_stack(stack))
    (rule,) = logged["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert rule["ServerSideEncryptionByDefault"] == {
        "SSEAlgorithm": "aws:kms",
        "KMSMasterKeyID": stack.resolve(key.key_arn),
    }
    assert rule["BucketKeyEnabled"] is True
    assert "aws:kms" not in json.dumps(logs)


def test_both_are_kept_by_default(default: Template) -> None:
    kept = default.find_resources(BUCKET, {"DeletionPolicy": "Retain", "UpdateReplacePolicy": "Retain"})
    assert len(kept) == 2
    default.resource_count_is("Custom::S3AutoDeleteObjects", 0)


def test_both_are_emptied_and_deleted_on_request() -> None:
    template = template_with(removal_policy=RemovalPolicy.DESTROY)
    assert len(template.find_resources(BUCKET, {"DeletionPolicy": "Delete"})) == 2
    template.resource_count_is("Custom::S3AutoDeleteObjects", 2)


def test_an_existing_bucket_stays_as_it_is() -> None:
    stack = cdk.Stack()
    bucket = s3.Bucket.from_bucket_name(stack, "Theirs", "scripts")
    assert LifecycleBucket.from_bucket(stack, "Bucket", bucket).bucket.bucket_name == "scripts"
    assert Template.from_stack(stack).to_json().get("Resources", {}) == {}
