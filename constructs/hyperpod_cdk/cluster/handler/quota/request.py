"""What is asked for: the compute quota that the resource's properties describe."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from botocore.validate import ParamValidator

from ..cast import cast
from ..clients import Aws
from ..errors import RefusedError

FORMATS = frozenset({"1"})
"""Every property format ever released; each must pass Delete and a rollback's Update for ever."""

PROPERTIES = frozenset({"ServiceToken", "ServiceTimeout", "Format", "Request"})

PARTS = ("ComputeQuotaConfig", "ComputeQuotaTarget", "ActivationState", "Description")
"""Members of the request that UpdateComputeQuota takes too."""


@dataclass(frozen=True, kw_only=True)
class Desired:
    """The quota that the properties describe.

    Args:
        request: for CreateComputeQuota, in the API's types; without the ownership tags.
    """

    request: Mapping[str, Any]

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
    def tags(self) -> dict[str, str]:
        """The user's tags."""
        return {tag["Key"]: tag.get("Value", "") for tag in self.request.get("Tags", ())}

    @property
    def physical_id(self) -> str:
        """``<cluster id>/<name>``, which CloudFormation knows the quota by; empty when one is missing.

        The service's own id is drawn when the quota is made. Its name is known before, so that the quota is
        found again although the answer that told the id was lost.
        """
        cluster_id = self.cluster_arn.rpartition("/")[-1]
        return f"{cluster_id}/{self.name}" if cluster_id and self.name else ""


def desired_of(properties: Mapping[str, Any], aws: Aws) -> Desired:
    """Read and check ResourceProperties; makes no call.

    Raises:
        RefusedError: unknown format, property or member; a value of the wrong type; a required member that is
            missing; a range that is broken.
    """
    known = properties.get("Format", "1")
    if known not in FORMATS:
        raise RefusedError(f"Format: this handler reads {', '.join(sorted(FORMATS))}, got: {known!r}")
    unknown = sorted(set(properties) - PROPERTIES)
    if unknown:
        raise RefusedError(f"{unknown[0]}: unknown property; allowed: {', '.join(sorted(PROPERTIES))}")
    desired = _read(properties, aws, strict=True)
    report = ParamValidator().validate(dict(desired.request), aws.input_shape("CreateComputeQuota"))
    if report.has_errors():
        raise RefusedError(f"Request: {report.generate_report()}")
    return desired


def lenient_desired_of(properties: Mapping[str, Any], aws: Aws) -> Desired:
    """Read properties of the past, which another release may have written; never refuses.

    What can not be read counts as absent.
    """
    try:
        return _read(properties, aws, strict=False)
    except RefusedError:
        request = properties.get("Request")
        kept = request if isinstance(request, Mapping) else {}
        names = {name: kept.get(name) for name in ("Name", "ClusterArn")}
        return Desired(request={name: value for name, value in names.items() if isinstance(value, str)})


def _read(properties: Mapping[str, Any], aws: Aws, *, strict: bool) -> Desired:
    shape = aws.input_shape("CreateComputeQuota")
    return Desired(request=cast(properties.get("Request") or {}, shape, "Request", strict=strict))
