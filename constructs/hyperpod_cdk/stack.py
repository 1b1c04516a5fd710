"""HyperPodStack: one spec, everything wired."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import cast

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from constructs import Construct, IConstruct

from hyperpod_cdk import eks
from hyperpod_cdk.arguments import checked_arguments
from hyperpod_cdk.checking import acknowledge_warnings, annotate, checked, checked_above
from hyperpod_cdk.cluster import HyperPodCluster
from hyperpod_cdk.cluster.node_permissions import services
from hyperpod_cdk.network import HyperPodNetwork, IHyperPodNetwork
from hyperpod_cdk.retention import retention
from hyperpod_cdk.rules import Finding
from hyperpod_cdk.rules.look import orchestration
from hyperpod_cdk.rules.paths import join
from hyperpod_cdk.spec import Cluster, FileSystem, HyperPodSpec, LustreFileSystem, Mount, Wait
from hyperpod_cdk.storage import ExistingStorage, IStorage, LustreStorage, OpenZfsStorage


class HyperPodStack(cdk.Stack):
    """A HyperPod cluster with its network, storage, roles and node scripts."""

    @checked_arguments
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        spec: HyperPodSpec,
        env: cdk.Environment | None = None,
        placed: Callable[[Sequence[Finding]], Sequence[Finding]] = list,
    ) -> None:
        """Wire everything that a spec asks for.

        Args:
            scope: the app or stage.
            construct_id: the stack's name, unless the spec names it.
            spec: what the user asks for.
            env: account and Region. Default: decided at deployment.
            placed: gives findings their lines when the spec came from a file (`Config.placed`). Default: they
                have none.

        Raises:
            SpecError: the spec breaks rules; every finding is in it.
        """
        warnings = checked(
            replace(spec, region=spec.region or _region(scope, env)),
            f"{scope.node.path}/{construct_id}".lstrip("/"),
        )
        super().__init__(
            scope,
            construct_id,
            env=env,
            stack_name=spec.stack_name,
            tags=dict(spec.tags),
            termination_protection=spec.termination_protection,
            permissions_boundary=(
                cdk.PermissionsBoundary.from_arn(spec.permissions_boundary_arn)
                if spec.permissions_boundary_arn
                else None
            ),
            description="Amazon SageMaker HyperPod cluster, by hyperpod-cdk",
        )
        with checked_above():
            self._make(spec)
        annotate(self, placed(warnings), self._nearest)
        acknowledge_warnings(self, spec.acknowledge)
        self._outputs(spec)

    def _make(self, spec: HyperPodSpec) -> None:
        self.encryption_key = (
            kms.Key.from_key_arn(self, "Key", spec.kms_key_arn) if spec.kms_key_arn else None
        )
        self.network = self._network(spec)
        self.storage = {name: self._storage(name, file_system) for name, file_system in spec.storage.items()}
        self._admit(spec)
        self.eks = self._platform(spec)
        """What is there of Amazon EKS; None on Slurm."""
        self.cluster = HyperPodCluster(
            self,
            "Cluster",
            cluster=self._resolved(spec),
            network=self.network,
            lifecycle=spec.lifecycle,
            deployment=spec.deployment,
            control_plane=self.eks.control_plane if self.eks else None,
            depends_on=[*self.storage.values(), *(self.eks.before if self.eks else ())],
            log_retention=retention(spec.log_retention_days),
            encryption_key=self.encryption_key,
        )
        if self.eks:
            self.eks.serve(self.cluster, self.storage)

    def _platform(self, spec: HyperPodSpec) -> "eks.EksPlatform | None":
        orchestrator = spec.cluster.orchestrator.eks
        if orchestrator is None:
            return None
        return eks.EksPlatform(
            self,
            "Eks",
            orchestrator=orchestrator,
            network=self.network,
            encryption_key=self.encryption_key,
            log_retention=retention(spec.log_retention_days),
        )

    def _network(self, spec: HyperPodSpec) -> IHyperPodNetwork:
        existing = spec.network.existing
        if existing:
            return HyperPodNetwork.from_attributes(
                self,
                "Network",
                subnets=existing.subnets,
                security_group_ids=existing.security_group_ids,
                vpc_id=existing.vpc_id,
                vpc_cidr=existing.vpc_cidr,
            )
        return HyperPodNetwork(
            self,
            "Network",
            availability_zone_ids=spec.network.availability_zone_ids,
            cidr=spec.network.cidr,
            instance_groups=spec.cluster.instance_groups,
            orchestration=orchestration(spec),
            nat_gateways=spec.network.nat_gateways,
            flow_logs=spec.network.flow_logs,
            flow_logs_retention=retention(spec.network.flow_logs_retention_days),
            encryption_key=self.encryption_key,
        )

    def _storage(self, name: str, file_system: FileSystem) -> IStorage:
        construct_id = f"Storage-{name}"
        existing = file_system.existing
        if existing:
            return ExistingStorage(
                self,
                construct_id,
                file_system_type=file_system.file_system_type,
                dns_name=existing.dns_name,
                mount_name=existing.mount_name,
                file_system_id=existing.file_system_id,
            )
        if isinstance(file_system, LustreFileSystem):
            return LustreStorage(
                self,
                construct_id,
                network=self.network,
                file_system=file_system,
                encryption_key=self.encryption_key,
            )
        return OpenZfsStorage(
            self,
            construct_id,
            network=self.network,
            file_system=file_system,
            encryption_key=self.encryption_key,
        )

    def _admit(self, spec: HyperPodSpec) -> None:
        """Let groups that bring their own security groups reach what they mount and read."""
        admitted = dict.fromkeys(
            (mount.storage, group_id)
            for group in spec.cluster.instance_groups
            for group_id in (
                group.override_vpc_config.security_group_ids if group.override_vpc_config else ()
            )
            for mount in group.mounts
        )
        for number, (name, group_id) in enumerate(admitted):
            storage = self.storage.get(name) if name else None
            if isinstance(storage, LustreStorage | OpenZfsStorage):
                clients = ec2.SecurityGroup.from_security_group_id(self, f"Clients{number}", group_id)
                storage.allow_from(clients, f"Override{number}")
        if spec.cluster.orchestrator.slurm.accounting_database:
            self.network.reach("secretsmanager")
        if spec.cluster.orchestrator.eks is None:
            self.network.reach(*services(spec.lifecycle))

    def _resolved(self, spec: HyperPodSpec) -> Cluster:
        """The cluster with its mounts filled in, and the stack's tags on it too."""
        groups = [
            replace(group, mounts=[self._mount(mount) for mount in group.mounts])
            for group in spec.cluster.instance_groups
        ]
        return replace(spec.cluster, instance_groups=groups, tags={**spec.tags, **spec.cluster.tags})

    def _mount(self, mount: Mount) -> Mount:
        if not mount.storage:
            return mount
        found = self.storage[mount.storage].mount(mount.mount_path)
        return replace(found, efa=found.efa or mount.efa)

    def _nearest(self, warning: Finding) -> IConstruct:
        """The construct that a warning is about."""
        if warning.path.startswith("network"):
            return cast(IConstruct, self.network)
        if warning.path.startswith(("cluster", "lifecycle", "deployment")):
            return self.cluster
        places = {join("storage", name): cast(IConstruct, one) for name, one in self.storage.items()}
        return places.get(warning.part, self)

    def _outputs(self, spec: HyperPodSpec) -> None:
        cluster = self.cluster
        values = {
            "ClusterName": (cluster.cluster_name, "Name of the cluster"),
            "ClusterArn": (cluster.cluster_arn, "ARN of the cluster"),
            "ClusterLogGroup": (cluster.log_group_name, "Log group of the nodes"),
            **self._way_in(spec),
        }
        if spec.network.existing is None:
            nodes = self.network.security_groups[0].security_group_id
            values["VpcId"] = (self.network.vpc.vpc_id, "VPC of the nodes")
            values["NodeSecurityGroupId"] = (nodes, "Security group of the nodes, to open things to them")
        for name, storage in self.storage.items():
            key = "".join(part.capitalize() for part in name.replace("_", "-").split("-"))
            values[f"FileSystem{key}"] = (storage.file_system_id, f"File system {name}")
        for output, (value, description) in values.items():
            cdk.CfnOutput(self, output, value=value, description=description)

    def _way_in(self, spec: HyperPodSpec) -> dict[str, tuple[str, str]]:
        if self.eks:
            name = self.eks.control_plane.cluster_name
            kubeconfig = f"aws eks update-kubeconfig --region {self.region} --name {name}"
            return {"Kubeconfig": (kubeconfig, "Lets kubectl reach the cluster, from where its API is open")}
        target = self.cluster.controller_ssm_target
        if target is None or spec.deployment.wait is Wait.ACCEPTED:
            # nobody has asked for the controller's instance yet
            nodes = f"aws sagemaker list-cluster-nodes --region {self.region} --cluster-name "
            return {
                "Nodes": (nodes + self.cluster.cluster_name, "Lists the nodes, the controller among them")
            }
        session = f"aws ssm start-session --region {self.region} --target {target}"
        return {"Connect": (session, "Opens a shell on the controller")}


def _region(scope: Construct, env: cdk.Environment | None) -> str | None:
    """The Region that a stack in a scope gets; None while nobody has said one."""
    if env is not None and env.region is not None:
        return env.region
    # Stage.of(a stage) is the one above it
    stage = scope if isinstance(scope, cdk.Stage) else cdk.Stage.of(scope)
    return stage.region if stage is not None else None
