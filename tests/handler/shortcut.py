"""From the handler's clients straight to an emulated service: no HTTP, no moto, 20 times as fast.

botocore still checks, serializes and signs off on each call, and makes its own exceptions of error answers.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from hyperpod_cdk.rehearsal.hyperpod import HyperPodService, service, tags
from hyperpod_cdk.rehearsal.hyperpod.errors import ServiceError
from tests.handler.samples import Request

_TAGS = {"AddTags": tags.add_tags, "ListTags": tags.list_tags, "DeleteTags": tags.delete_tags}


@dataclass(frozen=True)
class _Http:
    status_code: int


class Shortcut:
    """Answers a SageMaker client, and an EC2 client about interfaces.

    Attributes:
        service: what answers; None for the emulated account's own.
        watch: called with each SageMaker operation and its request, before the service sees them.
    """

    def __init__(self) -> None:
        self.service: HyperPodService | None = None
        self.watch: Callable[[str, Request], None] = lambda operation, request: None

    def connect(self, sagemaker: Any) -> None:
        """Take the network's place before SageMaker."""
        sagemaker.meta.events.register("before-call.sagemaker", self._sagemaker)

    def disconnect(self, sagemaker: Any) -> None:
        """Give the network its place back."""
        sagemaker.meta.events.unregister("before-call.sagemaker", self._sagemaker)

    def connect_interfaces(self, ec2: Any) -> None:
        """Take the network's place before DescribeNetworkInterfaces."""
        ec2.meta.events.register("before-call.ec2.DescribeNetworkInterfaces", self._interfaces)

    def _sagemaker(self, model: Any, params: Mapping[str, Any], **_: Any) -> tuple[_Http, Request]:
        request = json.loads(params["body"])
        self.watch(model.name, request)
        try:
            answer = self.answer(model.name, request)
        except ServiceError as error:
            metadata = {"HTTPStatusCode": error.status}
            shown = {"Code": error.code, "Message": error.message}
            return _Http(error.status), {"Error": shown, "ResponseMetadata": metadata}
        return _Http(200), _parsed(answer)

    def answer(self, operation: str, request: Request) -> Request:
        """Let the service answer, unwatched."""
        asked = self.service or service()
        if operation in _TAGS:
            return asked.answer(operation, request, _TAGS[operation])
        return asked.call(operation, request)

    def _interfaces(self, params: Mapping[str, Any], **_: Any) -> tuple[_Http, Request]:
        wanted = {value for key, value in params["body"].items() if key.startswith("Filter.1.Value.")}
        found = [
            {"Description": interface.description, "TagSet": []}
            for interface in (self.service or service()).account.ec2.enis.values()
            if wanted & {group.id for group in interface.group_set}
        ]
        return _Http(200), {"NetworkInterfaces": found}


def _parsed(value: Any) -> Any:
    """What botocore makes of an answer: copies, and instants with their time zone."""
    if isinstance(value, dict):
        return {key: _parsed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_parsed(item) for item in value]
    return value.replace(tzinfo=UTC) if isinstance(value, datetime) else value
