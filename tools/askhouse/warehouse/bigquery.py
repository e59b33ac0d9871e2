"""BigQuery itself, or whatever speaks its REST interface, through Google's client."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ..errors import (
    BusyError,
    DeniedError,
    InvalidQueryError,
    QueryLimitError,
    ServiceError,
    TableNotFoundError,
    UnreachableError,
    UnsupportedError,
)
from ..secrets import masked
from ..settings import Settings
from .base import Column, DryRun, ForeignKey, Mode, Rows, Table, TableRef
from .catalogue import LOCAL_PROJECT

if TYPE_CHECKING:
    from google.cloud import bigquery

_NAMES = {"INTEGER": "INT64", "FLOAT": "FLOAT64", "BOOLEAN": "BOOL", "RECORD": "STRUCT"}
_CLOCK = re.compile(r"\bCURRENT_(DATE|DATETIME|TIME|TIMESTAMP)\b", re.IGNORECASE)
_SECONDS = 60.0
_PATIENCE_SECONDS = 10.0
"""How long a small call is tried again while nobody answers; the client's own patience is ten minutes."""


def bigquery_client(settings: Settings) -> bigquery.Client:
    """Google's client for the settings' project and endpoint; every query is limited to the bytes that may be billed.

    An http endpoint is a service on this machine and is given no credentials. Raises DeniedError where Google's
    credentials are missing.
    """
    from google.api_core.client_options import ClientOptions
    from google.auth.credentials import AnonymousCredentials
    from google.auth.exceptions import DefaultCredentialsError
    from google.cloud import bigquery

    endpoint = settings.bigquery_endpoint
    if endpoint is None and settings.embedded:
        from ..emulator.local import embedded

        endpoint = embedded(settings).rest
    local = endpoint is not None and endpoint.startswith("http://")
    limit = settings.max_billed_bytes or None
    try:
        return bigquery.Client(
            project=settings.project or LOCAL_PROJECT,
            credentials=AnonymousCredentials() if local else None,  # type: ignore[no-untyped-call]
            client_options=ClientOptions(api_endpoint=endpoint) if endpoint else None,
            default_query_job_config=bigquery.QueryJobConfig(maximum_bytes_billed=limit) if limit else None,
        )
    except DefaultCredentialsError as error:
        raise DeniedError("There are no Google credentials.", "gcloud auth application-default login") from error


def retry() -> Any:
    """How a small call is tried again."""
    from google.cloud.bigquery import DEFAULT_RETRY

    return DEFAULT_RETRY.with_timeout(_PATIENCE_SECONDS)


class BigQueryWarehouse:
    """Tables of BigQuery that the settings allow."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._client = bigquery_client(settings)

    def close(self) -> None:
        """Release the connections."""
        self._client.close()  # type: ignore[no-untyped-call]

    def table_refs(self) -> Sequence[TableRef]:
        """The tables of the settings; without any, all of the project's."""
        with bigquery_error():
            wanted = self._settings.tables or [f"{dataset.reference!s}.*" for dataset in self._datasets()]
            return sorted({ref for written in wanted for ref in self._expanded(written)})

    def _datasets(self) -> Iterator[Any]:
        return iter(self._client.list_datasets(timeout=_SECONDS, retry=retry()))

    def _expanded(self, written: str) -> Iterator[TableRef]:
        if not written.endswith(".*"):
            yield TableRef.parse(written)
            return
        for item in self._client.list_tables(written.removesuffix(".*"), timeout=_SECONDS, retry=retry()):
            yield TableRef(item.project, item.dataset_id, item.table_id)

    def table(self, ref: TableRef) -> Table:
        """Describe a table. Raises TableNotFoundError."""
        with bigquery_error():
            found = self._client.get_table(str(ref), timeout=_SECONDS, retry=retry())
        constraints = found.table_constraints
        primary = constraints.primary_key.columns if constraints and constraints.primary_key else ()
        foreign = (constraints.foreign_keys if constraints else None) or ()
        return Table(
            ref=ref,
            columns=tuple(_column(field) for field in found.schema),
            description=found.description or "",
            row_count=found.num_rows or 0,
            size_bytes=found.num_bytes or 0,
            modified=found.modified,
            primary_key=tuple(primary),
            foreign_keys=tuple(_foreign_key(key) for key in foreign),
        )

    def dry_run(self, sql: str, *, today: datetime | None = None) -> DryRun:
        """Check a statement and say what it would read, without running it."""
        from google.cloud import bigquery

        _check_clock(sql, today)
        with bigquery_error():
            config = bigquery.QueryJobConfig(dry_run=True, use_query_cache=False)
            job = self._client.query(sql, job_config=config, timeout=_SECONDS, retry=retry(), job_retry=None)
            tables = tuple(TableRef(t.project, t.dataset_id, t.table_id) for t in job.referenced_tables)
            columns = tuple(_column(field) for field in job.schema or ())
            return DryRun(job.statement_type or "", columns, tables, job.total_bytes_processed or 0)

    def query(self, sql: str, *, max_rows: int | None = None, today: datetime | None = None) -> Rows:
        """Run one SELECT; see Warehouse.query."""
        checked = self.dry_run(sql, today=today)
        if checked.statement_type != "SELECT":
            raise InvalidQueryError("Only SELECT is allowed: this data is only read.", "Write a SELECT.")
        if self._settings.confirm_bytes and checked.bytes_processed > self._settings.confirm_bytes:
            raise QueryLimitError(
                f"This query would read {checked.bytes_processed:,} bytes, more than ASKHOUSE_CONFIRM_BYTES "
                f"({self._settings.confirm_bytes:,}); it was not run.",
                f"To run it, set ASKHOUSE_CONFIRM_BYTES to {checked.bytes_processed} or more; or read less.",
            )
        with bigquery_error():
            found = self._client.query_and_wait(sql, max_results=max_rows, wait_timeout=_SECONDS * 5)
            columns = tuple(_column(field) for field in found.schema)
            rows = [tuple(_cell(c, k) for c, k in zip(row.values(), columns, strict=True)) for row in found]
            total = found.total_rows if found.total_rows is not None else len(rows)
            return Rows(columns, rows, total, found.total_bytes_processed or 0)

    def version(self) -> str:
        """A token that changes whenever a table appears, disappears or changes."""
        tables = [self.table(ref) for ref in self.table_refs()]
        state = [(str(t.ref), t.row_count, t.size_bytes, str(t.modified)) for t in tables]
        return hashlib.sha256(json.dumps(state).encode()).hexdigest()[:16]


def _check_clock(sql: str, today: datetime | None) -> None:
    if today is not None and _CLOCK.search(sql):
        raise UnsupportedError("BigQuery's own clock cannot be set.", "Write the day as a literal in the query.")


def _column(field: bigquery.SchemaField) -> Column:
    kind = str(field.field_type)
    mode: Mode = "REPEATED" if field.mode == "REPEATED" else "REQUIRED" if field.mode == "REQUIRED" else "NULLABLE"
    parts = tuple(_column(part) for part in field.fields)
    return Column(field.name, _NAMES.get(kind, kind), mode, field.description or "", parts)


def _foreign_key(key: Any) -> ForeignKey:
    pairs = key.column_references
    target = key.referenced_table
    return ForeignKey(
        tuple(pair.referencing_column for pair in pairs),
        TableRef(target.project, target.dataset_id, target.table_id),
        tuple(pair.referenced_column for pair in pairs),
    )


def _cell(value: Any, column: Column) -> Any:
    """The client reads JSON into Python values; here it stays text, as it is stored."""
    return json.dumps(value, ensure_ascii=False) if column.type == "JSON" and value is not None else value


@contextmanager
def bigquery_error() -> Iterator[None]:
    """Turn the client's errors into ours, by who must act."""
    from google.api_core import exceptions as google
    from google.auth.exceptions import GoogleAuthError
    from requests.exceptions import ConnectionError as RequestsConnectionError

    try:
        yield
    except google.NotFound as error:
        raise TableNotFoundError(_said(error), "Check the name, and that you may read it.") from error
    except (google.Forbidden, google.Unauthorized, GoogleAuthError) as error:
        if "bytes billed" in str(error):
            raise QueryLimitError(_said(error), "Raise ASKHOUSE_MAX_BILLED_BYTES, or read less.") from error
        raise DeniedError(_said(error), "Ask for the roles BigQuery Data Viewer and BigQuery Job User.") from error
    except google.TooManyRequests as error:
        raise BusyError(_said(error), "Wait a little and try again.") from error
    except google.GoogleAPICallError as error:
        if "bytes billed" in str(error):
            raise QueryLimitError(_said(error), "Raise ASKHOUSE_MAX_BILLED_BYTES, or read less.") from error
        if isinstance(error, google.BadRequest):
            raise InvalidQueryError(_said(error), "Correct the query.") from error
        raise ServiceError(_said(error), "Try again later.") from error
    except (google.RetryError, RequestsConnectionError, TimeoutError) as error:
        raise UnreachableError("BigQuery does not answer.", "Check the network and the endpoint.") from error


def _said(error: Exception) -> str:
    """What the service said, in one line and without the address that was called."""
    detail = getattr(error, "message", "") or str(error)
    text = re.sub(r"^(GET|POST) \S+: ", "", str(detail).split("\n")[0])
    return masked(re.sub(r"\s*(Location|Job ID): .*$", "", text).strip())
