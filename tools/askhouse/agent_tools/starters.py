"""Questions that a table can surely be asked, made by rule from its columns."""

from __future__ import annotations

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
_NOT_MEASURED = ("year", "month", "day", "hour", "minute", "time", "lat", "lon", "latitude", "longitude", "tz")


def starters(table: Table) -> Iterator[str]:
    """Questions about one table, best first."""
    name = words(table.ref.table)
    groups = [column.name for column in _groups(table)]
    if groups:
        yield f"How many {name} by {words(groups[0])}?"
    for measure in [column.name for column in _measures(table)][:1]:
        yield f"Average {words(measure)} by month" if times(table) else f"Average {words(measure)} of {name}"
    for group in groups[1:2]:
        yield f"Top 10 {words(group)} by number of {name}"
    yield f"How many {name} are there?"


def about_column(table: Table, column: Column) -> Iterator[str]:
    """Questions about one column of a table."""
    name = words(table.ref.table)
    if column in _measures(table):
        yield f"Average {words(column.name)} of {name}"
        if times(table):
            yield f"Average {words(column.name)} by month"
    elif column in _groups(table):
        yield f"How many {name} by {words(column.name)}?"
        yield f"Top 10 {words(column.name)} by number of {name}"


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
    """The tables that questions are mostly about, first: those that refer to others, then by rows."""
    return sorted(tables, key=lambda table: (not table.foreign_keys, not times(table), -table.row_count))


def times(table: Table) -> list[Column]:
    """The columns that say when a row happened."""
    return [column for column in table.columns if column.type in _TIMES]


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
