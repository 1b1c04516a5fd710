"""How the cluster is deployed."""

from dataclasses import dataclass

from hyperpod_cdk.spec.kinds import Provisioning, RemovalPolicy, Wait
from hyperpod_cdk.spec.scheduled_update import UpdateDeploymentConfig


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """What deploys the cluster, what it waits for, and what it leaves behind."""

    provisioning: Provisioning = Provisioning.CUSTOM_RESOURCE
    wait: Wait = Wait.IN_SERVICE
    """With ``cloudformation``: in-service only, as long as CloudFormation itself waits. On Amazon EKS
    ``in-service`` waits for minimum counts too where add-ons need a node."""
    wait_timeout_hours: int = 4
    """1-12 hours, for ``minimum-counts``: longer than the 3 after which the service gives a group up."""
    software_update: UpdateDeploymentConfig | None = None
    """How another image or release goes through a group. Default: its schedule's way, else all at once."""
    group_by_group: bool = False
    """Whether groups get another image or release one after the other. Default: side by side."""
    log_group_removal_policy: RemovalPolicy = RemovalPolicy.RETAIN
    """Of the log group with the nodes' logs, which the service makes. Default: kept."""
