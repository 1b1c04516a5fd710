"""The errors that the emulated service answers with, by their AWS code and HTTP status."""


class ServiceError(Exception):
    """An answer of the service that is not a success.

    Args:
        message: text of the answer, as a user of the AWS CLI sees it.
    """

    code = "InternalFailure"
    status = 500

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class ValidationError(ServiceError):
    """The request breaks the API model or a rule of the service."""

    code = "ValidationException"
    status = 400


class SerializationError(ServiceError):
    """A member of the request has another JSON type than the API model says."""

    code = "SerializationException"
    status = 400


class NotFoundError(ServiceError):
    """No such cluster, node or event."""

    code = "ResourceNotFound"
    status = 400


class InUseError(ServiceError):
    """The cluster name is taken."""

    code = "ResourceInUse"
    status = 400


class LimitExceededError(ServiceError):
    """A service quota does not allow the request."""

    code = "ResourceLimitExceeded"
    status = 400


class ConflictError(ServiceError):
    """The cluster is in a state in which the request is not possible."""

    code = "ConflictException"
    status = 400


class ThrottlingError(ServiceError):
    """Too many requests; clients are expected to retry."""

    code = "ThrottlingException"
    status = 400


class AccessDeniedError(ServiceError):
    """The caller's policies do not allow the operation."""

    code = "AccessDeniedException"
    status = 400


class InternalError(ServiceError):
    """The service itself failed; clients are expected to retry."""

    code = "InternalFailure"
    status = 500
