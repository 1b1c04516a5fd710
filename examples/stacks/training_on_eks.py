"""A cluster on Amazon EKS in a stack of your own, beside what is yours: data, and a role for its readers.

hyperpod-cdk chart
cdk deploy --app "python examples/stacks/training_on_eks.py" -c chart=HyperPodHelmChart
"""

import aws_cdk as cdk
from aws_cdk import aws_eks as eks
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct

from hyperpod_cdk import HyperPodCluster, HyperPodNetwork
from hyperpod_cdk.eks import EksControlPlane, HyperPodDependencies, TrainingOperator
from hyperpod_cdk.service.instance_types import Orchestration
from hyperpod_cdk.spec import (
    AddOn,
    Cluster,
    EbsVolume,
    EksOrchestrator,
    HelmChart,
    InstanceGroup,
    KubernetesConfig,
    Orchestrator,
)

# where jobs run, and as whom
NAMESPACE, SERVICE_ACCOUNT = "aws-hyperpod", "trainer"


class Training(cdk.Stack):
    """Control plane, cluster and operator; a bucket, and what jobs may do with it."""

    def __init__(self, scope: Construct, construct_id: str, *, chart: str) -> None:
        super().__init__(scope, construct_id)
        orchestrator = EksOrchestrator(helm_chart=HelmChart(path=chart))
        cluster = Cluster(
            orchestrator=Orchestrator(eks=orchestrator),
            instance_groups=[
                InstanceGroup(
                    instance_group_name="gpu",
                    instance_type="ml.g5.12xlarge",
                    instance_count=2,
                    # container images and pods' files: the root volume has 100 GB
                    secondary_volume=EbsVolume(volume_size_in_gb=500),
                    kubernetes_config=KubernetesConfig(labels={"example.com/pool": "training"}),
                )
            ],
        )
        network = HyperPodNetwork(
            self,
            "Network",
            availability_zone_ids=["usw2-az2", "usw2-az1"],
            instance_groups=cluster.instance_groups,
            orchestration=Orchestration.EKS,
        )
        plane = EksControlPlane(self, "ControlPlane", orchestrator=orchestrator, network=network)
        needed = HyperPodDependencies(self, "Chart", cluster=plane.cluster, chart=HelmChart(path=chart))
        needed.node.add_dependency(*plane.ready)
        hyperpod = HyperPodCluster(
            self, "Cluster", cluster=cluster, network=network, control_plane=plane, depends_on=[needed]
        )
        TrainingOperator(
            self,
            "Operator",
            cluster_name=plane.cluster_name,
            settings=AddOn(),
            depends_on=[hyperpod, plane.add_ons["cert-manager"], plane.add_ons["eks-pod-identity-agent"]],
            network=network,
        )
        self._data(plane)

    def _data(self, plane: EksControlPlane) -> None:
        """What is yours: any construct goes beside the cluster, and takes its attributes."""
        bucket = s3.Bucket(self, "Corpus", enforce_ssl=True)
        pods = iam.ServicePrincipal("pods.eks.amazonaws.com")
        role = iam.Role(self, "Trainer", assumed_by=pods.with_session_tags())
        bucket.grant_read(role)
        eks.CfnPodIdentityAssociation(
            self,
            "TrainerIdentity",
            cluster_name=plane.cluster.cluster_name,
            namespace=NAMESPACE,
            service_account=SERVICE_ACCOUNT,
            role_arn=role.role_arn,
        )


app = cdk.App()
Training(app, "Training", chart=app.node.try_get_context("chart") or "HyperPodHelmChart")
app.synth()
