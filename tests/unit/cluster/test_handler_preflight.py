"""What preflight looks at and the handler may look at as well, the handler looks at before it makes a cluster."""

from hyperpod_cdk.cluster import permissions
from hyperpod_cdk.preflight import CHECKS

MAY = {
    *permissions.LOOK_AT_CLUSTERS,
    *permissions.FIND_INTERFACES,
    *permissions.READ_IMAGES,
    *permissions.READ_NODE_LOGS,
}
DONE = {"images"}
"""By `cluster/handler/images.py`. Whose a cluster's name is, the handler tells by tags instead of the stack."""


def test_the_handler_looks_at_all_that_it_may() -> None:
    fitting = {one.name for one in CHECKS if one.apis and {api.action for api in one.apis} <= MAY}
    assert fitting == DONE
