"""Queries that were run: enough of each to run it again, in any process."""

from __future__ import annotations

import sqlite3
import uuid
import weakref
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock

from ..errors import StorageError
from ..journal import write_ahead

DATABASE = "askhouse.db"
"""The SQLite file, in the data folder, of everything small that the emulator keeps."""


_MEGABYTE = 2**20
_MINIMUM_BILLED = 10 * _MEGABYTE
_COSTS_KEPT = 1_000


def billed_bytes(processed: int) -> int:
    """What BigQuery would bill: whole megabytes, ten at least, nothing for nothing."""
    return max(_MINIMUM_BILLED, -(-processed // _MEGABYTE) * _MEGABYTE) if processed else 0


@dataclass(frozen=True)
class StoredJob:
    """One query: what was asked, with which clock, and when."""

    job_id: str
    project: str
    sql: str
    today: datetime | None
    """The moment that counted as now; None for the real one."""
    created: datetime


class JobStore:
    """Jobs of a data folder, shared by every thread and process that uses it."""

    def __init__(self, home: Path) -> None:
        self._path = home / DATABASE
        self._lock = Lock()
        self._opened: sqlite3.Connection | None = None
        self._billed: OrderedDict[str, int] = OrderedDict()

    def record(self, sql: str, today: datetime | None, project: str, job_id: str | None = None) -> str:
        """Keep a query and return the id of its job. An id that is taken keeps its first query.

        Raises StorageError when the data folder cannot be written.
        """
        job_id = job_id or f"job_{uuid.uuid4().hex}"
        moments = [None if today is None else today.isoformat(), datetime.now(UTC).isoformat()]
        with self._database() as database:
            database.execute("INSERT OR IGNORE INTO jobs VALUES (?, ?, ?, ?, ?)", [job_id, project, sql, *moments])
        return job_id

    def note_bytes(self, job_id: str, processed: int) -> None:
        """Remember, in this process, what a job read."""
        self._billed[job_id] = billed_bytes(processed)
        while len(self._billed) > _COSTS_KEPT:
            self._billed.popitem(last=False)

    def billed(self, job_id: str) -> int | None:
        """What a job that this process ran would be billed, or None where that is not known any more."""
        return self._billed.get(job_id)

    def get(self, job_id: str) -> StoredJob | None:
        """The job of that id, or None."""
        with self._database() as database:
            row = database.execute("SELECT * FROM jobs WHERE job_id = ?", [job_id]).fetchone()
        if row is None:
            return None
        today = None if row[3] is None else datetime.fromisoformat(row[3])
        return StoredJob(row[0], row[1], row[2], today, datetime.fromisoformat(row[4]))

    @contextmanager
    def _database(self) -> Iterator[sqlite3.Connection]:
        """One transaction. The connection stays open: closing the last one to a WAL file writes all of it back."""
        try:
            with self._lock:
                self._opened = self._opened or self._open()
                with self._opened:
                    yield self._opened
        except (OSError, sqlite3.OperationalError) as error:
            raise StorageError(
                f"The jobs cannot be kept in {self._path}: {error}.",
                "Free some space, or set ASKHOUSE_HOME to a folder that you may write.",
            ) from error

    def _open(self) -> sqlite3.Connection:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        database = sqlite3.connect(self._path, timeout=10, check_same_thread=False)
        weakref.finalize(self, database.close)
        write_ahead(database)
        database.execute("PRAGMA synchronous = NORMAL")  # after a power cut the last jobs may be missing, no more
        database.execute(
            "CREATE TABLE IF NOT EXISTS jobs"
            " (job_id TEXT PRIMARY KEY, project TEXT, sql TEXT, today TEXT, created TEXT)"
        )
        return database
