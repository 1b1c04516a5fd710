"""What every HyperPod cluster offers, made here or existing."""

from typing import Protocol

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct

from hyperpod_cdk.cluster.permissions import READ_CLUSTER

# Documents that open a session on a node (DG sagemaker-hyperpod-run-jobs-slurm-access-nodes.html): a shell,
# which is the account's own; those of AWS are in no account: the tunnel that ssh runs through, one command
# (Systems Manager UG, getting-started-default-session-document, getting-started-specify-session-document).
_OWN_DOCUMENT = "SSM-SessionManagerRunShell"
_AWS_DOCUMENTS = ("AWS-StartSSHSession", "AWS-StartNonInteractiveCommand")


class IHyperPodCluster(Protocol):
    """A HyperPod cluster, whoever made it."""

    cluster_name: str
    cluster_arn: str
    cluster_id: str
    log_group_name: str

    def grant_read(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let a principal describe the cluster, its nodes and events."""
        ...

    def grant_connect(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let a principal open Session Manager sessions on the cluster's nodes."""
        ...


class ClusterBase(Construct):
    """Grants of a cluster."""

    cluster_name: str
    cluster_arn: str
    cluster_id: str
    log_group_name: str

    def grant_read(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let a principal describe the cluster, its nodes and events.

        Args:
            grantee: the principal.
        """
        return iam.Grant.add_to_principal(
            grantee=grantee, actions=READ_CLUSTER, resource_arns=[self.cluster_arn]
        )

    def grant_connect(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let a principal open Session Manager sessions on the cluster's nodes, and end its own.

        With :meth:`grant_read`, also run ``hyperpod-cdk check-node``.

        Args:
            grantee: the principal.
        """
        stack = cdk.Stack.of(self)
        documents = [
            stack.format_arn(service="ssm", resource="document", resource_name=_OWN_DOCUMENT),
            *(
                stack.format_arn(service="ssm", account="", resource="document", resource_name=name)
                for name in _AWS_DOCUMENTS
            ),
        ]
        grant = iam.Grant.add_to_principal(
            grantee=grantee,
            actions=["ssm:StartSession"],
            resource_arns=[self.cluster_arn, *documents],
        )
        own_sessions = stack.format_arn(service="ssm", resource="session", resource_name="${aws:userid}-*")
        return grant.combine(
            iam.Grant.add_to_principal(
                grantee=grantee,
                actions=["ssm:ResumeSession", "ssm:TerminateSession"],
                resource_arns=[own_sessions],
            )
        )


class ImportedCluster(ClusterBase):
    """A cluster that is already there."""

    def __init__(self, scope: Construct, construct_id: str, *, cluster_name: str, cluster_arn: str) -> None:
        """Refer to a cluster.

        Args:
            cluster_name: its name.
            cluster_arn: ``arn:…:cluster/<id>``; the id, not the name, is at its end.
        """
        super().__init__(scope, construct_id)
        self.cluster_name = cluster_name
        self.cluster_arn = cluster_arn
        arn = cdk.Stack.of(self).split_arn(cluster_arn, cdk.ArnFormat.SLASH_RESOURCE_NAME)
        self.cluster_id = arn.resource_name or ""
        self.log_group_name = f"/aws/sagemaker/Clusters/{cluster_name}/{self.cluster_id}"
