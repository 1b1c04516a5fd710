"""Slurm: its configuration, then accounting, then the daemons where their start is ours."""

from hyperpod_node import idle
from hyperpod_node.catalogue import software
from hyperpod_node.catalogue.modes import COMPUTE, CONTROLLER, LOGIN, OURS, PLUGSTACK
from hyperpod_node.step import SET_UP, SLURM_FILES, Later, Step

# A job may start as soon as slurmd runs, so everything that it may use is there before.
_READY = ("munge", "mounts", "mount", "home", "users")
_SOFTWARE = tuple(step.name for step in software.STEPS)

BEFORE_START = (
    Step(
        name="slurm-conf",
        run=Later("steps.slurm_controller.wait_for_configuration"),
        node_types=CONTROLLER,
        needs=("before",),
        time_limit_seconds=660,
    ),
    Step(
        name="multi-head",
        run=Later("multi_head.share"),
        idle=idle.single_head,
        modes=("legacy",),
        node_types=CONTROLLER,
        needs=("slurm-conf", "mount"),
        time_limit_seconds=700,
    ),
    Step(
        name="slurm-files",
        run=Later("steps.slurm_files.write_files"),
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
        run=Later("steps.epilog.place_epilog"),
        idle=idle.no_epilog,
        node_types=COMPUTE,
        needs=("before",),
        time_limit_seconds=120,
    ),
)

START = (
    Step(
        name="slurmctld",
        run=Later("steps.slurm_controller.start_controller"),
        modes=OURS,
        node_types=CONTROLLER,
        needs=("munge", "slurm-files", "accounting"),
        time_limit_seconds=300,
        attempts=2,
    ),
    Step(
        name="slurmd",
        run=Later("steps.slurm_node.join_as_compute"),
        modes=OURS,
        node_types=COMPUTE,
        needs=(*_READY, "epilog"),
        after=("ssh", "removed-users", *_SOFTWARE),
        time_limit_seconds=2200,
    ),
    Step(
        name="slurm-client",
        run=Later("steps.slurm_node.fetch_as_login"),
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
        run=Later("steps.slurm_files.refresh"),
        occasions=(SET_UP, SLURM_FILES),
        node_types=CONTROLLER,
        needs=("slurm-files",),
        after=("slurmctld", *_SOFTWARE),
        time_limit_seconds=300,
    ),
    Step(
        name="slurm-watch",
        run=Later("steps.slurm_watch.watch_files"),
        node_types=CONTROLLER,
        needs=("keep", "slurm-files"),
        after=("slurmctld",),
        required=False,
        time_limit_seconds=120,
    ),
    Step(
        name="login-watch",
        run=Later("steps.slurm_watch.refresh_login"),
        modes=OURS,
        node_types=LOGIN,
        needs=("slurm-client",),
        required=False,
        time_limit_seconds=120,
    ),
    Step(
        name="adopt",
        run=Later("steps.adopt.adopt_logins"),
        idle=idle.no_adoption,
        node_types=COMPUTE,
        needs=("users",),
        after=("slurmd", *_SOFTWARE),
        required=False,
        time_limit_seconds=120,
    ),
)
