"""Autoscaling by Karpenter: whom it needs, and how it comes up.

docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-autoscaling-iam.html. That it fails where the
role may not scale is assumed.
"""

from hyperpod_cdk.rehearsal.hyperpod.faults import AutoscalingFails
from hyperpod_cdk.rehearsal.hyperpod.permissions import allows
from hyperpod_cdk.rehearsal.hyperpod.simulation import Simulation
from hyperpod_cdk.rehearsal.hyperpod.state import Cluster, Spec

ACTIONS = ("sagemaker:BatchAddClusterNodes", "sagemaker:BatchDeleteClusterNodes")


def follow(sim: Simulation, cluster: Cluster) -> None:
    """Begin to set autoscaling up where the cluster's settings turn it on; note where they do not.

    Args:
        sim: the simulation.
        cluster: just made or changed.
    """
    if cluster.settings.get("AutoScaling", {}).get("Mode") != "Enable":
        cluster.scaler = cluster.scaler_failure = ""
    elif not cluster.scaler:
        cluster.scaler = "Creating"
        sim.timeline.after(sim.durations.autoscaling, lambda: _finish(sim, cluster))


def _finish(sim: Simulation, cluster: Cluster) -> None:
    if cluster.scaler != "Creating":
        return
    fault = sim.faults.strike(AutoscalingFails)
    cluster.scaler_failure = fault.reason if fault else _denied(sim, cluster)
    cluster.scaler = "Failed" if cluster.scaler_failure else "InService"


def _denied(sim: Simulation, cluster: Cluster) -> str:
    role = str(cluster.settings["ClusterRole"])
    denied = [action for action in ACTIONS if not allows(sim.account, role, action, cluster.arn)]
    if not denied or not sim.check_references:
        return ""
    return f"{role} is not authorized to perform: {', '.join(denied)}"


def describe(cluster: Cluster) -> Spec:
    """Give DescribeCluster's AutoScaling; empty where nothing was ever asked of it."""
    asked = cluster.settings.get("AutoScaling")
    if asked is None:
        return {}
    failure = {"FailureMessage": cluster.scaler_failure} if cluster.scaler_failure else {}
    return {"AutoScaling": {**asked, "Status": cluster.scaler or "InService", **failure}}
