"""What went wrong: our own refusals, and what kind of error an AWS call ended with."""

import re

from botocore.exceptions import BotoCoreError, ClientError, ConnectionError, HTTPClientError

THROTTLING_CODES = frozenset(
    {
        "PriorRequestNotComplete",
        "RequestLimitExceeded",
        "RequestThrottled",
        "RequestThrottledException",
        "SlowDown",
        "Throttling",
        "ThrottledException",
        "ThrottlingException",
        "TooManyRequestsException",
    }
)
TRANSIENT_CODES = frozenset({"InternalError", "InternalFailure", "RequestTimeout", "ServiceUnavailable"})
ACCESS_DENIED_CODES = frozenset({"AccessDenied", "AccessDeniedException", "UnauthorizedOperation"})

# A role that IAM has not spread yet is refused as a ValidationException; nothing but its text tells.
_ROLE_NOT_READY = re.compile(r"assum|not authorized|access ?denied|trust", re.IGNORECASE)

AWS_ERRORS = (BotoCoreError, ClientError)
"""Everything that a botocore call raises."""


class RefusedError(Exception):
    """The request can not be carried out; nothing was changed. The message is for the user."""


class FailedError(Exception):
    """A thing did not become what was asked for. The message is for the user."""


def code_of(error: Exception) -> str:
    """Give the AWS error code; empty when the error is not an answer of AWS."""
    return str(error.response.get("Error", {}).get("Code", "")) if isinstance(error, ClientError) else ""


def is_not_found(error: Exception) -> bool:
    """Whether there is no such thing."""
    return code_of(error) == "ResourceNotFound"


def is_conflict(error: Exception) -> bool:
    """Whether the state of the thing does not allow the call now."""
    return code_of(error) == "ConflictException"


def is_name_in_use(error: Exception) -> bool:
    """Whether the name is taken."""
    return code_of(error) == "ResourceInUse"


def is_transient(error: Exception) -> bool:
    """Whether the same call may succeed soon: throttled, a fault of the service or of the network."""
    if not isinstance(error, ClientError):
        return isinstance(error, (HTTPClientError, ConnectionError))
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    return code_of(error) in THROTTLING_CODES | TRANSIENT_CODES or int(status) >= 500


def is_outcome_unknown(error: Exception) -> bool:
    """Whether the call may have taken effect although it ended with this error."""
    return is_transient(error) and code_of(error) not in THROTTLING_CODES


def is_permission_delay(error: Exception) -> bool:
    """Whether a role or policy made moments ago may explain the error (IAM is eventually consistent)."""
    if code_of(error) in ACCESS_DENIED_CODES:
        return True
    return code_of(error) == "ValidationException" and bool(_ROLE_NOT_READY.search(str(error)))
