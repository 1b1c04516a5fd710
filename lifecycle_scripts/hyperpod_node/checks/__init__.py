"""Looks at a node that is set up: at everything that the steps have done, and changes nothing.

A `required` one makes the node unfit for work when it fails; the others are worth a look.
"""

from __future__ import annotations

from functools import partial

from hyperpod_node.checks import machine, people, slurm, software
from hyperpod_node.config import NODE_TYPES
from hyperpod_node.step import CHECK, Step

# not from the catalogue, whose last step runs these checks
CONTROLLER, LOGIN, COMPUTE = ((name,) for name in NODE_TYPES)

_look = partial(Step, occasions=(CHECK,), time_limit_seconds=60.0)

CHECKS: tuple[Step, ...] = (
    _look(name="last-set-up", run=machine.last_set_up, required=False),
    _look(name="network", run=machine.network),
    _look(name="packages", run=machine.packages, required=False),
    _look(name="root-disk", run=machine.root_disk),
    _look(name="data-disk", run=machine.data_disk, required=False),
    _look(name="mounts", run=machine.mounts),
    _look(name="gpus", run=machine.gpus, node_types=COMPUTE),
    _look(name="efa", run=machine.efa_devices, node_types=COMPUTE),
    _look(name="users", run=people.users),
    _look(name="removed-users", run=people.removed_users),
    _look(name="munge", run=slurm.munge),
    _look(name="slurmctld", run=slurm.controller, node_types=CONTROLLER),
    _look(name="slurmd", run=slurm.compute, node_types=COMPUTE),
    _look(name="slurm-client", run=slurm.login, node_types=LOGIN),
    _look(name="auto-resume", run=slurm.auto_resume, node_types=CONTROLLER, required=False),
    _look(name="accounting", run=slurm.accounting, node_types=CONTROLLER),
    _look(name="accounts", run=slurm.accounts, node_types=CONTROLLER, required=False),
    _look(name="docker", run=software.docker, required=False),
    _look(name="enroot", run=software.enroot, required=False),
    _look(name="directory", run=software.directory, required=False),
    _look(name="buckets", run=software.buckets, required=False),
    _look(name="log-rotation", run=software.log_rotation, required=False),
    _look(name="metrics", run=software.metrics, required=False),
)
