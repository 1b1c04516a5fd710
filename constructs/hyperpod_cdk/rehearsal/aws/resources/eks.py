"""AWS::EKS: control planes, node groups, add-ons, access entries, pod identities."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from hyperpod_cdk.rehearsal.aws.resources.base import (
    Call,
    Created,
    Properties,
    ResourceError,
    ResourceType,
    absent,
    known,
)

_POLL_SECONDS = 0.1
"""Real seconds between two looks at what is coming or going."""
_BAD = frozenset({"CREATE_FAILED", "UPDATE_FAILED", "DELETE_FAILED", "DEGRADED", "FAILED"})
_LOG_TYPES = ("api", "audit", "authenticator", "controllerManager", "scheduler")


def _camel(value: Any) -> Any:
    """Property names as the API spells its members."""
    if isinstance(value, list):
        return [_camel(item) for item in value]
    if isinstance(value, Mapping):
        return {key[0].lower() + key[1:]: _camel(item) for key, item in value.items()}
    return value


def _tags(properties: Properties) -> dict[str, str] | None:
    return {tag["Key"]: tag["Value"] for tag in properties.get("Tags", [])} or None


def _retag(call: Call, arn: str) -> None:
    old, new = (
        {t["Key"]: t["Value"] for t in p.get("Tags", [])} for p in (call.old_properties, call.properties)
    )
    if gone := sorted(set(old) - set(new)):
        call.aws.call("eks", "untag_resource", resourceArn=arn, tagKeys=gone)
    if new:
        call.aws.call("eks", "tag_resource", resourceArn=arn, tags=new)


def _settle(look: Callable[[], dict[str, Any]], *, left: str = "") -> dict[str, Any]:
    """Wait until something is ACTIVE.

    Args:
        look: describes it.
        left: physical id of what exists if it never is.
    """
    while (found := look())["status"] != "ACTIVE":
        if found["status"] in _BAD:
            issues = "; ".join(
                f"{one['code']}: {one['message']}" for one in found.get("health", {}).get("issues", [])
            )
            raise ResourceError(
                f"Resource handler returned message: {found['status']}: {issues}", physical_id=left
            )
        time.sleep(_POLL_SECONDS)
    return found


def _until_gone(look: Callable[[], dict[str, Any]]) -> None:
    while True:
        try:
            found = look()
        except ResourceError as error:
            if absent(error):
                return
            raise
        if found["status"] == "DELETE_FAILED":
            raise ResourceError("it could not be deleted")
        time.sleep(_POLL_SECONDS)


class Cluster:
    """AWS::EKS::Cluster."""

    slow = True
    _REPLACING = frozenset(
        {"Name", "RoleArn", "EncryptionConfig", "KubernetesNetworkConfig", "BootstrapSelfManagedAddons"}
    )
    _CHANGEABLE = frozenset(
        {"ResourcesVpcConfig", "Logging", "AccessConfig", "UpgradePolicy", "DeletionProtection"}
    )

    def create(self, call: Call) -> Created:
        """Create the control plane and wait until it is active."""
        known(
            call, {*self._REPLACING, *self._CHANGEABLE, "Version", "Tags", "ComputeConfig", "StorageConfig"}
        )
        request = _camel({k: v for k, v in call.properties.items() if k not in ("Tags", "Logging")})
        request.setdefault("name", call.name(limit=100))
        name = str(request["name"])
        call.aws.call(
            "eks", "create_cluster", **request, logging=_logging(call.properties), tags=_tags(call.properties)
        )
        return self._created(call, name, left=name)

    def update(self, call: Call) -> Created:
        """Change settings and version in place, one after the other; anything else replaces it."""
        if call.changed & self._REPLACING:
            return self.create(call)
        name, given = call.physical_id, call.properties
        if "Version" in call.changed:
            call.aws.call("eks", "update_cluster_version", name=name, version=given["Version"])
            self._created(call, name)
        for member in sorted(call.changed & self._CHANGEABLE):
            changed = (
                {"logging": _logging(given)} if member == "Logging" else _camel({member: given.get(member)})
            )
            if member == "AccessConfig":
                changed["accessConfig"] = {"authenticationMode": given[member]["AuthenticationMode"]}
            call.aws.call("eks", "update_cluster_config", name=name, **changed)
            self._created(call, name)
        if "Tags" in call.changed:
            _retag(call, self._look(call, name)["arn"])
        return self._created(call, name)

    def delete(self, call: Call) -> None:
        """Delete the control plane and wait until it is gone."""
        call.aws.call("eks", "delete_cluster", name=call.physical_id)
        _until_gone(lambda: self._look(call, call.physical_id))

    def _created(self, call: Call, name: str, *, left: str = "") -> Created:
        found = _settle(lambda: self._look(call, name), left=left)
        keys = [one["provider"]["keyArn"] for one in found.get("encryptionConfig", [])]
        return Created(
            physical_id=name,
            attributes={
                "Arn": found["arn"],
                "Endpoint": found["endpoint"],
                "CertificateAuthorityData": found["certificateAuthority"]["data"],
                "ClusterSecurityGroupId": found["resourcesVpcConfig"]["clusterSecurityGroupId"],
                "EncryptionConfigKeyArn": keys[0] if keys else "",
                "OpenIdConnectIssuerUrl": found["identity"]["oidc"]["issuer"],
                "KubernetesNetworkConfig.ServiceIpv4Cidr": found["kubernetesNetworkConfig"][
                    "serviceIpv4Cidr"
                ],
            },
        )

    def _look(self, call: Call, name: str) -> dict[str, Any]:
        return dict(call.aws.call("eks", "describe_cluster", name=name)["cluster"])


def _logging(properties: Properties) -> dict[str, Any] | None:
    if "Logging" not in properties:
        return None
    enabled = [one["Type"] for one in properties["Logging"].get("ClusterLogging", {}).get("EnabledTypes", [])]
    disabled = [one for one in _LOG_TYPES if one not in enabled]
    parts = ((enabled, True), (disabled, False))
    return {"clusterLogging": [{"types": types, "enabled": on} for types, on in parts if types]}


class NodeGroup:
    """AWS::EKS::Nodegroup; Ref gives cluster and name."""

    slow = True
    _CREATION = frozenset(
        {
            "ClusterName",
            "NodegroupName",
            "NodeRole",
            "Subnets",
            "InstanceTypes",
            "CapacityType",
            "DiskSize",
            "AmiType",
        }
    )
    _CONFIG = frozenset({"ScalingConfig", "Labels", "Taints", "UpdateConfig"})
    _VERSION = frozenset({"Version", "ReleaseVersion", "LaunchTemplate"})

    def create(self, call: Call) -> Created:
        """Create the nodes and wait until they are ready."""
        known(call, {*self._CREATION, *self._CONFIG, *self._VERSION, "Tags", "ForceUpdateEnabled"})
        left_out = ("Tags", "ForceUpdateEnabled", "Labels")
        request = _camel({k: v for k, v in call.properties.items() if k not in left_out})
        request.setdefault("nodegroupName", call.name(limit=63))
        cluster, name = request["clusterName"], request["nodegroupName"]
        labels = call.properties.get("Labels")
        answer = call.aws.call(
            "eks", "create_nodegroup", **request, labels=labels, tags=call.properties.get("Tags")
        )
        physical_id = f"{cluster}/{name}"
        _settle(lambda: self._look(call, physical_id), left=physical_id)
        names = {"ClusterName": cluster, "NodegroupName": name, "Id": physical_id}
        return Created(
            physical_id=physical_id, attributes={"Arn": answer["nodegroup"]["nodegroupArn"], **names}
        )

    def update(self, call: Call) -> Created:
        """Change size, labels or version in place; anything else replaces the nodes."""
        if call.changed & self._CREATION:
            return self.create(call)
        cluster, name = call.physical_id.split("/")
        if call.changed & self._CONFIG:
            old, new = call.old_properties.get("Labels", {}), call.properties.get("Labels", {})
            labels = {"addOrUpdateLabels": new, "removeLabels": sorted(set(old) - set(new))}
            scaling = _camel(call.properties.get("ScalingConfig"))
            place = {"clusterName": cluster, "nodegroupName": name}
            call.aws.call("eks", "update_nodegroup_config", **place, scalingConfig=scaling, labels=labels)
            _settle(lambda: self._look(call, call.physical_id))
        if call.changed & self._VERSION:
            versions = _camel({k: v for k, v in call.properties.items() if k in self._VERSION})
            call.aws.call(
                "eks", "update_nodegroup_version", clusterName=cluster, nodegroupName=name, **versions
            )
            _settle(lambda: self._look(call, call.physical_id))
        if "Tags" in call.changed:
            raise ResourceError(f"{call.type}: changing Tags is not emulated")
        return call.created

    def delete(self, call: Call) -> None:
        """Delete the nodes and wait until they are gone."""
        cluster, name = call.physical_id.split("/")
        call.aws.call("eks", "delete_nodegroup", clusterName=cluster, nodegroupName=name)
        _until_gone(lambda: self._look(call, call.physical_id))

    def _look(self, call: Call, physical_id: str) -> dict[str, Any]:
        cluster, name = physical_id.split("/")
        answer = call.aws.call("eks", "describe_nodegroup", clusterName=cluster, nodegroupName=name)
        return dict(answer["nodegroup"])


class AddOn:
    """AWS::EKS::Addon; Ref gives cluster and name."""

    slow = True
    _REPLACING = frozenset({"ClusterName", "AddonName", "NamespaceConfig"})
    _SETTINGS = frozenset(
        {
            "AddonVersion",
            "ConfigurationValues",
            "ResolveConflicts",
            "ServiceAccountRoleArn",
            "PodIdentityAssociations",
        }
    )

    def create(self, call: Call) -> Created:
        """Install the add-on and wait until it is active."""
        known(call, {*self._REPLACING, *self._SETTINGS, "Tags", "PreserveOnDelete"})
        place = {"clusterName": call.properties["ClusterName"], "addonName": call.properties["AddonName"]}
        answer = call.aws.call(
            "eks", "create_addon", **place, **self._settings(call), tags=_tags(call.properties)
        )
        physical_id = "|".join(place.values())
        _settle(lambda: self._look(call, physical_id), left=physical_id)
        return Created(physical_id=physical_id, attributes={"Arn": answer["addon"]["addonArn"]})

    def update(self, call: Call) -> Created:
        """Change version or settings in place."""
        if call.changed & self._REPLACING:
            return self.create(call)
        if call.changed & self._SETTINGS:
            cluster, name = call.physical_id.split("|")
            call.aws.call("eks", "update_addon", clusterName=cluster, addonName=name, **self._settings(call))
            _settle(lambda: self._look(call, call.physical_id))
        if "Tags" in call.changed:
            _retag(call, call.created.attributes["Arn"])
        return call.created

    def delete(self, call: Call) -> None:
        """Take the add-on away and wait until it is gone."""
        cluster, name = call.physical_id.split("|")
        preserve = call.properties.get("PreserveOnDelete")
        call.aws.call("eks", "delete_addon", clusterName=cluster, addonName=name, preserve=preserve)
        _until_gone(lambda: self._look(call, call.physical_id))

    def _settings(self, call: Call) -> dict[str, Any]:
        return dict(_camel({k: v for k, v in call.properties.items() if k in self._SETTINGS}))

    def _look(self, call: Call, physical_id: str) -> dict[str, Any]:
        cluster, name = physical_id.split("|")
        return dict(call.aws.call("eks", "describe_addon", clusterName=cluster, addonName=name)["addon"])


class AccessEntry:
    """AWS::EKS::AccessEntry; Ref gives principal and cluster."""

    slow = False
    _REPLACING = frozenset({"ClusterName", "PrincipalArn", "Type"})

    def create(self, call: Call) -> Created:
        """Create the entry and associate its policies."""
        known(call, {*self._REPLACING, "KubernetesGroups", "Username", "AccessPolicies", "Tags"})
        given = call.properties
        answer = call.aws.call(
            "eks",
            "create_access_entry",
            **_camel({k: v for k, v in given.items() if k not in ("AccessPolicies", "Tags")}),
            tags=_tags(given),
        )
        physical_id = f"{given['PrincipalArn']}|{given['ClusterName']}"
        try:
            self._associate(call, given, {})
        except ResourceError as error:
            raise ResourceError(str(error), physical_id=physical_id) from error
        return Created(
            physical_id=physical_id, attributes={"AccessEntryArn": answer["accessEntry"]["accessEntryArn"]}
        )

    def update(self, call: Call) -> Created:
        """Change groups, name and policies in place."""
        if call.changed & self._REPLACING:
            return self.create(call)
        given = call.properties
        if call.changed & {"KubernetesGroups", "Username"}:
            groups, name = given.get("KubernetesGroups", []), given.get("Username")
            call.aws.call(
                "eks", "update_access_entry", **self._place(given), kubernetesGroups=groups, username=name
            )
        if "AccessPolicies" in call.changed:
            self._associate(call, given, call.old_properties)
        if "Tags" in call.changed:
            _retag(call, call.created.attributes["AccessEntryArn"])
        return call.created

    def delete(self, call: Call) -> None:
        """Delete the entry; its associations go with it."""
        principal, cluster = call.physical_id.split("|")
        call.aws.call("eks", "delete_access_entry", clusterName=cluster, principalArn=principal)

    def _associate(self, call: Call, new: Properties, old: Properties) -> None:
        wanted = {one["PolicyArn"]: one for one in new.get("AccessPolicies", [])}
        for arn in {one["PolicyArn"] for one in old.get("AccessPolicies", [])} - set(wanted):
            call.aws.call("eks", "disassociate_access_policy", **self._place(new), policyArn=arn)
        for arn, one in wanted.items():
            scope = _camel(one["AccessScope"])
            call.aws.call(
                "eks", "associate_access_policy", **self._place(new), policyArn=arn, accessScope=scope
            )

    def _place(self, properties: Properties) -> dict[str, Any]:
        return {"clusterName": properties["ClusterName"], "principalArn": properties["PrincipalArn"]}


class PodIdentity:
    """AWS::EKS::PodIdentityAssociation."""

    slow = False
    _REPLACING = frozenset({"ClusterName", "Namespace", "ServiceAccount"})
    _SETTINGS = frozenset({"RoleArn", "DisableSessionTags", "TargetRoleArn"})

    def create(self, call: Call) -> Created:
        """Associate the role."""
        known(call, {*self._REPLACING, *self._SETTINGS, "Tags"})
        request = _camel({k: v for k, v in call.properties.items() if k != "Tags"})
        answer = call.aws.call(
            "eks", "create_pod_identity_association", **request, tags=_tags(call.properties)
        )["association"]
        attributes = {"AssociationArn": answer["associationArn"], "AssociationId": answer["associationId"]}
        return Created(physical_id=answer["associationArn"], attributes=attributes)

    def update(self, call: Call) -> Created:
        """Associate another role in place."""
        if call.changed & self._REPLACING:
            return self.create(call)
        if call.changed & self._SETTINGS:
            settings = _camel({k: v for k, v in call.properties.items() if k in self._SETTINGS})
            call.aws.call("eks", "update_pod_identity_association", **self._place(call), **settings)
        if "Tags" in call.changed:
            _retag(call, call.physical_id)
        return call.created

    def delete(self, call: Call) -> None:
        """End the association."""
        call.aws.call("eks", "delete_pod_identity_association", **self._place(call))

    def _place(self, call: Call) -> dict[str, Any]:
        *_, cluster, identity = call.physical_id.split("/")
        return {"clusterName": cluster, "associationId": identity}


EKS: Mapping[str, ResourceType] = {
    "AWS::EKS::Cluster": Cluster(),
    "AWS::EKS::Nodegroup": NodeGroup(),
    "AWS::EKS::Addon": AddOn(),
    "AWS::EKS::AccessEntry": AccessEntry(),
    "AWS::EKS::PodIdentityAssociation": PodIdentity(),
}
