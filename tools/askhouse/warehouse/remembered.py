"""Query results that are kept until the data changes, so that a new process need not read whole tables to know them."""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from threading import Lock
from typing import Any

from .base import Column, DryRun, Rows, Table, TableRef, Warehouse

_SCHEMA = "CREATE TABLE IF NOT EXISTS results (version TEXT, sql TEXT, kept TEXT, PRIMARY KEY (version, sql))"
_KINDS: dict[str, tuple[type, Callable[[Any], str], Callable[[str], Any]]] = {
    "moment": (datetime, datetime.isoformat, datetime.fromisoformat),  # before its base class
    "date": (date, date.isoformat, date.fromisoformat),
    "time": (time, time.isoformat, time.fromisoformat),
    "numeric": (Decimal, str, Decimal),
    "bytes": (bytes, bytes.hex, bytes.fromhex),
}

_log = logging.getLogger(__name__)


class RememberingWarehouse:
    """A warehouse that runs each whole query once for each version of its data, whatever process asked first.

    The file is a cache: where it cannot be read or written, queries run as they would without it.
    """

    def __init__(self, warehouse: Warehouse, path: Path) -> None:
        self._warehouse = warehouse
        self._path = path
        self._lock = Lock()
        self._version = ""
        self._known: dict[str, Rows] = {}

    def table_refs(self) -> Sequence[TableRef]:
        return self._warehouse.table_refs()

    def table(self, ref: TableRef) -> Table:
        return self._warehouse.table(ref)

    def version(self) -> str:
        return self._warehouse.version()

    def dry_run(self, sql: str, *, today: datetime | None = None) -> DryRun:
        return self._warehouse.dry_run(sql, today=today)

    def query(self, sql: str, *, max_rows: int | None = None, today: datetime | None = None) -> Rows:
        """As the warehouse's; only queries of all rows under the real clock are kept."""
        if max_rows is not None or today is not None:
            return self._warehouse.query(sql, max_rows=max_rows, today=today)
        version = self.version()
        with self._lock:
            if version != self._version:
                self._known, self._version = self._load(version), version
            known = self._known.get(sql)
        if known is None:
            known = self._warehouse.query(sql)
            self._keep(version, sql, known)
        return known

    def _load(self, version: str) -> dict[str, Rows]:
        try:
            with closing(sqlite3.connect(self._path, timeout=5)) as database, database:
                database.execute(_SCHEMA)
                kept = database.execute("SELECT sql, kept FROM results WHERE version = ?", (version,)).fetchall()
            return {sql: _rows(json.loads(text)) for sql, text in kept}
        except (sqlite3.Error, ValueError, LookupError, TypeError) as error:
            _log.info("Kept results cannot be read: %s", error)
            return {}

    def _keep(self, version: str, sql: str, rows: Rows) -> None:
        with self._lock:
            self._known[sql] = rows
        try:
            text = json.dumps(_plain(rows))
            with closing(sqlite3.connect(self._path, timeout=5)) as database, database:
                database.execute("DELETE FROM results WHERE version <> ?", (version,))
                database.execute("INSERT OR REPLACE INTO results VALUES (?, ?, ?)", (version, sql, text))
        except (sqlite3.Error, TypeError) as error:
            _log.info("Results cannot be kept: %s", error)


def _plain(rows: Rows) -> dict[str, Any]:
    return {
        "columns": [[column.name, column.type] for column in rows.columns],
        "rows": [[_coded(cell) for cell in row] for row in rows.rows],
        "total_rows": rows.total_rows,
        "bytes": rows.bytes_processed,
    }


def _rows(plain: dict[str, Any]) -> Rows:
    columns = tuple(Column(name, kind) for name, kind in plain["columns"])
    cells = [tuple(_decoded(cell) for cell in row) for row in plain["rows"]]
    return Rows(columns, cells, plain["total_rows"], plain["bytes"])


def _coded(cell: Any) -> Any:
    if cell is None or isinstance(cell, (bool, int, float, str)):
        return cell
    for kind, (of, write, _) in _KINDS.items():
        if isinstance(cell, of):
            return {kind: write(cell)}
    raise TypeError(f"{type(cell).__name__} is not kept.")


def _decoded(cell: Any) -> Any:
    if not isinstance(cell, dict):
        return cell
    ((kind, text),) = cell.items()
    return _KINDS[kind][2](text)
