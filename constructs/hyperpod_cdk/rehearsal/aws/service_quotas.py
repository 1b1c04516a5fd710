"""Service Quotas: those that a cluster meets. Moto has a few of VPC, and lists none that an account has."""

from __future__ import annotations

import json
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from moto.core.common_types import TYPE_RESPONSE
from moto.core.responses import BaseResponse
from moto.servicequotas import urls

from hyperpod_cdk.service import quotas
from hyperpod_cdk.service.instance_types import catalogue
from hyperpod_cdk.service.quotas import Quota

_NETWORK = {
    quotas.VPCS: 5,
    quotas.INTERNET_GATEWAYS: 5,
    quotas.NETWORK_INTERFACES: 5000,
    quotas.ADDRESSES: 5,
}
"""Defaults of AWS: https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html, 2026-10."""
_CLUSTERS = {
    quotas.INSTANCES_PER_CLUSTER: 1000,
    quotas.INSTANCES_OF_ALL_CLUSTERS: 1000,
    quotas.SPOT_INSTANCES_OF_ALL_CLUSTERS: 1000,
    quotas.VOLUME_SIZE: 16384,
}
_OTHERS = {
    quotas.RESTRICTED_FILE_SYSTEMS: 100,
    quotas.CONTROL_PLANES: 100,
    **{quotas.on_demand_vcpus(name): 100 for name in ("m6i.large", "g5.xlarge", "p4d.24xlarge")},
}
"""https://docs.aws.amazon.com/eks/latest/userguide/service-quotas.html; the others are examples."""
_OF_A_TYPE = 100
"""As in an account that has asked for more: a fresh one has 0 of most types, and 20 nodes a cluster."""
_PAGE = 100


class ServiceQuotas:
    """Quotas of one account and Region.

    ``applied`` holds values of the account's own by the quota's name, ``defaults`` those of everybody; a
    quota that is in neither does not exist.
    """

    def __init__(self) -> None:
        kinds = (quotas.cluster_usage, quotas.cluster_spot_usage)
        of_types = {kind(name): _OF_A_TYPE for name in catalogue() for kind in kinds}
        every = {**_NETWORK, **_CLUSTERS, **_OTHERS, **of_types}
        self.codes = {_code(quota): quota for quota in every}
        self.defaults: dict[str, float] = {quota.name: value for quota, value in every.items()}
        self.applied: dict[str, float] = dict(self.defaults)

    def find(self, code: str, values: Mapping[str, float]) -> dict[str, Any] | None:
        """The quota of a code, as the API describes it; None where it has no value.

        Args:
            values: ``applied`` or ``defaults``.
        """
        quota = self.codes.get(code)
        if quota is None or quota.name not in values:
            return None
        return {
            "ServiceCode": quota.service,
            "QuotaCode": code,
            "QuotaName": quota.name,
            "Value": values[quota.name],
            "Adjustable": True,
        }

    def of_service(self, service: str, values: Mapping[str, float]) -> list[dict[str, Any]]:
        """All quotas of a service, by their codes."""
        codes = sorted(code for code, quota in self.codes.items() if quota.service == service)
        return [found for code in codes if (found := self.find(code, values))]


def _code(quota: Quota) -> str:
    # where AWS's own is not known, one that looks alike
    return quota.code or f"L-{zlib.crc32(quota.name.encode()):08X}"


class Api(BaseResponse):
    """The operations of Service Quotas; moto refuses all others as not implemented."""

    stores: Mapping[tuple[str, str], ServiceQuotas]

    def __init__(self) -> None:
        super().__init__(service_name="service-quotas")

    @property
    def _store(self) -> ServiceQuotas:
        return type(self).stores[self.current_account, self.region]

    @property
    def _request(self) -> dict[str, Any]:
        return dict(json.loads(self.body))

    def get_service_quota(self) -> TYPE_RESPONSE:
        """GetServiceQuota: a value of the account's own."""
        return self._one(self._store.applied)

    def get_aws_default_service_quota(self) -> TYPE_RESPONSE:
        """GetAWSDefaultServiceQuota."""
        return self._one(self._store.defaults)

    def list_service_quotas(self) -> TYPE_RESPONSE:
        """ListServiceQuotas."""
        return self._page(self._store.applied)

    def list_aws_default_service_quotas(self) -> TYPE_RESPONSE:
        """ListAWSDefaultServiceQuotas."""
        return self._page(self._store.defaults)

    def _one(self, values: Mapping[str, float]) -> TYPE_RESPONSE:
        found = self._store.find(self._request["QuotaCode"], values)
        if found is None:
            code = "NoSuchResourceException"
            body = json.dumps({"__type": code, "Message": "The request failed because there is none."})
            return 400, {"x-amzn-errortype": code, "status": 400}, body
        return 200, {}, json.dumps({"Quota": found})

    def _page(self, values: Mapping[str, float]) -> TYPE_RESPONSE:
        request = self._request
        every = self._store.of_service(request["ServiceCode"], values)
        start, size = int(request.get("NextToken", 0)), request.get("MaxResults", _PAGE)
        answer: dict[str, Any] = {"Quotas": every[start : start + size]}
        if start + size < len(every):
            answer["NextToken"] = str(start + size)
        return 200, {}, json.dumps(answer)


class _Stores(defaultdict[tuple[str, str], ServiceQuotas]):
    def __init__(self) -> None:
        super().__init__(ServiceQuotas)


@contextmanager
def quotas_served() -> Iterator[Mapping[tuple[str, str], ServiceQuotas]]:
    """Let moto's web application answer Service Quotas; gives the quotas by account and Region."""
    stores = _Stores()

    class Served(Api):
        pass

    Served.stores = stores
    with patch.dict(urls.url_paths, {key: Served.dispatch for key in urls.url_paths}):
        yield stores
