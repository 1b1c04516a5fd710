"""AWS::EC2: security groups and their rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hyperpod_cdk.rehearsal.aws.resources.base import (
    Call,
    Created,
    Properties,
    ResourceError,
    ResourceType,
    known,
)
from hyperpod_cdk.rehearsal.aws.resources.network import refuse_while_in_use

_RULE = ("IpProtocol", "FromPort", "ToPort", "CidrIp", "CidrIpv6", "Description", "SourcePrefixListId")
_PEERS = ("SourceSecurityGroupId", "DestinationSecurityGroupId", "DestinationPrefixListId")


def _permission(rule: Properties) -> dict[str, Any]:
    note = {"Description": rule["Description"]} if "Description" in rule else {}
    permission: dict[str, Any] = {
        name: rule[name] for name in ("IpProtocol", "FromPort", "ToPort") if name in rule
    }
    for names, parameter, member in (
        (("CidrIp",), "IpRanges", "CidrIp"),
        (("CidrIpv6",), "Ipv6Ranges", "CidrIpv6"),
        (("SourceSecurityGroupId", "DestinationSecurityGroupId"), "UserIdGroupPairs", "GroupId"),
        (("SourcePrefixListId", "DestinationPrefixListId"), "PrefixListIds", "PrefixListId"),
    ):
        for name in names:
            if name in rule:
                permission[parameter] = [{member: rule[name], **note}]
    return permission


def _rules(call: Call, verb: str, direction: str, group: str, rules: list[Properties]) -> Any:
    permissions = [_permission(rule) for rule in rules]
    if verb == "revoke":
        # Rules are told apart by what they allow, not by how they are described.
        permissions = [_without_descriptions(permission) for permission in permissions]
    method = f"{verb}_security_group_{direction}"
    return call.aws.call("ec2", method, GroupId=group, IpPermissions=permissions)


def _without_descriptions(permission: dict[str, Any]) -> dict[str, Any]:
    return {
        key: [{k: v for k, v in peer.items() if k != "Description"} for peer in value]
        if isinstance(value, list)
        else value
        for key, value in permission.items()
    }


_ALL_OUT: Properties = {"IpProtocol": "-1", "CidrIp": "0.0.0.0/0"}


class SecurityGroup:
    """AWS::EC2::SecurityGroup with its inline rules."""

    slow = False
    _PROPERTIES = (
        "GroupDescription",
        "GroupName",
        "VpcId",
        "SecurityGroupIngress",
        "SecurityGroupEgress",
        "Tags",
    )
    _IN_PLACE = frozenset({"SecurityGroupIngress", "SecurityGroupEgress", "Tags"})
    _DIRECTIONS = (("ingress", "SecurityGroupIngress"), ("egress", "SecurityGroupEgress"))

    def create(self, call: Call) -> Created:
        """Create the group and its rules."""
        known(call, self._PROPERTIES)
        given = call.properties
        tags = [{"ResourceType": "security-group", "Tags": given["Tags"]}] if given.get("Tags") else None
        group = call.aws.call(
            "ec2",
            "create_security_group",
            GroupName=given.get("GroupName") or call.name(limit=255),
            Description=given["GroupDescription"],
            VpcId=given["VpcId"],
            TagSpecifications=tags,
        )["GroupId"]
        try:
            self._write_rules(call, group, {})
        except ResourceError as error:
            raise ResourceError(str(error), physical_id=group) from error
        attributes = {"GroupId": group, "VpcId": given["VpcId"], "Id": group}
        return Created(physical_id=group, attributes=attributes)

    def update(self, call: Call) -> Created:
        """Change the rules in place; anything else replaces the group."""
        if not call.changed <= self._IN_PLACE:
            return self.create(call)
        self._write_rules(call, call.physical_id, call.old_properties)
        return call.created

    def delete(self, call: Call) -> None:
        """Delete the group, unless something still uses it."""
        refuse_while_in_use(call, "group-id")
        call.aws.call("ec2", "delete_security_group", GroupId=call.physical_id)

    def _write_rules(self, call: Call, group: str, before: Properties) -> None:
        for direction, name in self._DIRECTIONS:
            old, new = list(before.get(name, [])), list(call.properties.get(name, []))
            if direction == "egress":
                # EC2 lets everything out of a new group; a group with rules of its own loses that rule.
                old = old or [_ALL_OUT]
                new = new or [_ALL_OUT]
            gone = [rule for rule in old if _permission(rule) not in map(_permission, new)]
            fresh = [rule for rule in new if _permission(rule) not in map(_permission, old)]
            if gone:
                _rules(call, "revoke", direction, group, gone)
            if fresh:
                _rules(call, "authorize", direction, group, fresh)


@dataclass(frozen=True, kw_only=True)
class SecurityGroupRule:
    """AWS::EC2::SecurityGroupIngress or …Egress.

    Args:
        direction: ``ingress`` or ``egress``.
    """

    direction: str
    slow: bool = False

    def create(self, call: Call) -> Created:
        """Add the rule."""
        known(call, ("GroupId", *_RULE, *_PEERS))
        answer = _rules(call, "authorize", self.direction, call.properties["GroupId"], [call.properties])
        rules = answer.get("SecurityGroupRules") or [{"SecurityGroupRuleId": call.name()}]
        rule = rules[0]["SecurityGroupRuleId"]
        return Created(physical_id=rule, attributes={"Id": rule})

    def update(self, call: Call) -> Created:
        """Add the other rule."""
        return self.create(call)

    def delete(self, call: Call) -> None:
        """Take the rule away."""
        _rules(call, "revoke", self.direction, call.properties["GroupId"], [call.properties])


SECURITY_GROUPS: Mapping[str, ResourceType] = {
    "AWS::EC2::SecurityGroup": SecurityGroup(),
    "AWS::EC2::SecurityGroupIngress": SecurityGroupRule(direction="ingress"),
    "AWS::EC2::SecurityGroupEgress": SecurityGroupRule(direction="egress"),
}
