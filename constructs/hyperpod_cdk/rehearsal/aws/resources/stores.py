"""AWS::S3, AWS::ECR, AWS::Logs and AWS::SSM."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from hyperpod_cdk.rehearsal.aws.resources.api_type import ApiType
from hyperpod_cdk.rehearsal.aws.resources.base import (
    Call,
    Created,
    Properties,
    ResourceError,
    ResourceType,
    known,
)

# -- S3 ------------------------------------------------------------------------------------------------


def _encryption(value: Any) -> dict[str, Any]:
    names = {"SSEAlgorithm": "SSEAlgorithm", "KMSMasterKeyID": "KMSMasterKeyID"}
    rules = []
    for rule in value["ServerSideEncryptionConfiguration"]:
        default = rule.get("ServerSideEncryptionByDefault", {})
        converted = {
            "ApplyServerSideEncryptionByDefault": {names[name]: item for name, item in default.items()},
            "BucketKeyEnabled": rule.get("BucketKeyEnabled"),
        }
        rules.append({name: item for name, item in converted.items() if item is not None})
    return {"ServerSideEncryptionConfiguration": {"Rules": rules}}


def _lifecycle(value: Any) -> dict[str, Any]:
    return {"LifecycleConfiguration": {"Rules": [_lifecycle_rule(rule) for rule in value["Rules"]]}}


def _lifecycle_rule(rule: Properties) -> dict[str, Any]:
    """CloudFormation writes flat what the API nests."""
    converted: dict[str, Any] = {"Status": rule["Status"], "Filter": {"Prefix": rule.get("Prefix", "")}}
    if "Id" in rule:
        converted["ID"] = rule["Id"]
    if "ExpirationInDays" in rule:
        converted["Expiration"] = {"Days": rule["ExpirationInDays"]}
    if "NoncurrentVersionExpiration" in rule:
        converted["NoncurrentVersionExpiration"] = rule["NoncurrentVersionExpiration"]
    if "NoncurrentVersionExpirationInDays" in rule:
        days = rule["NoncurrentVersionExpirationInDays"]
        converted["NoncurrentVersionExpiration"] = {"NoncurrentDays": days}
    if "AbortIncompleteMultipartUpload" in rule:
        converted["AbortIncompleteMultipartUpload"] = rule["AbortIncompleteMultipartUpload"]
    return converted


def _logging(value: Any) -> dict[str, Any]:
    enabled = {
        "TargetBucket": value.get("DestinationBucketName"),
        "TargetPrefix": value.get("LogFilePrefix", ""),
    }
    return {"BucketLoggingStatus": {"LoggingEnabled": enabled} if enabled["TargetBucket"] else {}}


_CANNED_ACLS = {"LogDeliveryWrite": "log-delivery-write", "Private": "private"}
"""Of CloudFormation's canned ACLs, the ones that CDK writes."""

_BUCKET_CALLS: Mapping[str, tuple[str, Callable[[Any], dict[str, Any]]]] = {
    "BucketEncryption": ("put_bucket_encryption", _encryption),
    "VersioningConfiguration": ("put_bucket_versioning", lambda v: {"VersioningConfiguration": v}),
    "PublicAccessBlockConfiguration": (
        "put_public_access_block",
        lambda v: {"PublicAccessBlockConfiguration": v},
    ),
    "LifecycleConfiguration": ("put_bucket_lifecycle_configuration", _lifecycle),
    "AccessControl": ("put_bucket_acl", lambda v: {"ACL": _CANNED_ACLS[v]}),
    "OwnershipControls": ("put_bucket_ownership_controls", lambda v: {"OwnershipControls": v}),
    "Tags": ("put_bucket_tagging", lambda v: {"Tagging": {"TagSet": v}}),
    "LoggingConfiguration": ("put_bucket_logging", _logging),
}
"""Property of a bucket -> (method of boto3, how its value is handed over)."""


class Bucket:
    """AWS::S3::Bucket."""

    slow = False

    def create(self, call: Call) -> Created:
        """Create the bucket and set it up."""
        known(call, ("BucketName", *_BUCKET_CALLS))
        name, region = call.properties.get("BucketName") or call.name(limit=63).lower(), call.aws.region
        place = None if region == "us-east-1" else {"LocationConstraint": region}
        call.aws.call("s3", "create_bucket", Bucket=name, CreateBucketConfiguration=place)
        try:
            self._set_up(call, name, call.properties)
        except ResourceError as error:
            raise ResourceError(str(error), physical_id=name) from error
        attributes = {
            "Arn": f"arn:{_partition(region)}:s3:::{name}",
            "DomainName": f"{name}.s3.amazonaws.com",
            "RegionalDomainName": f"{name}.s3.{region}.amazonaws.com",
        }
        return Created(physical_id=name, attributes=attributes)

    def update(self, call: Call) -> Created:
        """Set the bucket up anew; only another name replaces it."""
        if "BucketName" in call.changed:
            return self.create(call)
        self._set_up(call, call.physical_id, {name: call.properties.get(name) for name in call.changed})
        return call.created

    def delete(self, call: Call) -> None:
        """Delete the bucket, which S3 refuses unless it is empty."""
        call.aws.call("s3", "delete_bucket", Bucket=call.physical_id)

    def _set_up(self, call: Call, name: str, properties: Properties) -> None:
        for property_name, (method, convert) in _BUCKET_CALLS.items():
            if properties.get(property_name):
                call.aws.call("s3", method, Bucket=name, **convert(properties[property_name]))


class BucketPolicy:
    """AWS::S3::BucketPolicy."""

    slow = False

    def create(self, call: Call) -> Created:
        """Write the policy."""
        known(call, ("Bucket", "PolicyDocument"))
        bucket, document = call.properties["Bucket"], json.dumps(call.properties["PolicyDocument"])
        call.aws.call("s3", "put_bucket_policy", Bucket=bucket, Policy=document)
        return Created(physical_id=bucket)

    def update(self, call: Call) -> Created:
        """Write the policy anew."""
        return self.create(call)

    def delete(self, call: Call) -> None:
        """Delete the policy."""
        call.aws.call("s3", "delete_bucket_policy", Bucket=call.physical_id)


# -- logs and parameters -------------------------------------------------------------------------------


class LogGroup:
    """AWS::Logs::LogGroup."""

    slow = False
    _IN_PLACE = frozenset({"RetentionInDays", "KmsKeyId", "Tags"})

    def create(self, call: Call) -> Created:
        """Create the log group."""
        known(call, ("LogGroupName", "RetentionInDays", "KmsKeyId", "LogGroupClass", "Tags"))
        given = call.properties
        name = given.get("LogGroupName") or call.name(limit=512)
        tags = {tag["Key"]: tag["Value"] for tag in given.get("Tags", [])}
        key = given.get("KmsKeyId")
        call.aws.call("logs", "create_log_group", logGroupName=name, kmsKeyId=key, tags=tags or None)
        self._retain(call, name)
        region, account = call.aws.region, call.aws.account_id
        arn = f"arn:{_partition(region)}:logs:{region}:{account}:log-group:{name}:*"
        return Created(physical_id=name, attributes={"Arn": arn})

    def update(self, call: Call) -> Created:
        """Change the retention in place; another name replaces the log group."""
        if not call.changed <= self._IN_PLACE:
            return self.create(call)
        self._retain(call, call.physical_id)
        return call.created

    def delete(self, call: Call) -> None:
        """Delete the log group."""
        call.aws.call("logs", "delete_log_group", logGroupName=call.physical_id)

    def _retain(self, call: Call, name: str) -> None:
        days = call.properties.get("RetentionInDays")
        if days:
            call.aws.call("logs", "put_retention_policy", logGroupName=name, retentionInDays=days)


class Parameter:
    """AWS::SSM::Parameter."""

    slow = False

    def create(self, call: Call) -> Created:
        """Create the parameter."""
        return self._put(call, overwrite=False)

    def update(self, call: Call) -> Created:
        """Write the value again; another name replaces the parameter."""
        return self._put(call, overwrite="Name" not in call.changed)

    def delete(self, call: Call) -> None:
        """Delete the parameter."""
        call.aws.call("ssm", "delete_parameter", Name=call.physical_id)

    def _put(self, call: Call, *, overwrite: bool) -> Created:
        known(call, ("Name", "Type", "Value", "Description", "Tier", "DataType", "AllowedPattern"))
        name = call.properties.get("Name") or call.name()
        call.aws.call("ssm", "put_parameter", **{**call.properties, "Name": name}, Overwrite=overwrite)
        value, kind = call.properties["Value"], call.properties["Type"]
        return Created(physical_id=name, attributes={"Value": value, "Type": kind})


# -- ECR -----------------------------------------------------------------------------------------------


def _repository_policies(call: Call, answer: Any) -> None:
    name, given = answer["repository"]["repositoryName"], call.properties
    if "RepositoryPolicyText" in given:
        text = json.dumps(given["RepositoryPolicyText"])
        call.aws.call("ecr", "set_repository_policy", repositoryName=name, policyText=text)
    if "LifecyclePolicy" in given:
        text = given["LifecyclePolicy"]["LifecyclePolicyText"]
        call.aws.call("ecr", "put_lifecycle_policy", repositoryName=name, lifecyclePolicyText=text)


def _partition(region: str) -> str:
    return {"cn": "aws-cn", "us-gov": "aws-us-gov"}.get(region.rsplit("-", 2)[0], "aws")


STORES: Mapping[str, ResourceType] = {
    "AWS::S3::Bucket": Bucket(),
    "AWS::S3::BucketPolicy": BucketPolicy(),
    "AWS::Logs::LogGroup": LogGroup(),
    "AWS::SSM::Parameter": Parameter(),
    "AWS::ECR::Repository": ApiType(
        service="ecr",
        create_method="create_repository",
        identifier="repository.repositoryName",
        properties={"RepositoryName": "repositoryName", "ImageTagMutability": "imageTagMutability"},
        attributes={"Arn": "repository.repositoryArn", "RepositoryUri": "repository.repositoryUri"},
        handled=frozenset({"RepositoryPolicyText", "LifecyclePolicy"}),
        finish=_repository_policies,
        change=lambda call: _repository_policies(call, {"repository": {"repositoryName": call.physical_id}}),
        changeable=frozenset({"RepositoryPolicyText", "LifecyclePolicy"}),
        delete_with=("delete_repository", "repositoryName"),
    ),
}
