"""Amazon EKS behind moto's server; moto's own has neither access entries nor add-ons, nor states."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from unittest.mock import patch

from moto.backends import get_backend
from moto.core.common_types import TYPE_RESPONSE
from moto.core.responses import BaseResponse
from moto.eks import urls
from moto.sts.models import sts_backends
from moto.utilities.utils import get_partition

from hyperpod_cdk.rehearsal.eks.errors import EksError
from hyperpod_cdk.rehearsal.eks.operations import operations, read
from hyperpod_cdk.rehearsal.eks.service import AmazonEks

_ATTRIBUTE = "_amazon_eks"
_COLLECTIONS = ("access-policies", "addons", "cluster-versions", "clusters", "tags")
"""What the paths of all operations begin with."""
_creation = Lock()


class Api(BaseResponse):
    """The operations of Amazon EKS."""

    def __init__(self) -> None:
        super().__init__(service_name="eks")

    def call_action(self) -> TYPE_RESPONSE:
        """Let the emulated service answer."""
        try:
            name, request = read(self.method, self.normalized_request.raw_url, self.raw_body or b"")
            act = operations().get(name)
            if act is None:
                raise NotImplementedError(f"Amazon EKS: {name} is not emulated")
            eks = service(self.current_account, self.region)
            answer = eks.call(act, request, name=name, caller=self._caller())
        except EksError as error:
            headers = {"x-amzn-ErrorType": error.code, "status": error.status}
            return error.status, headers, json.dumps({"message": error.message})
        return 200, {}, json.dumps(answer)

    def _caller(self) -> str:
        partition = get_partition(self.region)
        identity = sts_backends[self.current_account][partition].get_caller_identity(
            self.get_access_key(), self.region
        )
        return str(identity[1])


def service(account_id: str = "123456789012", region: str = "us-west-2") -> AmazonEks:
    """Give the emulated service of an account and Region, which begins empty after a reset of moto.

    Args:
        account_id: 12 digits; the default is moto's own.
        region: for example ``us-west-2``.
    """
    backend = get_backend("eks")[account_id][region]
    with _creation:
        found: AmazonEks | None = vars(backend).get(_ATTRIBUTE)
        if found is None:
            found = AmazonEks(account_id, region)
            setattr(backend, _ATTRIBUTE, found)
            _on_creation(found)
    return found


_watchers: list[Callable[[AmazonEks], None]] = []


def _on_creation(eks: AmazonEks) -> None:
    eks.served = bool(_watchers)
    for watcher in _watchers:
        watcher(eks)


@contextmanager
def served(prepare: Callable[[AmazonEks], None]) -> Iterator[None]:
    """Let moto's web application answer Amazon EKS.

    Args:
        prepare: called once with the service of each account and Region that is asked.
    """
    paths = {
        f"{{0}}/{collection}{rest}": Api.dispatch
        for collection in _COLLECTIONS
        for rest in ("$", "/(?P<rest>.+)$")
    }
    _watchers.append(prepare)
    try:
        with patch.dict(urls.url_paths, paths, clear=True):
            yield
    finally:
        _watchers.remove(prepare)
