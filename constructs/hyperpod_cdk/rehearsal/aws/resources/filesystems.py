"""AWS::FSx."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperpod_cdk.rehearsal.aws.resources.base import (
    Call,
    Created,
    Properties,
    ResourceType,
    UnsupportedResourceError,
    known,
)


class FileSystem:
    """AWS::FSx::FileSystem of type Lustre or OpenZFS."""

    slow = False
    _CONFIGURATIONS = {"LUSTRE": "LustreConfiguration", "OPENZFS": "OpenZFSConfiguration"}
    _PROPERTIES = (
        "FileSystemType",
        "FileSystemTypeVersion",
        "StorageCapacity",
        "StorageType",
        "SubnetIds",
        "SecurityGroupIds",
        "KmsKeyId",
        "Tags",
        "LustreConfiguration",
        "OpenZFSConfiguration",
    )
    _REPLACING = frozenset(
        {"FileSystemType", "KmsKeyId", "SubnetIds", "SecurityGroupIds", "DeploymentType", "CopyTagsToBackups"}
        | {"PreferredSubnetId", "RootVolumeConfiguration", "EndpointIpAddressRange"}
    )
    """Members whose change replaces a file system, from CloudFormation's pages on AWS::FSx::FileSystem,
    its LustreConfiguration and its OpenZFSConfiguration."""
    _CREATION_ONLY = frozenset({"EfaEnabled", "Options"})
    """Creation settings that CloudFormation takes and the API has no update for."""

    def create(self, call: Call) -> Created:
        """Create the file system."""
        known(call, self._PROPERTIES)
        return _described(call.aws.call("fsx", "create_file_system", **call.properties)["FileSystem"])

    def update(self, call: Call) -> Created:
        """Change the file system in place where FSx can, replace it otherwise."""
        name = self._configuration(call.properties)
        configuration = _difference(call.properties.get(name, {}), call.old_properties.get(name, {}))
        changed = {*call.changed, *configuration} - {name}
        if changed & self._REPLACING:
            return self.create(call)
        if changed & self._CREATION_ONLY:
            raise UnsupportedResourceError(
                f"FSx can not change {', '.join(sorted(changed & self._CREATION_ONLY))}"
            )
        members = {k: call.properties[k] for k in call.changed & {"StorageCapacity", "StorageType"}}
        if "Tags" in call.changed:
            arn, tags = call.created.attributes["ResourceARN"], call.properties.get("Tags", [])
            call.aws.call("fsx", "tag_resource", ResourceARN=arn, Tags=tags)
        if members or configuration:
            members.update({name: configuration} if configuration else {})
            call.aws.call("fsx", "update_file_system", FileSystemId=call.physical_id, **members)
        return call.created

    def delete(self, call: Call) -> None:
        """Delete the file system."""
        call.aws.call("fsx", "delete_file_system", FileSystemId=call.physical_id)

    def _configuration(self, properties: Properties) -> str:
        kind = properties["FileSystemType"]
        if kind not in self._CONFIGURATIONS:
            raise UnsupportedResourceError(f"AWS::FSx::FileSystem of type {kind} is not emulated")
        return self._CONFIGURATIONS[kind]


class DataRepositoryAssociation:
    """AWS::FSx::DataRepositoryAssociation."""

    slow = False
    _PROPERTIES = (
        "FileSystemId",
        "FileSystemPath",
        "DataRepositoryPath",
        "BatchImportMetaDataOnCreate",
        "ImportedFileChunkSize",
        "S3",
        "Tags",
    )
    _IN_PLACE = frozenset({"ImportedFileChunkSize", "S3"})

    def create(self, call: Call) -> Created:
        """Create the association."""
        known(call, self._PROPERTIES)
        answer = call.aws.call("fsx", "create_data_repository_association", **call.properties)["Association"]
        attributes = {"AssociationId": answer["AssociationId"], "ResourceARN": answer["ResourceARN"]}
        return Created(physical_id=answer["AssociationId"], attributes=attributes)

    def update(self, call: Call) -> Created:
        """Change S3 settings and chunk size in place; anything else replaces the association."""
        if not call.changed <= self._IN_PLACE:
            return self.create(call)
        values = {name: call.properties.get(name) for name in self._IN_PLACE}
        association = call.physical_id
        call.aws.call("fsx", "update_data_repository_association", AssociationId=association, **values)
        return call.created

    def delete(self, call: Call) -> None:
        """Delete the association; the data stays in the file system, as CloudFormation leaves it."""
        arguments = {"AssociationId": call.physical_id, "DeleteDataInFileSystem": False}
        call.aws.call("fsx", "delete_data_repository_association", **arguments)


def _described(file_system: Mapping[str, Any]) -> Created:
    lustre, zfs = file_system.get("LustreConfiguration", {}), file_system.get("OpenZFSConfiguration", {})
    attributes = {
        "DNSName": file_system["DNSName"],
        "ResourceARN": file_system["ResourceARN"],
        "LustreMountName": lustre.get("MountName"),
        "RootVolumeId": zfs.get("RootVolumeId"),
    }
    own = {name: value for name, value in attributes.items() if value is not None}
    return Created(physical_id=file_system["FileSystemId"], attributes=own)


def _difference(new: Properties, old: Properties) -> dict[str, Any]:
    return {name: value for name, value in new.items() if old.get(name) != value}


FILE_SYSTEMS: Mapping[str, ResourceType] = {
    "AWS::FSx::FileSystem": FileSystem(),
    "AWS::FSx::DataRepositoryAssociation": DataRepositoryAssociation(),
}
