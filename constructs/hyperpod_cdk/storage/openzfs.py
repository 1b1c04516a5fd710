"""OpenZfsStorage: an FSx for OpenZFS file system."""

from collections.abc import Sequence
from functools import cached_property

from aws_cdk import CfnResource
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_kms as kms
from constructs import Construct

from hyperpod_cdk.arguments import checked_arguments
from hyperpod_cdk.checking import annotate, checked_file_system
from hyperpod_cdk.faults import refuse
from hyperpod_cdk.network.interface import IHyperPodNetwork
from hyperpod_cdk.network.security_group import allow_in
from hyperpod_cdk.removal import removal
from hyperpod_cdk.service.fsx import OPENZFS_THROUGHPUT
from hyperpod_cdk.spec import Mount, OpenZfsDeploymentType, OpenZfsFileSystem, RemovalPolicy
from hyperpod_cdk.storage.existing import ExistingStorage
from hyperpod_cdk.storage.keeping import keep
from hyperpod_cdk.storage.placing import subnets_in
from hyperpod_cdk.storage.ports import OPEN_ZFS

EXPORT_OPTIONS = ("rw", "crossmnt", "no_root_squash")
"""Root of a node may give homes to their users
(https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/nfs-exports.html, 2026-10)."""


class OpenZfsStorage(Construct):
    """A file system and the security group of its servers.

    Exported to the VPC's own addresses alone. Replaced, and so made empty anew, when its zones, network, key,
    deployment type or root volume change; the old one is kept unless ``removal_policy`` is DESTROY. A file
    system that is kept keeps also its security group, its subnets and a VPC made here.

    Args:
        network: Where it lies and from where it is mounted.
        file_system: Its settings. Default: 64 GiB of SINGLE_AZ_HA_2 in the network's first zone.
        encryption_key: Customer-managed key, unless ``file_system`` names one. Default: the AWS-managed one.

    Raises:
        SpecError: The settings break rules; every finding is in it.
        ConstructError: Zones are none of the network's or too few, or the network lacks its address range or
            the route tables that MULTI_AZ_1 needs.
    """

    @checked_arguments
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        network: IHyperPodNetwork,
        file_system: OpenZfsFileSystem = OpenZfsFileSystem(),  # noqa: B008, frozen
        encryption_key: kms.IKey | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        self.warnings = checked_file_system(file_system, self)
        """What is doubtful about the settings; shown at synth too. Empty in a HyperPodStack."""
        annotate(self, self.warnings)
        self.settings = file_system
        multi_az = file_system.deployment_type is OpenZfsDeploymentType.MULTI_AZ_1
        subnets, faults = subnets_in(network, file_system.availability_zone_ids, count=2 if multi_az else 1)
        if not network.vpc_cidr:
            faults = (*faults, "the network needs vpc_cidr, whose addresses may mount it; got: none")
        refuse(self.node.path, faults)
        zones = file_system.availability_zone_ids or network.availability_zone_ids
        self.availability_zone_id = next(iter(zones), None)
        self.security_group: ec2.SecurityGroup = ec2.SecurityGroup(
            self,
            "SecurityGroup",
            vpc=network.vpc,
            description="Servers of an FSx for OpenZFS file system",
            allow_all_outbound=False,
        )
        self.file_system = self._file_system(network, subnets, encryption_key, multi_az=multi_az)
        for index, clients in enumerate(network.security_groups, start=1):
            self.allow_from(clients, f"Clients{index}")
        if file_system.removal_policy is RemovalPolicy.RETAIN:
            keep(self.security_group)
            network.keep(subnets)

    @staticmethod
    def from_attributes(
        scope: Construct,
        construct_id: str,
        *,
        dns_name: str,
        file_system_id: str | None = None,
        security_group: ec2.ISecurityGroup | None = None,
    ) -> ExistingStorage:
        """A file system that is already there; nothing of it is created or changed.

        Args:
            dns_name: Name that nodes mount, ``fs-….fsx.<region>.amazonaws.com``.
            file_system_id: ``fs-…``. Default: the first label of ``dns_name``.
            security_group: Group of its servers. Default: unknown.
        """
        return ExistingStorage(
            scope,
            construct_id,
            file_system_type="OPENZFS",
            dns_name=dns_name,
            file_system_id=file_system_id,
            security_group=security_group,
        )

    @property
    def file_system_id(self) -> str:
        """``fs-…``."""
        return self.file_system.ref

    @cached_property
    def dns_name(self) -> str:
        """Name that nodes mount."""
        return self.file_system.attr_dns_name

    @property
    def root_volume_id(self) -> str:
        """``fsvol-…`` of the volume that nodes mount."""
        return self.file_system.attr_root_volume_id

    def mount(self, mount_path: str | None = None) -> Mount:
        """What an instance group's ``mounts`` take.

        Args:
            mount_path: Absolute path on the nodes. Default: the service's, ``/home``.
        """
        return Mount(file_system_type="OPENZFS", dns_name=self.dns_name, mount_path=mount_path)

    def allow_from(self, security_group: ec2.ISecurityGroup, name: str) -> Sequence[CfnResource]:
        """Let members of a security group mount it.

        Args:
            name: Begins the ids of the rules; unique in this construct.

        Returns:
            The rules; the file system is created after them.
        """
        rules = allow_in(
            self,
            f"{name}In",
            group=self.security_group.security_group_id,
            source=security_group.security_group_id,
            ports=OPEN_ZFS,
            why="FSx for OpenZFS from clients",
        )
        self.file_system.node.add_dependency(*rules)
        return rules

    def _file_system(
        self,
        network: IHyperPodNetwork,
        subnets: Sequence[ec2.ISubnet],
        key: kms.IKey | None,
        *,
        multi_az: bool,
    ) -> fsx.CfnFileSystem:
        settings = self.settings
        destroyed = settings.removal_policy is RemovalPolicy.DESTROY
        throughput = settings.throughput_capacity or OPENZFS_THROUGHPUT[settings.deployment_type][0]
        file_system = fsx.CfnFileSystem(
            self,
            "Resource",
            file_system_type="OPENZFS",
            storage_type="SSD",
            storage_capacity=settings.capacity_gib,
            subnet_ids=[subnet.subnet_id for subnet in subnets],
            security_group_ids=[self.security_group.security_group_id],
            kms_key_id=settings.kms_key_arn or (key.key_arn if key is not None else None),
            open_zfs_configuration=fsx.CfnFileSystem.OpenZFSConfigurationProperty(
                deployment_type=settings.deployment_type.value,
                throughput_capacity=throughput,
                disk_iops_configuration=self._disk_iops(),
                preferred_subnet_id=subnets[0].subnet_id if multi_az else None,
                # Without them only the VPC's main table learns the way to the floating address.
                route_table_ids=list(network.route_table_ids) if multi_az else None,
                endpoint_ip_address_range=settings.endpoint_ip_address_range,
                root_volume_configuration=self._root_volume(network.vpc_cidr),
                automatic_backup_retention_days=settings.automatic_backup_retention_days,
                copy_tags_to_backups=settings.copy_tags_to_backups,
                daily_automatic_backup_start_time=settings.daily_automatic_backup_start_time,
                weekly_maintenance_start_time=settings.weekly_maintenance_start_time,
                options=["DELETE_CHILD_VOLUMES_AND_SNAPSHOTS"] if destroyed else None,
            ),
        )
        file_system.apply_removal_policy(removal(settings.removal_policy))
        return file_system

    def _disk_iops(self) -> fsx.CfnFileSystem.DiskIopsConfigurationProperty | None:
        if self.settings.disk_iops is None:
            return None
        return fsx.CfnFileSystem.DiskIopsConfigurationProperty(
            mode="USER_PROVISIONED", iops=self.settings.disk_iops
        )

    def _root_volume(self, vpc_cidr: str | None) -> fsx.CfnFileSystem.RootVolumeConfigurationProperty:
        exports = fsx.CfnFileSystem.NfsExportsProperty(
            client_configurations=[
                fsx.CfnFileSystem.ClientConfigurationsProperty(clients=vpc_cidr, options=list(EXPORT_OPTIONS))
            ]
        )
        return fsx.CfnFileSystem.RootVolumeConfigurationProperty(
            data_compression_type=self.settings.data_compression_type.value,
            record_size_kib=self.settings.record_size_kib,
            nfs_exports=[exports],
        )
