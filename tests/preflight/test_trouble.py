"""What can not be looked at is said so: never a traceback, never a pass."""

import json
import socket
import time
from collections.abc import Callable, Iterator
from threading import Event
from threading import enumerate as threads
from typing import Any

import pytest
from botocore.config import Config
from botocore.credentials import Credentials
from botocore.exceptions import (
    ConnectTimeoutError,
    NoCredentialsError,
    PartialCredentialsError,
    ReadTimeoutError,
    SSLError,
    UnauthorizedSSOTokenError,
)
from botocore.session import Session

from hyperpod_cdk.preflight import CHECKS, Aws, Outcome, run
from hyperpod_cdk.preflight import aws as module
from hyperpod_cdk.preflight.apis import DESCRIBE_SUBNETS
from hyperpod_cdk.preflight.calls import NO_CREDENTIALS, Call, error_of
from tests.preflight import specs
from tests.preflight.account import REGION, Account
from tests.preflight.changes import every_call, patched

REFUSALS = [
    ("AccessDenied", 403, "no permission for {action} (AccessDenied)"),
    ("AccessDeniedException", 400, "no permission for {action}"),
    ("UnauthorizedOperation", 403, "no permission for {action}"),
    ("403", 403, "no permission for {action}"),
    ("ThrottlingException", 400, "AWS throttles {action}"),
    ("TooManyRequestsException", 429, "AWS throttles {action}"),
    ("RequestLimitExceeded", 503, "AWS throttles {action}"),
    ("ExpiredToken", 400, "AWS does not take the credentials (ExpiredToken)"),
    ("UnrecognizedClientException", 400, "AWS does not take the credentials"),
    ("InternalFailure", 500, "AWS fails at {action}"),
    ("ServiceUnavailable", 503, "AWS fails at {action}"),
    ("SomethingNew", 400, "SomethingNew: as the test wants it"),
]
ERRORS: list[tuple[Exception, str]] = [
    (NoCredentialsError(), NO_CREDENTIALS),
    (PartialCredentialsError(provider="env", cred_var="AWS_SECRET_ACCESS_KEY"), NO_CREDENTIALS),
    (UnauthorizedSSOTokenError(), "the credentials can not be had: The SSO session"),
    (ConnectTimeoutError(endpoint_url="https://x"), "no answer to ec2:DescribeSubnets in time"),
    (ReadTimeoutError(endpoint_url="https://x"), "no answer to ec2:DescribeSubnets in time"),
    (SSLError(endpoint_url="https://x", error="bad certificate"), "no way to AWS for ec2:DescribeSubnets"),
]


@pytest.mark.parametrize(("code", "status", "reason"), REFUSALS, ids=[row[0] for row in REFUSALS])
def test_a_refused_call(
    account: Account, ask: Callable[[], Aws], code: str, status: int, reason: str
) -> None:
    patched(account, "ssm", "get_parameter", code, status=status)
    report = run(specs.new(), ask())
    results = {result.check.name: result for result in report.results}
    assert results["bootstrap"].outcome is Outcome.UNKNOWN
    assert reason.format(action="ssm:GetParameter") in results["bootstrap"].unchecked[0].reason
    assert {name for name, one in results.items() if one.outcome is not Outcome.PASS} == {"bootstrap"}
    assert report.exit_code == 2


@pytest.mark.parametrize("code", ["AccessDenied", "Throttling", "Whatever"])
def test_an_account_that_refuses_everything(account: Account, ask: Callable[[], Aws], code: str) -> None:
    every_call(account, code)
    spec = specs.existing(account)
    report = run(spec, ask())
    needed = {check.name for check in CHECKS if check.needed(spec) and check.apis}
    told = {result.check.name for result in report.results if result.outcome is Outcome.UNKNOWN}
    assert told == needed
    assert report.account is None
    assert all(one.reason for result in report.results for one in result.unchecked)


@pytest.mark.parametrize(("error", "reason"), ERRORS, ids=[type(error).__name__ for error, _ in ERRORS])
def test_errors_before_an_answer(error: Exception, reason: str) -> None:
    assert str(error_of(error, DESCRIBE_SUBNETS())).startswith(reason)


def test_no_credentials(monkeypatch: pytest.MonkeyPatch, account: Account) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, "/dev/null")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    report = run(specs.existing(account), Aws(Session(), region=REGION))
    assert report.exit_code == 2
    reasons = {one.reason for result in report.results for one in result.unchecked}
    assert reasons == {NO_CREDENTIALS}
    assert report.count(Outcome.PASS) == 1, "what asks nothing"


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A port that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.mark.parametrize("limit", ["client", "call"])
def test_a_service_that_never_answers(monkeypatch: pytest.MonkeyPatch, silent_port: int, limit: str) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{silent_port}")
    session = Session()
    session.set_credentials("a", "b")
    waits = 0.3 if limit == "client" else 30
    config = Config(read_timeout=waits, retries={"total_max_attempts": 1})
    start = time.monotonic()
    aws = Aws(session, region=REGION, config=config, call_seconds=30.3 - waits)
    report = run(specs.new(), aws)
    assert time.monotonic() - start < 15
    reasons = {one.reason for result in report.results for one in result.unchecked}
    assert reasons and all(reason.startswith("no answer to ") for reason in reasons)
    assert report.exit_code == 2


def test_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    session = Session()
    session.set_credentials("a", "b")
    report = run(specs.new(), Aws(session, region=REGION, config=Config(retries={"total_max_attempts": 1})))
    reasons = {one.reason for result in report.results for one in result.unchecked}
    assert reasons and all(reason.startswith("no way to AWS for ") for reason in reasons)
    assert report.exit_code == 2


def test_an_answer_unlike_any_that_was_foreseen(
    account: Account, ask: Callable[[], Aws], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hyperpod_cdk.preflight.aws._ask", lambda client, call: [{"Odd": 1}])
    spec = specs.existing(account)
    report = run(spec, ask())
    passed = {result.check.name for result in report.results if result.outcome is Outcome.PASS}
    # what asks nothing, and what is content with any answer
    assert passed == {"region", "region-options", "service-linked-role", "buckets"}
    assert json.loads(json.dumps(report.to_json()))["exit_code"] in (1, 2)


def test_one_thing_denied_hides_no_fault_beside_it(account: Account, ask: Callable[[], Aws]) -> None:
    denied = {"FileSystemIds": [account.openzfs]}
    patched(account, "fsx", "describe_file_systems", "AccessDenied", arguments=denied)
    account.set_lifecycle("FAILED")
    report = run(specs.existing(account), ask())
    result = next(one for one in report.results if one.check.name == "file-systems")
    assert result.outcome is Outcome.FAIL
    assert [one.path for one in result.unchecked] == ["storage.home.existing"]
    assert report.exit_code == 1


def test_a_call_is_made_once(
    account: Account, ask: Callable[[], Aws], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    real = module._ask

    def count(client: Any, call: Call) -> Any:
        made.append(call.key)
        return real(client, call)

    monkeypatch.setattr(module, "_ask", count)
    run(specs.existing(account), ask())
    assert len(made) == len(set(made)) > 40


def test_a_thread_that_hangs_keeps_nothing_alive() -> None:
    before = time.monotonic()
    aws = Aws(_Hanging(), region=REGION, call_seconds=0.1)
    assert run(specs.new(), aws).exit_code == 2
    assert time.monotonic() - before < 5
    left = [thread for thread in threads() if thread.name == "ssm:GetParameter"]
    assert left and all(thread.daemon for thread in left)
    _Hanging.over.set()


def test_credentials_that_can_not_be_had() -> None:
    class Expired:
        def get_credentials(self) -> object:
            raise UnauthorizedSSOTokenError

    report = run(specs.new(), Aws(Expired(), region=REGION))
    reasons = {one.reason for result in report.results for one in result.unchecked}
    assert len(reasons) == 1 and reasons.pop().startswith("no credentials: The SSO session")
    assert report.exit_code == 2


class _Hanging:
    """A session whose clients take for ever to be made."""

    over = Event()

    def get_credentials(self) -> Any:
        return Credentials("a", "b")

    def create_client(self, *_: object, **__: object) -> object:
        self.over.wait(30)
        return object()
