"""A change of what is deployed: the spec before, and the spec that follows."""

from dataclasses import dataclass
from typing import Any

from hyperpod_cdk.spec import EksOrchestrator, HyperPodSpec


@dataclass(frozen=True, kw_only=True)
class SpecChange:
    """A spec that is deployed, and the one that is to follow."""

    before: HyperPodSpec
    after: HyperPodSpec

    @property
    def planes(self) -> tuple[EksOrchestrator, EksOrchestrator] | None:
        """Both control planes, if Amazon EKS runs the jobs before and after."""
        before, after = self.before.cluster.orchestrator.eks, self.after.cluster.orchestrator.eks
        return None if before is None or after is None else (before, after)

    @property
    def made_planes(self) -> tuple[EksOrchestrator, EksOrchestrator] | None:
        """Both control planes, if it is one that was made here and stays."""
        planes = self.planes
        return planes if planes and planes[0].cluster_arn is planes[1].cluster_arn is None else None


def told(value: Any) -> str:
    """A value that was there before, in words."""
    return "not given" if value in (None, [], ()) else str(value)
