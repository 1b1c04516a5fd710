"""One account for the tests of a module; what a test changes is taken back after it."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from botocore.config import Config
from botocore.session import Session

from hyperpod_cdk.preflight import Aws
from hyperpod_cdk.preflight import aws as module
from hyperpod_cdk.rehearsal import hyperpod
from hyperpod_cdk.rehearsal.aws import EmbeddedAws
from tests.preflight import eks_account
from tests.preflight.account import REGION, Account

IMPATIENT = Config(
    retries={"total_max_attempts": 1}, connect_timeout=2, read_timeout=20, max_pool_connections=48
)


class OneSetOfClients:
    """botocore's session of a user of the embedded AWS, which makes each client once: that takes a second."""

    def __init__(self) -> None:
        self._session = Session()
        self._session.set_credentials("EMBEDDEDAWS", "embedded-aws")
        self._clients: dict[str, Any] = {}

    def get_credentials(self) -> Any:
        return self._session.get_credentials()

    def create_client(self, name: str, **settings: Any) -> Any:
        if name not in self._clients:
            self._clients[name] = self._session.create_client(name, **settings)
        return self._clients[name]


@pytest.fixture(scope="module")
def built() -> Iterator[Account]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MOTO_EC2_LOAD_DEFAULT_AMIS", "false")
        with EmbeddedAws(region=REGION, extensions=[hyperpod.install]) as aws:
            account = Account(aws=aws)
            account.build()
            eks_account.build(account)
            patch.setattr(module, "_ask", eks_account.with_grafana(module._ask))
            patch.setenv("AWS_ENDPOINT_URL", aws.endpoint)
            yield account


@pytest.fixture
def account(built: Account) -> Iterator[Account]:
    yield built
    built.restore()


@pytest.fixture(scope="module")
def session(built: Account) -> Any:
    return OneSetOfClients()


@pytest.fixture
def ask(session: Any) -> Callable[[], Aws]:
    """A fresh look at the account each time."""
    return lambda: Aws(session, region=REGION, config=IMPATIENT, call_seconds=25)
