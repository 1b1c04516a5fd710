"""All steps of a node's set-up, in their order. To add one, write a function and a line here."""

from __future__ import annotations

from hyperpod_node.runner import Step
from hyperpod_node.steps import (
    extra,
    home,
    mounts,
    network,
    packages,
    slurm_controller,
    slurm_node,
    ssh,
    users,
)

# the modes in which the service leaves mounting and Slurm to these scripts
OURS = ("custom", "legacy")

# A step's limit is more than its waits together, so that it is a wait that ends, and gives its reason.
STEPS: tuple[Step, ...] = (
    # Whatever really needs the network waits for its own names, so that this failing is only a hint.
    Step(name="network", run=network.wait_for_network, required=False, time_limit_seconds=300),
    # Before anything could be installed or upgraded (field report 102).
    Step(name="packages", run=packages.hold_packages, time_limit_seconds=600),
    Step(name="before", run=extra.run_before, time_limit_seconds=3600),
    Step(name="mounts", run=mounts.verify_mounts, modes=("extension",), time_limit_seconds=900),
    Step(name="mount", run=mounts.mount_file_systems, modes=OURS, time_limit_seconds=900),
    # Homes after mounts, users after both (field report 117).
    Step(name="home", run=home.move_home, time_limit_seconds=300, attempts=2),
    Step(name="users", run=users.ensure_users, time_limit_seconds=600),
    Step(name="ssh", run=ssh.ensure_node_keys, required=False, time_limit_seconds=300),
    Step(
        name="slurm-conf",
        run=slurm_controller.wait_for_configuration,
        modes=OURS,
        node_types=("Controller",),
        time_limit_seconds=660,
    ),
    # Before the first start of slurmctld (field report 112).
    Step(
        name="accounting",
        run=slurm_controller.set_up_accounting,
        modes=OURS,
        node_types=("Controller",),
        time_limit_seconds=600,
        attempts=2,
    ),
    Step(
        name="slurmctld",
        run=slurm_controller.start_controller,
        modes=OURS,
        node_types=("Controller",),
        time_limit_seconds=300,
        attempts=2,
    ),
    Step(
        name="slurmd",
        run=slurm_node.join_as_compute,
        modes=OURS,
        node_types=("Compute",),
        time_limit_seconds=1300,
    ),
    Step(
        name="slurm-client",
        run=slurm_node.fetch_as_login,
        modes=OURS,
        node_types=("Login",),
        time_limit_seconds=1300,
    ),
    Step(name="after", run=extra.run_after, time_limit_seconds=3600),
)
