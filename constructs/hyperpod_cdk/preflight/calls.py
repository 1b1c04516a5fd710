"""Calls of AWS, as data: what may be called, with which permission, and why a call has no answer."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from botocore import exceptions as botocore_errors
from botocore.exceptions import BotoCoreError, ClientError


@dataclass(frozen=True, kw_only=True)
class Api:
    """One operation that preflight may call; all of them only read.

    Args:
        client: the service's name in botocore.
        operation: the method of botocore's client.
        action: what IAM calls it.
        items: member of the answer that lists what was asked for, all pages together. Default: the answer as
            it is.
    """

    client: str
    operation: str
    action: str
    items: str | None = None

    def __call__(self, **arguments: Any) -> "Call":
        """The call with these arguments, in the API's own words."""
        return Call(api=self, arguments=arguments)


@dataclass(frozen=True, kw_only=True)
class Call:
    """An operation with its arguments; two of the same key are made once."""

    api: Api
    arguments: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The same for the same call."""
        text = json.dumps(self.arguments, sort_keys=True)
        return f"{self.api.client}:{self.api.operation}:{text}"


class UnansweredError(Exception):
    """A call, or a question, has no answer; the text says why, in the user's terms."""


class RefusedError(Exception):
    """The service answered that what was asked for is not there or not as asked.

    Args:
        code: error code of the service.
        message: what it says.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code


_DENIED = frozenset(
    {"AccessDenied", "AccessDeniedException", "AuthorizationError", "UnauthorizedOperation", "403"}
)
_THROTTLED = frozenset(
    {
        "RequestLimitExceeded",
        "SlowDown",
        "Throttling",
        "ThrottlingException",
        "TooManyRequestsException",
    }
)
_NOT_TAKEN = frozenset(
    {
        "AuthFailure",
        "ExpiredToken",
        "ExpiredTokenException",
        "InvalidAccessKeyId",
        "InvalidClientTokenId",
        "OptInRequired",
        "RequestExpired",
        "SignatureDoesNotMatch",
        "UnrecognizedClientException",
    }
)
_SERVER_ERROR = 500

NO_CREDENTIALS = "no credentials: log in (aws sso login, aws configure), or set AWS_PROFILE"


def error_of(error: Exception, call: Call) -> Exception:
    """What a check is told in place of botocore's error.

    Args:
        error: botocore's.
        call: what was called.
    """
    if isinstance(error, ClientError):
        return _of_service(error, call.api.action)
    if isinstance(error, BotoCoreError):
        return UnansweredError(_of_client(error, call.api.action))
    return error


def _of_service(error: ClientError, action: str) -> Exception:
    answer = error.response
    code = str(answer.get("Error", {}).get("Code", "Unknown"))
    message = str(answer.get("Error", {}).get("Message", "")).strip()
    if code in _DENIED:
        return UnansweredError(f"no permission for {action} ({code})")
    if code in _THROTTLED:
        return UnansweredError(f"AWS throttles {action} ({code}), also after some retries")
    if code in _NOT_TAKEN:
        return UnansweredError(f"AWS does not take the credentials ({code}): log in again")
    if answer.get("ResponseMetadata", {}).get("HTTPStatusCode", 0) >= _SERVER_ERROR:
        return UnansweredError(f"AWS fails at {action} ({code})")
    return RefusedError(code, message)


_CREDENTIALS = (
    botocore_errors.NoCredentialsError,
    botocore_errors.PartialCredentialsError,
)
_LOGIN = (
    botocore_errors.CredentialRetrievalError,
    botocore_errors.SSOError,
    botocore_errors.TokenRetrievalError,
)
_TIMEOUTS = (botocore_errors.ConnectTimeoutError, botocore_errors.ReadTimeoutError)
_NETWORK = (botocore_errors.ConnectionError, botocore_errors.HTTPClientError)


def _of_client(error: BotoCoreError, action: str) -> str:
    if isinstance(error, _CREDENTIALS):
        return NO_CREDENTIALS
    if isinstance(error, _LOGIN):
        return f"the credentials can not be had: {_short(error)}"
    if isinstance(error, _TIMEOUTS):
        return f"no answer to {action} in time"
    if isinstance(error, _NETWORK):
        return f"no way to AWS for {action}: {_short(error)}"
    return f"{action} could not be called: {_short(error)}"


def _short(error: Exception) -> str:
    return " ".join(str(error).split())
