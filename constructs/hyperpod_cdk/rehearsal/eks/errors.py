"""The errors of the Amazon EKS API."""

from __future__ import annotations


class EksError(Exception):
    """An answer that is no success.

    Args:
        message: of the answer.
    """

    code = "ServerException"
    status = 500

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class NotFoundError(EksError):
    """No such cluster, add-on, entry, association or node group."""

    code = "ResourceNotFoundException"
    status = 404


class InUseError(EksError):
    """It is there already, or something else needs it."""

    code = "ResourceInUseException"
    status = 409


class InvalidParameterError(EksError):
    """A parameter can not be as it is."""

    code = "InvalidParameterException"
    status = 400


class InvalidRequestError(EksError):
    """The request is not possible in this state."""

    code = "InvalidRequestException"
    status = 400


class DeniedError(EksError):
    """The caller may not do that."""

    code = "AccessDeniedException"
    status = 403
