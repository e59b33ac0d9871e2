"""What the tables mean: descriptions, keys and sizes, and where their rows lie."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Any

from .base import Column, ForeignKey, Table, TableRef

SAMPLE_DATASETS = ("nycflights13", "thelook_ecommerce")
LOCAL_PROJECT = "local"
USER_DATASET = "my_data"


@dataclass(frozen=True)
class Stored:
    """A table and where its rows lie."""

    table: Table
    source: str
    """DuckDB's expression for the rows: a quoted table name, or read_parquet of one file."""
    column_bytes: Mapping[str, int]
    """Bytes of each column, counted as BigQuery counts them."""


@cache
def described(dataset: str) -> dict[str, Any]:
    """The description of a sample dataset, as its data file holds it."""
    return tomllib.loads(files(__package__).joinpath(f"data/{dataset}.toml").read_text("utf-8"))


def sample_tables(rows: Mapping[TableRef, int], sizes: Mapping[TableRef, Mapping[str, int]]) -> list[Table]:
    """The sample tables as described, with the counts that were measured."""
    tables = []
    for dataset in SAMPLE_DATASETS:
        about = described(dataset)
        for name, entry in about["tables"].items():
            ref = TableRef(about["project"], dataset, name)
            tables.append(_table(ref, entry, about["sample_end"], rows.get(ref, 0), sizes.get(ref, {})))
    return sorted(tables, key=lambda table: table.ref)


def _table(ref: TableRef, entry: Mapping[str, Any], end: date, rows: int, sizes: Mapping[str, int]) -> Table:
    return Table(
        ref=ref,
        columns=tuple(Column(name, kind, description=text) for name, (kind, text) in entry["columns"].items()),
        description=entry["description"],
        row_count=rows,
        size_bytes=sum(sizes.values()),
        primary_key=tuple(entry.get("primary_key", ())),
        foreign_keys=tuple(_foreign_keys(ref, entry.get("foreign_keys", ()))),
        sample_end=end,
    )


def _foreign_keys(ref: TableRef, entries: Iterable[Mapping[str, Any]]) -> Iterable[ForeignKey]:
    for entry in entries:
        target = TableRef(ref.project, ref.dataset, entry["target"])
        yield ForeignKey(tuple(entry["columns"]), target, tuple(entry["target_columns"]))


# Bytes per value of the types that have a fixed size; a NULL takes none.
FIXED_BYTES = {
    "BOOL": 1,
    "INT64": 8,
    "FLOAT64": 8,
    "DATE": 8,
    "DATETIME": 8,
    "TIME": 8,
    "TIMESTAMP": 8,
    "INTERVAL": 16,
    "NUMERIC": 16,
    "BIGNUMERIC": 32,
    "GEOGRAPHY": 40,
}


def bytes_expression(column: Column) -> str:
    """DuckDB SQL for the bytes of a whole column."""
    name = quoted(column.name)
    if column.mode != "REPEATED" and column.type in FIXED_BYTES:
        return f"COUNT({name}) * {FIXED_BYTES[column.type]}"
    if column.mode != "REPEATED" and column.type == "BYTES":
        return f"COALESCE(SUM(2 + OCTET_LENGTH({name})), 0)"
    return f"COALESCE(SUM(2 + STRLEN(CAST({name} AS VARCHAR))), 0)"


def quoted(name: str) -> str:
    """A name as DuckDB quotes it."""
    return '"' + name.replace('"', '""') + '"'
