"""A thing of the service: what is asked for, and what lives."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar


@dataclass(frozen=True, kw_only=True)
class Desired(ABC):
    """What the resource's properties describe.

    Args:
        request: for the service's Create operation, in the API's types; without the ownership tags.
    """

    request: Mapping[str, Any]

    @property
    @abstractmethod
    def physical_id(self) -> str:
        """What CloudFormation knows the thing by; empty when the properties do not tell.

        Known before the thing is made, so that it is found although the answer that told of it was lost.
        """

    @property
    def tags(self) -> dict[str, str]:
        """The user's tags."""
        return {tag["Key"]: tag.get("Value", "") for tag in self.request.get("Tags", ())}


@dataclass(frozen=True, kw_only=True)
class Live:
    """A thing that exists; ``description`` is what Describe answers.

    ``KEY`` is the member that Describe and Delete take, and no later thing will ever have.
    """

    KEY: ClassVar[str]
    ARN: ClassVar[str]
    NAME: ClassVar[str]
    STATUS: ClassVar[str]

    description: Mapping[str, Any]

    @property
    def key(self) -> str:
        """What tells it from a later thing of the same name."""
        return str(self.description[self.KEY])

    @property
    def arn(self) -> str:
        """Its ARN."""
        return str(self.description[self.ARN])

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.description.get(self.NAME, ""))

    @property
    def status(self) -> str:
        """One of the API's values."""
        return str(self.description[self.STATUS])

    @property
    def made(self) -> float:
        """When it was made, in seconds since 1970; 0 when the service does not tell."""
        time = self.description.get("CreationTime")
        return float(time.timestamp()) if time is not None else 0.0
