"""HyperPodCluster: the cluster as a construct."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct, IDependable

from hyperpod_cdk.access import ClusterRole, ExecutionRole
from hyperpod_cdk.arguments import checked_arguments
from hyperpod_cdk.checking import annotate, checked
from hyperpod_cdk.cluster.accounting_access import open_accounting_database
from hyperpod_cdk.cluster.base import ClusterBase, IHyperPodCluster, ImportedCluster
from hyperpod_cdk.cluster.bootstrap_guard import BootstrapGuardFunction
from hyperpod_cdk.cluster.described import as_spec
from hyperpod_cdk.cluster.first_node import until_a_node
from hyperpod_cdk.cluster.naming import generated_names, named
from hyperpod_cdk.cluster.node_permissions import allow_software
from hyperpod_cdk.cluster.nodes import node_config
from hyperpod_cdk.cluster.provider import ClusterProvider
from hyperpod_cdk.cluster.provisioned import Provisioned, custom_resource, native_resource
from hyperpod_cdk.cluster.request import (
    ClusterResources,
    GroupResources,
    VpcPlacement,
    create_cluster_request,
    provisioning_parameters,
)
from hyperpod_cdk.eks.interface import IEksControlPlane
from hyperpod_cdk.faults import refuse
from hyperpod_cdk.lifecycle import (
    EksLifecycleScripts,
    ILifecycleBucket,
    LifecycleBucket,
    LifecycleBundle,
    LifecycleScripts,
)
from hyperpod_cdk.network import IHyperPodNetwork
from hyperpod_cdk.spec import (
    Cluster,
    Deployment,
    EksOrchestrator,
    InstanceGroup,
    Lifecycle,
    LifeCycleConfig,
    LifecycleMode,
    NodeType,
    Provisioning,
)


class HyperPodCluster(ClusterBase):
    """An Amazon SageMaker HyperPod cluster orchestrated by Slurm or Amazon EKS."""

    @checked_arguments
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: Cluster,
        network: IHyperPodNetwork,
        lifecycle: Lifecycle | None = None,
        deployment: Deployment | None = None,
        control_plane: IEksControlPlane | None = None,
        lifecycle_bucket: ILifecycleBucket | None = None,
        execution_roles: Mapping[str, iam.IRole] | None = None,
        depends_on: Sequence[IDependable] = (),
        log_retention: logs.RetentionDays = logs.RetentionDays.THREE_MONTHS,
        encryption_key: kms.IKey | None = None,
    ) -> None:
        """Make the cluster, the roles of its groups and the node scripts.

        Args:
            cluster: what the cluster is; every mount filled in by a storage construct's ``mount()``.
            network: where its nodes live.
            lifecycle: mode, users and extra files of the node scripts. Default: extension mode, no users.
            deployment: what makes the cluster, and what is waited for. Default: our custom resource, until
                the cluster is in service.
            control_plane: where its nodes join Kubernetes; the chart of HyperPodDependencies belongs in
                depends_on. Default: none, which is right for Slurm.
            lifecycle_bucket: bucket of the node scripts. Default: a new one.
            execution_roles: roles by group name. Default: one is made for every group that names none.
            depends_on: further constructs that must be there before the cluster. Default: none.
            log_retention: of the log groups made here. Default: 3 months.
            encryption_key: for a bucket and log groups made here. Default: AWS-managed keys.

        Raises:
            SpecError: the spec breaks rules; every finding is in it.
            ConstructError: an argument is of another type, execution_roles names no group, a group's name is
                a token, orchestrator.eks is given without a control plane, or a control plane without it.
        """
        super().__init__(scope, construct_id)
        self._eks = cluster.orchestrator.eks
        self._control_plane = control_plane
        faults = [*_plane_faults(self._eks, control_plane), *_name_faults(cluster, execution_roles or {})]
        refuse(self.node.path, faults)
        self._deployment = until_a_node(cluster, deployment or Deployment())
        self._lifecycle = lifecycle or Lifecycle()
        described = as_spec(cluster, network, self._lifecycle, self._deployment)
        self.warnings = checked(replace(described, region=cdk.Stack.of(self).region), self.node.path)
        """What is doubtful about it; shown at synth too. Nothing in a HyperPodStack, which shows it."""
        annotate(self, self.warnings)
        self._spec = cluster
        self._network = network
        self._log_retention = log_retention
        self._encryption_key = encryption_key

        self.lifecycle_bucket = lifecycle_bucket
        """Bucket of the node scripts; None when no group's scripts are deployed here."""
        if lifecycle_bucket is None and any(
            self._deploys_scripts(group) for group in cluster.instance_groups
        ):
            self.lifecycle_bucket = LifecycleBucket(
                self,
                "Lifecycle",
                encryption_key=encryption_key,
                removal_policy=self._lifecycle.bucket_removal_policy,
            )
        self.lifecycle_scripts = self._scripts()
        """The node scripts' deployment; None when no group's scripts are deployed here."""
        self.lifecycle_bundle = self._bundle()
        """What nodes would download; None when no folder of it is deployed here."""
        self.execution_roles: dict[str, ExecutionRole] = {}
        """Roles made here, by group name."""
        role_arns = {
            group.instance_group_name: self._execution_role_arn(group, execution_roles or {})
            for group in cluster.instance_groups
        }
        self.cluster_role = self._cluster_role()
        """Role of autoscaling, if one is made here."""
        self.request = named(self, create_cluster_request(cluster, self._resources(role_arns)))
        """The CreateCluster request, in the API's own words."""
        depends = [
            network,
            *self.execution_roles.values(),
            *filter(None, (self.lifecycle_scripts, self.lifecycle_bundle, self.cluster_role)),
            *(control_plane.ready if control_plane else ()),
            *open_accounting_database(self, cluster=cluster, network=network),
            *depends_on,
        ]
        if self._deployment.provisioning is Provisioning.CLOUDFORMATION:
            made = native_resource(self, self.request, depends_on=depends)
        else:
            made = self._custom_resource(depends)
        self.resource = made.resource
        """The cluster's resource, of our custom type or CloudFormation's own."""
        self.provider = made.provider
        """The custom resource's provider; None for CloudFormation's own resource."""
        self.minimum_counts = made.minimum_counts
        """What waits for the groups' minimum counts; None unless asked for."""
        self.cluster_name = made.cluster_name
        self.cluster_arn = made.cluster_arn
        self.cluster_id = made.cluster_id
        self.log_group_name = made.log_group_name
        self.bootstrap_guard = self._bootstrap_guard(list(role_arns.values()))
        """What stops groups whose nodes keep failing; None unless asked for."""
        self.controller_ssm_target = made.controller_ssm_target if self._eks is None else None
        """Target of ``aws ssm start-session``: the controller; None on Amazon EKS, and for CloudFormation's
        own resource."""

    @property
    def restricted_roles(self) -> Sequence[ExecutionRole]:
        """Roles made here of restricted groups."""
        groups = [group for group in self._spec.instance_groups if group.environment_config is not None]
        made = (self.execution_roles.get(group.instance_group_name) for group in groups)
        return [role for role in made if role is not None]

    def _bootstrap_guard(self, role_arns: Sequence[str]) -> BootstrapGuardFunction | None:
        if self._lifecycle.bootstrap_guard is None:
            return None
        element = cast(cdk.CfnElement, self.resource.node.default_child)
        return BootstrapGuardFunction(
            self,
            "BootstrapGuard",
            cluster_name=self.cluster_name,
            groups=self._spec.instance_groups,
            role_arns=role_arns,
            settings=self._lifecycle.bootstrap_guard,
            owner=cdk.Stack.of(self).get_logical_id(element) if self.provider else None,
            control_plane_arn=self._control_plane.cluster_arn if self._control_plane else None,
            log_retention=self._log_retention,
            encryption_key=self._encryption_key,
        )

    def _custom_resource(self, depends_on: Sequence[IDependable]) -> Provisioned:
        # Another orchestrator is another cluster, and its handler may do other things. With ids of their own,
        # the old cluster goes by the old handler, whose policies are still there.
        kind = "Eks" if self._eks else ""
        provider = ClusterProvider(
            self,
            f"{kind}Provider",
            cluster_names=self._spec.cluster_name or generated_names(self),
            log_retention=self._log_retention,
            encryption_key=self._encryption_key,
        )
        return custom_resource(
            self,
            f"{kind}Resource",
            self.request,
            controller_group=_controller_group(self._spec),
            provider=provider,
            deployment=self._deployment,
            log_retention=self._log_retention,
            encryption_key=self._encryption_key,
            depends_on=depends_on,
        )

    @staticmethod
    def from_cluster_attributes(
        scope: Construct, construct_id: str, *, cluster_name: str, cluster_arn: str
    ) -> IHyperPodCluster:
        """Refer to a cluster that is already there.

        Args:
            scope: where it hangs in the tree.
            construct_id: its name there.
            cluster_name: the cluster's name.
            cluster_arn: ``arn:…:cluster/<id>``; its end is the id, not the name.
        """
        return ImportedCluster(scope, construct_id, cluster_name=cluster_name, cluster_arn=cluster_arn)

    def _mode(self, group: InstanceGroup) -> LifecycleMode:
        if self._eks is not None:
            return LifecycleMode.CUSTOM
        return group.lifecycle_mode or self._lifecycle.mode

    def _deploys_scripts(self, group: InstanceGroup) -> bool:
        own = group.life_cycle_config is not None or group.environment_config is not None
        return not own and self._mode(group) is not LifecycleMode.AMI

    def _scripts(self) -> LifecycleScripts | EksLifecycleScripts | None:
        if self.lifecycle_bucket is None:
            return None
        extra = self._lifecycle.extra_files
        if self._eks is not None:
            return EksLifecycleScripts(
                self,
                "Scripts",
                bucket=self.lifecycle_bucket,
                disk=self._eks.node_disk,
                extra_files=Path(extra) if extra else None,
                log_retention=self._log_retention,
                encryption_key=self._encryption_key,
            )
        modes = {group.instance_group_name: self._mode(group) for group in self._spec.instance_groups}
        return LifecycleScripts(
            self,
            "Scripts",
            bucket=self.lifecycle_bucket,
            config=node_config(
                self._spec, self._lifecycle, modes, bucket_name=self.lifecycle_bucket.bucket.bucket_name
            ),
            provisioning_parameters=(
                provisioning_parameters(self._spec) if LifecycleMode.LEGACY in modes.values() else None
            ),
            extra_files=Path(extra) if extra else None,
            log_retention=self._log_retention,
            encryption_key=self._encryption_key,
        )

    def _bundle(self) -> LifecycleBundle | None:
        folder = self._lifecycle.downloads.folder
        if self.lifecycle_bucket is None or folder is None:
            return None
        return LifecycleBundle(
            self,
            "Bundle",
            bucket=self.lifecycle_bucket,
            folder=Path(folder),
            log_retention=self._log_retention,
            encryption_key=self._encryption_key,
        )

    def _execution_role_arn(self, group: InstanceGroup, given: Mapping[str, iam.IRole]) -> str:
        name = group.instance_group_name
        if group.execution_role_arn:
            return group.execution_role_arn
        if name in given:
            return given[name].role_arn
        role = ExecutionRole(
            self,
            f"Role-{name}",
            lifecycle_bucket=self.lifecycle_bucket.bucket if self.lifecycle_bucket else None,
            lustre=any(mount.file_system_type == "LUSTRE" for mount in group.mounts),
            volume_keys=self._volume_keys(group),
            secrets=self._secrets(group),
            eks_cluster_arn=self._control_plane.cluster_arn if self._control_plane else None,
        )
        if group.life_cycle_config:
            source = urlsplit(group.life_cycle_config.source_s3_uri)
            bucket = s3.Bucket.from_bucket_name(self, f"Source-{name}", source.netloc)
            role.grant_read_bucket(bucket, source.path.lstrip("/"))
        if self._eks is None and self._deploys_scripts(group):
            allow_software(role, group, self._lifecycle)
        multi_head = self._spec.orchestrator.slurm.multi_head
        if multi_head and self._is_controller(group):
            role.grant_publish(multi_head.slurm_sns_arn)
        self.execution_roles[name] = role
        return role.role_arn

    def _cluster_role(self) -> ClusterRole | None:
        scaling = self._spec.auto_scaling
        if scaling is None or scaling.cluster_role_arn is not None:
            return None
        ids = [key_id for group in self._spec.instance_groups for key_id in _volume_key_ids(group)]
        keys = [self._key_arn(key_id) for key_id in dict.fromkeys(ids)]
        return ClusterRole(self, "ClusterRole", volume_key_arns=keys)

    def _cluster_role_arn(self) -> str | None:
        if self.cluster_role is not None:
            return self.cluster_role.role_arn
        return self._spec.auto_scaling.cluster_role_arn if self._spec.auto_scaling else None

    def _volume_keys(self, group: InstanceGroup) -> list[kms.IKey]:
        return [
            kms.Key.from_key_arn(self, f"VolumeKey-{group.instance_group_name}-{i}", self._key_arn(key_id))
            for i, key_id in enumerate(_volume_key_ids(group))
        ]

    def _key_arn(self, key_id: str) -> str:
        if cdk.Token.is_unresolved(key_id) or key_id.startswith("arn:"):
            return key_id
        return cdk.Stack.of(self).format_arn(service="kms", resource="key", resource_name=key_id)

    @staticmethod
    def _is_controller(group: InstanceGroup) -> bool:
        return group.slurm_config is not None and group.slurm_config.node_type is NodeType.CONTROLLER

    def _secrets(self, group: InstanceGroup) -> list[secretsmanager.ISecret]:
        database = self._spec.orchestrator.slurm.accounting_database
        multi_head = self._spec.orchestrator.slurm.multi_head
        if not self._is_controller(group):
            return []
        arns = [
            *([database.secret_arn] if database else []),
            *([multi_head.slurm_database_secret_arn] if multi_head else []),
        ]
        return [
            secretsmanager.Secret.from_secret_complete_arn(self, f"AccountingSecret{i or ''}", arn)
            for i, arn in enumerate(arns)
        ]

    def _resources(self, role_arns: Mapping[str, str]) -> ClusterResources:
        return ClusterResources(
            cluster_name=self._spec.cluster_name,
            vpc=self._placement(self._network.default_subnets, self._security_group_ids()),
            eks_cluster_arn=self._control_plane.cluster_arn if self._control_plane else None,
            cluster_role_arn=self._cluster_role_arn(),
            groups={
                group.instance_group_name: GroupResources(
                    execution_role_arn=role_arns[group.instance_group_name],
                    lifecycle_mode=self._mode(group),
                    life_cycle_config=self._life_cycle_config(group),
                    override_vpc_config=self._override(group),
                )
                for group in self._spec.instance_groups
            },
        )

    def _life_cycle_config(self, group: InstanceGroup) -> LifeCycleConfig | None:
        if not self._deploys_scripts(group) or self.lifecycle_scripts is None:
            return group.life_cycle_config
        scripts = self.lifecycle_scripts
        source = scripts.source_s3_uri
        if isinstance(scripts, LifecycleScripts) and self._mode(group) is LifecycleMode.EXTENSION:
            return LifeCycleConfig(source_s3_uri=source, on_init_complete=scripts.on_init_complete)
        return LifeCycleConfig(source_s3_uri=source, on_create=scripts.on_create)

    def _override(self, group: InstanceGroup) -> VpcPlacement | None:
        override = group.override_vpc_config
        if override is None:
            return None
        security_group_ids = list(override.security_group_ids) or self._security_group_ids()
        if override.subnet_ids:
            return VpcPlacement(subnet_ids=override.subnet_ids, security_group_ids=security_group_ids)
        zone = override.availability_zone_id or self._network.availability_zone_ids[0]
        return self._placement(self._network.subnets_by_zone[zone], security_group_ids)

    def _security_group_ids(self) -> list[str]:
        return [group.security_group_id for group in self._network.security_groups]

    @staticmethod
    def _placement(subnets: Sequence[ec2.ISubnet], security_group_ids: Sequence[str]) -> VpcPlacement:
        return VpcPlacement(
            subnet_ids=[subnet.subnet_id for subnet in subnets], security_group_ids=security_group_ids
        )


def _plane_faults(eks: EksOrchestrator | None, plane: IEksControlPlane | None) -> list[str]:
    if eks is not None and plane is None:
        return ["orchestrator.eks needs a control plane: give control_plane=EksControlPlane(…)"]
    if eks is None and plane is not None:
        return ["a control plane needs orchestrator.eks in the cluster's spec"]
    return []


def _name_faults(cluster: Cluster, roles: Mapping[str, iam.IRole]) -> list[str]:
    names = [group.instance_group_name for group in cluster.instance_groups]
    faults = [
        f"instance_group_name must be known at synth, since resources are named after it, got: {name}"
        for name in names
        if isinstance(name, str) and cdk.Token.is_unresolved(name)
    ]
    strangers = [name for name in roles if name not in names]
    if strangers:
        of_them = ", ".join(map(str, names))
        faults.append(
            f"execution_roles names no instance group: {', '.join(strangers)}; there are: {of_them}"
        )
    return faults


def _volume_key_ids(group: InstanceGroup) -> list[str]:
    volumes = [volume for volume in (group.root_volume, group.secondary_volume) if volume]
    return list(dict.fromkeys(volume.volume_kms_key_id for volume in volumes if volume.volume_kms_key_id))


def _controller_group(cluster: Cluster) -> str | None:
    return next(
        (
            group.instance_group_name
            for group in cluster.instance_groups
            if group.slurm_config and group.slurm_config.node_type is NodeType.CONTROLLER
        ),
        None,
    )
