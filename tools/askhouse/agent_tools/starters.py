"""Questions that a table can surely be asked, made by rule from its columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..warehouse.base import Column, Table

_TIMES = ("DATE", "DATETIME", "TIMESTAMP")
_DECIMALS = ("FLOAT64", "NUMERIC", "BIGNUMERIC")
_KEY_ENDINGS = (
    "id",
    "key",
    "code",
    "num",
    "number",
    "sku",
    "email",
    "address",
    "uri",
    "url",
    "first_name",
    "last_name",
)
_SHORTEST = 3
"""Letters of an abbreviation that its word can be told by."""
_NOT_MEASURED = ("year", "month", "day", "hour", "minute", "time", "lat", "lon", "latitude", "longitude", "tz")


def starters(table: Table) -> Iterator[str]:
    """Questions about one table, best first."""
    name = words(table.ref.table)
    groups = [spoken(column) for column in _groups(table)]
    if groups:
        yield f"How many {name} by {groups[0]}?"
    for measure in [spoken(column) for column in _measures(table)][:1]:
        yield f"Average {measure} by month" if times(table) else f"Average {measure} of {name}"
    for group in groups[1:2]:
        yield f"Top 10 {group} by number of {name}"
    yield f"How many {name} are there?"


def about_column(table: Table, column: Column) -> Iterator[str]:
    """Questions about one column of a table."""
    name = words(table.ref.table)
    if column in _measures(table):
        yield f"Average {spoken(column)} of {name}"
        if times(table):
            yield f"Average {spoken(column)} by month"
    elif column in _groups(table):
        yield f"How many {name} by {spoken(column)}?"
        yield f"Top 10 {spoken(column)} by number of {name}"


def interleaved(tables: Iterable[Table]) -> Iterator[str]:
    """Starters of several tables, in turns, so that each table is met early."""
    waiting = [starters(table) for table in tables]
    while waiting:
        for questions in list(waiting):
            question = next(questions, None)
            if question is None:
                waiting.remove(questions)
            else:
                yield question


def main_tables(tables: Iterable[Table]) -> list[Table]:
    """The tables that questions are mostly about, first: those that refer to most others, then by rows."""
    return sorted(tables, key=lambda table: (-len(table.foreign_keys), not times(table), -table.row_count))


def one_per_dataset(tables: Iterable[Table]) -> list[Table]:
    """The first table of each dataset."""
    first: dict[tuple[str, str], Table] = {}
    for table in tables:
        first.setdefault((table.ref.project, table.ref.dataset), table)
    return list(first.values())


def times(table: Table) -> list[Column]:
    """The columns that say when a row happened."""
    return [column for column in table.columns if column.type in _TIMES]


def spoken(column: Column) -> str:
    """A column's name as a person says it: abbreviations are completed from its description.

    >>> spoken(Column("dep_delay", "INT64", description="Departure delay in minutes."))
    'departure delay'
    """
    described = re.findall(r"[a-z]+", column.description.casefold())
    parts = column.name.casefold().split("_")
    whole = (next((word for word in described if word.startswith(part)), part) for part in parts)
    return " ".join(long if len(part) >= _SHORTEST else part for part, long in zip(parts, whole, strict=True))


def words(name: str) -> str:
    """A column's or table's name as words."""
    return name.replace("_", " ")


def _groups(table: Table) -> list[Column]:
    """Columns that rows can be counted by: texts that are neither keys nor free text."""
    own = set(table.primary_key)
    return [c for c in table.columns if c.type == "STRING" and c.name not in own and not _looks_like_key(c.name)]


def _measures(table: Table) -> list[Column]:
    """Columns that can be averaged: decimal numbers first, then whole ones that are not keys or parts of a date."""
    keys = {name for key in table.foreign_keys for name in key.columns} | set(table.primary_key)
    numbers = [
        column
        for column in table.columns
        if column.type in (*_DECIMALS, "INT64") and column.name not in keys and not _looks_like_key(column.name)
    ]
    measures = [column for column in numbers if not column.name.casefold().endswith(_NOT_MEASURED)]
    return sorted(measures, key=lambda column: column.type not in _DECIMALS)


def _looks_like_key(name: str) -> bool:
    return name.casefold().endswith(_KEY_ENDINGS)
