"""Observability: metrics of a cluster, where they are kept, and where they are looked at."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from aws_cdk import Aws, CfnTag, Fn
from aws_cdk import aws_aps as aps
from aws_cdk import aws_kms as kms
from constructs import Construct, IDependable

from hyperpod_cdk.access.arns import arn
from hyperpod_cdk.arguments import checked_arguments
from hyperpod_cdk.eks.add_ons import add_on
from hyperpod_cdk.eks.grafana import GrafanaWorkspace
from hyperpod_cdk.eks.identities import PodRole, statement
from hyperpod_cdk.network import IHyperPodNetwork
from hyperpod_cdk.removal import removal
from hyperpod_cdk.service import permissions
from hyperpod_cdk.service.eks_add_ons import OBSERVABILITY, OBSERVABILITY_ACCOUNT
from hyperpod_cdk.spec import eks_observability as spec

TAGS = {"SageMaker": "true"}
"""By which the service's own policies know workspaces of HyperPod."""
# aws/sagemaker-hyperpod-cluster-setup, eks/cloudformation/observability-template.yaml (2026-10). awslabs'
# Terraform modules still say customMetrics for clusterMetrics, and have logging one level higher.
_CATEGORIES = {
    "training": "trainingMetrics",
    "inference": "inferenceMetrics",
    "task_governance": "taskGovernanceMetrics",
    "scaling": "scalingMetrics",
    "cluster": "clusterMetrics",
    "node": "nodeMetrics",
    "network": "networkMetrics",
    "accelerated_compute": "acceleratedComputeMetrics",
    "ray": "rayMetrics",
}


class Observability(Construct):
    """The observability add-on, its role, and its workspaces.

    Its pods run on HyperPod nodes, one of size 4xlarge or larger. A new Grafana has neither users nor
    dashboards: who may sign in is said in IAM Identity Center, and the dashboards of HyperPod come from its
    console.

    Args:
        cluster_name: of the EKS cluster.
        settings: what is asked for.
        depends_on: the HyperPod cluster, and the pod identity agent.
        network: of the nodes; gets ways to the workspace and the log, if it is closed. Default: there is
            nothing to add.
        encryption_key: of the metrics. Default: a key of the service.
    """

    @checked_arguments
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster_name: str,
        settings: spec.Observability,
        depends_on: Sequence[IDependable],
        network: IHyperPodNetwork | None = None,
        encryption_key: kms.IKey | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        if network is not None:
            network.reach("aps-workspaces", "eks-auth", *(["logs"] if settings.logging else []))
        self.workspace_arn = settings.prometheus_workspace_arn or self._workspace(settings, encryption_key)
        """ARN of the workspace that metrics are written to."""
        self.grafana = (
            GrafanaWorkspace(
                self,
                "Grafana",
                settings=settings.grafana,
                workspace_arn=self.workspace_arn,
                logs=_log_groups() if settings.logging else (),
                removal_policy=settings.removal_policy,
            )
            if settings.grafana is not None
            else None
        )
        logging = [
            statement(permissions.CONTAINER_LOGS, *_log_groups()),
            statement(permissions.FIND_LOGS, "*"),
        ]
        self.role = PodRole(
            self,
            "Identity",
            cluster_name=cluster_name,
            account=OBSERVABILITY_ACCOUNT,
            description="HyperPod observability",
            statements=[
                statement(permissions.WRITE_METRICS, self.workspace_arn),
                *(logging if settings.logging else ()),
            ],
            depends_on=depends_on,
        )
        self.add_on = add_on(
            self,
            OBSERVABILITY,
            cluster_name=cluster_name,
            settings=settings.add_on,
            configuration=self._configuration(settings),
            depends_on=[self.role, *depends_on],
        )

    def _workspace(self, settings: spec.Observability, key: kms.IKey | None) -> str:
        workspace = aps.CfnWorkspace(
            self,
            "Workspace",
            alias=self.node.path,
            kms_key_arn=key.key_arn if key is not None else None,
            tags=[CfnTag(key=name, value=value) for name, value in TAGS.items()],
        )
        workspace.apply_removal_policy(removal(settings.removal_policy))
        return workspace.attr_arn

    def _configuration(self, settings: spec.Observability) -> dict[str, Any]:
        arn = self.workspace_arn
        region, identifier = Fn.select(3, Fn.split(":", arn)), Fn.select(1, Fn.split("/", arn))
        endpoint = f"https://aps-workspaces.{region}.{Aws.URL_SUFFIX}/workspaces/{identifier}"
        measured = _metrics(settings)
        return {
            "ampWorkspace": {"prometheusEndpoint": endpoint, "arn": arn},
            **({"metricsProvider": measured} if measured else {}),
            **(
                {"amgWorkspace": {"workspaceName": self.grafana.name, "arn": self.grafana.arn}}
                if self.grafana is not None
                else {}
            ),
        }


def _metrics(settings: spec.Observability) -> Mapping[str, Any]:
    metrics = settings.metrics
    chosen = {field.name: getattr(metrics, field.name) for field in fields(metrics)}
    levels = {
        key: {"level": chosen[name].value, "scrapeInterval": metrics.scrape_interval_seconds}
        for name, key in _CATEGORIES.items()
        if chosen[name] is not None
    }
    return {**levels, **({"logging": {"enabled": True}} if settings.logging else {})}


def _log_groups() -> tuple[str, str]:
    group = arn("logs", "log-group:/aws/sagemaker/Clusters/*")
    return group, f"{group}:log-stream:*"
