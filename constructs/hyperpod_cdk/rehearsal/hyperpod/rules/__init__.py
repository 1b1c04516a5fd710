"""What the service refuses beyond its API model, one small function a refusal.

A rule takes a whole CreateCluster request and yields the texts of its refusals. An update is checked
as the request that the cluster would have after it, see :mod:`.update`.
"""

from hyperpod_cdk.rehearsal.hyperpod.errors import ValidationError
from hyperpod_cdk.rehearsal.hyperpod.rules.common import Rule
from hyperpod_cdk.rehearsal.hyperpod.rules.eks import EKS_RULES
from hyperpod_cdk.rehearsal.hyperpod.rules.groups import GROUP_RULES
from hyperpod_cdk.rehearsal.hyperpod.rules.lifecycle import LIFECYCLE_RULES
from hyperpod_cdk.rehearsal.hyperpod.rules.provisioning import PROVISIONING_RULES
from hyperpod_cdk.rehearsal.hyperpod.rules.slurm import SLURM_RULES
from hyperpod_cdk.rehearsal.hyperpod.rules.storage import STORAGE_RULES
from hyperpod_cdk.rehearsal.hyperpod.state import Spec

CLUSTER_RULES: tuple[Rule, ...] = (
    *GROUP_RULES,
    *SLURM_RULES,
    *STORAGE_RULES,
    *LIFECYCLE_RULES,
    *PROVISIONING_RULES,
    *EKS_RULES,
)


def check_cluster(request: Spec) -> None:
    """Refuse a cluster that the service does not make.

    Args:
        request: a CreateCluster request that the API model allows.

    Raises:
        ValidationError: the first refusal, as the service answers one at a time.
    """
    for rule in CLUSTER_RULES:
        for refusal in rule(request):
            raise ValidationError(refusal)


__all__ = ["CLUSTER_RULES", "Rule", "check_cluster"]
