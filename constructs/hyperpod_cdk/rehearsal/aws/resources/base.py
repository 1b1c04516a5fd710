"""What a resource type is, and the AWS calls that it is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Protocol

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError
from botocore.model import ListShape, MapShape, Shape, StructureShape

Properties = Mapping[str, Any]


class ResourceError(Exception):
    """A resource could not be created, changed or deleted; the text is what the stack's events say.

    Args:
        message: Why.
        physical_id: What exists nevertheless, and must be deleted when the stack rolls back.
    """

    def __init__(self, message: str, *, physical_id: str = "") -> None:
        super().__init__(message)
        self.physical_id = physical_id


class UnsupportedResourceError(ResourceError):
    """A resource type, a property or a change that is not emulated."""


@dataclass(frozen=True, kw_only=True)
class Created:
    """A resource that exists.

    Args:
        physical_id: What Ref gives.
        attributes: What Fn::GetAtt gives, by attribute name.
    """

    physical_id: str
    attributes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Call:
    """One operation on one resource.

    Args:
        aws: Clients of the embedded AWS.
        type: The resource type, such as ``AWS::EC2::VPC``.
        logical_id: The resource's name in the template.
        stack_name: The stack's name.
        stack_id: The stack's ARN.
        properties: The properties, every intrinsic function evaluated.
        existing: What exists; None while creating.
        old_properties: The properties before an update.
    """

    aws: Clients
    type: str
    logical_id: str
    stack_name: str
    stack_id: str
    properties: Properties
    existing: Created | None = None
    old_properties: Properties = field(default_factory=dict)

    @property
    def physical_id(self) -> str:
        """What Ref gives.

        Raises:
            ResourceError: When nothing exists yet.
        """
        return self.created.physical_id

    @property
    def created(self) -> Created:
        """What exists.

        Raises:
            ResourceError: When nothing exists yet.
        """
        if self.existing is None:
            raise ResourceError(f"{self.logical_id} does not exist")
        return self.existing

    @property
    def suffix(self) -> str:
        """Twelve characters that tell this resource from its namesakes, as in CloudFormation's names."""
        return self.aws.unique()

    def name(self, *, limit: int = 64) -> str:
        """Make a name up as CloudFormation does: stack, logical id, random suffix.

        Args:
            limit: The longest name that the service takes.
        """
        tail = f"-{self.suffix}"
        return f"{self.stack_name}-{self.logical_id}"[: limit - len(tail)] + tail

    @property
    def changed(self) -> frozenset[str]:
        """Names of the properties that an update changes."""
        names = {*self.properties, *self.old_properties}
        return frozenset(n for n in names if self.properties.get(n) != self.old_properties.get(n))


class ResourceType(Protocol):
    """Creates, changes and deletes the resources of one type."""

    @property
    def slow(self) -> bool:
        """Whether its operations wait for something, so that others had better go on meanwhile."""

    def create(self, call: Call) -> Created:
        """Create the resource and wait until it is there."""

    def update(self, call: Call) -> Created:
        """Change the resource in place, or create its replacement under another physical id."""

    def delete(self, call: Call) -> None:
        """Delete the resource; one that is gone already counts as deleted."""


class Clients:
    """Clients of the embedded AWS, one a service.

    Args:
        endpoint: Where the embedded AWS listens.
        region: The Region.
        account_id: The account.
        credentials: Arguments of `boto3.client` that carry the credentials.
        unique: Gives a fresh suffix for names.
    """

    def __init__(
        self,
        *,
        endpoint: str,
        region: str,
        account_id: str,
        credentials: Mapping[str, str],
        unique: Callable[[], str],
    ) -> None:
        self.region = region
        self.account_id = account_id
        self.unique = unique
        self._lock = Lock()
        # A session of its own: the user's profile and configuration are not to be read.
        self._session = boto3.session.Session(region_name=region, **credentials)
        self._arguments: dict[str, Any] = {
            "endpoint_url": endpoint,
            "config": Config(retries={"total_max_attempts": 1}, s3={"addressing_style": "path"}),
        }
        self._clients: dict[str, Any] = {}

    def client(self, service: str) -> Any:
        """Give the boto3 client of a service.

        Args:
            service: Its name in boto3, such as ``ec2``.
        """
        with self._lock:
            if service not in self._clients:
                self._clients[service] = self._session.client(service, **self._arguments)
            return self._clients[service]

    def call(self, service: str, operation: str, **arguments: Any) -> Any:
        """Call an operation with values as loosely typed as CloudFormation takes them.

        Args:
            service: The service's name in boto3.
            operation: The method's name in boto3.
            arguments: The operation's parameters; those that are None are left out.

        Raises:
            ResourceError: When the service refuses, or knows no such parameter.
        """
        client = self.client(service)
        model = client.meta.service_model.operation_model(client.meta.method_to_api_mapping[operation])
        given = {name: value for name, value in arguments.items() if value is not None}
        shape = model.input_shape
        try:
            return getattr(client, operation)(**(_coerce(given, shape) if shape else given))
        except ClientError as error:
            detail = error.response["Error"]
            raise ResourceError(
                f"{detail.get('Message')} (Service: {service}, {detail.get('Code')})"
            ) from error
        except Exception as error:  # botocore's own validation has no common base class
            raise ResourceError(f"{service}.{operation}: {error}") from error


def absent(error: ResourceError) -> bool:
    """Whether an error says that the resource is not there."""
    cause = error.__cause__
    code = cause.response["Error"].get("Code", "") if isinstance(cause, ClientError) else ""
    return any(word in code for word in ("NotFound", "NoSuch", "DoesNotExist", "Not Found"))


def known(call: Call, names: Iterable[str]) -> None:
    """Refuse properties that would otherwise be dropped without a word.

    Args:
        call: The operation.
        names: The properties that the type emulates.

    Raises:
        UnsupportedResourceError: Naming the others.
    """
    others = sorted(set(call.properties) - set(names))
    if others:
        raise UnsupportedResourceError(f"{call.type}: property {', '.join(others)} is not emulated")


def _coerce(value: Any, shape: Shape) -> Any:
    if isinstance(shape, StructureShape) and isinstance(value, dict):
        return {k: _coerce(v, shape.members[k]) if k in shape.members else v for k, v in value.items()}
    if isinstance(shape, ListShape):
        return [_coerce(item, shape.member) for item in (value if isinstance(value, list) else [value])]
    if isinstance(shape, MapShape) and isinstance(value, dict):
        return {k: _coerce(v, shape.value) for k, v in value.items()}
    convert = _SCALARS.get(shape.type_name)
    return convert(value) if convert else value


def _boolean(value: Any) -> Any:
    return {"true": True, "false": False}.get(value.lower(), value) if isinstance(value, str) else value


def _number(value: Any) -> Any:
    return int(value) if isinstance(value, str) and value.lstrip("-").isdigit() else value


def _string(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else value


_SCALARS: Mapping[str, Callable[[Any], Any]] = {
    "boolean": _boolean,
    "integer": _number,
    "long": _number,
    "string": _string,
}
