"""Slurm where its start is ours: configuration, then accounting, then the daemons."""

from hyperpod_node.catalogue import software
from hyperpod_node.catalogue.modes import COMPUTE, CONTROLLER, LOGIN, OURS
from hyperpod_node.step import Step
from hyperpod_node.steps import slurm_controller, slurm_node

# A job may start as soon as slurmd runs, so everything that it may use is there before.
_READY = ("before", "mounts", "mount", "home", "users")
_SOFTWARE = tuple(step.name for step in software.STEPS)

BEFORE_START = (
    Step(
        name="slurm-conf",
        run=slurm_controller.wait_for_configuration,
        modes=OURS,
        node_types=CONTROLLER,
        needs=("before",),
        time_limit_seconds=660,
    ),
)

START = (
    Step(
        name="slurmctld",
        run=slurm_controller.start_controller,
        modes=OURS,
        node_types=CONTROLLER,
        needs=("slurm-conf", "accounting"),
        time_limit_seconds=300,
        attempts=2,
    ),
    Step(
        name="slurmd",
        run=slurm_node.join_as_compute,
        modes=OURS,
        node_types=COMPUTE,
        needs=_READY,
        after=("ssh", *_SOFTWARE),
        time_limit_seconds=1300,
        spread_seconds=30,
    ),
    Step(
        name="slurm-client",
        run=slurm_node.fetch_as_login,
        modes=OURS,
        node_types=LOGIN,
        needs=("before",),
        after=_SOFTWARE,
        time_limit_seconds=1300,
    ),
)

AFTER_START: tuple[Step, ...] = ()
