"""EksPlatform: all of Amazon EKS round one HyperPod cluster."""

from collections.abc import Mapping, Sequence

import aws_cdk as cdk
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct, IDependable

from hyperpod_cdk.arguments import checked_arguments
from hyperpod_cdk.cluster import HyperPodCluster
from hyperpod_cdk.eks.add_ons import CERTIFICATES, POD_IDENTITY
from hyperpod_cdk.eks.control_plane import EksControlPlane, ExistingControlPlane
from hyperpod_cdk.eks.dependencies import HyperPodDependencies
from hyperpod_cdk.eks.services import EksServices
from hyperpod_cdk.eks.task_governance import TaskGovernance
from hyperpod_cdk.eks.training_operator import TrainingOperator
from hyperpod_cdk.network import IHyperPodNetwork
from hyperpod_cdk.spec import EksOrchestrator
from hyperpod_cdk.storage import IStorage

_POLICY_NAME = 63


class EksPlatform(Construct):
    """What a cluster on Amazon EKS stands on, and what runs on it.

    First the control plane and the chart that HyperPod looks for, then the cluster, then what needs its
    nodes; deleted the other way round.

    Args:
        orchestrator: what is asked for.
        network: of control plane and nodes.
        encryption_key: for Kubernetes secrets and logs. Default: a new key for the secrets.
        log_retention: of logs made here. Default: three months.

    Raises:
        ConstructError: the network has too few zones, the chart can not be installed, or no kubectl for the
            Kubernetes version is there.
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
    ) -> None:
        super().__init__(scope, construct_id)
        self._orchestrator = orchestrator
        self._network = network
        self._encryption_key = encryption_key
        self._log_retention = log_retention
        self.own: EksControlPlane | None = None
        """The control plane, if it is made here."""
        if orchestrator.cluster_arn is None:
            self.own = EksControlPlane(
                self,
                "ControlPlane",
                orchestrator=orchestrator,
                network=network,
                encryption_key=encryption_key,
                log_retention=log_retention,
            )
        self.control_plane: EksControlPlane | ExistingControlPlane = self.own or ExistingControlPlane(
            str(orchestrator.cluster_arn)
        )
        """The control plane, made here or there already."""
        self.dependencies: HyperPodDependencies | None = None
        """What the service looks for in Kubernetes, if it is installed here."""
        if self.own is not None and orchestrator.helm_chart is not None:
            self.dependencies = HyperPodDependencies(
                self, "Dependencies", cluster=self.own.cluster, chart=orchestrator.helm_chart
            )
            # the network plugin first: without it not even the chart's hooks have a node to run on
            self.dependencies.node.add_dependency(*self.own.ready)
        self.training_operator: TrainingOperator | None = None
        self.task_governance: TaskGovernance | None = None
        self.services: EksServices | None = None
        """Volumes, observability and inference; None before `serve`."""

    @property
    def before(self) -> Sequence[IDependable]:
        """What the HyperPod cluster waits for, beside the control plane."""
        return [self.dependencies] if self.dependencies else []

    def serve(self, cluster: HyperPodCluster, storage: Mapping[str, IStorage]) -> None:
        """Install what runs on the nodes of a cluster.

        Args:
            cluster: on this control plane.
            storage: file systems by the names that volumes know them by.
        """
        chosen = self._orchestrator
        if chosen.training_operator is not None:
            self.training_operator = TrainingOperator(
                self,
                "TrainingOperator",
                cluster_name=self.control_plane.cluster_name,
                settings=chosen.training_operator,
                depends_on=[cluster, *self._installed(CERTIFICATES, POD_IDENTITY)],
                network=self._network,
            )
        if chosen.task_governance is not None:
            self.task_governance = TaskGovernance(
                self,
                "TaskGovernance",
                eks_cluster_name=self.control_plane.cluster_name,
                cluster_arn=cluster.cluster_arn,
                name=cdk.Names.unique_resource_name(self, max_length=_POLICY_NAME, separator="-"),
                governance=chosen.task_governance,
                depends_on=[cluster],
                log_retention=self._log_retention,
                encryption_key=self._encryption_key,
            )
        governed = [self.task_governance] if self.task_governance else []
        self.services = EksServices(
            self,
            "Services",
            orchestrator=chosen,
            control_plane=self.control_plane,
            cluster_arn=cluster.cluster_arn,
            depends_on=[cluster, *governed],
            network=self._network,
            storage=storage,
            encryption_key=self._encryption_key,
        )
        if self.services.observability is not None:
            # on restricted nodes no pod has an identity: what measures there writes with the node's role
            # (DG hyperpod-observability-addon-setup.html, 2026-10)
            for role in cluster.restricted_roles:
                role.grant_remote_write(self.services.observability.workspace_arn)

    def _installed(self, *names: str) -> list[IDependable]:
        """Add-ons that are installed here, of these."""
        found = self.own.add_ons if self.own else {}
        return [found[name] for name in names if name in found]
