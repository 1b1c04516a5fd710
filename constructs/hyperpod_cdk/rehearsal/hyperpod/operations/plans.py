"""Training plans: capacity that is bought for a time. They can be looked at, not bought."""

from hyperpod_cdk.rehearsal.hyperpod.errors import NotFoundError
from hyperpod_cdk.rehearsal.hyperpod.simulation import Simulation
from hyperpod_cdk.rehearsal.hyperpod.state import Spec


def describe_training_plan(sim: Simulation, request: Spec) -> Spec:
    """Answer DescribeTrainingPlan."""
    name = request["TrainingPlanName"]
    if name not in sim.training_plans:
        raise NotFoundError(f"Training plan {name} does not exist.")
    return sim.training_plans[name]
