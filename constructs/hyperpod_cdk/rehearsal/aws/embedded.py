"""The embedded AWS: moto's services on a loopback port, with what they lack to carry a CDK deployment."""

from __future__ import annotations

import os
import secrets
import string
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, Self
from unittest.mock import patch

from moto.core.base_backend import BackendDict
from moto.core.config import default_user_config
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.ec2.models import ec2_backends
from moto.utilities.utils import get_partition

from hyperpod_cdk.rehearsal.aws.bucket_policies import bucket_policies_as_in_s3
from hyperpod_cdk.rehearsal.aws.control_planes import control_planes_served
from hyperpod_cdk.rehearsal.aws.filesystems import FileSystems, file_systems_served
from hyperpod_cdk.rehearsal.aws.functions.pool import FunctionPool, functions_run_in
from hyperpod_cdk.rehearsal.aws.functions.python_runtime import CLOCK_VARIABLE
from hyperpod_cdk.rehearsal.aws.policy_simulation import policies_simulated
from hyperpod_cdk.rehearsal.aws.resources.base import Clients
from hyperpod_cdk.rehearsal.aws.resources.mailbox import Mailbox
from hyperpod_cdk.rehearsal.aws.resources.registry import Registry
from hyperpod_cdk.rehearsal.aws.server import LoopbackServer
from hyperpod_cdk.rehearsal.aws.service_quotas import ServiceQuotas, quotas_served
from hyperpod_cdk.rehearsal.aws.stacks.api import cloudformation_served_by
from hyperpod_cdk.rehearsal.aws.stacks.operation import Environment
from hyperpod_cdk.rehearsal.aws.stacks.records import Event
from hyperpod_cdk.rehearsal.aws.stacks.service import CloudFormation
from hyperpod_cdk.rehearsal.aws.step_functions import state_machines_execute
from hyperpod_cdk.rehearsal.aws.trail import trail_is_empty
from hyperpod_cdk.rehearsal.eks import Cluster
from hyperpod_cdk.rehearsal.scratch import scratch

_CREDENTIALS = {"aws_access_key_id": "EMBEDDEDAWS", "aws_secret_access_key": "embedded-aws"}
"""Any will do: moto tells accounts apart by the role that was assumed, not by the key."""
_SUFFIX_CHARACTERS = string.ascii_uppercase + string.digits
_FUNCTION_SLOWNESS = 4.0
"""How much slower than waits the clock of Python functions runs.

A busy machine takes longer than Lambda to run them, and what they wait for must not be overdue when it has
hardly begun.
"""
_running = Lock()


class EmbeddedAws:
    """An AWS account in this process, for as long as the ``with`` block runs.

    Moto keeps its resources in the process, so there is one at a time; it starts empty.

    Args:
        region: The Region that stacks are deployed to.
        account_id: The account.
        speed: How much faster than real time the waits of state machines and custom resources pass, and four
            times as fast as the clock that Python functions see.
        node_modules: Where npm put the packages that Lambda's Node.js runtime brings along
            (``@aws-sdk/client-lambda``, ``@aws-sdk/client-sfn``); None looks in the working directory and
            its parents.
        extensions: Called once before moto's application starts, to extend moto's services.

    Raises:
        RuntimeError: When another one runs in this process.
    """

    def __init__(
        self,
        *,
        region: str = "us-west-2",
        account_id: str = DEFAULT_ACCOUNT_ID,
        speed: float = 20.0,
        node_modules: Path | None = None,
        extensions: Iterable[Callable[[], None]] = (),
    ) -> None:
        self.region = region
        self.account_id = account_id
        self._speed = speed
        self._node_modules = node_modules or _find_node_modules(Path.cwd())
        self._extensions = tuple(extensions)
        self._stack = ExitStack()
        self._mailbox = mailbox = Mailbox(lambda: self.endpoint)
        self._registry = Registry(mailbox=mailbox, invoke=self._invoke, speed=speed)
        self._server = LoopbackServer(route=mailbox.receiver)
        self._file_systems: Mapping[str, Mapping[str, FileSystems]] = {}
        self._quotas: Mapping[tuple[str, str], ServiceQuotas] = {}
        self._services: dict[tuple[str, str], CloudFormation] = {}
        self._services_lock = Lock()
        self._client_sets: dict[tuple[str, str], Clients] = {}

    # -- for its users ---------------------------------------------------------------------------------

    @property
    def endpoint(self) -> str:
        """Where clients find it, as AWS_ENDPOINT_URL.

        An address, not ``localhost``: SDKs put a bucket's name in front of a host name, and not every machine
        resolves ``bucket.localhost``.
        """
        return f"http://127.0.0.1:{self._server.port}"

    @property
    def availability_zone_ids(self) -> tuple[str, ...]:
        """Ids of the Region's Availability Zones, such as ``usw2-az1``."""
        return tuple(zone.zone_id for zone in self._zones())

    @property
    def file_systems(self) -> FileSystems:
        """The FSx file systems of the account and Region."""
        return self._file_systems[self.account_id][self.region]

    @property
    def quotas(self) -> ServiceQuotas:
        """What Service Quotas says of the account and Region; no service is held to it."""
        return self._quotas[self.account_id, self.region]

    @property
    def cloudformation(self) -> CloudFormation:
        """The stacks of the account and Region."""
        return self._cloudformation(self.account_id, self.region)

    def failures(self) -> list[Event]:
        """Events of every resource that could not be created, changed or deleted so far."""
        return self.cloudformation.failures()

    def unanswered(self) -> list[str]:
        """Requests that the embedded AWS could not answer: operations that moto lacks, and its mistakes."""
        return list(self._server.unanswered)

    def kubeconfig(self, cluster: Cluster) -> str:
        """Give a kubeconfig of somebody inside a cluster's VPC who may do everything, while this runs.

        Args:
            cluster: an EKS cluster.
        """
        return self._planes.kubeconfig(cluster)

    def client(self, service: str) -> Any:
        """Give a boto3 client of the embedded AWS.

        Args:
            service: The service's name in boto3.
        """
        return self._clients(self.account_id, self.region).client(service)

    def environment(self) -> dict[str, str]:
        """Give the environment for the CDK CLI, the AWS CLI and SDKs, without the user's own AWS set-up."""
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(("AWS_", "CDK_"))}
        return {
            **inherited,
            **self._aws_variables(),
            "CDK_DEFAULT_ACCOUNT": self.account_id,
            "CDK_DEFAULT_REGION": self.region,
            "CDK_DISABLE_CLI_TELEMETRY": "true",
            "NODE_OPTIONS": f"--require={Path(__file__).with_name('cli_clock.cjs')}",
        }

    def __enter__(self) -> Self:
        if not _running.acquire(blocking=False):
            raise RuntimeError("an embedded AWS runs in this process already")
        try:
            self._start()
        except BaseException:
            self._stack.close()
            _running.release()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()
        _running.release()

    # -- inside ----------------------------------------------------------------------------------------

    def _start(self) -> None:
        enter = self._stack.enter_context
        folder = enter(scratch("embedded-aws-"))
        BackendDict.reset()
        self._stack.callback(BackendDict.reset)
        # Moto's state machines call functions at this port of localhost.
        enter(patch.dict(os.environ, {"MOTO_PORT": str(self._server.port)}))
        enter(patch.dict(default_user_config, {"iam": {"load_aws_managed_policies": True}}))
        enter(state_machines_execute(speed=self._speed))
        enter(bucket_policies_as_in_s3())
        enter(trail_is_empty())
        enter(policies_simulated())
        self._file_systems = enter(file_systems_served())
        self._quotas = enter(quotas_served())
        self._planes = enter(control_planes_served(speed=self._speed))
        enter(cloudformation_served_by(self._cloudformation))
        for extend in self._extensions:
            extend()
        self._pool = FunctionPool(
            folder,
            environment={**self._aws_variables(), CLOCK_VARIABLE: self._function_clock()},
            node_modules=self._node_modules,
        )
        enter(functions_run_in(self._pool))
        self._server.start()
        # Last in, first out: no request may arrive once the functions are gone.
        self._stack.callback(self._pool.close)
        self._stack.callback(self._server.stop)
        self._stack.callback(self._abandon)

    def _abandon(self) -> None:
        """Let stacks go that are still at work: threads that wait for an answer would keep the process."""
        for service in self._services.values():
            service.abandon()
        self._mailbox.give_up("the embedded AWS has stopped")

    def _invoke(self, function: Any, event: Any) -> Any:
        return self._pool.invoke(function, event)

    def _aws_variables(self) -> dict[str, str]:
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_REGION": self.region,
            "AWS_DEFAULT_REGION": self.region,
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "AWS_EC2_METADATA_DISABLED": "true",
            **{name.upper(): value for name, value in _CREDENTIALS.items()},
        }

    def _function_clock(self) -> str:
        return f"{time.time()} {max(1.0, self._speed / _FUNCTION_SLOWNESS)}"

    def _zones(self) -> list[Any]:
        return list(ec2_backends[self.account_id][self.region].describe_availability_zones())

    def _clients(self, account_id: str, region: str) -> Clients:
        key = (account_id, region)
        if key not in self._client_sets:
            self._client_sets[key] = Clients(
                endpoint=self.endpoint,
                region=region,
                account_id=account_id,
                credentials=_CREDENTIALS,
                unique=_suffix,
            )
        return self._client_sets[key]

    def _cloudformation(self, account_id: str, region: str) -> CloudFormation:
        with self._services_lock:
            key = (account_id, region)
            if key not in self._services:
                self._services[key] = CloudFormation(lambda exports: self._stack_environment(*key, exports))
            return self._services[key]

    def _stack_environment(
        self, account_id: str, region: str, exports: Callable[[], Mapping[str, str]]
    ) -> Environment:
        return Environment(
            aws=self._clients(account_id, region),
            lookup=self._registry.lookup,
            values={
                "AWS::AccountId": account_id,
                "AWS::Region": region,
                "AWS::Partition": get_partition(region),
                "AWS::URLSuffix": "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com",
            },
            zones=tuple(zone.name for zone in self._zones()),
            exports=exports,
        )


def _suffix() -> str:
    return "".join(secrets.choice(_SUFFIX_CHARACTERS) for _ in range(12))


def _find_node_modules(start: Path) -> Path | None:
    for folder in (start, *start.parents):
        if (folder / "node_modules" / "@aws-sdk" / "client-lambda").is_dir():
            return folder / "node_modules"
    return None
