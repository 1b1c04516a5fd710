"""EksControlPlane: the Amazon EKS cluster under a HyperPod cluster."""

from collections.abc import Sequence
from functools import cached_property
from typing import cast

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks as eks_l1
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct, IDependable

from hyperpod_cdk.access.keys import encrypted_log_group
from hyperpod_cdk.arguments import checked_arguments
from hyperpod_cdk.eks.access import grant_access
from hyperpod_cdk.eks.acknowledged import (
    CONTROL_PLANE_POLICIES,
    acknowledge_kubectl,
)
from hyperpod_cdk.eks.add_ons import CERTIFICATES, DNS, KUBE_PROXY, POD_IDENTITY, VPC_CNI, install
from hyperpod_cdk.eks.identities import OidcProvider
from hyperpod_cdk.eks.kubectl import keep_logs, kubectl_options
from hyperpod_cdk.eks.system_nodes import SystemNodes
from hyperpod_cdk.faults import refuse
from hyperpod_cdk.nag import acknowledge, aws_policies
from hyperpod_cdk.network import IHyperPodNetwork
from hyperpod_cdk.network.security_group import ALL_TRAFFIC, allow_in
from hyperpod_cdk.spec.eks import EksOrchestrator

_MAX_NAME = 100
_UNTAGGED = "Annotation::@aws-cdk/aws-eks:clusterMustManuallyTagSubnet"
_LOG_TYPES = [
    eks.ClusterLoggingTypes.API,
    eks.ClusterLoggingTypes.AUDIT,
    eks.ClusterLoggingTypes.AUTHENTICATOR,
    eks.ClusterLoggingTypes.CONTROLLER_MANAGER,
    eks.ClusterLoggingTypes.SCHEDULER,
]
# What pods and the kubectl function call in a VPC without internet
# (https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html, 2026-10), and AWS Lambda: the CDK's
# framework, in the VPC too, calls that function (aws/aws-cdk issues 12608 and 30442)
_SERVICES = ("eks", "eks-auth", "ec2", "ecr.api", "ecr.dkr", "sts", "logs", "elasticloadbalancing", "lambda")


class ExistingControlPlane:
    """A control plane that is there already: its access, CNI and HyperPod chart are its owner's.

    Args:
        cluster_arn: ``arn:…:eks:…:cluster/<name>``.
    """

    def __init__(self, cluster_arn: str) -> None:
        self.cluster_arn = cluster_arn
        self.cluster_name = cdk.Fn.select(1, cdk.Fn.split("/", cluster_arn))
        self.ready: Sequence[IDependable] = ()


class EksControlPlane(Construct):
    """An Amazon EKS cluster as HyperPod wants it, with a few system nodes.

    The API is private unless ranges are named; who may use Kubernetes is said by access entries alone
    (authentication mode API: HyperPod refuses ConfigMap mode); secrets are encrypted with a key of KMS; every
    control plane log is kept.

    Nothing that needs a pod lies between the control plane and the HyperPod cluster: the network plugin,
    kube-proxy and the identity agent run as one pod a node and are healthy without nodes. DNS and
    certificates have system nodes of their own, so that they neither wait for accelerators nor take room
    on them (field report 129).

    Args:
        orchestrator: version, access, nodes and add-ons.
        network: with subnets in two zones or more, which Amazon EKS demands.
        encryption_key: for Kubernetes secrets and the logs. Default: a new key for the secrets.
        log_retention: of the logs of the control plane, helm and kubectl. Default: three months.
        certificates: whether cert-manager is installed. Default: if the training or the inference operator
            is.

    Raises:
        ConstructError: there are fewer than two zones, or no kubectl layer for the version is installed.
    """

    @checked_arguments
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        orchestrator: EksOrchestrator,
        network: IHyperPodNetwork,
        encryption_key: kms.IKey | None = None,
        log_retention: logs.RetentionDays = logs.RetentionDays.THREE_MONTHS,
        certificates: bool | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        refuse(self.node.path, _faults(network))
        network.reach(*_SERVICES)
        self.cluster_name = cdk.Names.unique_resource_name(self, max_length=_MAX_NAME, separator="-")
        self.log_group = encrypted_log_group(
            self,
            "Logs",
            name=f"/aws/eks/{self.cluster_name}/cluster",
            retention=log_retention,
            encryption_key=encryption_key,
        )
        self.secrets_key: kms.IKey = encryption_key or kms.Key(
            self,
            "SecretsKey",
            description="Kubernetes secrets",
            enable_key_rotation=True,
            # nothing is encrypted with it once the control plane is gone; KMS still waits 30 days
            removal_policy=cdk.RemovalPolicy.DESTROY,
        )
        self.cluster = self._cluster(orchestrator, network)
        keep_logs(self.cluster, encryption_key, log_retention)
        self._let_nodes_meet(network)
        wants_certificates = certificates if certificates is not None else _needs_certificates(orchestrator)
        early = install(
            self,
            cluster_name=self.cluster.cluster_name,
            settings=orchestrator.add_ons,
            names=(VPC_CNI, KUBE_PROXY, POD_IDENTITY),
        )
        self.system_nodes = SystemNodes(
            self,
            "SystemNodes",
            cluster=cast(eks.ICluster, self.cluster),
            nodes=orchestrator.system_nodes,
            subnets=network.subnets,
            depends_on=[early[VPC_CNI], early[KUBE_PROXY]],
        )
        late = install(
            self,
            cluster_name=self.cluster.cluster_name,
            settings=orchestrator.add_ons,
            names=(DNS, CERTIFICATES) if wants_certificates else (DNS,),
            depends_on=[self.system_nodes],
        )
        self.add_ons: dict[str, eks_l1.CfnAddon] = {**early, **late}
        """The add-ons by name."""
        self.access_entries = grant_access(
            self, cluster_name=self.cluster.cluster_name, entries=orchestrator.access
        )
        self.ready: Sequence[IDependable] = (
            _resource(self.cluster),
            *early.values(),
            *self.access_entries,
        )
        """What a HyperPod cluster waits for, and outlives."""

    @property
    def cluster_arn(self) -> str:
        """ARN of the EKS cluster."""
        return self.cluster.cluster_arn

    @cached_property
    def oidc_provider(self) -> OidcProvider:
        """The provider of the cluster's tokens; made when it is first asked for."""
        return OidcProvider.of_url(self, "OidcProvider", self.cluster.cluster_open_id_connect_issuer_url)

    def _cluster(self, orchestrator: EksOrchestrator, network: IHyperPodNetwork) -> eks.Cluster:
        ranges = list(orchestrator.public_access_cidrs)
        private = eks.EndpointAccess.PRIVATE
        cluster = eks.Cluster(
            self,
            "Resource",
            cluster_name=self.cluster_name,
            version=eks.KubernetesVersion.of(orchestrator.kubernetes_version),
            vpc=network.vpc,
            vpc_subnets=[ec2.SubnetSelection(subnets=list(network.subnets))],
            security_group=network.security_groups[0],
            endpoint_access=eks.EndpointAccess.PUBLIC_AND_PRIVATE.only_from(*ranges) if ranges else private,
            secrets_encryption_key=self.secrets_key,
            cluster_logging=_LOG_TYPES,
            default_capacity_type=eks.DefaultCapacityType.NODEGROUP,
            default_capacity=0,
            bootstrap_cluster_creator_admin_permissions=False,
            # the add-ons bring them; copies of their own would only be overwritten
            bootstrap_self_managed_addons=False,
            kubectl_provider_options=(
                kubectl_options(self, orchestrator.kubernetes_version, network)
                if orchestrator.helm_chart or orchestrator.volumes
                else None
            ),
        )
        # or Amazon EKS makes one that keeps everything for ever
        _resource(cluster).node.add_dependency(self.log_group, self._keep_from_log_groups(cluster.role))
        acknowledge(cluster.role, aws_policies(CONTROL_PLANE_POLICIES))
        acknowledge_kubectl(cluster)
        tagged = cdk.Acknowledgment(
            id=_UNTAGGED, reason="HyperPodNetwork tags its subnets, and owners tag theirs"
        )
        cdk.Validations.of(cluster).acknowledge(tagged)
        return cluster

    def _keep_from_log_groups(self, role: iam.IRole) -> iam.ManagedPolicy:
        """Amazon EKS writes while it is deleted, too, and would make the log group anew once that has gone.

        The next deployment then finds it there (terraform-aws-modules/terraform-aws-eks 920).
        """
        name = f"/aws/eks/{self.cluster_name}/cluster"
        arn = cdk.Stack.of(self).format_arn(
            service="logs",
            resource="log-group",
            resource_name=name,
            arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
        )
        statement = iam.PolicyStatement(
            effect=iam.Effect.DENY, actions=["logs:CreateLogGroup"], resources=[arn, f"{arn}:*"]
        )
        return iam.ManagedPolicy(self, "NoLogGroups", statements=[statement], roles=[role])

    def _let_nodes_meet(self, network: IHyperPodNetwork) -> None:
        """Pods on system nodes and on HyperPod's reach one another: DNS and webhooks serve both."""
        ours = self.cluster.cluster_security_group_id
        why = "pods of system nodes and of HyperPod nodes"
        for index, group in enumerate(network.security_groups):
            theirs = group.security_group_id
            for prefix, target, source in (("From", ours, theirs), ("To", theirs, ours)):
                allow_in(
                    self,
                    f"{prefix}Nodes{index}",
                    group=target,
                    source=source,
                    ports=[ALL_TRAFFIC],
                    why=why,
                )


def _resource(construct: Construct) -> cdk.CfnResource:
    return cast(cdk.CfnResource, construct.node.default_child)


def _needs_certificates(orchestrator: EksOrchestrator) -> bool:
    return orchestrator.training_operator is not None or orchestrator.inference is not None


def _faults(network: IHyperPodNetwork) -> list[str]:
    known = {one.subnet_id: zone for zone, subnets in network.subnets_by_zone.items() for one in subnets}
    # a subnet of an unknown zone may lie in any
    zones = {known.get(one.subnet_id, one.subnet_id) for one in network.subnets}
    if len(zones) < 2:
        named = ", ".join(sorted(zones))
        return [f"Amazon EKS needs subnets in two Availability Zones or more, got: {named}"]
    return []
