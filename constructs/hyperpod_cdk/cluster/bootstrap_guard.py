"""BootstrapGuardFunction: stops a group whose nodes keep failing, before their retries cost a fortune."""

import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from hyperpod_cdk.access.keys import encrypted_log_group
from hyperpod_cdk.cluster.handler_policy import admit_nodes, allow, owned, use_images, use_plans
from hyperpod_cdk.cluster.permissions import CHANGE_NODES
from hyperpod_cdk.nag import FUNCTION_PACKS, acknowledge, in_packs, wildcards
from hyperpod_cdk.service.botocore_data import write_cluster_model
from hyperpod_cdk.service.permissions import WRITE_LOG_STREAMS
from hyperpod_cdk.spec import BootstrapGuard, InstanceGroup

EVENT = "SageMaker HyperPod Cluster Event"
"""Detail type of what the service tells about nodes of clusters with Continuous provisioning."""
_ANY_CLUSTER = "a cluster and its log group end in ids that the service draws, and default buses have no id"
_ANY_CAPACITY = "which capacity belongs to a plan is not known here, and images are what groups run by then"
_CODE = Path(__file__).parent / "guard_function"


class BootstrapGuardFunction(Construct):
    """Hears of each node that failed to start, and counts.

    Args:
        cluster_name: whose nodes; a token is fine.
        groups: the cluster's groups: an update of one names its training plan and image again.
        role_arns: execution roles of the groups, which an update names again too.
        settings: how many failures are too many.
        owner: logical id of the custom resource whose cluster it is, which alone may be stopped. Default: any
            cluster, since CloudFormation's own resource tags none.
        control_plane_arn: of the EKS cluster that the nodes join: an update of the cluster asks for what its
            creation asked for. Default: none, the nodes run Slurm.
        log_retention: of the function's log. Default: three months.
        encryption_key: of that log. Default: CloudWatch Logs' own encryption.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster_name: str,
        groups: Sequence[InstanceGroup],
        role_arns: Sequence[str],
        settings: BootstrapGuard,
        owner: str | None = None,
        control_plane_arn: str | None = None,
        log_retention: logs.RetentionDays = logs.RetentionDays.THREE_MONTHS,
        encryption_key: kms.IKey | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        self.log_group = encrypted_log_group(
            self, "Log", retention=log_retention, encryption_key=encryption_key
        )
        """Where the guard says what it found, each time."""
        role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"),
            description="Stops HyperPod instance groups whose nodes keep failing",
        )
        self._allow(role, cluster_name, role_arns, owner)
        self._allow_named(role, groups, control_plane_arn)
        with _code() as path:
            self.function = lambda_.Function(
                self,
                "Function",
                code=lambda_.Code.from_asset(str(path)),
                handler="guard.handle",
                runtime=lambda_.Runtime.PYTHON_3_14,
                timeout=cdk.Duration.minutes(2),
                memory_size=256,
                role=role,
                log_group=self.log_group,
                environment={
                    "AWS_DATA_PATH": "/var/task/models",
                    "CLUSTER_NAME": cluster_name,
                    "MAX_FAILURES": str(settings.max_failures),
                    "WINDOW_MINUTES": str(settings.window_minutes),
                    "SOFTWARE": json.dumps(_software(groups)),
                },
                description="Stops HyperPod instance groups whose nodes keep failing",
            )
        self.rule = events.Rule(
            self,
            "Failed",
            description="Nodes of a HyperPod cluster that failed to start",
            event_pattern=events.EventPattern(
                source=["aws.sagemaker"],
                detail_type=[EVENT],
                detail={
                    "EventDetails": {
                        "ClusterName": [cluster_name],
                        "ResourceType": ["Instance"],
                        "EventLevel": ["Error"],
                    }
                },
            ),
            targets=[targets.LambdaFunction(self.function, retry_attempts=2)],
        )
        _acknowledge(self.function)

    def _allow(self, role: iam.Role, cluster_name: str, role_arns: Sequence[str], owner: str | None) -> None:
        stack = cdk.Stack.of(self)
        clusters = stack.format_arn(service="sagemaker", resource="cluster", resource_name="*")
        node_logs = stack.format_arn(
            service="logs",
            resource="log-group",
            resource_name=f"/aws/sagemaker/Clusters/{cluster_name}/*",
            arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
        )
        bus = stack.format_arn(service="events", resource="event-bus", resource_name="default")
        looks = [f"sagemaker:{name}" for name in ("DescribeCluster", "ListClusterEvents", "ListClusterNodes")]
        mine = owned("aws:ResourceTag", owner) if owner else None
        passed = {"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}}
        policy = iam.ManagedPolicy(
            self,
            "Policy",
            roles=[role],
            description="What the bootstrap guard of a HyperPod cluster uses",
            statements=[
                allow("Look", looks, [clusters]),
                allow("Stop", ["sagemaker:UpdateCluster", *CHANGE_NODES], [clusters], mine),
                allow("PassRoles", ["iam:PassRole"], list(dict.fromkeys(role_arns)), passed),
                allow("ReadNodeLogs", ["logs:GetLogEvents"], [node_logs]),
                allow("Tell", ["events:PutEvents"], [bus]),
                allow("WriteOwnLogs", WRITE_LOG_STREAMS, [self.log_group.log_group_arn]),
            ],
        )
        acknowledge(policy, wildcards(self, [clusters, node_logs], _ANY_CLUSTER))

    def _allow_named(
        self, role: iam.Role, groups: Sequence[InstanceGroup], control_plane_arn: str | None
    ) -> None:
        stack = cdk.Stack.of(self)
        plans = list(dict.fromkeys(group.training_plan_arn for group in groups if group.training_plan_arn))
        statements = [
            *(admit_nodes(stack, control_plane_arn) if control_plane_arn else ()),
            *(use_plans(stack, plans) if plans else ()),
            *(use_images(stack) if any(group.image_id for group in groups) else ()),
        ]
        if not statements:
            return
        policy = iam.ManagedPolicy(
            self,
            "NamedByGroups",
            roles=[role],
            description="What the groups that a bootstrap guard updates name: control plane, plans, images",
            statements=statements,
        )
        resources = [resource for statement in statements for resource in statement.resources]
        acknowledge(policy, wildcards(self, resources, _ANY_CAPACITY))


def _software(groups: Sequence[InstanceGroup]) -> dict[str, list[str]]:
    """The API's names of what is asked for of the groups' software."""
    asked = {
        group.instance_group_name: [
            *(["ImageId"] if group.image_id else []),
            *(["ImageReleaseVersion"] if group.image_release_version else []),
        ]
        for group in groups
    }
    return {name: members for name, members in asked.items() if members}


@contextmanager
def _code() -> Iterator[Path]:
    """The asset: the function, and the API model, or it would drop members that it does not know."""
    with tempfile.TemporaryDirectory(prefix="hyperpod-cdk-") as name:
        shutil.copy(_CODE / "guard.py", name)
        write_cluster_model(Path(name) / "models")
        yield Path(name)


def _acknowledge(function: lambda_.Function) -> None:
    reserved = "runs when nodes fail alone; a reservation would take from the account's"
    acknowledge(
        function,
        in_packs(
            "LambdaInsideVPC", "calls AWS APIs alone; in a VPC it would hold up the deletion of subnets"
        ),
        in_packs("LambdaDLQ", "the next failure of a node calls it again", FUNCTION_PACKS),
        in_packs("LambdaConcurrency", reserved, FUNCTION_PACKS),
    )
