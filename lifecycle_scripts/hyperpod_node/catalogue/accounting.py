"""Slurm's accounting: the database before slurmctld, what is declared in it after."""

from hyperpod_node.catalogue.modes import CONTROLLER, OURS
from hyperpod_node.step import Step
from hyperpod_node.steps import slurm_controller

BEFORE_START = (
    # Before the first start of slurmctld (field report 112).
    Step(
        name="accounting",
        run=slurm_controller.set_up_accounting,
        modes=OURS,
        node_types=CONTROLLER,
        needs=("slurm-conf",),
        time_limit_seconds=600,
        attempts=2,
    ),
)

AFTER_START: tuple[Step, ...] = ()
