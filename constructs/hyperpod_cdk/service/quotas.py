"""Quotas that a cluster meets, by name.

A quota's code is only where it is looked for first: preflight believes a code whose quota has the name, and
goes through all quotas of the service otherwise, since AWS documents few of the codes.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from hyperpod_cdk.service.quota_codes import CLUSTER_USAGE

SOURCE = "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html"
"""Which quotas to look at before a cluster is made, 2026-10."""


@dataclass(frozen=True, kw_only=True)
class Quota:
    """A quota of Service Quotas; ``code`` is None where no source was found."""

    service: str
    name: str
    code: str | None = None

    def is_named(self, name: str) -> bool:
        """Whether a quota's name is this one's; the case and the spaces do not count."""
        return name.casefold().split() == self.name.casefold().split()


# https://docs.aws.amazon.com/general/latest/gr/sagemaker.html, 2026-10; the codes of the second and third,
# and the name of the third, were seen in accounts by third parties. The page tells of a quota of Spot nodes
# in one cluster too (L-41BFBF41), not in the words that Service Quotas has for it: it can not be asked for.
INSTANCES_PER_CLUSTER = Quota(
    service="sagemaker",
    name="Maximum number instances allowed per SageMaker HyperPod cluster",
    code="L-2CE978FC",
)
INSTANCES_OF_ALL_CLUSTERS = Quota(
    service="sagemaker",
    name="Total number of instances allowed across SageMaker HyperPod clusters",
    code="L-3308CCC7",
)
SPOT_INSTANCES_OF_ALL_CLUSTERS = Quota(
    service="sagemaker",
    name="Total number of Spot instances allowed across SageMaker HyperPod clusters",
    code="L-97A2C724",
)
VOLUME_SIZE = Quota(
    service="sagemaker",
    name="Maximum size of EBS volume in GB for a SageMaker HyperPod cluster instance",
    code="L-E13DF72A",
)
# https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html, 2026-10
VPCS = Quota(service="vpc", name="VPCs per Region", code="L-F678F1CE")
INTERNET_GATEWAYS = Quota(service="vpc", name="Internet gateways per Region", code="L-A4707A72")
NETWORK_INTERFACES = Quota(service="vpc", name="Network interfaces per Region", code="L-DF5E4CA3")
# https://docs.aws.amazon.com/general/latest/gr/ec2-service.html, 2026-10
ADDRESSES = Quota(service="ec2", name="EC2-VPC Elastic IPs", code="L-0263D0A3")

# https://docs.aws.amazon.com/general/latest/gr/sagemaker.html for the code; the name was seen in an account
# by a third party, November 2026
RESTRICTED_FILE_SYSTEMS = Quota(
    service="sagemaker",
    name="Maximum total FSx Lustre capacity in TiB across HyperPod restricted instance groups",
    code="L-FC4D7F52",
)
# https://docs.aws.amazon.com/general/latest/gr/eks.html; code by third parties, November 2026
CONTROL_PLANES = Quota(service="eks", name="Clusters", code="L-1194D53C")

_ON_DEMAND: Mapping[str, Quota] = {
    letters: Quota(service="ec2", name=f"Running On-Demand {name} instances", code=code)
    for letters, name, code in (
        ("acdhimrtz", "Standard (A, C, D, H, I, M, R, T, Z)", "L-1216C47A"),
        ("dl", "DL", "L-6E869C2A"),
        ("f", "F", "L-74FC7D96"),
        ("g", "G and VT", "L-DB2E81BA"),
        ("hpc", "HPC", "L-F7808C92"),
        ("inf", "Inf", "L-1945791B"),
        ("p", "P", "L-417A185B"),
        ("trn", "Trn", "L-2C3B7624"),
        ("u", "High Memory", "L-43DA4232"),
        ("x", "X", "L-7295265B"),
    )
}
"""By what the names of instance types begin with; those of the first by their first letter alone.

Names: https://docs.aws.amazon.com/general/latest/gr/ec2-service.html, codes as they were seen in accounts by
third parties, November 2026.
"""


def on_demand_vcpus(instance_type: str) -> Quota:
    """The quota of vCPUs of running on-demand instances of a type's kind.

    Args:
        instance_type: of EC2, without ``ml.``.
    """
    beginning = re.match("[a-z]*", instance_type)
    letters = beginning[0] if beginning else ""
    standard, *_ = _ON_DEMAND.values()
    special = {"gr": "g", "vt": "g"}.get(letters, letters)
    return _ON_DEMAND.get(special, standard)


_OTHER_NAMES = {"ml.r7i.12xlarge": "cluster-ml-r7i-12xlarge for cluster usage"}
"""As Service Quotas has them, seen in November 2026."""


def cluster_usage(instance_type: str) -> Quota:
    """The quota of on-demand instances of one type in all clusters together.

    Args:
        instance_type: with ``ml.``.
    """
    name = _OTHER_NAMES.get(instance_type, f"{instance_type} for cluster usage")
    return Quota(service="sagemaker", name=name, code=CLUSTER_USAGE.get(instance_type))


def cluster_spot_usage(instance_type: str) -> Quota:
    """The quota of Spot instances of one type in all clusters together; unofficial name.

    Args:
        instance_type: with ``ml.``.
    """
    return Quota(service="sagemaker", name=f"{instance_type} for cluster spot instance usage")
