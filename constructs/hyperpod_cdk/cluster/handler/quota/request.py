"""What is asked for: the compute quota that the resource's properties describe."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..clients import Aws
from ..core import thing
from ..core.form import Form

PARTS = ("ComputeQuotaConfig", "ComputeQuotaTarget", "ActivationState", "Description")
"""Members of the request that UpdateComputeQuota takes too."""


@dataclass(frozen=True, kw_only=True)
class Desired(thing.Desired):
    """The quota that the properties describe."""

    @property
    def name(self) -> str:
        """The quota's name; empty when the properties have none."""
        return str(self.request.get("Name", ""))

    @property
    def cluster_arn(self) -> str:
        """ARN of the HyperPod cluster; empty when the properties have none."""
        return str(self.request.get("ClusterArn", ""))

    @property
    def team(self) -> str:
        """The team's name."""
        return str(self.request.get("ComputeQuotaTarget", {}).get("TeamName", ""))

    @property
    def physical_id(self) -> str:
        """``<cluster id>/<name>``; the service's own id is drawn when the quota is made."""
        cluster_id = self.cluster_arn.rpartition("/")[-1]
        return f"{cluster_id}/{self.name}" if cluster_id and self.name else ""


def _build(request: Mapping[str, Any], _properties: Mapping[str, Any], _aws: Aws, _strict: bool) -> Desired:
    return Desired(request=request)


FORM = Form(
    operation="CreateComputeQuota",
    formats=frozenset({"1"}),
    properties=frozenset({"ServiceToken", "ServiceTimeout", "Format", "Request"}),
    names=("Name", "ClusterArn"),
    build=_build,
)
"""Of the resource's properties."""
