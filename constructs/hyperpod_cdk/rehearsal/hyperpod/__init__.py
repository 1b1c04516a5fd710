"""Amazon SageMaker HyperPod, emulated inside moto: clusters, nodes, their status and their faults.

In a test::

    install()
    with mock_aws():
        hyperpod = service()
        hyperpod.faults.add(LifecycleFailure(group="compute", lines=("no such mount",)))
        boto3.client("sagemaker", "us-west-2").create_cluster(...)
        hyperpod.clock.advance(900)

Behind moto's server it is the same, with ``hyperpod.clock.speed`` and ``hyperpod.setup_threads`` set.
"""

from hyperpod_cdk.rehearsal.hyperpod.clock import Clock
from hyperpod_cdk.rehearsal.hyperpod.durations import Durations
from hyperpod_cdk.rehearsal.hyperpod.faults import (
    AccessDenied,
    AutoscalingFails,
    Conflict,
    DeleteConflict,
    DeleteFails,
    Fault,
    Faults,
    GovernanceFails,
    InsufficientCapacity,
    LifecycleFailure,
    LingeringInterfaces,
    NotYetListed,
    NotYetVisible,
    OperationFault,
    RoleNotAssumable,
    ServerError,
    Throttle,
    UpdateRollsBack,
)
from hyperpod_cdk.rehearsal.hyperpod.moto_extension import install, service
from hyperpod_cdk.rehearsal.hyperpod.node_setup import (
    NodeSetup,
    NodeSetupFunction,
    NodeSetupResult,
    find_readable_script,
    find_script,
)
from hyperpod_cdk.rehearsal.hyperpod.quotas import Quotas
from hyperpod_cdk.rehearsal.hyperpod.service import HyperPodService

__all__ = [
    "AccessDenied",
    "AutoscalingFails",
    "Clock",
    "Conflict",
    "DeleteConflict",
    "DeleteFails",
    "Durations",
    "Fault",
    "Faults",
    "GovernanceFails",
    "HyperPodService",
    "InsufficientCapacity",
    "LifecycleFailure",
    "LingeringInterfaces",
    "NodeSetup",
    "NodeSetupFunction",
    "NodeSetupResult",
    "NotYetListed",
    "NotYetVisible",
    "OperationFault",
    "Quotas",
    "RoleNotAssumable",
    "ServerError",
    "Throttle",
    "UpdateRollsBack",
    "find_readable_script",
    "find_script",
    "install",
    "service",
]
