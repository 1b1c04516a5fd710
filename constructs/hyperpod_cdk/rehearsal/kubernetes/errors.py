"""What the API answers instead of what was asked for: a Status with a code and a reason."""

from __future__ import annotations

from typing import Any


class StatusError(Exception):
    """An answer that is no success.

    Args:
        code: of HTTP.
        reason: one word for programs, such as ``NotFound``.
        message: for people.
    """

    def __init__(self, code: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason

    @property
    def status(self) -> dict[str, Any]:
        """The object that is sent."""
        return {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": str(self),
            "reason": self.reason,
            "code": self.code,
        }


def not_found(what: str, name: str) -> StatusError:
    """No such object; ``what`` is its plural with its group, as in ``jobs.batch``."""
    return StatusError(404, "NotFound", f'{what} "{name}" not found')


def no_such_page() -> StatusError:
    """No such path."""
    return StatusError(404, "NotFound", "the server could not find the requested resource")


def exists(what: str, name: str) -> StatusError:
    """An object of this name is there."""
    return StatusError(409, "AlreadyExists", f'{what} "{name}" already exists')


def conflict(what: str, name: str, why: str) -> StatusError:
    """Somebody else changed the object."""
    return StatusError(409, "Conflict", f'Operation cannot be fulfilled on {what} "{name}": {why}')


def invalid(kind: str, name: str, why: str) -> StatusError:
    """The object is not one of its kind."""
    return StatusError(422, "Invalid", f'{kind} "{name}" is invalid: {why}')


def bad_request(message: str) -> StatusError:
    """The request makes no sense."""
    return StatusError(400, "BadRequest", message)


def forbidden(message: str) -> StatusError:
    """The caller may not do that."""
    return StatusError(403, "Forbidden", message)


def unauthorized() -> StatusError:
    """Nobody knows the caller."""
    return StatusError(401, "Unauthorized", "Unauthorized")


def unsupported(media_type: str) -> StatusError:
    """The body comes in a form that is not read here."""
    return StatusError(
        415, "UnsupportedMediaType", f"the body of the request was in an unknown format: {media_type}"
    )
