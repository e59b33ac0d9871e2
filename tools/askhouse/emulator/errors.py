"""How the API says no: a status by its canonical name, and a sentence that says what to do."""

from __future__ import annotations

import logging
from typing import Any

from ..errors import AskhouseError

HTTP_STATUS = {
    "INVALID_ARGUMENT": 400,
    "FAILED_PRECONDITION": 400,
    "UNAUTHENTICATED": 401,
    "PERMISSION_DENIED": 403,
    "NOT_FOUND": 404,
    "ALREADY_EXISTS": 409,
    "ABORTED": 409,
    "RESOURCE_EXHAUSTED": 429,
    "INTERNAL": 500,
    "UNIMPLEMENTED": 501,
    "UNAVAILABLE": 503,
    "DEADLINE_EXCEEDED": 504,
}


log = logging.getLogger(__name__)


class ApiError(Exception):
    """A request that is refused. `status` is one of Google's canonical codes."""

    def __init__(self, status: str, message: str, details: tuple[dict[str, Any], ...] = ()) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.details = details

    @property
    def http_status(self) -> int:
        """The HTTP status that goes with the code."""
        return HTTP_STATUS.get(self.status, 500)

    def body(self) -> dict[str, Any]:
        """Google's JSON form of an error."""
        error: dict[str, Any] = {"code": self.http_status, "message": self.message, "status": self.status}
        if self.details:
            error["details"] = list(self.details)
        return {"error": error}


def api_error(error: Exception) -> ApiError:
    """What a client is told of an error; one of ours is logged with its place."""
    if isinstance(error, ApiError):
        return error
    if isinstance(error, AskhouseError):
        return ApiError("INTERNAL", str(error))
    log.error("A request failed for a reason of ours", exc_info=error)
    return ApiError("INTERNAL", "Internal error encountered. The log of askhouse says where.")


def invalid(message: str) -> ApiError:
    """The request itself is wrong."""
    return ApiError("INVALID_ARGUMENT", message)


def not_found(name: str) -> ApiError:
    """There is no such resource."""
    return ApiError("NOT_FOUND", f"Resource '{name}' was not found")
