"""moto's SageMaker with the emulated HyperPod service in it.

moto finds the handler of a request in ``moto.sagemaker.urls.url_paths``, in-process and behind its server
alike; :func:`install` puts a subclass of moto's handler there. The service of an account and Region lives
on moto's backend object, so a reset of moto takes it away with everything else.
"""

import json
from collections.abc import Callable
from functools import partial
from threading import Lock
from typing import Any

from moto.core.common_types import TYPE_RESPONSE
from moto.core.request import Request
from moto.core.responses import ActionResult
from moto.core.utils import camelcase_to_underscores
from moto.sagemaker import urls
from moto.sagemaker.models import SageMakerModelBackend
from moto.sagemaker.responses import SageMakerResponse
from moto.sts.models import sts_backends

from hyperpod_cdk.rehearsal.hyperpod import orchestrator, tags
from hyperpod_cdk.rehearsal.hyperpod.aws import Account
from hyperpod_cdk.rehearsal.hyperpod.errors import SerializationError, ServiceError
from hyperpod_cdk.rehearsal.hyperpod.operations import OPERATIONS, Operation
from hyperpod_cdk.rehearsal.hyperpod.service import HyperPodService

_ATTRIBUTE = "_hyperpod_service"
_creation = Lock()


class HyperPodResponse(SageMakerResponse):
    """moto's SageMaker handler, with the operations of :data:`.OPERATIONS` and tags of what they make."""

    def parse_parameters(self, request: Request) -> None:
        """Leave the body of our operations as it came, since moto's parser forgives what AWS refuses."""
        if self._get_action() not in OPERATIONS:
            super().parse_parameters(request)

    def answer(self, operation: str, act: Operation) -> ActionResult | TYPE_RESPONSE:
        """Let the emulated service answer.

        Args:
            operation: name as in the API.
            act: what the service does.
        """
        try:
            hyperpod = service(self.current_account, self.region)
            role = _role_of(self.current_account, self.get_access_key())
            return ActionResult(hyperpod.answer(operation, self._json_body(), act, caller_role=role))
        except ServiceError as error:
            return _error(error)

    def add_tags(self) -> ActionResult | TYPE_RESPONSE:  # type: ignore[override]
        """AddTags: on what is ours here, on everything else in moto."""
        return self.answer("AddTags", tags.add_tags) if self._is_ours() else super().add_tags()

    def list_tags(self) -> ActionResult | TYPE_RESPONSE:  # type: ignore[override]
        """ListTags: of what is ours here, of everything else in moto."""
        return self.answer("ListTags", tags.list_tags) if self._is_ours() else super().list_tags()

    def delete_tags(self) -> ActionResult | TYPE_RESPONSE:  # type: ignore[override]
        """DeleteTags: on what is ours here, on everything else in moto."""
        ours = self._is_ours()
        return self.answer("DeleteTags", tags.delete_tags) if ours else super().delete_tags()

    def _is_ours(self) -> bool:
        return tags.is_ours(self._json_body())

    def _json_body(self) -> Any:
        try:
            return json.loads(self.body or "{}")
        except json.JSONDecodeError as error:
            raise SerializationError(f"the request is no JSON: {error}") from None


def install() -> None:
    """Extend moto, in this process, in-process mocks and servers alike; a second call changes nothing."""
    urls.url_paths["{0}/$"] = HyperPodResponse.dispatch


def service(account_id: str = "123456789012", region: str = "us-west-2") -> HyperPodService:
    """Give the emulated service of an account and Region, which begins empty after a reset of moto.

    Args:
        account_id: 12 digits; the default is moto's own.
        region: for example ``us-west-2``.
    """
    backend: SageMakerModelBackend = Account(account_id, region).sagemaker
    with _creation:
        found: HyperPodService | None = vars(backend).get(_ATTRIBUTE)
        if found is None:
            found = HyperPodService(account_id, region)
            found.account.eks.tenants.append(found)
            found.governance_readiness = partial(orchestrator.unready_for_governance, found)
            setattr(backend, _ATTRIBUTE, found)
            vars(backend)["clusters"] = tags.ClusterTable(found)
    return found


def _role_of(account_id: str, access_key: str) -> str:
    for backend in sts_backends[account_id].values():
        session = backend.get_assumed_role_from_access_key(access_key)
        if session is not None:
            return str(session.role_arn)
    return ""


def _error(error: ServiceError) -> TYPE_RESPONSE:
    headers = {"x-amzn-errortype": error.code, "status": error.status}
    return error.status, headers, json.dumps({"__type": error.code, "message": error.message})


def _method(name: str, act: Operation) -> Callable[[HyperPodResponse], ActionResult | TYPE_RESPONSE]:
    def answer(self: HyperPodResponse) -> ActionResult | TYPE_RESPONSE:
        return self.answer(name, act)

    return answer


for _name, _act in OPERATIONS.items():  # moto looks an operation up by the method's name
    setattr(HyperPodResponse, camelcase_to_underscores(_name), _method(_name, _act))
