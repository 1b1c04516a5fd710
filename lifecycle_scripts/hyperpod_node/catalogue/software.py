"""What is installed beside Slurm: containers, directories, buckets, logs, metrics.

Best effort all of them, unless the deployment says `required`: a node without its metrics is still a node.
"""

from hyperpod_node import idle
from hyperpod_node.catalogue.modes import ACCOUNTS, CONTROLLER, OURS, PACKAGES, PLUGSTACK
from hyperpod_node.step import Later, Step

STEPS: tuple[Step, ...] = (
    Step(
        name="docker",
        run=Later("steps.containers.set_up_docker"),
        idle=idle.no_docker,
        modes=OURS,
        needs=("packages", "before"),
        # its group is given to users, who have to be there
        after=("mount", "users"),
        uses=(*PACKAGES, *ACCOUNTS),
        required=False,
        time_limit_seconds=1800,
    ),
    Step(
        name="enroot",
        run=Later("steps.containers.set_up_enroot"),
        idle=idle.no_enroot,
        modes=OURS,
        needs=("packages", "before"),
        after=("mount",),
        uses=PACKAGES,
        required=False,
        time_limit_seconds=1800,
    ),
    Step(
        name="pyxis",
        run=Later("steps.containers.add_pyxis"),
        idle=idle.no_enroot,
        modes=OURS,
        node_types=CONTROLLER,
        needs=("before",),
        after=("enroot",),
        uses=PLUGSTACK,
        required=False,
        time_limit_seconds=60,
    ),
    Step(
        name="directory",
        run=Later("steps.directory.join_directory"),
        idle=idle.no_directory,
        needs=("packages", "before"),
        after=("users",),
        uses=(*PACKAGES, *ACCOUNTS),
        required=False,
        time_limit_seconds=1800,
        spread_seconds=30,
    ),
    Step(
        name="buckets",
        run=Later("steps.buckets.mount_buckets"),
        idle=idle.no_buckets,
        needs=("before",),
        # a bucket may be mounted below a file system
        after=("mounts", "mount"),
        required=False,
        time_limit_seconds=900,
    ),
    Step(
        name="logs",
        run=Later("steps.logs.rotate_logs"),
        idle=idle.no_rotation,
        needs=("before",),
        required=False,
        time_limit_seconds=60,
    ),
    Step(
        name="monitoring",
        run=Later("steps.monitoring.set_up_monitoring"),
        idle=idle.no_monitoring,
        needs=("keep", "before"),
        after=("mounts", "mount"),
        required=False,
        time_limit_seconds=900,
        spread_seconds=60,
        attempts=2,
    ),
)
