"""What checks ask of an account; the same question twice is one call."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hyperpod_cdk.preflight import apis, places
from hyperpod_cdk.preflight.aws import Aws
from hyperpod_cdk.preflight.calls import Api, Call, RefusedError, UnansweredError
from hyperpod_cdk.preflight.eks_plan import DEFAULT_STACK_NAME
from hyperpod_cdk.service.quotas import Quota
from hyperpod_cdk.spec import HyperPodSpec

CLUSTER_TYPES = frozenset({"Custom::HyperPodCluster", "AWS::SageMaker::Cluster"})
"""Resource types of a stack that are clusters; the physical id is its name, or its ARN."""

WHO_ASKS = Api(client="sts", operation="get_caller_identity", action="sts:GetCallerIdentity")
"""Needs no permission, and can not be denied."""

DEFAULT_QUALIFIER = "hnb659fds"
"""The CDK's own (https://docs.aws.amazon.com/cdk/v2/guide/bootstrapping-customizing.html, 2026-10)."""

Item = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Look:
    """A spec, and the account that it is to be deployed to."""

    spec: HyperPodSpec
    aws: Aws
    qualifier: str = DEFAULT_QUALIFIER
    """Of the CDK's bootstrap in the account."""

    # -- calls -----------------------------------------------------------------------------------------

    def ask(self, call: Call, *, absent: Sequence[str] = ()) -> Any:
        """The answer of a call; None where the service refuses with one of these error codes.

        Raises:
            UnansweredError, RefusedError: as of :meth:`.Aws.answer`.
        """
        try:
            return self.aws.answer(call)
        except RefusedError as refusal:
            if refusal.code in absent:
                return None
            raise

    def account(self) -> str:
        """Id of the account that is asked."""
        return str(self.aws.answer(WHO_ASKS())["Account"])

    # -- the stack and its clusters --------------------------------------------------------------------

    @property
    def stack_name(self) -> str:
        """Name of the stack that the spec becomes."""
        return self.spec.stack_name or DEFAULT_STACK_NAME

    def stack_call(self) -> Call:
        """Resources of the stack."""
        return apis.LIST_STACK_RESOURCES(StackName=self.stack_name)

    def stack_resources(self, *types: str) -> list[Item]:
        """The stack's resources of some types, as far as they are made; none while there is no stack."""
        # a stack that is not there is a ValidationError
        found: list[Item] = self.ask(self.stack_call(), absent=["ValidationError"]) or []
        return [one for one in found if one["ResourceType"] in types and one.get("PhysicalResourceId")]

    def in_stack(self, *types: str) -> list[str]:
        """Physical ids of the stack's resources of some types."""
        return [str(one["PhysicalResourceId"]) for one in self.stack_resources(*types)]

    def clusters(self) -> list[Item]:
        """Every HyperPod cluster of the account, described."""
        names = [one["ClusterName"] for one in self.aws.answer(apis.LIST_CLUSTERS())]
        calls = [apis.DESCRIBE_CLUSTER(ClusterName=name) for name in names]
        for call in calls:
            self.aws.start(call)
        described = [self.ask(call, absent=["ResourceNotFound"]) for call in calls]
        return [one for one in described if one]

    def is_ours(self, cluster: Item) -> bool:
        """Whether a cluster is the stack's."""
        own = self.in_stack(*CLUSTER_TYPES)
        return cluster["ClusterName"] in own or cluster["ClusterArn"] in own

    def other_clusters(self) -> list[Item]:
        """Every cluster but the stack's."""
        return [one for one in self.clusters() if not self.is_ours(one)]

    def own_clusters(self) -> list[Item]:
        """The stack's; one, or none before the first deployment."""
        return [one for one in self.clusters() if self.is_ours(one)]

    # -- the network -----------------------------------------------------------------------------------

    def subnets_call(self) -> Call:
        """The existing subnets that the spec names."""
        ids = [subnet_id for _, subnet_id in places.subnets(self.spec)]
        return apis.DESCRIBE_SUBNETS(Filters=[{"Name": "subnet-id", "Values": ids}])

    def subnets(self) -> dict[str, Item]:
        """The existing subnets by their ids, as far as they are there."""
        if not places.subnets(self.spec):
            return {}
        return {one["SubnetId"]: one for one in self.aws.answer(self.subnets_call())}

    def vpc_id(self) -> str | None:
        """The existing VPC: as the spec names it, else that of the first subnet; None for a new network."""
        existing = self.spec.network.existing
        if existing is None:
            return None
        if existing.vpc_id:
            return existing.vpc_id
        return next((str(one["VpcId"]) for one in self.subnets().values()), None)

    def in_vpc(self) -> list[dict[str, Any]]:
        """Filter for what lies in the existing VPC, none where the spec does not name it."""
        existing = self.spec.network.existing
        named = existing.vpc_id if existing else None
        return [{"Name": "vpc-id", "Values": [named]}] if named else []

    # -- quotas ----------------------------------------------------------------------------------------

    def quota_calls(self, quota: Quota) -> list[Call]:
        """What is asked first about a quota."""
        if quota.code is None:
            return [apis.LIST_QUOTAS(ServiceCode=quota.service, MaxResults=100)]
        names = {"ServiceCode": quota.service, "QuotaCode": quota.code}
        return [apis.GET_QUOTA(**names), apis.GET_DEFAULT_QUOTA(**names)]

    def quota(self, quota: Quota) -> float:
        """The value of a quota: the account's own, else the default.

        Raises:
            UnansweredError: no quota has its name.
        """
        for call in self.quota_calls(quota):
            self.aws.start(call)
        found = next(self._quotas(quota), None)
        if found is None:
            raise UnansweredError(f"Service Quotas knows no quota named {quota.name!r} here")
        return float(found["Value"])

    def _quotas(self, quota: Quota) -> Iterator[Item]:
        if quota.code is not None:
            for call in self.quota_calls(quota):
                answer = self.ask(call, absent=["NoSuchResourceException"])
                if answer and quota.is_named(answer["Quota"]["QuotaName"]):
                    yield answer["Quota"]
        # one after the other: the second is needed only where the account has no value of its own
        for api in (apis.LIST_QUOTAS, apis.LIST_DEFAULT_QUOTAS):
            for one in self.aws.answer(api(ServiceCode=quota.service, MaxResults=100)):
                if quota.is_named(one["QuotaName"]):
                    yield one
