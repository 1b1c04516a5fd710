"""Amazon FSx: file systems and data repository associations, as the API describes them.

Moto's FSx knows no data repository association, no Lustre mount name, no life cycle, and refuses OpenZFS
(it spells the type OPEN_ZFS), so its operations are answered from a store of our own.
"""

from __future__ import annotations

import secrets
import time
import uuid
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from moto.core.exceptions import ServiceException
from moto.core.responses import ActionResult, BaseResponse
from moto.ec2.models import ec2_backends
from moto.fsx import urls
from moto.utilities.utils import get_partition

_CONFIGURATIONS = {
    "LUSTRE": "LustreConfiguration",
    "OPENZFS": "OpenZFSConfiguration",
    "WINDOWS": "WindowsConfiguration",
    "ONTAP": "OntapConfiguration",
}
_SCRATCH_MOUNT_NAME = "fsx"
"""Deployment types of Lustre whose mount name is always this.
https://docs.aws.amazon.com/fsx/latest/APIReference/API_LustreFileSystemConfiguration.html"""


class FsxError(ServiceException):
    """An error of the FSx API."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class FileSystems:
    """File systems and data repository associations of one account and Region.

    Args:
        account_id: The account.
        region: The Region.
    """

    def __init__(self, account_id: str, region: str) -> None:
        self._account_id = account_id
        self._region = region
        self.file_systems: dict[str, dict[str, Any]] = {}
        self.associations: dict[str, dict[str, Any]] = {}

    def create(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Create a file system that is available at once, with its network interfaces.

        Args:
            request: The parameters of CreateFileSystem.
        """
        kind, ec2 = request["FileSystemType"], ec2_backends[self._account_id][self._region]
        fs_id = f"fs-{secrets.token_hex(9)[:17]}"
        groups = request.get("SecurityGroupIds", [])
        description = f"Primary network interface for {fs_id}"
        # The interfaces keep subnets and security groups from being deleted, also for a retained file system.
        interfaces = [
            ec2.create_network_interface(subnet, [], group_ids=groups, description=description)
            for subnet in map(ec2.get_subnet, request["SubnetIds"])
        ]
        name = _CONFIGURATIONS[kind]
        file_system = {
            "OwnerId": self._account_id,
            "CreationTime": time.time(),
            "FileSystemId": fs_id,
            "FileSystemType": kind,
            "FileSystemTypeVersion": request.get("FileSystemTypeVersion"),
            "Lifecycle": "AVAILABLE",
            "StorageCapacity": request.get("StorageCapacity"),
            "StorageType": request.get("StorageType", "SSD"),
            "VpcId": ec2.get_subnet(request["SubnetIds"][0]).vpc_id,
            "SubnetIds": request["SubnetIds"],
            "NetworkInterfaceIds": [interface.id for interface in interfaces],
            "DNSName": f"{fs_id}.fsx.{self._region}.amazonaws.com",
            "KmsKeyId": request.get("KmsKeyId"),
            "ResourceARN": self._arn("file-system", fs_id),
            "Tags": request.get("Tags", []),
            name: {**request.get(name, {}), **_answered(kind, request.get(name, {}))},
        }
        self.file_systems[fs_id] = {key: value for key, value in file_system.items() if value is not None}
        return self.file_systems[fs_id]

    def find(self, fs_id: str) -> dict[str, Any]:
        """Give a file system.

        Raises:
            FsxError: When there is none.
        """
        if fs_id not in self.file_systems:
            raise FsxError("FileSystemNotFound", f"File system '{fs_id}' does not exist.")
        return self.file_systems[fs_id]

    def update(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Change a file system at once.

        Args:
            request: The parameters of UpdateFileSystem.
        """
        file_system = self.find(request["FileSystemId"])
        name = _CONFIGURATIONS[file_system["FileSystemType"]]
        file_system[name].update(request.get(name, {}))
        for member in ("StorageCapacity", "StorageType", "FileSystemTypeVersion"):
            if member in request:
                file_system[member] = request[member]
        return file_system

    def delete(self, fs_id: str) -> None:
        """Delete a file system, its network interfaces and its data repository associations."""
        file_system, ec2 = self.find(fs_id), ec2_backends[self._account_id][self._region]
        for interface in file_system["NetworkInterfaceIds"]:
            ec2.delete_network_interface(interface)
        self.associations = {k: v for k, v in self.associations.items() if v["FileSystemId"] != fs_id}
        del self.file_systems[fs_id]

    def associate(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Create a data repository association that is available at once.

        Args:
            request: The parameters of CreateDataRepositoryAssociation.
        """
        file_system = self.find(request["FileSystemId"])
        if file_system["FileSystemType"] != "LUSTRE":
            raise FsxError("InvalidDataRepositoryType", "Only Lustre file systems have data repositories.")
        dra_id = f"dra-{secrets.token_hex(9)[:17]}"
        members = (
            "FileSystemId",
            "FileSystemPath",
            "DataRepositoryPath",
            "BatchImportMetaDataOnCreate",
            "ImportedFileChunkSize",
            "S3",
            "Tags",
        )
        self.associations[dra_id] = {
            "AssociationId": dra_id,
            "ResourceARN": self._arn("association", f"{request['FileSystemId']}/{dra_id}"),
            "Lifecycle": "AVAILABLE",
            "CreationTime": time.time(),
            **{member: request[member] for member in members if member in request},
        }
        return self.associations[dra_id]

    def association(self, dra_id: str) -> dict[str, Any]:
        """Give a data repository association.

        Raises:
            FsxError: When there is none.
        """
        if dra_id not in self.associations:
            raise FsxError("DataRepositoryAssociationNotFound", f"Association '{dra_id}' does not exist.")
        return self.associations[dra_id]

    def _arn(self, kind: str, name: str) -> str:
        return f"arn:{get_partition(self._region)}:fsx:{self._region}:{self._account_id}:{kind}/{name}"


def _answered(kind: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Members of a configuration that FSx makes up."""
    if kind == "OPENZFS":
        return {"RootVolumeId": f"fsvol-{secrets.token_hex(9)[:17]}"}
    if kind == "LUSTRE":
        scratch = given.get("DeploymentType", "SCRATCH_1") == "SCRATCH_1"
        return {"MountName": _SCRATCH_MOUNT_NAME if scratch else uuid.uuid4().hex[:8]}
    return {}


class Api(BaseResponse):
    """The operations of FSx; moto refuses all others as not implemented."""

    stores: Mapping[str, Mapping[str, FileSystems]]

    def __init__(self) -> None:
        super().__init__(service_name="fsx")
        self.automated_parameter_parsing = True

    @property
    def _store(self) -> FileSystems:
        return type(self).stores[self.current_account][self.region]

    def create_file_system(self) -> ActionResult:
        """CreateFileSystem."""
        return ActionResult({"FileSystem": self._store.create(self._get_params())})

    def describe_file_systems(self) -> ActionResult:
        """DescribeFileSystems, in one page."""
        wanted = self._get_param("FileSystemIds") or list(self._store.file_systems)
        return ActionResult({"FileSystems": [self._store.find(fs_id) for fs_id in wanted]})

    def update_file_system(self) -> ActionResult:
        """UpdateFileSystem."""
        return ActionResult({"FileSystem": self._store.update(self._get_params())})

    def delete_file_system(self) -> ActionResult:
        """DeleteFileSystem."""
        fs_id = self._get_param("FileSystemId")
        self._store.delete(fs_id)
        return ActionResult({"FileSystemId": fs_id, "Lifecycle": "DELETING"})

    def create_data_repository_association(self) -> ActionResult:
        """CreateDataRepositoryAssociation."""
        return ActionResult({"Association": self._store.associate(self._get_params())})

    def describe_data_repository_associations(self) -> ActionResult:
        """DescribeDataRepositoryAssociations, by id or by file system, in one page."""
        store, ids = self._store, self._get_param("AssociationIds")
        found = [store.association(dra_id) for dra_id in ids or store.associations]
        for item in self._get_param("Filters", []):
            if item["Name"] == "file-system-id":
                found = [dra for dra in found if dra["FileSystemId"] in item["Values"]]
        return ActionResult({"Associations": found})

    def update_data_repository_association(self) -> ActionResult:
        """UpdateDataRepositoryAssociation."""
        association = self._store.association(self._get_param("AssociationId"))
        for member in ("S3", "ImportedFileChunkSize"):
            if self._get_param(member) is not None:
                association[member] = self._get_param(member)
        return ActionResult({"Association": association})

    def delete_data_repository_association(self) -> ActionResult:
        """DeleteDataRepositoryAssociation."""
        dra_id = self._get_param("AssociationId")
        self._store.association(dra_id)
        del self._store.associations[dra_id]
        return ActionResult({"AssociationId": dra_id, "Lifecycle": "DELETING"})

    def list_tags_for_resource(self) -> ActionResult:
        """ListTagsForResource."""
        return ActionResult({"Tags": self._tagged()["Tags"]})

    def tag_resource(self) -> ActionResult:
        """TagResource."""
        resource, new = self._tagged(), {tag["Key"]: tag for tag in self._get_param("Tags")}
        resource["Tags"] = [tag for tag in resource["Tags"] if tag["Key"] not in new] + list(new.values())
        return ActionResult({})

    def untag_resource(self) -> ActionResult:
        """UntagResource."""
        resource, gone = self._tagged(), self._get_param("TagKeys")
        resource["Tags"] = [tag for tag in resource["Tags"] if tag["Key"] not in gone]
        return ActionResult({})

    def _tagged(self) -> dict[str, Any]:
        arn = self._get_param("ResourceARN")
        for resource in (*self._store.file_systems.values(), *self._store.associations.values()):
            if resource["ResourceARN"] == arn:
                resource.setdefault("Tags", [])
                return resource
        raise FsxError("ResourceNotFound", f"No resource has the ARN {arn}.")


class _Stores(defaultdict[str, dict[str, FileSystems]]):
    def __missing__(self, account_id: str) -> dict[str, FileSystems]:
        self[account_id] = _Regions(account_id)
        return self[account_id]


class _Regions(dict[str, FileSystems]):
    def __init__(self, account_id: str) -> None:
        super().__init__()
        self._account_id = account_id

    def __missing__(self, region: str) -> FileSystems:
        self[region] = FileSystems(self._account_id, region)
        return self[region]


@contextmanager
def file_systems_served() -> Iterator[Mapping[str, Mapping[str, FileSystems]]]:
    """Let moto's web application answer FSx from a fresh store; gives the store by account and Region."""
    stores = _Stores()

    class Served(Api):
        pass

    Served.stores = stores
    with patch.dict(urls.url_paths, {key: Served.dispatch for key in urls.url_paths}):
        yield stores
