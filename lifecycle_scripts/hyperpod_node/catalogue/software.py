"""What is installed beside Slurm: containers, directories, buckets, logs, metrics.

Best effort all of them, unless the deployment says `required`: a node without its metrics is still a node.
"""

from hyperpod_node.catalogue.modes import ACCOUNTS, CONTROLLER, OURS, PACKAGES, PLUGSTACK
from hyperpod_node.step import Step
from hyperpod_node.steps import buckets, containers, directory, logs, monitoring

STEPS: tuple[Step, ...] = (
    Step(
        name="docker",
        run=containers.set_up_docker,
        idle=containers.no_docker,
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
        run=containers.set_up_enroot,
        idle=containers.no_enroot,
        modes=OURS,
        needs=("packages", "before"),
        after=("mount",),
        uses=PACKAGES,
        required=False,
        time_limit_seconds=1800,
    ),
    Step(
        name="pyxis",
        run=containers.add_pyxis,
        idle=containers.no_enroot,
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
        run=directory.join_directory,
        idle=directory.no_directory,
        needs=("packages", "before"),
        after=("users",),
        uses=(*PACKAGES, *ACCOUNTS),
        required=False,
        time_limit_seconds=1800,
        spread_seconds=30,
    ),
    Step(
        name="buckets",
        run=buckets.mount_buckets,
        idle=buckets.no_buckets,
        needs=("before",),
        # a bucket may be mounted below a file system
        after=("mounts", "mount"),
        required=False,
        time_limit_seconds=900,
    ),
    Step(
        name="logs",
        run=logs.rotate_logs,
        idle=logs.no_rotation,
        needs=("before",),
        required=False,
        time_limit_seconds=60,
    ),
    Step(
        name="monitoring",
        run=monitoring.set_up_monitoring,
        idle=monitoring.no_monitoring,
        needs=("keep", "before"),
        after=("mounts", "mount"),
        required=False,
        time_limit_seconds=900,
        spread_seconds=60,
        attempts=2,
    ),
)
