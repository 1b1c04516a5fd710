"""Preflight beside what is deployed: the handler's own look, and the bootstrap stack that templates need."""

import aws_cdk as cdk

from hyperpod_cdk.cluster import permissions
from hyperpod_cdk.preflight import CHECKS
from hyperpod_cdk.preflight.account import BOOTSTRAP_VERSION

MAY = {
    *permissions.LOOK_AT_CLUSTERS,
    *permissions.FIND_INTERFACES,
    *permissions.READ_IMAGES,
    *permissions.READ_NODE_LOGS,
}
DONE = {"images", "image-age"}
"""By `cluster/handler/cluster/images.py`. Whose a name is, the handler tells by tags instead of the stack."""


def test_the_handler_looks_at_all_that_it_may() -> None:
    fitting = {one.name for one in CHECKS if one.apis and {api.action for api in one.apis} <= MAY}
    assert fitting == DONE


def test_the_bootstrap_version_is_what_templates_need() -> None:
    app = cdk.App()
    cdk.Stack(app, "Any")
    assert app.synth().get_stack_by_name("Any").requires_bootstrap_stack_version == BOOTSTRAP_VERSION
