"""The machine itself: network, packages that stay as they are, file systems.

A step's limit is more than its waits together, so that it is a wait that ends, and gives its reason.
"""

from hyperpod_node import idle
from hyperpod_node.catalogue.modes import OURS, PACKAGES, SERVICES
from hyperpod_node.step import Later, Step

STEPS = (
    Step(name="keep", run=Later("steps.keep.keep_scripts"), time_limit_seconds=60),
    # Whatever really needs the network waits for its own names, so that this failing is only a hint.
    Step(name="network", run=Later("steps.network.wait_for_network"), required=False, time_limit_seconds=300),
    # Before anything could be installed or upgraded (field report 102).
    Step(name="packages", run=Later("steps.packages.hold_packages"), uses=PACKAGES, time_limit_seconds=600),
    Step(
        name="before",
        run=Later("steps.extra.run_before"),
        idle=idle.nothing_before,
        needs=("packages",),
        after=("network",),
        time_limit_seconds=3600,
    ),
    Step(
        name="lustre-efa",
        run=Later("steps.lustre_efa.set_up_client"),
        idle=idle.no_efa_asked_for,
        needs=("before",),
        required=False,
        time_limit_seconds=300,
    ),
    Step(
        name="mounts",
        run=Later("steps.mounts.verify_mounts"),
        idle=idle.none_by_service,
        modes=SERVICES,
        needs=("before",),
        time_limit_seconds=900,
    ),
    Step(
        name="mount",
        run=Later("steps.mounts.mount_file_systems"),
        idle=idle.none_by_scripts,
        needs=("before", "mounts"),
        after=("lustre-efa",),
        time_limit_seconds=900,
        spread_seconds=30,
    ),
    Step(
        name="munge",
        run=Later("steps.munge.check_munge"),
        modes=OURS,
        needs=("before",),
        time_limit_seconds=420,
    ),
)
