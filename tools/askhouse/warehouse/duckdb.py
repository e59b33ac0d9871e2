"""The embedded warehouse: DuckDB behind GoogleSQL, read-only, with no way to the outside."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import InvalidQueryError, QueryLimitError, StorageError
from .base import DryRun, Rows, Table, TableRef
from .catalogue import Stored
from .dialect import Compiled, compile_query
from .guard import nearest_table_error, query_error
from .load import loaded_tables, loaded_token, tables_folder
from .samples import (
    damage_of,
    ensure_samples,
    rebuild_samples,
    sample_file,
    sample_token,
    stored_samples,
    whole,
)
from .stopping import stoppable

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

QUERY_SECONDS = 60.0
"""How long one query may run."""

QUERY_MEMORY = "2GB"
"""How much memory all queries of a process may use at once."""

_ATTEMPTS = 20
_T = TypeVar("_T")


def open_warehouse(home: Path) -> LocalWarehouse:
    """Open the embedded warehouse of a data folder; the first time builds the sample tables, in a few seconds.

    Raises StorageError when the folder cannot be written and holds no sample yet.
    """
    return LocalWarehouse(home)


class LocalWarehouse:
    """Sample tables and the person's own, read by any number of threads and processes at once."""

    def __init__(self, home: Path, *, query_seconds: float = QUERY_SECONDS, memory: str = QUERY_MEMORY) -> None:
        self.home = home.resolve()
        self._query_seconds = query_seconds
        self._connection, self._samples = _opened(self.home, memory)
        self._loaded: tuple[str, dict[TableRef, Stored]] = ("", {})

    def close(self) -> None:
        """Release the database."""
        self._connection.close()

    def check(self) -> None:
        """Read all of the sample tables. Raises StorageError when they are damaged."""
        with self._connection.cursor() as cursor:
            if damage := damage_of(cursor, sample_file(self.home)):
                raise StorageError(f"{damage.rstrip('.')}.", "Remove that file; it is built anew at the next question.")

    def version(self) -> str:
        """A token that changes whenever a table appears, disappears or changes."""
        return f"{sample_token()}; {loaded_token(self.home)}"

    def table_refs(self) -> Sequence[TableRef]:
        """Every table that may be asked, in order of name."""
        return sorted(self._stored())

    def table(self, ref: TableRef) -> Table:
        """Describe a table. Raises TableNotFoundError naming the nearest one."""
        stored = self._stored()
        if ref not in stored:
            raise nearest_table_error(ref, stored)
        return stored[ref].table

    def dry_run(self, sql: str, *, today: datetime | None = None) -> DryRun:
        """Check a statement and say what it would read, without running it."""
        return self._again_when_replaced(lambda: self._dry_run(self._compile(sql, today)))

    def _dry_run(self, compiled: Compiled) -> DryRun:
        with self._cursor() as cursor, query_error():
            cursor.execute(f"EXPLAIN {compiled.sql}")
        return DryRun("SELECT", compiled.columns, compiled.tables, compiled.bytes_processed)

    def query(self, sql: str, *, max_rows: int | None = None, today: datetime | None = None) -> Rows:
        """Run one SELECT; see Warehouse.query."""
        return self._again_when_replaced(lambda: self._query(self._compile(sql, today), max_rows))

    def _query(self, compiled: Compiled, max_rows: int | None) -> Rows:
        with self._cursor() as cursor, query_error():
            cursor.execute(compiled.sql)
            compiled.check_types([str(column[1]) for column in cursor.description or ()])
            rows = cursor.fetchall() if max_rows is None else cursor.fetchmany(max_rows + 1)
            total = len(rows)
            if max_rows is not None and total > max_rows:
                rows = rows[:max_rows]
                cursor.execute(f"SELECT COUNT(*) FROM ({compiled.sql})")
                total = cursor.fetchall()[0][0]
        return Rows(compiled.columns, rows, total, compiled.bytes_processed)

    def _again_when_replaced(self, run: Callable[[], _T]) -> _T:
        """Run once more whenever a table was replaced, and its old file removed, after its name was looked up."""
        for _ in range(_ATTEMPTS - 1):
            before = self.version()
            try:
                return run()
            except (InvalidQueryError, StorageError):
                if self.version() == before:
                    raise
        return run()

    def _compile(self, sql: str, today: datetime | None) -> Compiled:
        now = today or datetime.now(UTC)
        return compile_query(sql, self._stored(), now if now.tzinfo else now.replace(tzinfo=UTC))

    def _stored(self) -> Mapping[TableRef, Stored]:
        token = loaded_token(self.home)
        if token != self._loaded[0]:
            found = loaded_tables(self.home)
            self._loaded = (token, {ref: stored for ref, stored in found.items() if self._opens(stored)})
        return {**self._samples, **self._loaded[1]}

    def _opens(self, stored: Stored) -> bool:
        """Whether a file says what it holds. One that is damaged must not stop questions about other tables."""
        import duckdb

        try:
            with self._connection.cursor() as cursor:
                cursor.execute(f"EXPLAIN SELECT * FROM {stored.source}")
        except duckdb.Error:
            return False
        return True

    @contextmanager
    def _cursor(self) -> Iterator[DuckDBPyConnection]:
        """A cursor of its own for one query, interrupted when it takes too long."""
        cursor = self._connection.cursor()
        overdue = threading.Event()

        def stop() -> None:
            overdue.set()
            cursor.interrupt()

        timer = threading.Timer(self._query_seconds, stop)
        timer.daemon = True
        timer.start()
        try:
            with stoppable(cursor.interrupt):
                yield cursor
        except Exception as error:
            if overdue.is_set():
                raise QueryLimitError(
                    f"The query took longer than {self._query_seconds:g} seconds and was stopped.",
                    "Ask for a shorter period or fewer rows.",
                ) from error
            raise
        finally:
            timer.cancel()
            cursor.close()


def _opened(home: Path, memory: str) -> tuple[DuckDBPyConnection, dict[TableRef, Stored]]:
    """The database and its sample tables, which are built anew where their file is damaged."""
    import duckdb

    path = ensure_samples(home)
    inode = path.stat().st_ino
    try:
        return _once_opened(home, path, memory)
    except (duckdb.Error, LookupError):
        rebuild_samples(home, inode)
    try:
        return _once_opened(home, path, memory)
    except duckdb.Error as error:
        reason = str(error).splitlines()[0]
        raise StorageError(f"The sample data cannot be read: {reason}.", f"Remove {path} and ask again.") from error


def _once_opened(home: Path, path: Path, memory: str) -> tuple[DuckDBPyConnection, dict[TableRef, Stored]]:
    connection = _connect(path, tables_folder(home), memory)
    try:
        if not whole(connection, path):
            raise LookupError(path)
        return connection, stored_samples(connection)
    except BaseException:
        connection.close()
        raise


def _connect(samples: Path, tables: Path, memory: str) -> DuckDBPyConnection:
    """A database in memory that sees the samples and the folder of Parquet files, and nothing else."""
    import duckdb

    connection: Any = duckdb.connect(":memory:")
    text = str(samples).replace("'", "''")
    connection.execute(f"ATTACH '{text}' AS samples (READ_ONLY)")
    for macro in files(__package__).joinpath("data/macros.sql").read_text("utf-8").split(";\n"):
        connection.execute(macro)
    folder = str(tables).replace("'", "''")
    for setting in (
        "TimeZone = 'UTC'",
        "default_null_order = 'NULLS_FIRST_ON_ASC_LAST_ON_DESC'",
        "threads = 1",  # the same query gives the same digits and breaks ties alike, every time
        f"memory_limit = '{memory}'",
        "temp_directory = ''",
        "python_enable_replacements = false",
        "autoinstall_known_extensions = false",
        "autoload_known_extensions = false",
        f"allowed_directories = ['{folder}']",
        "enable_external_access = false",
        "lock_configuration = true",
    ):
        connection.execute(f"SET GLOBAL {setting}")
    return connection  # type: ignore[no-any-return]
