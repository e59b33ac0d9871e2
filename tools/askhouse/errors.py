"""What can go wrong, by who must act.

AskhouseError              one sentence of what is wrong and one of what to do
├── UsageError             the person's command or file: nothing was changed
│   ├── SettingsError      a setting is missing, malformed or contradicts another
│   ├── MissingPartError   a package, program or font that this feature needs is not installed
│   ├── StorageError       the data folder cannot be written, or a port cannot be bound
│   └── FileError          a file cannot be read as a table
├── DataError              this question's SQL or table
│   ├── TableNotFoundError no such table, or it may not be asked
│   ├── InvalidQueryError  the SQL does not parse, does not bind, or is not allowed
│   ├── UnsupportedError   GoogleSQL that the embedded warehouse refuses rather than compute differently
│   └── QueryLimitError    the query would read, return or take more than it may
└── ServiceError           a service said no, or did not say anything
    ├── UnreachableError   nobody answers at the address, or the reply broke off
    ├── DeniedError        the credentials lack a right
    └── BusyError          the quota is used up; `retry_after` says how long, in seconds
"""

from __future__ import annotations


class AskhouseError(Exception):
    """Something a person can act on: `message` says what is wrong and where, `remedy` what to do."""

    code = "error"
    exit_code = 1

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(f"{message} {remedy}".strip())
        self.message = message
        self.remedy = remedy


class UsageError(AskhouseError):
    """The person's command or file is at fault; nothing was changed."""

    code = "usage"


class SettingsError(UsageError):
    """A setting is missing, malformed or contradicts another."""

    code = "settings"


class MissingPartError(UsageError):
    """A package, program or font that this feature needs is not installed."""

    code = "missing_part"


class StorageError(UsageError):
    """The data folder cannot be written, or a port cannot be bound."""

    code = "storage"


class FileError(UsageError):
    """A file cannot be read as a table."""

    code = "file"


class DataError(AskhouseError):
    """This question's SQL or table is at fault."""

    code = "data"
    exit_code = 3


class TableNotFoundError(DataError):
    """There is no such table, or it may not be asked."""

    code = "table_not_found"


class InvalidQueryError(DataError):
    """The SQL does not parse, does not bind, or is not allowed."""

    code = "invalid_query"


class UnsupportedError(DataError):
    """GoogleSQL that the embedded warehouse refuses rather than compute differently."""

    code = "unsupported"


class QueryLimitError(DataError):
    """The query would read, return or take more than it may."""

    code = "query_limit"


class ServiceError(AskhouseError):
    """A service said no, or did not say anything."""

    code = "service"
    exit_code = 3


class UnreachableError(ServiceError):
    """Nobody answers at the address, or the reply broke off."""

    code = "unreachable"


class DeniedError(ServiceError):
    """The credentials lack a right."""

    code = "denied"


class BusyError(ServiceError):
    """The quota is used up; `retry_after` says how long to wait, in seconds, where the service told."""

    code = "busy"

    def __init__(self, message: str, remedy: str = "", *, retry_after: float | None = None) -> None:
        super().__init__(message, remedy)
        self.retry_after = retry_after
