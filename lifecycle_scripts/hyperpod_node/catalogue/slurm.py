"""Slurm: its configuration, then accounting, then the daemons where their start is ours."""

from hyperpod_node import multi_head
from hyperpod_node.catalogue import software
from hyperpod_node.catalogue.modes import COMPUTE, CONTROLLER, LOGIN, OURS, PLUGSTACK
from hyperpod_node.step import SET_UP, SLURM_FILES, Step
from hyperpod_node.steps import adopt, epilog, slurm_controller, slurm_files, slurm_node, slurm_watch

# A job may start as soon as slurmd runs, so everything that it may use is there before.
_READY = ("munge", "mounts", "mount", "home", "users")
_SOFTWARE = tuple(step.name for step in software.STEPS)

BEFORE_START = (
    Step(
        name="slurm-conf",
        run=slurm_controller.wait_for_configuration,
        node_types=CONTROLLER,
        needs=("before",),
        time_limit_seconds=660,
    ),
    Step(
        name="multi-head",
        run=multi_head.share,
        idle=slurm_controller.single_head,
        modes=("legacy",),
        node_types=CONTROLLER,
        needs=("slurm-conf", "mount"),
        time_limit_seconds=700,
    ),
    Step(
        name="slurm-files",
        run=slurm_files.write_files,
        occasions=(SET_UP, SLURM_FILES),
        node_types=CONTROLLER,
        needs=("slurm-conf", "multi-head"),
        uses=PLUGSTACK,
        time_limit_seconds=120,
        attempts=2,
    ),
    # Before slurmd could run a job.
    Step(
        name="epilog",
        run=epilog.place_epilog,
        idle=epilog.not_asked_for,
        node_types=COMPUTE,
        needs=("before",),
        time_limit_seconds=120,
    ),
)

START = (
    Step(
        name="slurmctld",
        run=slurm_controller.start_controller,
        modes=OURS,
        node_types=CONTROLLER,
        needs=("munge", "slurm-files", "accounting"),
        time_limit_seconds=300,
        attempts=2,
    ),
    Step(
        name="slurmd",
        run=slurm_node.join_as_compute,
        modes=OURS,
        node_types=COMPUTE,
        needs=(*_READY, "epilog"),
        after=("ssh", "removed-users", *_SOFTWARE),
        time_limit_seconds=2200,
    ),
    Step(
        name="slurm-client",
        run=slurm_node.fetch_as_login,
        modes=OURS,
        node_types=LOGIN,
        needs=("munge",),
        after=_SOFTWARE,
        time_limit_seconds=2200,
    ),
)

AFTER_START = (
    # Plugins that were installed meanwhile reach nodes that fetched the configuration before (report 108).
    Step(
        name="slurm-refresh",
        run=slurm_files.refresh,
        occasions=(SET_UP, SLURM_FILES),
        node_types=CONTROLLER,
        needs=("slurm-files",),
        after=("slurmctld", *_SOFTWARE),
        required=False,
        time_limit_seconds=300,
    ),
    Step(
        name="slurm-watch",
        run=slurm_watch.watch_files,
        node_types=CONTROLLER,
        needs=("keep", "slurm-files"),
        after=("slurmctld",),
        required=False,
        time_limit_seconds=120,
    ),
    Step(
        name="login-watch",
        run=slurm_watch.refresh_login,
        modes=OURS,
        node_types=LOGIN,
        needs=("slurm-client",),
        required=False,
        time_limit_seconds=120,
    ),
    Step(
        name="adopt",
        run=adopt.adopt_logins,
        idle=adopt.not_asked_for,
        node_types=COMPUTE,
        needs=("users",),
        after=("slurmd", *_SOFTWARE),
        required=False,
        time_limit_seconds=120,
    ),
)
