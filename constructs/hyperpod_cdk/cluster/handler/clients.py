"""The way to AWS: botocore clients, made when first needed, and the clock."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from botocore.config import Config
from botocore.loaders import Loader
from botocore.model import StructureShape
from botocore.session import Session

CONFIG = Config(
    connect_timeout=5,
    # a network that is silent must cost a poll, not the life of the function: six times this, and the pauses
    read_timeout=15,
    retries={"mode": "adaptive", "total_max_attempts": 6},
    user_agent_extra="hyperpod-cdk",
)

SERVICES = ("sagemaker", "logs", "ec2", "stepfunctions")
"""What the handler calls, by botocore's name."""


def _loader() -> Any:
    """What reads botocore's data: what was shipped first, and without a look at botocore's 400 services."""
    paths = os.environ.get("AWS_DATA_PATH", "").split(os.pathsep)
    loader = Loader(extra_search_paths=[path for path in paths if path])
    loader.list_available_services = lambda *_, **__: list(SERVICES)
    return loader


class Clients:
    """botocore clients; one object lives as long as the Lambda function's process.

    Args:
        config: of every client.
    """

    def __init__(self, config: Config = CONFIG) -> None:
        self._config = config

    @cached_property
    def _session(self) -> Any:
        session = Session()
        session.register_component("data_loader", _loader())
        return session

    @cached_property
    def sagemaker(self) -> Any:
        """SageMaker's."""
        return self._session.create_client("sagemaker", config=self._config)

    @cached_property
    def logs(self) -> Any:
        """CloudWatch Logs'; needed only for the reason of a failure."""
        return self._session.create_client("logs", config=self._config)

    @cached_property
    def states(self) -> Any:
        """Step Functions'; needed only where a state machine goes on waiting."""
        return self._session.create_client("stepfunctions", config=self._config)

    @cached_property
    def ec2(self) -> Any:
        """EC2's; needed only while a cluster is deleted."""
        return self._session.create_client("ec2", config=self._config)


@dataclass(frozen=True, kw_only=True)
class Aws:
    """What one invocation has of the world: clients and a clock.

    Args:
        clients: the way to AWS.
        started: when the invocation began, in seconds since 1970.
        sleep: pauses for seconds.
        now: gives seconds since 1970.
    """

    clients: Clients
    started: float
    sleep: Callable[[float], None] = time.sleep
    now: Callable[[], float] = time.time

    @property
    def sagemaker(self) -> Any:
        """The SageMaker client."""
        return self.clients.sagemaker

    @property
    def logs(self) -> Any:
        """The CloudWatch Logs client."""
        return self.clients.logs

    @property
    def states(self) -> Any:
        """The Step Functions client."""
        return self.clients.states

    @property
    def ec2(self) -> Any:
        """The EC2 client."""
        return self.clients.ec2

    @property
    def region(self) -> str:
        """The Region's name."""
        return str(self.sagemaker.meta.region_name)

    def input_shape(self, operation: str) -> StructureShape:
        """Give the request shape of a SageMaker operation, as the shipped API model has it."""
        return self.sagemaker.meta.service_model.operation_model(operation).input_shape
