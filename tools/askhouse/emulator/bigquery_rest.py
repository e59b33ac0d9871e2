"""BigQuery's REST interface over the embedded warehouse: Google's own client and tools work against it, reading only.

Every failure is a 4xx in Google's error shape: the client would retry anything else for minutes.
"""

from __future__ import annotations

import json
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from threading import Lock
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ..errors import (
    AskhouseError,
    InvalidQueryError,
    QueryLimitError,
    StorageError,
    TableNotFoundError,
    UnsupportedError,
)
from ..warehouse.base import Rows, TableRef, Warehouse
from ..warehouse.dialect import parse, statement_type
from .bigquery_cells import rows_of, schema_of, table_item, table_of
from .jobs import JobStore, StoredJob, billed_bytes
from .wire import RESULTS_DATASET

PAGE_ROWS = 10_000
"""Rows of a page where the caller does not say."""

_KEPT_ROWS = 100_000
_log = logging.getLogger(__name__)

Json = dict[str, Any]


class RefusedError(Exception):
    """An answer of the 4xx kind."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.status, self.reason, self.message = status, reason, message


def routes(warehouse: Warehouse, jobs: JobStore) -> list[Route]:
    """The routes of BigQuery v2 below /bigquery/v2, to mount beside others."""
    served = _BigQuery(warehouse, jobs)
    project = "/bigquery/v2/projects/{project}"
    dataset = project + "/datasets/{dataset}"
    table = dataset + "/tables/{table}"
    readers: list[tuple[str, str, Callable[[Request, Json], Json]]] = [
        ("GET", "/bigquery/v2/projects", served.projects),
        ("GET", f"{project}/datasets", served.datasets),
        ("GET", dataset, served.dataset),
        ("GET", f"{dataset}/tables", served.tables),
        ("GET", table, served.table),
        ("GET", f"{table}/data", served.table_data),
        ("POST", f"{project}/jobs", served.insert_job),
        ("GET", f"{project}/jobs/{{job}}", served.job),
        ("POST", f"{project}/jobs/{{job}}/cancel", served.cancel_job),
        ("POST", f"{project}/queries", served.query),
        ("GET", f"{project}/queries/{{job}}", served.query_results),
    ]
    found = [Route(path, _answer(handler), methods=[method]) for method, path, handler in readers]
    everything = ["GET", "POST", "PUT", "PATCH", "DELETE"]
    rest = [
        Route(f"{prefix}/bigquery/v2/{{path:path}}", _answer(_refuse), methods=everything) for prefix in ("", "/upload")
    ]
    return found + rest


def _answer(handler: Callable[[Request, Json], Json]) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        try:
            raw = await request.body()
            body = json.loads(raw) if raw and request.method == "POST" and "/upload/" not in request.url.path else {}
            if not isinstance(body, dict):
                raise RefusedError(400, "parseError", "The body is not a JSON object.")
            return JSONResponse(await run_in_threadpool(handler, request, body))
        except (ValueError, KeyError, TypeError, AskhouseError, RefusedError) as error:
            return _error(error)
        except Exception as error:
            _log.exception("A BigQuery request failed.")
            return _error(error)

    return endpoint


def _refuse(request: Request, body: Json) -> Json:
    if request.method == "GET":
        raise RefusedError(404, "notFound", f"Not found: {request.url.path}")
    raise RefusedError(403, "accessDenied", "Access Denied: this data can only be read.")


_REASONS: tuple[tuple[type[Exception], int, str], ...] = (
    (TableNotFoundError, 404, "notFound"),
    (QueryLimitError, 400, "resourcesExceeded"),
    (InvalidQueryError, 400, "invalidQuery"),
    (UnsupportedError, 400, "invalidQuery"),
    (StorageError, 403, "accessDenied"),
)
_STATUSES = {400: "INVALID_ARGUMENT", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 409: "ALREADY_EXISTS"}


def _error(error: Exception) -> JSONResponse:
    status, reason = next(((s, r) for kind, s, r in _REASONS if isinstance(error, kind)), (400, "invalid"))
    message = str(error) or type(error).__name__
    if isinstance(error, RefusedError):
        status, reason = error.status, error.reason
    detail: Json = {"message": message, "domain": "global", "reason": reason}
    if reason == "invalidQuery":
        detail |= {"location": "q", "locationType": "parameter"}
    body = {"code": status, "message": message, "errors": [detail], "status": _STATUSES.get(status, "UNKNOWN")}
    return JSONResponse({"error": body}, status_code=status)


@dataclass(frozen=True)
class _Page:
    """Which rows are wanted, and how a TIMESTAMP is written."""

    start: int
    size: int
    micros: bool

    @classmethod
    def of(cls, request: Request, options: Json | None = None) -> _Page:
        asked = dict(request.query_params)
        start = int(asked.get("pageToken") or asked.get("startIndex") or 0)
        size = int((options or {}).get("maxResults", asked.get("maxResults", PAGE_ROWS)))
        wanted = (options or {}).get("formatOptions", {}).get("useInt64Timestamp")
        micros = wanted if wanted is not None else asked.get("formatOptions.useInt64Timestamp", "").lower() == "true"
        return cls(max(start, 0), min(max(size, 0), PAGE_ROWS), bool(micros))


class _BigQuery:
    """The resources, each computed from the warehouse and the stored jobs."""

    def __init__(self, warehouse: Warehouse, jobs: JobStore) -> None:
        self._warehouse, self._jobs = warehouse, jobs
        self._kept: OrderedDict[str, Rows] = OrderedDict()
        self._lock = Lock()

    # Projects, datasets, tables

    def projects(self, request: Request, body: Json) -> Json:
        names = sorted({ref.project for ref in self._warehouse.table_refs()})
        items = [{"id": name, "projectReference": {"projectId": name}, "friendlyName": name} for name in names]
        return {"kind": "bigquery#projectList", "projects": items, "totalItems": len(items)}

    def datasets(self, request: Request, body: Json) -> Json:
        project = request.path_params["project"]
        names = sorted({ref.dataset for ref in self._warehouse.table_refs() if ref.project == project})
        return {"kind": "bigquery#datasetList", "datasets": [_dataset(project, name) for name in names]}

    def dataset(self, request: Request, body: Json) -> Json:
        project, dataset = request.path_params["project"], request.path_params["dataset"]
        self._refs(project, dataset)
        return _dataset(project, dataset) | {"access": [], "creationTime": "0", "lastModifiedTime": "0"}

    def _refs(self, project: str, dataset: str) -> list[TableRef]:
        refs = [ref for ref in self._warehouse.table_refs() if (ref.project, ref.dataset) == (project, dataset)]
        if not refs:
            raise RefusedError(404, "notFound", f"Not found: Dataset {project}:{dataset}")
        return refs

    def tables(self, request: Request, body: Json) -> Json:
        refs = self._refs(request.path_params["project"], request.path_params["dataset"])
        items = [table_item(self._warehouse.table(ref)) for ref in refs]
        return {"kind": "bigquery#tableList", "tables": items, "totalItems": len(items)}

    def table(self, request: Request, body: Json) -> Json:
        ref = TableRef(*(request.path_params[part] for part in ("project", "dataset", "table")))
        if ref.dataset == RESULTS_DATASET:
            columns = self._rows(self._stored(ref.table), 0).columns
            return {"tableReference": _results_table(ref.project, ref.table), "schema": schema_of(columns)}
        return table_of(self._warehouse.table(ref))

    def table_data(self, request: Request, body: Json) -> Json:
        ref = TableRef(*(request.path_params[part] for part in ("project", "dataset", "table")))
        page = _Page.of(request)
        if ref.dataset == RESULTS_DATASET:
            rows = self._rows(self._stored(ref.table), page.start + page.size)
        else:
            rows = self._warehouse.query(self._listing(ref, request), max_rows=page.start + page.size)
        return {"kind": "bigquery#tableDataList", **_page(rows, page)}

    def _listing(self, ref: TableRef, request: Request) -> str:
        table = self._warehouse.table(ref)
        wanted = [name for name in request.query_params.get("selectedFields", "").split(",") if name]
        names = [table.column(name).name for name in wanted] or [column.name for column in table.columns]
        return f"SELECT {', '.join(f'`{name}`' for name in names)} FROM `{ref}`"

    # Jobs

    def insert_job(self, request: Request, body: Json) -> Json:
        configuration = body.get("configuration") or {}
        if "query" not in configuration:
            raise RefusedError(
                403, "accessDenied", "Access Denied: only query jobs are served, this data can only be read."
            )
        project = request.path_params["project"]
        asked = configuration["query"]
        if configuration.get("dryRun"):
            return self._dry_run(project, asked, configuration)
        wanted = (body.get("jobReference") or {}).get("jobId")
        if wanted and self._jobs.get(wanted):
            raise RefusedError(409, "duplicate", f"Already Exists: Job {project}:US.{wanted}")
        rows = self._run(asked)
        job_id = self._jobs.record(asked["query"], None, project, wanted)
        self._keep(job_id, rows)
        return self._resource(self._stored(job_id), rows) | {
            "configuration": _completed(configuration, project, job_id)
        }

    def _run(self, asked: Json) -> Rows:
        sql = _plain(asked)
        if statement_type(parse(sql)) != "SELECT":
            raise RefusedError(
                403, "accessDenied", "Access Denied: only SELECT is allowed, this data can only be read."
            )
        _check_limit(asked, self._warehouse.dry_run(sql).bytes_processed)
        return self._warehouse.query(sql, max_rows=PAGE_ROWS)

    def _dry_run(self, project: str, asked: Json, configuration: Json) -> Json:
        sql = _plain(asked)
        kind = statement_type(parse(sql))
        query: Json = {"statementType": kind, "totalBytesProcessed": "0", "cacheHit": False}
        if kind == "SELECT":
            run = self._warehouse.dry_run(sql)
            _check_limit(asked, run.bytes_processed)
            tables = [{"projectId": t.project, "datasetId": t.dataset, "tableId": t.table} for t in run.tables]
            query |= {"totalBytesProcessed": str(run.bytes_processed), "schema": schema_of(run.columns)}
            query |= {"referencedTables": tables, "totalBytesBilled": "0"}
        return {
            "kind": "bigquery#job",
            "jobReference": {"projectId": project, "location": "US"},
            "configuration": configuration | {"jobType": "QUERY"},
            "status": {"state": "DONE"},
            "statistics": {"totalBytesProcessed": query["totalBytesProcessed"], "query": query},
        }

    def job(self, request: Request, body: Json) -> Json:
        stored = self._stored(request.path_params["job"])
        configuration = _completed({"query": {"query": stored.sql}}, stored.project, stored.job_id)
        return self._resource(stored, self._rows(stored, 0)) | {"configuration": configuration}

    def cancel_job(self, request: Request, body: Json) -> Json:
        return {"kind": "bigquery#jobCancelResponse", "job": self.job(request, body)}

    def _resource(self, stored: StoredJob, rows: Rows) -> Json:
        moment = str(int(stored.created.timestamp() * 1000))
        processed, billed = str(rows.bytes_processed), str(billed_bytes(rows.bytes_processed))
        query = {
            "statementType": "SELECT",
            "totalBytesProcessed": processed,
            "totalBytesBilled": billed,
            "cacheHit": False,
        }
        return {
            "kind": "bigquery#job",
            "id": f"{stored.project}:US.{stored.job_id}",
            "jobReference": _job_reference(stored),
            "status": {"state": "DONE"},
            "user_email": "user@localhost",
            "statistics": {
                "creationTime": moment,
                "startTime": moment,
                "endTime": moment,
                "totalBytesProcessed": processed,
                "query": query | {"schema": schema_of(rows.columns)},
            },
        }

    # Queries

    def query(self, request: Request, body: Json) -> Json:
        project = request.path_params["project"]
        if body.get("dryRun"):
            statistics = self._dry_run(project, body, {"query": body})["statistics"]["query"]
            return {
                "kind": "bigquery#queryResponse",
                "jobComplete": True,
                "totalBytesProcessed": statistics["totalBytesProcessed"],
                "schema": statistics.get("schema", {"fields": []}),
            }
        rows = self._run(body)
        job_id = self._jobs.record(body["query"], None, project)
        self._keep(job_id, rows)
        return self._response("bigquery#queryResponse", self._stored(job_id), _Page.of(request, body))

    def query_results(self, request: Request, body: Json) -> Json:
        stored = self._stored(request.path_params["job"])
        return self._response("bigquery#getQueryResultsResponse", stored, _Page.of(request))

    def _response(self, kind: str, stored: StoredJob, page: _Page) -> Json:
        rows = self._rows(stored, page.start + page.size)
        return {
            "kind": kind,
            "jobReference": _job_reference(stored),
            "jobComplete": True,
            "schema": schema_of(rows.columns),
            "totalBytesProcessed": str(rows.bytes_processed),
            "cacheHit": False,
            **_page(rows, page),
        }

    # Results: kept for a while, computed again when not

    def _stored(self, job_id: str) -> StoredJob:
        stored = self._jobs.get(job_id)
        if stored is None:
            raise RefusedError(404, "notFound", f"Not found: Job {job_id}")
        return stored

    def _rows(self, stored: StoredJob, need: int) -> Rows:
        """At least the first `need` rows of a job."""
        with self._lock:
            kept = self._kept.get(stored.job_id)
        if kept is not None and len(kept.rows) >= min(need, kept.total_rows):
            return kept
        wanted = max(need, 2 * len(kept.rows) if kept else PAGE_ROWS)
        rows = self._warehouse.query(stored.sql, max_rows=wanted, today=stored.today)
        self._keep(stored.job_id, rows)
        return rows

    def _keep(self, job_id: str, rows: Rows) -> None:
        with self._lock:
            self._kept[job_id] = rows
            self._kept.move_to_end(job_id)
            while len(self._kept) > 1 and sum(len(kept.rows) for kept in self._kept.values()) > _KEPT_ROWS:
                self._kept.popitem(last=False)


def _page(rows: Rows, page: _Page) -> Json:
    part = rows.rows[page.start : page.start + page.size]
    end = page.start + len(part)
    if not page.size:  # the caller asks whether the job is done; an empty list would pass for the first page
        return {"totalRows": str(rows.total_rows)}
    more = {"pageToken": str(end)} if part and end < rows.total_rows else {}
    return {"totalRows": str(rows.total_rows), "rows": rows_of(part, rows.columns, micros=page.micros), **more}


def _plain(asked: Json) -> str:
    """The SQL of a query request. Refuses what would change its meaning unseen."""
    if asked.get("useLegacySql"):
        raise RefusedError(400, "invalid", "Legacy SQL is not supported here. Set useLegacySql to false.")
    if asked.get("queryParameters"):
        raise RefusedError(400, "invalid", "Query parameters are not supported here. Write the values in the query.")
    if asked.get("createSession"):
        raise RefusedError(400, "invalid", "Sessions are not supported here.")
    return str(asked["query"])


def _check_limit(asked: Json, processed: int) -> None:
    limit, billed = int(asked.get("maximumBytesBilled") or 0), billed_bytes(processed)
    if limit and billed > limit:
        message = f"Query exceeded limit for bytes billed: {limit}. {billed} or higher required."
        raise RefusedError(400, "bytesBilledLimitExceeded", message)


def _completed(configuration: Json, project: str, job_id: str) -> Json:
    query = configuration["query"] | {"destinationTable": _results_table(project, job_id), "useLegacySql": False}
    return configuration | {"jobType": "QUERY", "query": query}


def _results_table(project: str, job_id: str) -> Json:
    return {"projectId": project, "datasetId": RESULTS_DATASET, "tableId": job_id}


def _job_reference(stored: StoredJob) -> Json:
    return {"projectId": stored.project, "jobId": stored.job_id, "location": "US"}


def _dataset(project: str, name: str) -> Json:
    return {
        "kind": "bigquery#dataset",
        "id": f"{project}:{name}",
        "datasetReference": {"projectId": project, "datasetId": name},
        "location": "US",
    }
