"""Service quotas of the emulated account, and the refusal when one is exceeded."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from hyperpod_cdk.rehearsal.hyperpod.errors import LimitExceededError


@dataclass(frozen=True, kw_only=True)
class Quotas:
    """Limits of one account in one Region; None is unlimited, which is the default everywhere.

    Args:
        instances_per_cluster: L-2CE978FC, 20 in a fresh account
            (docs.aws.amazon.com/general/latest/gr/sagemaker.html).
        total_instances: L-3308CCC7, over all clusters.
        per_type: instance type (with ``ml.``) to its "for cluster usage" quota; a type that is
            not in the mapping is unlimited.
        ebs_gib_per_instance: L-E13DF72A, size of a secondary volume, 0 in a fresh account.
        governance_versions: L-77076358 and L-D7137944, versions of a cluster policy or compute quota, 100 in
            a fresh account.
    """

    instances_per_cluster: int | None = None
    total_instances: int | None = None
    per_type: Mapping[str, int] = field(default_factory=dict)
    ebs_gib_per_instance: int | None = None
    governance_versions: int | None = None

    def check(
        self,
        *,
        wanted: Counter[str],
        elsewhere: Counter[str],
        current: Counter[str],
        largest_volume_gib: int,
    ) -> None:
        """Refuse what exceeds a quota.

        Args:
            wanted: instances of the cluster by type, as the request would have them.
            elsewhere: instances of the account's other clusters by type.
            current: instances of the cluster by type, as they are.
            largest_volume_gib: size of the largest secondary volume of the request, 0 for none.

        Raises:
            LimitExceededError: with the quota's name, as the service words it.
        """
        total, existing = wanted.total(), current.total()
        _compare(
            "Maximum number instances allowed per SageMaker HyperPod cluster",
            self.instances_per_cluster,
            used=existing,
            wanted=total,
        )
        _compare(
            "Total number of instances allowed across SageMaker HyperPod clusters",
            self.total_instances,
            used=elsewhere.total() + existing,
            wanted=elsewhere.total() + total,
        )
        for instance_type, count in wanted.items():
            other = elsewhere[instance_type]
            _compare(
                f"{instance_type} for cluster usage",
                self.per_type.get(instance_type),
                used=other + current[instance_type],
                wanted=other + count,
            )
        _compare(
            "Maximum size of EBS volume in GB for a SageMaker HyperPod cluster instance",
            self.ebs_gib_per_instance,
            used=0,
            wanted=largest_volume_gib,
            unit="GB",
        )


def _compare(quota: str, limit: int | None, *, used: int, wanted: int, unit: str = "Instances") -> None:
    if limit is None or wanted <= limit or wanted <= used:
        return
    raise LimitExceededError(
        f"The account-level service limit '{quota}' is {limit} {unit}, with current utilization of "
        f"{used} {unit} and a request delta of {wanted - used} {unit}. Please use AWS Service Quotas "
        "to request an increase for this quota."
    )
