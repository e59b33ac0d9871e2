"""What the service said no with, in words: its codes into askhouse's errors, its misleading messages put right."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from ..errors import (
    BusyError,
    DeniedError,
    InvalidQueryError,
    QueryLimitError,
    ServiceError,
    TableNotFoundError,
    UnreachableError,
)
from ..secrets import masked
from .stream import Failure

_HTTP = {
    "400": "INVALID_ARGUMENT", "401": "UNAUTHENTICATED", "403": "PERMISSION_DENIED", "404": "NOT_FOUND",
    "409": "ALREADY_EXISTS", "429": "RESOURCE_EXHAUSTED", "500": "INTERNAL", "502": "UNAVAILABLE",
    "503": "UNAVAILABLE", "504": "DEADLINE_EXCEEDED",
}  # fmt: skip
_WRONG_PLACE = re.compile(r"(Read|Write) access to project '([^']+)' was denied")
_DISABLED = re.compile(r"has not been used in project|it is disabled", re.IGNORECASE)
_NO_TABLE = re.compile(r"Not found: (Table|Dataset)|Table not found", re.IGNORECASE)
_LIMIT = re.compile(r"limit for bytes billed|exceeded (rate )?limits", re.IGNORECASE)
_BAD_SQL = re.compile(r"Syntax error|Unrecognized name|Invalid query|No matching signature", re.IGNORECASE)

Error = ServiceError | TableNotFoundError | QueryLimitError | InvalidQueryError


def translated(failure: Failure) -> Error:
    """The error to show for what the service said."""
    status = _HTTP.get(failure.status, failure.status)
    if status in _BY_STATUS:
        return _BY_STATUS[status](failure)
    for pattern, error in _BY_WORDS.items():
        if pattern.search(failure.message):
            return error(_sentence(failure.message))
    said = _sentence(failure.message)
    if status:
        return ServiceError(f"The service failed ({status}): {said}", "Ask again in a moment.")
    return ServiceError(said, "Ask again, or put the question in other words.")


def is_transient(failure: Failure) -> bool:
    """Whether the same request may succeed later."""
    return _HTTP.get(failure.status, failure.status) in ("UNAVAILABLE", "RESOURCE_EXHAUSTED")


def is_missing(failure: Failure) -> bool:
    """Whether the service knows no such resource."""
    return _HTTP.get(failure.status, failure.status) == "NOT_FOUND"


def _denied(failure: Failure) -> DeniedError:
    if place := _WRONG_PLACE.search(failure.message):
        return DeniedError(
            f"The Conversational Analytics API denied access to project {place[2]}.",
            "It says so, too, when a resource of one region is asked for at another's address: check ASKHOUSE_LOCATION "
            "first, then that you have the role roles/geminidataanalytics.dataAgentUser there.",
        )
    if _DISABLED.search(failure.message):
        return DeniedError(
            f"An API is not enabled: {_sentence(failure.message)}",
            "Run: gcloud services enable geminidataanalytics.googleapis.com cloudaicompanion.googleapis.com "
            "bigquery.googleapis.com",
        )
    return DeniedError(
        f"The service denied access: {_sentence(failure.message)}",
        "You need roles/geminidataanalytics.dataAgentUser (saved agents) or dataAgentStatelessUser (tables), and "
        "roles/bigquery.dataViewer and jobUser.",
    )


def _unauthenticated(failure: Failure) -> DeniedError:
    return DeniedError(
        f"The service does not know who asks: {_sentence(failure.message)}",
        "Run: gcloud auth application-default login",
    )


def _busy(failure: Failure) -> BusyError:
    wait = f"in about {failure.retry_after:.0f} seconds" if failure.retry_after else "in a minute"
    return BusyError(
        f"The quota is used up: {_sentence(failure.message)}", f"Ask again {wait}.", retry_after=failure.retry_after
    )


NOT_THE_API = "its reply is none of the Conversational Analytics API"


def _unreachable(failure: Failure) -> UnreachableError:
    return UnreachableError(f"The service cannot be reached: {_sentence(failure.message)}", "Ask again in a moment.")


def _stranger(failure: Failure) -> ServiceError:
    return ServiceError(
        f"What answers there did not speak the API: {_sentence(failure.message)}",
        "Check ASKHOUSE_CHAT_ENDPOINT and ASKHOUSE_TRANSPORT.",
    )


def _missing(failure: Failure) -> ServiceError:
    said = f"The service knows no such thing: {_sentence(failure.message)}"
    if "/conversations/" in failure.message:
        return ServiceError(said, "Ask again: a new conversation begins with the turns so far.")
    return ServiceError(
        said,
        "`askhouse agents list` shows the data agents; the location is ASKHOUSE_LOCATION.",
    )


def _refused(failure: Failure) -> ServiceError:
    return ServiceError(f"The service refused the request: {_sentence(failure.message)}")


def _sentence(text: str) -> str:
    text = masked(" ".join(text.split()))
    return text if text.endswith((".", "!", "?")) else f"{text}."


_BY_STATUS: Mapping[str, Callable[[Failure], Error]] = {
    "PERMISSION_DENIED": _denied,
    "UNAUTHENTICATED": _unauthenticated,
    "RESOURCE_EXHAUSTED": _busy,
    "UNAVAILABLE": _unreachable,
    "DEADLINE_EXCEEDED": _unreachable,
    "CANCELLED": _unreachable,
    "UNIMPLEMENTED": _stranger,
    "NOT_FOUND": _missing,
    "INVALID_ARGUMENT": _refused,
    "FAILED_PRECONDITION": _refused,
}
_BY_WORDS: Mapping[re.Pattern[str], type[TableNotFoundError] | type[QueryLimitError] | type[InvalidQueryError]] = {
    _NO_TABLE: TableNotFoundError,
    _LIMIT: QueryLimitError,
    _BAD_SQL: InvalidQueryError,
}
