"""The way to AWS: every call in the background, made once, with a limit to how long it is waited for."""

import time
from concurrent.futures import Future
from dataclasses import dataclass
from threading import BoundedSemaphore, Lock, Thread
from typing import Any

from botocore.config import Config

from hyperpod_cdk.preflight.calls import NO_CREDENTIALS, Call, UnansweredError, error_of

CALL_SECONDS = 30.0
"""How long a call is waited for, with its retries and pages."""
_AT_ONCE = 128
"""More than the checks ask for, so that only an account with very many clusters waits for its turn."""
CONFIG = Config(
    connect_timeout=5,
    read_timeout=15,
    retries={"mode": "standard", "total_max_attempts": 4},
    max_pool_connections=_AT_ONCE,
    user_agent_extra="hyperpod-cdk-preflight",
)


@dataclass(frozen=True, kw_only=True)
class Made:
    """A call that was answered, and when, in seconds of `time.perf_counter`."""

    call: Call
    begun: float
    ended: float


class Aws:
    """An account and Region that is asked, and nothing more.

    Each call runs in a thread of its own that does not keep the program alive, so that neither a name server
    that does not answer nor a user who gives up has to be waited for.

    Args:
        session: botocore's, with the user's credentials.
        region: the Region.
        config: of every client.
        call_seconds: how long a call is waited for.
    """

    def __init__(
        self, session: Any, *, region: str, config: Config = CONFIG, call_seconds: float = CALL_SECONDS
    ) -> None:
        self.region = region
        self.made: list[Made] = []
        """Calls that have an answer, in the order of the answers."""
        self._session = session
        self._config = config
        self._call_seconds = call_seconds
        self._clients: dict[str, Any] = {}
        self._calls: dict[str, Future[Any]] = {}
        self._clients_lock, self._calls_lock = Lock(), Lock()
        self._places = BoundedSemaphore(_AT_ONCE)
        self._no_credentials = _why_no_credentials(session)

    def start(self, call: Call) -> "Future[Any]":
        """Begin a call, unless it was begun before."""
        with self._calls_lock:
            found = self._calls.get(call.key)
            if found is not None:
                return found
            future: Future[Any] = Future()
            self._calls[call.key] = future
        Thread(target=self._run, args=(call, future), name=call.api.action, daemon=True).start()
        return future

    def answer(self, call: Call) -> Any:
        """The answer of a call: its items if it lists some, else all of it.

        Raises:
            UnansweredError: there is none, and why.
            RefusedError: the service says that what was asked for is not there or not as asked.
        """
        try:
            return self.start(call).result(timeout=self._call_seconds)
        except TimeoutError:
            raise UnansweredError(f"no answer to {call.api.action} within {self._call_seconds:g} s") from None

    def client(self, service: str) -> Any:
        """The client of a service, made when first needed."""
        with self._clients_lock:
            if service not in self._clients:
                self._clients[service] = self._session.create_client(
                    service, region_name=self.region, config=self._config
                )
            return self._clients[service]

    def _run(self, call: Call, future: "Future[Any]") -> None:
        try:
            if self._no_credentials:
                raise UnansweredError(self._no_credentials)
            client = self.client(call.api.client)
            with self._places:
                begun = time.perf_counter()
                answer = _ask(client, call)
                self.made.append(Made(call=call, begun=begun, ended=time.perf_counter()))
            future.set_result(answer)
        except Exception as error:
            future.set_exception(error_of(error, call))


def _why_no_credentials(session: Any) -> str | None:
    """Why there are none, None where there are some.

    Once and here: each client would look for them anew, on a machine without any for seconds, and who has to
    be asked for a code of a multi-factor device can not be asked in the background.
    """
    try:
        credentials = session.get_credentials()
        if credentials is None:
            return NO_CREDENTIALS
        credentials.get_frozen_credentials()
    except Exception as error:
        return f"no credentials: {' '.join(str(error).split())}"
    return None


def _ask(client: Any, call: Call) -> Any:
    operation = call.api.operation
    if call.api.items is None:
        answer = getattr(client, operation)(**call.arguments)
        # a stream is read here, while the call is waited for
        return {**answer, "Body": answer["Body"].read()} if "Body" in answer else answer
    if not client.can_paginate(operation):
        return getattr(client, operation)(**call.arguments).get(call.api.items, [])
    pages = client.get_paginator(operation).paginate(**call.arguments)
    return [item for page in pages for item in page.get(call.api.items, ())]
