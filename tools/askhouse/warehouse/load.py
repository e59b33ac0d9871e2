"""The person's own tables: one immutable Parquet file and one catalogue row for each, in the data folder."""

from __future__ import annotations

import json
import os
import re
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..errors import FileError, StorageError, TableNotFoundError, UsageError
from .base import Column, Table, TableRef
from .catalogue import LOCAL_PROJECT, USER_DATASET, Stored, bytes_expression, quoted
from .files import Reading, read_file
from .kinds import text
from .locks import alone

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MAX_NAME = 200
"""Characters of a table's name."""

DAMAGED: Literal["damaged"] = "damaged"
_MAGIC = b"PAR1"
_ABANDONED_SECONDS = 3600
"""After this time, what a load has not finished belongs to one that was killed."""


def tables_folder(home: Path) -> Path:
    """Where the person's tables lie."""
    return home / USER_DATASET


def load_file(home: Path, path: Path, name: str | None = None) -> Table:
    """Make a table of a CSV, Parquet or JSON file; one of the same name is replaced at once and as a whole.

    Raises FileError when the file cannot be read as a table, UsageError when the name cannot be one, StorageError when
    the data folder cannot be written. Nothing is changed then.
    """
    table_name = _table_name(path, name)
    with _connection() as connection:
        reading = read_file(connection, path)
        with _storing(home) as folder:
            return _store(connection, reading, folder, table_name, path.name)


def forget(home: Path, name: str) -> None:
    """Remove a table that was loaded. Raises TableNotFoundError, or StorageError when the folder cannot be written."""
    folder = tables_folder(home)
    if not (folder / f"{name}.json").exists():
        known = ", ".join(ref.table for ref in loaded_tables(home)) or "none"
        raise TableNotFoundError(f"There is no table {name} of yours.", f"Yours are: {known}.")
    with _storing(home), alone(folder / ".lock"):
        (folder / f"{name}.json").unlink(missing_ok=True)
        _sweep(folder)


def _table_name(path: Path, name: str | None) -> str:
    made = name if name is not None else re.sub(r"\W+", "_", path.stem).strip("_") or "table"
    if not re.fullmatch(r"\w[\w-]*", made) or len(made) > MAX_NAME:
        raise UsageError(f"{made!r} cannot name a table.", "Use letters, digits and underscores, with --name.")
    return made


@contextmanager
def _connection() -> Iterator[DuckDBPyConnection]:
    import duckdb

    with duckdb.connect(":memory:") as connection:
        connection.execute("SET TimeZone = 'UTC'; SET enable_progress_bar = false")
        connection.execute("SET autoinstall_known_extensions = false; SET autoload_known_extensions = false")
        # It makes a join of each IN, and a wide table has thousands.
        connection.execute("SET disabled_optimizers = 'in_clause'")
        yield connection


@contextmanager
def _storing(home: Path) -> Iterator[Path]:
    """The folder of the tables, made if need be, and unmade when nothing could be stored in it."""
    import duckdb

    folder = tables_folder(home)
    fresh = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield folder
    except (OSError, duckdb.IOException, duckdb.TransactionException, duckdb.FatalException) as error:
        if fresh:
            with suppress(OSError):
                (folder / ".lock").unlink(missing_ok=True)
                folder.rmdir()
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise StorageError(
            f"The table cannot be written to {folder}: {reason}.",
            "Free some space, or set ASKHOUSE_HOME to a folder that you may write.",
        ) from error


def _store(connection: DuckDBPyConnection, reading: Reading, folder: Path, name: str, source: str) -> Table:
    unfinished = folder / f".{uuid.uuid4().hex}.tmp"
    try:
        connection.execute(f"COPY ({reading.sql}) TO {text(str(unfinished))} (FORMAT parquet, COMPRESSION zstd)")
        row = _catalogue_row(connection, reading, unfinished, name, source)
        with alone(folder / ".lock"):
            os.replace(unfinished, folder / row["file"])
            _write_row(folder / f"{name}.json", row)
            _sweep(folder)
    finally:
        unfinished.unlink(missing_ok=True)
    stored = _read_row(folder / f"{name}.json")
    if not isinstance(stored, Stored):
        raise FileError(f"The table {name} was forgotten while it was loaded.", "Load it again.")
    return stored.table


def _catalogue_row(
    connection: DuckDBPyConnection, reading: Reading, file: Path, name: str, source: str
) -> dict[str, Any]:
    sizes = ", ".join(["COUNT(*)", *(bytes_expression(column) for column in reading.columns)])
    count, *amounts = connection.execute(f"SELECT {sizes} FROM {_rows_of(file)}").fetchone() or (0,)
    return {
        "version": 1,
        "name": name,
        "file": f"{name}-{uuid.uuid4().hex[:12]}.parquet",
        "description": f"Loaded from {source}.",
        "columns": [_column_row(column) for column in reading.columns],
        "row_count": count,
        "column_bytes": dict(zip((column.name for column in reading.columns), amounts, strict=True)),
        "modified": datetime.now(UTC).isoformat(),
    }


def _column_row(column: Column) -> dict[str, Any]:
    fields = [_column_row(part) for part in column.fields]
    return {"name": column.name, "type": column.type, "mode": column.mode} | ({"fields": fields} if fields else {})


def _write_row(path: Path, row: Mapping[str, Any]) -> None:
    """Replace a catalogue row as a whole; on file systems that ignore case, one that differs in case only too."""
    unfinished = path.with_name(f".{uuid.uuid4().hex}.tmp")
    try:
        unfinished.write_text(json.dumps(row, ensure_ascii=False), "utf-8")
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def _sweep(folder: Path) -> None:
    """Remove the files that no catalogue row names. Holds the lock, so none is about to be named.

    Files of a damaged row stay, as nobody can tell which they are; so does what a load may still be writing.
    """
    rows = {path.stem: _named_file(path) for path in folder.glob("*.json")}
    unknown = {name for name, file in rows.items() if file is None}
    spared = [file for file in folder.glob("*.parquet") if file.name.rpartition("-")[0] in unknown]
    for file in {*folder.glob("*.parquet")} - {*spared, *(folder / file for file in rows.values() if file)}:
        with suppress(PermissionError):  # a reader on Windows holds it open; the next sweep gets it
            file.unlink(missing_ok=True)
    for file in folder.glob(".*.tmp"):
        with suppress(OSError):
            if time.time() - file.stat().st_mtime > _ABANDONED_SECONDS:
                file.unlink()


def _named_file(path: Path) -> str | None:
    """The file that a catalogue row names, or None when the row cannot be read."""
    try:
        return str(json.loads(path.read_text("utf-8"))["file"])
    except (OSError, ValueError, LookupError, TypeError):
        return None


def loaded_tables(home: Path) -> dict[TableRef, Stored]:
    """The person's tables as the catalogue rows describe them now, without those that `damaged_tables` names."""
    rows = (_read_row(path) for path in sorted(tables_folder(home).glob("*.json")))
    return {row.table.ref: row for row in rows if isinstance(row, Stored)}


def damaged_tables(home: Path, *, thoroughly: bool = False) -> list[str]:
    """Names of the person's tables that can no longer be read; the others do without them.

    Args:
        home: the data folder.
        thoroughly: read every value, where otherwise the catalogue rows and both ends of the files must do.
    """
    paths = sorted(tables_folder(home).glob("*.json"))
    rows = {path.stem: row for path in paths if (row := _read_row(path)) is not None}
    damaged = [name for name, row in rows.items() if row is DAMAGED]
    if thoroughly:
        damaged += [name for name, row in rows.items() if isinstance(row, Stored) and not _readable(row)]
    return sorted(damaged)


def _readable(stored: Stored) -> bool:
    import duckdb

    values = ", ".join(f"MAX(HASH({quoted(column.name)}))" for column in stored.table.columns)
    try:
        with _connection() as connection:
            connection.execute(f"SELECT {values} FROM {stored.source}")
    except duckdb.Error:
        return False
    return True


def loaded_token(home: Path) -> str:
    """Changes whenever a table is loaded, replaced or forgotten."""
    states = []
    for path in sorted(tables_folder(home).glob("*.json")):
        with suppress(FileNotFoundError):
            state = path.stat()
            states.append(f"{path.stem}:{state.st_mtime_ns}:{state.st_ino}")
    for file in sorted(tables_folder(home).glob("*.parquet")):
        with suppress(FileNotFoundError):
            state = file.stat()
            states.append(f"{state.st_mtime_ns}:{state.st_size}")
    return " ".join(states)


def _read_row(path: Path) -> Stored | Literal["damaged"] | None:
    """The catalogue row in a file, None when it was removed in between, or DAMAGED when it or its rows cannot be
    read."""
    try:
        return _stored(json.loads(path.read_text("utf-8")), path.parent)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return DAMAGED


def _stored(row: Mapping[str, Any], folder: Path) -> Stored:
    """What a catalogue row describes. Raises what a row that is none of ours leads to."""
    file = folder / row["file"]
    if not isinstance(row["name"], str) or not _is_parquet(file):
        raise ValueError(file)
    table = Table(
        ref=TableRef(LOCAL_PROJECT, USER_DATASET, row["name"]),
        columns=tuple(_column(column) for column in row["columns"]),
        description=row["description"],
        row_count=row["row_count"],
        size_bytes=sum(row["column_bytes"].values()),
        modified=datetime.fromisoformat(row["modified"]),
    )
    return Stored(table, _rows_of(file), row["column_bytes"])


def _is_parquet(file: Path) -> bool:
    """Whether both ends of a file are those of a Parquet file."""
    if not file.exists() or file.stat().st_size < 2 * len(_MAGIC):
        return False
    with file.open("rb") as opened:
        start = opened.read(len(_MAGIC))
        opened.seek(-len(_MAGIC), os.SEEK_END)
        return start == opened.read(len(_MAGIC)) == _MAGIC


def _rows_of(file: Path) -> str:
    """DuckDB's expression for a file's rows. A folder `year=2024` above it is no column of the table."""
    return f"read_parquet({text(str(file))}, hive_partitioning = false)"


def _column(row: Mapping[str, Any]) -> Column:
    fields = tuple(_column(field) for field in row.get("fields", ()))
    return Column(row["name"], row["type"], row.get("mode", "NULLABLE"), row.get("description", ""), fields)
