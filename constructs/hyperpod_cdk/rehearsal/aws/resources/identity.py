"""AWS::IAM and AWS::KMS."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hyperpod_cdk.rehearsal.aws.resources.base import (
    Call,
    Created,
    Properties,
    ResourceError,
    ResourceType,
    UnsupportedResourceError,
    known,
)


class Role:
    """AWS::IAM::Role with its inline and managed policies."""

    slow = False
    _PROPERTIES = (
        "RoleName",
        "AssumeRolePolicyDocument",
        "Description",
        "MaxSessionDuration",
        "Path",
        "PermissionsBoundary",
        "Policies",
        "ManagedPolicyArns",
        "Tags",
    )
    _REPLACING = frozenset({"RoleName", "Path"})

    def create(self, call: Call) -> Created:
        """Create the role and attach its policies."""
        known(call, self._PROPERTIES)
        given = call.properties
        name = given.get("RoleName") or call.name()
        role = call.aws.call(
            "iam",
            "create_role",
            RoleName=name,
            AssumeRolePolicyDocument=_trust(given),
            **_pick(given, "Description", "MaxSessionDuration", "Path", "PermissionsBoundary", "Tags"),
        )["Role"]
        try:
            self._policies(call, name, {})
        except ResourceError as error:
            raise ResourceError(str(error), physical_id=name) from error
        return Created(physical_id=name, attributes={"Arn": role["Arn"], "RoleId": role["RoleId"]})

    def update(self, call: Call) -> Created:
        """Change the role in place, unless its name or path changes."""
        if call.changed & self._REPLACING:
            return self.create(call)
        name, given = call.physical_id, call.properties
        call.aws.call("iam", "update_assume_role_policy", RoleName=name, PolicyDocument=_trust(given))
        call.aws.call(
            "iam", "update_role", RoleName=name, **_pick(given, "Description", "MaxSessionDuration")
        )
        self._policies(call, name, call.old_properties)
        if "Tags" in call.changed:
            call.aws.call("iam", "tag_role", RoleName=name, Tags=given.get("Tags", []))
        return call.created

    def delete(self, call: Call) -> None:
        """Detach everything and delete the role."""
        name, iam = call.physical_id, call.aws
        for policy in iam.call("iam", "list_attached_role_policies", RoleName=name)["AttachedPolicies"]:
            iam.call("iam", "detach_role_policy", RoleName=name, PolicyArn=policy["PolicyArn"])
        for policy in iam.call("iam", "list_role_policies", RoleName=name)["PolicyNames"]:
            iam.call("iam", "delete_role_policy", RoleName=name, PolicyName=policy)
        iam.call("iam", "delete_role", RoleName=name)

    def _policies(self, call: Call, name: str, before: Properties) -> None:
        old, new = set(before.get("ManagedPolicyArns", [])), set(call.properties.get("ManagedPolicyArns", []))
        for arn in sorted(old - new):
            call.aws.call("iam", "detach_role_policy", RoleName=name, PolicyArn=arn)
        for arn in sorted(new - old):
            call.aws.call("iam", "attach_role_policy", RoleName=name, PolicyArn=arn)
        inline = {policy["PolicyName"]: policy for policy in call.properties.get("Policies", [])}
        for policy in before.get("Policies", []):
            if policy["PolicyName"] not in inline:
                call.aws.call("iam", "delete_role_policy", RoleName=name, PolicyName=policy["PolicyName"])
        for policy_name, policy in inline.items():
            _put_policy(call, name, policy_name, policy["PolicyDocument"])


class InlinePolicy:
    """AWS::IAM::Policy: a policy written into roles."""

    slow = False

    def create(self, call: Call) -> Created:
        """Write the policy into its roles."""
        known(call, ("PolicyName", "PolicyDocument", "Roles"))
        self._write(call)
        return Created(physical_id=call.name(), attributes={})

    def update(self, call: Call) -> Created:
        """Write the policy again; take it from roles that no longer hold it."""
        renamed = "PolicyName" in call.changed
        roles = set(call.old_properties["Roles"])
        gone = roles if renamed else roles - set(call.properties["Roles"])
        self._write(call)
        _take(call, call.old_properties["PolicyName"], gone)
        return call.created

    def delete(self, call: Call) -> None:
        """Take the policy from its roles."""
        _take(call, call.properties["PolicyName"], set(call.properties["Roles"]))

    def _write(self, call: Call) -> None:
        for role in call.properties["Roles"]:
            _put_policy(call, role, call.properties["PolicyName"], call.properties["PolicyDocument"])


class ManagedPolicy:
    """AWS::IAM::ManagedPolicy: a policy of its own, attached to roles."""

    slow = False
    _IN_PLACE = frozenset({"PolicyDocument", "Roles"})

    def create(self, call: Call) -> Created:
        """Create the policy and attach it."""
        known(call, ("ManagedPolicyName", "PolicyDocument", "Description", "Path", "Roles"))
        given = call.properties
        arn = call.aws.call(
            "iam",
            "create_policy",
            PolicyName=given.get("ManagedPolicyName") or call.name(limit=128),
            PolicyDocument=json.dumps(given["PolicyDocument"]),
            **_pick(given, "Path"),
            # CDK gives every managed policy a description, an empty one by default.
            Description=given.get("Description") or None,
        )["Policy"]["Arn"]
        self._attach(call, arn, set(given.get("Roles", [])))
        return Created(physical_id=arn, attributes={"PolicyArn": arn})

    def update(self, call: Call) -> Created:
        """Change document and roles in place; anything else replaces the policy."""
        if not call.changed <= self._IN_PLACE:
            return self.create(call)
        arn, aws = call.physical_id, call.aws
        old, new = (set(p.get("Roles", [])) for p in (call.old_properties, call.properties))
        if "PolicyDocument" in call.changed:
            document = json.dumps(call.properties["PolicyDocument"])
            self._drop_versions(call)
            aws.call(
                "iam", "create_policy_version", PolicyArn=arn, PolicyDocument=document, SetAsDefault=True
            )
        for role in old - new:
            aws.call("iam", "detach_role_policy", RoleName=role, PolicyArn=arn)
        self._attach(call, arn, new - old)
        return call.created

    def delete(self, call: Call) -> None:
        """Detach the policy and delete it."""
        arn, aws = call.physical_id, call.aws
        for role in aws.call("iam", "list_entities_for_policy", PolicyArn=arn)["PolicyRoles"]:
            aws.call("iam", "detach_role_policy", RoleName=role["RoleName"], PolicyArn=arn)
        self._drop_versions(call)
        aws.call("iam", "delete_policy", PolicyArn=arn)

    def _attach(self, call: Call, arn: str, roles: set[str]) -> None:
        for role in sorted(roles):
            call.aws.call("iam", "attach_role_policy", RoleName=role, PolicyArn=arn)

    def _drop_versions(self, call: Call) -> None:
        arn = call.physical_id
        for version in call.aws.call("iam", "list_policy_versions", PolicyArn=arn)["Versions"]:
            if not version["IsDefaultVersion"]:
                call.aws.call("iam", "delete_policy_version", PolicyArn=arn, VersionId=version["VersionId"])


class Key:
    """AWS::KMS::Key."""

    slow = False
    _PROPERTIES = (
        "KeyPolicy",
        "Description",
        "EnableKeyRotation",
        "KeySpec",
        "KeyUsage",
        "PendingWindowInDays",
        "RotationPeriodInDays",
        "Tags",
    )

    def create(self, call: Call) -> Created:
        """Create the key."""
        known(call, self._PROPERTIES)
        given = call.properties
        tags = [{"TagKey": tag["Key"], "TagValue": tag["Value"]} for tag in given.get("Tags", [])]
        key = call.aws.call(
            "kms",
            "create_key",
            Policy=json.dumps(given["KeyPolicy"]),
            Tags=tags,
            **_pick(given, "Description", "KeySpec", "KeyUsage"),
        )["KeyMetadata"]
        self._rotate(call, key["KeyId"])
        return Created(physical_id=key["KeyId"], attributes={"Arn": key["Arn"], "KeyId": key["KeyId"]})

    def update(self, call: Call) -> Created:
        """Change policy, description and rotation in place."""
        if call.changed & {"KeySpec", "KeyUsage"}:
            raise UnsupportedResourceError("AWS::KMS::Key: KeySpec and KeyUsage can not be changed")
        key, given = call.physical_id, call.properties
        document = json.dumps(given["KeyPolicy"])
        call.aws.call("kms", "put_key_policy", KeyId=key, PolicyName="default", Policy=document)
        call.aws.call("kms", "update_key_description", KeyId=key, Description=given.get("Description", ""))
        self._rotate(call, key)
        return call.created

    def delete(self, call: Call) -> None:
        """Schedule the key for deletion, which is all that KMS offers."""
        days = call.properties.get("PendingWindowInDays", 30)
        call.aws.call("kms", "schedule_key_deletion", KeyId=call.physical_id, PendingWindowInDays=days)

    def _rotate(self, call: Call, key: str) -> None:
        wanted = str(call.properties.get("EnableKeyRotation", False)).lower() == "true"
        call.aws.call("kms", "enable_key_rotation" if wanted else "disable_key_rotation", KeyId=key)


@dataclass(frozen=True, kw_only=True)
class Alias:
    """AWS::KMS::Alias."""

    slow: bool = False

    def create(self, call: Call) -> Created:
        """Name a key."""
        known(call, ("AliasName", "TargetKeyId"))
        call.aws.call("kms", "create_alias", **call.properties)
        return Created(physical_id=call.properties["AliasName"])

    def update(self, call: Call) -> Created:
        """Point the name elsewhere, or name the key anew."""
        if "AliasName" in call.changed:
            return self.create(call)
        call.aws.call("kms", "update_alias", **call.properties)
        return call.created

    def delete(self, call: Call) -> None:
        """Delete the name."""
        call.aws.call("kms", "delete_alias", AliasName=call.physical_id)


def _pick(properties: Properties, *names: str) -> dict[str, Any]:
    return {name: properties[name] for name in names if name in properties}


def _trust(properties: Properties) -> str:
    """The trust policy as text, which CloudFormation takes too."""
    document = properties["AssumeRolePolicyDocument"]
    return document if isinstance(document, str) else json.dumps(document)


def _put_policy(call: Call, role: str, name: str, document: Any) -> None:
    text = json.dumps(document)
    call.aws.call("iam", "put_role_policy", RoleName=role, PolicyName=name, PolicyDocument=text)


def _take(call: Call, name: str, roles: set[str]) -> None:
    for role in sorted(roles):
        call.aws.call("iam", "delete_role_policy", RoleName=role, PolicyName=name)


IDENTITY: Mapping[str, ResourceType] = {
    "AWS::IAM::Role": Role(),
    "AWS::IAM::Policy": InlinePolicy(),
    "AWS::IAM::ManagedPolicy": ManagedPolicy(),
    "AWS::KMS::Key": Key(),
    "AWS::KMS::Alias": Alias(),
}
