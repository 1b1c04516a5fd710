"""HyperPod clusters, as the core knows them."""

import re

from ..clients import Aws
from ..core.kind import Kind, Outcome
from .gone import is_all_gone
from .images import refuse_unusable_images
from .later import judge, plan
from .live import Live, find
from .reasons import explain
from .request import FORM, Desired
from .watch import hand_over, released

OUTCOMES = {
    "Creating": Outcome.WAIT,
    "Updating": Outcome.WAIT,
    "SystemUpdating": Outcome.WAIT,
    "RollingBack": Outcome.WAIT,
    "InService": Outcome.CHECK,
    # an update that waits for its turn may follow one that failed
    "Failed": Outcome.CHECK,
    "Deleting": Outcome.FAIL,
}
"""By ClusterStatus, for Create and Update. A deletion asks again in every status but Deleting."""


def _is_name(aws: Aws, text: str) -> bool:
    rules = aws.input_shape("CreateCluster").members["ClusterName"].metadata
    return len(text) <= rules["max"] and re.fullmatch(rules["pattern"], text) is not None


KIND = Kind[Desired, Live](
    noun="cluster",
    anew="Change ClusterName to make it anew",
    holds=", but network interfaces still hold its security groups",
    name="ClusterName",
    form=FORM,
    create="create_cluster",
    answer="ClusterArn",
    delete="delete_cluster",
    key="ClusterName",
    outcomes=OUTCOMES,
    is_id=_is_name,
    find=find,
    whole=find,
    last_look=refuse_unusable_images,
    plan=plan,
    judge=judge,
    explain=explain,
    early=released,
    done=hand_over,
    gone=is_all_gone,
)
"""Clusters are found by name: no list can lag, and nothing of them shows in part."""
