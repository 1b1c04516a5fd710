"""The handler against the emulated service, through a simulated provider framework. Imports no aws_cdk."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from botocore.config import Config
from handler import index
from handler.clients import Aws, Clients
from moto import mock_aws
from moto.backends import get_backend

from hyperpod_cdk.rehearsal import hyperpod
from hyperpod_cdk.rehearsal.hyperpod import HyperPodService, NodeSetupResult
from hyperpod_cdk.service.botocore_data import write_botocore_data
from tests.handler.cloudformation import Framework, Stack
from tests.handler.shortcut import Shortcut

MARK = "hyperpod-cdk:newest-update"
"""The tag that each update leaves on its cluster before it changes anything."""
MUTATING = ("Add", "Create", "Delete", "Update")


def is_mark(operation: str, request: Mapping[str, Any]) -> bool:
    """Whether a call only says which update is the newest."""
    tags = [tag["Key"] for tag in request.get("Tags", ())]
    return operation == "AddTags" and tags == [MARK]


@dataclass
class Calls:
    """The AWS operations that were called."""

    names: list[str] = field(default_factory=list)
    requests: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    @property
    def mutating(self) -> list[str]:
        """Those that change something, but for the mark that each update leaves on its cluster."""
        return [name for name, sent in self.requests if name.startswith(MUTATING) and not is_mark(name, sent)]

    def sent(self, name: str) -> list[dict[str, Any]]:
        """The requests of one operation."""
        return [request for called, request in self.requests if called == name]

    def clear(self) -> None:
        self.names.clear()
        self.requests.clear()


CALLS = Calls()
"""What the clients of this module's tests have called."""
SHORTCUT = Shortcut()


@pytest.fixture(scope="module")
def clients(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clients]:
    """The handler's clients, as in Lambda: they speak the model that ships with the handler.

    Emulated for a module at a time: to leave moto on would hand what lies in it to other folders' tests.
    """
    models = tmp_path_factory.mktemp("models")
    write_botocore_data(models)
    hyperpod.install()
    with pytest.MonkeyPatch.context() as patch, mock_aws():
        patch.setenv("AWS_DEFAULT_REGION", "us-west-2")
        patch.setenv("MOTO_EC2_LOAD_DEFAULT_AMIS", "false")  # 1,300 images for each account that is emptied
        with pytest.MonkeyPatch.context() as lambda_patch:
            # Only while clients are made: moto reads the endpoints too, of every service, and keeps them.
            lambda_patch.setenv("AWS_DATA_PATH", str(models))
            clients = Clients(config=Config(retries={"total_max_attempts": 1}))
            SHORTCUT.connect(clients.sagemaker)
        for client in (clients.sagemaker, clients.logs, clients.ec2):
            client.meta.events.register("provide-client-params.*", _record)
        yield clients


def invocation(clients: Clients) -> Aws:
    """What one invocation has: the clients, and the emulated service's clock."""
    return Aws(clients=clients, started=_now(), sleep=_sleep, now=_now)


def _now() -> float:
    return hyperpod.service().clock.now().timestamp()


def _sleep(seconds: float) -> None:
    hyperpod.service().clock.advance(seconds)


def _record(params: dict[str, Any], model: Any, **_: Any) -> None:
    CALLS.names.append(model.name)
    CALLS.requests.append((model.name, params))


@pytest.fixture
def http(clients: Clients) -> Iterator[None]:
    """The whole way: botocore writes HTTP and reads it, and moto answers."""
    SHORTCUT.disconnect(clients.sagemaker)
    yield
    SHORTCUT.connect(clients.sagemaker)


@pytest.fixture
def calls() -> Calls:
    return CALLS


@pytest.fixture
def aws(clients: Clients, monkeypatch: pytest.MonkeyPatch) -> Aws:
    """An account without clusters and logs, and the way to it.

    Only what the handler meets is emptied: to reset the whole of moto takes longer than a test.
    """
    for name in ("sagemaker", "logs"):
        get_backend(name).reset()
    monkeypatch.setattr(index, "_aws", lambda: invocation(clients))
    CALLS.clear()
    return invocation(clients)


@pytest.fixture
def service(aws: Aws) -> HyperPodService:
    """The emulated service; it asks for no roles and no scripts, so that tests need no IAM and no S3."""
    emulated = hyperpod.service()
    emulated.check_references = False
    emulated.node_setup = lambda node: NodeSetupResult()
    return emulated


@pytest.fixture
def framework(service: HyperPodService) -> Framework:
    return Framework(advance=service.clock.advance)


@pytest.fixture
def stack(framework: Framework) -> Stack:
    return Stack(framework=framework)
