"""LustreStorage: an FSx for Lustre file system."""

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
from hyperpod_cdk.network.security_group import ALL_TRAFFIC, Ports, allow_in, allow_out
from hyperpod_cdk.removal import removal
from hyperpod_cdk.spec import DataRepositoryAssociation, LustreFileSystem, Mount, RemovalPolicy
from hyperpod_cdk.storage.existing import ExistingStorage
from hyperpod_cdk.storage.keeping import keep
from hyperpod_cdk.storage.lustre_defaults import is_persistent, with_defaults
from hyperpod_cdk.storage.placing import subnets_in
from hyperpod_cdk.storage.ports import LUSTRE


class LustreStorage(Construct):
    """A file system, the security group of its servers, and its links to S3.

    Replaced, and so made empty anew, when its zone, network, key, deployment type or version changes; the old
    one is kept unless ``removal_policy`` is DESTROY. A file system that is kept keeps also its security
    group, its subnet and a VPC made here.

    FSx reads a bucket of a data repository association with a service-linked role of its own, which it lets
    itself in with as long as whoever deploys may put the bucket's policy; nothing can be granted from here.

    Args:
        network: Where it lies and from where it is mounted.
        file_system: Its settings. Default: 1200 GiB of PERSISTENT_2 on SSD in the network's first zone.
        encryption_key: Customer-managed key, unless ``file_system`` names one. Default: the AWS-managed one.
            The SCRATCH types have no other.

    Raises:
        SpecError: The settings break rules; every finding is in it.
        ConstructError: Its zone is none of the network's.
    """

    @checked_arguments
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        network: IHyperPodNetwork,
        file_system: LustreFileSystem = LustreFileSystem(),  # noqa: B008, frozen
        encryption_key: kms.IKey | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        self.warnings = checked_file_system(file_system, self)
        """What is doubtful about the settings; shown at synth too. Empty in a HyperPodStack."""
        annotate(self, self.warnings)
        self.settings = with_defaults(file_system)
        """The settings with every choice made."""
        zone = file_system.availability_zone_id
        subnets, faults = subnets_in(network, [zone] if zone else [], count=1)
        refuse(self.node.path, faults)
        self.availability_zone_id = zone or next(iter(network.availability_zone_ids), None)
        self._ports: Sequence[Ports] = (ALL_TRAFFIC,) if self.settings.efa_enabled else LUSTRE
        self.security_group: ec2.SecurityGroup = ec2.SecurityGroup(
            self,
            "SecurityGroup",
            vpc=network.vpc,
            description="Servers of an FSx for Lustre file system",
            allow_all_outbound=False,
        )
        self.file_system = self._file_system(subnets[0], encryption_key)
        servers = self._rules_among_servers()
        for index, clients in enumerate(network.security_groups, start=1):
            self.allow_from(clients, f"Clients{index}")
        self.associations: Sequence[fsx.CfnDataRepositoryAssociation] = self._associate()
        if self.settings.efa_enabled:
            network.reach("fsx")
        if self.settings.removal_policy is RemovalPolicy.RETAIN:
            keep(self.security_group, *servers)
            network.keep(subnets)

    @staticmethod
    def from_attributes(
        scope: Construct,
        construct_id: str,
        *,
        dns_name: str,
        mount_name: str,
        file_system_id: str | None = None,
        security_group: ec2.ISecurityGroup | None = None,
    ) -> ExistingStorage:
        """A file system that is already there; nothing of it is created or changed.

        Args:
            dns_name: Name that nodes mount, ``fs-….fsx.<region>.amazonaws.com``.
            mount_name: Its mount name, 1-8 characters.
            file_system_id: ``fs-…``. Default: the first label of ``dns_name``.
            security_group: Group of its servers. Default: unknown.
        """
        return ExistingStorage(
            scope,
            construct_id,
            file_system_type="LUSTRE",
            dns_name=dns_name,
            mount_name=mount_name,
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

    @cached_property
    def mount_name(self) -> str:
        """Mount name of the file system."""
        return self.file_system.attr_lustre_mount_name

    def mount(self, mount_path: str | None = None) -> Mount:
        """What an instance group's ``mounts`` take.

        Args:
            mount_path: Absolute path on the nodes. Default: the service's, ``/fsx``.
        """
        return Mount(
            file_system_type="LUSTRE",
            dns_name=self.dns_name,
            mount_name=self.mount_name,
            mount_path=mount_path,
            efa=self.settings.efa_enabled,
        )

    def allow_from(self, security_group: ec2.ISecurityGroup, name: str) -> Sequence[CfnResource]:
        """Let members of a security group mount it: rules in both groups, both ways.

        Args:
            name: Begins the ids of the rules; unique in this construct.

        Returns:
            The rules; the file system is created after them.
        """
        servers, clients = self.security_group.security_group_id, security_group.security_group_id
        ports, why = self._ports, "FSx for Lustre between clients and servers"
        rules = [
            *allow_in(self, f"{name}In", group=servers, source=clients, ports=ports, why=why),
            *allow_out(self, f"{name}Out", group=servers, target=clients, ports=ports, why=why),
            *allow_in(self, f"{name}FromServers", group=clients, source=servers, ports=ports, why=why),
            *allow_out(self, f"{name}ToServers", group=clients, target=servers, ports=ports, why=why),
        ]
        self.file_system.node.add_dependency(*rules)
        return rules

    def _rules_among_servers(self) -> Sequence[CfnResource]:
        own, why = self.security_group.security_group_id, "FSx for Lustre among servers"
        rules = [
            *allow_in(self, "ServersIn", group=own, source=own, ports=self._ports, why=why),
            *allow_out(self, "ServersOut", group=own, target=own, ports=self._ports, why=why),
        ]
        self.file_system.node.add_dependency(*rules)
        return rules

    def _file_system(self, subnet: ec2.ISubnet, key: kms.IKey | None) -> fsx.CfnFileSystem:
        settings = self.settings
        persistent = is_persistent(settings)
        default_key = key.key_arn if key is not None and persistent else None
        file_system = fsx.CfnFileSystem(
            self,
            "Resource",
            file_system_type="LUSTRE",
            file_system_type_version=settings.file_system_type_version,
            storage_type=settings.storage_type.value,
            storage_capacity=settings.capacity_gib,
            subnet_ids=[subnet.subnet_id],
            security_group_ids=[self.security_group.security_group_id],
            kms_key_id=settings.kms_key_arn or default_key,
            lustre_configuration=fsx.CfnFileSystem.LustreConfigurationProperty(
                deployment_type=settings.deployment_type.value,
                per_unit_storage_throughput=settings.per_unit_storage_throughput,
                throughput_capacity=settings.throughput_capacity,
                data_compression_type=settings.data_compression_type.value,
                drive_cache_type=settings.drive_cache_type.value if settings.drive_cache_type else None,
                efa_enabled=settings.efa_enabled or None,
                metadata_configuration=self._metadata(),
                data_read_cache_configuration=self._read_cache(),
                automatic_backup_retention_days=(
                    settings.automatic_backup_retention_days if persistent else None
                ),
                copy_tags_to_backups=settings.copy_tags_to_backups if persistent else None,
                daily_automatic_backup_start_time=settings.daily_automatic_backup_start_time,
                weekly_maintenance_start_time=settings.weekly_maintenance_start_time,
            ),
        )
        file_system.apply_removal_policy(removal(settings.removal_policy))
        return file_system

    def _metadata(self) -> fsx.CfnFileSystem.MetadataConfigurationProperty | None:
        metadata = self.settings.metadata
        if metadata is None:
            return None
        return fsx.CfnFileSystem.MetadataConfigurationProperty(mode=metadata.mode.value, iops=metadata.iops)

    def _read_cache(self) -> fsx.CfnFileSystem.DataReadCacheConfigurationProperty | None:
        cache = self.settings.read_cache
        if cache is None:
            return None
        return fsx.CfnFileSystem.DataReadCacheConfigurationProperty(
            sizing_mode=cache.sizing_mode.value, size_gib=cache.size_gib
        )

    def _associate(self) -> Sequence[fsx.CfnDataRepositoryAssociation]:
        associations: list[fsx.CfnDataRepositoryAssociation] = []
        for index, given in enumerate(self.settings.data_repository_associations, start=1):
            association = self._association(f"Association{index}", given)
            # FSx works on one at a time.
            if associations:
                association.node.add_dependency(associations[-1])
            associations.append(association)
        return tuple(associations)

    def _association(self, name: str, given: DataRepositoryAssociation) -> fsx.CfnDataRepositoryAssociation:
        imports = [event.value for event in given.auto_import_events]
        exports = [event.value for event in given.auto_export_events]
        repository = fsx.CfnDataRepositoryAssociation
        return repository(
            self,
            name,
            file_system_id=self.file_system_id,
            file_system_path=given.file_system_path,
            data_repository_path=given.data_repository_path,
            batch_import_meta_data_on_create=given.batch_import_meta_data_on_create,
            imported_file_chunk_size=given.imported_file_chunk_size_mib,
            s3=repository.S3Property(
                auto_import_policy=repository.AutoImportPolicyProperty(events=imports) if imports else None,
                auto_export_policy=repository.AutoExportPolicyProperty(events=exports) if exports else None,
            ),
        )
