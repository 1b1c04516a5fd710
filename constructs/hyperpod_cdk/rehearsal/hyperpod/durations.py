"""How long each phase of a cluster's life takes, in simulated seconds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType


@dataclass(frozen=True, kw_only=True)
class Durations:
    """Seconds for each phase.

    The sums follow the service's guide: a cluster without scripts or with one takes 10 to 15 minutes
    (docs.aws.amazon.com/sagemaker/latest/dg/smcluster-getting-started-slurm-cli.html). How they
    divide over the phases is assumed, and so is everything without a source below.

    Args:
        prepare: from the accepted request to the first node.
        launch: a node, from the request for capacity to its boot.
        capacity_refused: from the request for capacity to its refusal.
        ami_configuration: HyperPod's own set-up of a node, before or instead of a script.
        lifecycle_script: the user's script, when it does not say how long it took.
        finish: from the last node to InService.
        settings: an update that touches no node.
        autoscaling: Karpenter's set-up, from the accepted request.
        roll_back: from the first failure to the end of the rollback.
        terminate: a node, from ShuttingDown until it is gone.
        delete: a cluster, from DeleteCluster to the end, its nodes' termination included.
        interface_linger: how long network interfaces outlive their node
            (github.com/aws-cloudformation/cloudformation-coverage-roadmap issue 1327 reports that they do).
        reboot: a node, from the request until Running.
        root_volume: replacement of a node's root volume by a software update.
        governance: a compute quota or cluster policy, from the accepted request to its end.
        governance_forgotten: how long one that is deleted is still shown, as Deleted.
        retry: Continuous provisioning, from a failure to the next attempt.
        min_count_timeout: how long a group waits for MinInstanceCount: 3 hours
            (…/dg/sagemaker-hyperpod-scaling-slurm.html).
        ready_timeout: Continuous provisioning, how long creation waits for controller and login.
        deep_health_checks: by check: InstanceStress 45 to 90 min, InstanceConnectivity 5 to 15 min
            (…/dg/sagemaker-hyperpod-resiliency-slurm-deep-health-checks.html).
    """

    prepare: float = 60
    launch: float = 300
    capacity_refused: float = 120
    ami_configuration: float = 180
    lifecycle_script: float = 180
    finish: float = 60
    settings: float = 30
    autoscaling: float = 600
    roll_back: float = 120
    terminate: float = 180
    delete: float = 300
    interface_linger: float = 240
    reboot: float = 180
    root_volume: float = 300
    governance: float = 30
    governance_forgotten: float = 60
    retry: float = 300
    min_count_timeout: float = 3 * 3600
    ready_timeout: float = 3600
    deep_health_checks: Mapping[str, float] = field(
        default_factory=lambda: MappingProxyType(
            {"InstanceStress": 3600, "InstanceConnectivity": 600, "MultiNodeTrainingValidation": 900}
        )
    )
