"""Looks at a node that is set up: at everything that the steps have done, and changes nothing.

A `required` one makes the node unfit for work when it fails; the others are worth a look.
"""

from __future__ import annotations

from functools import partial

from hyperpod_node import idle
from hyperpod_node.config import NODE_TYPES
from hyperpod_node.step import CHECK, Later, Step

# not from the catalogue, whose last step runs these checks
CONTROLLER, LOGIN, COMPUTE = ((name,) for name in NODE_TYPES)
OURS = ("custom", "legacy")

_look = partial(Step, occasions=(CHECK,), time_limit_seconds=60.0)

CHECKS: tuple[Step, ...] = (
    _look(name="last-set-up", run=Later("checks.machine.last_set_up"), required=False),
    _look(name="network", run=Later("checks.machine.network")),
    _look(name="metadata", run=Later("checks.machine.metadata"), required=False),
    _look(name="packages", run=Later("checks.machine.packages"), required=False),
    _look(name="root-disk", run=Later("checks.machine.root_disk")),
    _look(name="data-disk", run=Later("checks.machine.data_disk"), required=False),
    _look(name="mounts", run=Later("checks.machine.mounts")),
    _look(name="at-boot", run=Later("checks.boot.at_boot"), required=False),
    _look(name="gpus", run=Later("checks.devices.gpus"), node_types=COMPUTE),
    _look(name="efa", run=Later("checks.devices.efa_devices"), node_types=COMPUTE),
    _look(name="lustre-efa", run=Later("checks.devices.lustre_over_efa"), required=False),
    _look(name="home", run=Later("checks.people.home")),
    _look(name="users", idle=idle.no_users, run=Later("checks.people.users")),
    _look(name="removed-users", idle=idle.nobody_removed, run=Later("checks.people.removed_users")),
    _look(name="ssh", run=Later("checks.people.ssh"), required=False),
    _look(name="munge", run=Later("checks.slurm.munge")),
    _look(name="slurmctld", run=Later("checks.controller.controller"), node_types=CONTROLLER),
    _look(name="slurmd", run=Later("checks.slurm.compute"), node_types=COMPUTE),
    _look(name="slurm-client", run=Later("checks.slurm.login"), node_types=LOGIN),
    _look(
        name="auto-resume", run=Later("checks.controller.auto_resume"), node_types=CONTROLLER, required=False
    ),
    _look(name="slurm-files", run=Later("checks.slurm_files.files"), node_types=CONTROLLER, required=False),
    _look(name="slurm-watch", run=Later("checks.slurm_files.watch"), node_types=CONTROLLER, required=False),
    _look(
        name="login-watch",
        run=Later("checks.slurm_files.login_watch"),
        modes=OURS,
        node_types=LOGIN,
        required=False,
    ),
    _look(
        name="epilog",
        run=Later("checks.slurm_files.epilog_script"),
        idle=idle.no_epilog,
        node_types=COMPUTE,
        required=False,
    ),
    _look(
        name="adopt",
        run=Later("checks.slurm_files.adopted"),
        idle=idle.no_adoption,
        node_types=COMPUTE,
        required=False,
    ),
    _look(name="accounting", run=Later("checks.controller.accounting"), node_types=CONTROLLER),
    _look(name="accounts", run=Later("checks.controller.accounts"), node_types=CONTROLLER, required=False),
    _look(
        name="purge",
        run=Later("checks.slurm_files.purge"),
        idle=idle.nothing_to_purge,
        node_types=CONTROLLER,
        required=False,
    ),
    _look(name="docker", run=Later("checks.software.docker"), idle=idle.no_docker, required=False),
    _look(name="enroot", run=Later("checks.software.enroot"), idle=idle.no_enroot, required=False),
    _look(name="directory", run=Later("checks.software.directory"), idle=idle.no_directory, required=False),
    _look(name="buckets", run=Later("checks.software.buckets"), idle=idle.no_buckets, required=False),
    _look(name="log-rotation", run=Later("checks.logs.log_rotation"), required=False),
    _look(name="metrics", run=Later("checks.metrics.metrics"), idle=idle.no_monitoring, required=False),
)
