"""How the cluster is deployed."""

from dataclasses import dataclass

from hyperpod_cdk.spec.kinds import Provisioning, RemovalPolicy, Wait


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """What deploys the cluster, what it waits for, and what it leaves behind."""

    provisioning: Provisioning = Provisioning.CUSTOM_RESOURCE
    wait: Wait = Wait.IN_SERVICE
    """With ``cloudformation``: in-service only, as long as CloudFormation itself waits."""
    wait_timeout_hours: int = 4
    """1-12 hours, for ``minimum-counts``: longer than the 3 after which the service gives a group up."""
    log_group_removal_policy: RemovalPolicy = RemovalPolicy.RETAIN
    """Of the log group with the nodes' logs, which the service makes. Default: kept."""
