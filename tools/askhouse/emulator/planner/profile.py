"""What a table's columns hold: queries for the figures, and queries for the values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from sqlglot import exp

from ...warehouse.base import Column, Rows, Table

_COMPARABLE = frozenset(["INT64", "FLOAT64", "NUMERIC", "BIGNUMERIC", "DATE", "DATETIME", "TIMESTAMP"])
_COUNTABLE = frozenset(["INT64", "STRING", "BOOL", "DATE"])
_AT_ONCE = 60
"""Columns that one query asks about: the time of a query grows faster than its length."""
Item = TypeVar("Item")


class Asked(Protocol):
    """Whatever answers a query with all its rows."""

    def query(self, sql: str) -> Rows:
        """Run one GoogleSQL SELECT."""


@dataclass(frozen=True)
class ColumnStats:
    """Figures of one column. `longest` is the length of its longest text."""

    rows: int = 0
    distinct: int = 0
    nulls: int = 0
    least: Any = None
    greatest: Any = None
    longest: int = 0


def batches(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    """The items in groups that one query can ask about."""
    for start in range(0, len(items), _AT_ONCE):
        yield items[start : start + _AT_ONCE]


def table_node(table: str) -> exp.Table:
    """A table as GoogleSQL names it: `project.dataset.table`."""
    return exp.Table(this=exp.Identifier(this=table, quoted=True))


def call(function: str, *arguments: exp.Expr) -> exp.Anonymous:
    """A GoogleSQL function that needs no translation."""
    return exp.Anonymous(this=function, expressions=list(arguments))


def profile(warehouse: Asked, table: Table) -> dict[str, ColumnStats]:
    """The figures of every plain column of a table."""
    plain = [column for column in table.columns if not column.fields and column.mode != "REPEATED"]
    found: dict[str, ColumnStats] = {}
    for columns in batches(plain):
        found |= _profile(warehouse, table, columns)
    return found


def _profile(warehouse: Asked, table: Table, columns: Sequence[Column]) -> dict[str, ColumnStats]:
    wanted: list[tuple[str, str, exp.Expr]] = []
    for column in columns:
        held = exp.column(column.name, quoted=True)
        wanted.append((column.name, "filled", exp.Count(this=held.copy())))
        if column.type in _COUNTABLE:
            wanted.append((column.name, "distinct", exp.Count(this=exp.Distinct(expressions=[held.copy()]))))
        if column.type in _COMPARABLE:
            wanted.append((column.name, "least", exp.Min(this=held.copy())))
            wanted.append((column.name, "greatest", exp.Max(this=held.copy())))
        if column.type == "STRING":
            wanted.append((column.name, "longest", exp.Max(this=exp.Length(this=held.copy()))))
    figures_wanted = [exp.alias_(node, f"f{position}", copy=False) for position, (_, _, node) in enumerate(wanted)]
    select = exp.select(exp.alias_(exp.Count(this=exp.Star()), "n"), *figures_wanted)
    row = warehouse.query(select.from_(table_node(str(table.ref))).sql(dialect="bigquery")).rows[0]
    figures: dict[str, dict[str, Any]] = defaultdict(dict)
    for (name, figure, _), cell in zip(wanted, row[1:], strict=True):
        figures[name][figure] = cell
    return {name: _stats(int(row[0]), found) for name, found in figures.items()}


def _stats(rows: int, found: dict[str, Any]) -> ColumnStats:
    return ColumnStats(
        rows,
        int(found.get("distinct") or 0),
        rows - int(found["filled"] or 0),
        found.get("least"),
        found.get("greatest"),
        int(found.get("longest") or 0),
    )


def text_values(warehouse: Asked, table: Table, columns: Sequence[str]) -> dict[str, list[tuple[str, int]]]:
    """The distinct values of some text columns, with their numbers of rows."""
    found: dict[str, list[tuple[str, int]]] = {column: [] for column in columns}
    for some in batches(columns):
        for position, value, rows in warehouse.query(_values_query(table, some)).rows:
            found[some[int(position)]].append((str(value), int(rows)))
    return found


def _values_query(table: Table, columns: Sequence[str]) -> str:
    parts = []
    for position, column in enumerate(columns):
        node = exp.column(column, quoted=True)
        parts.append(
            exp.select(
                exp.alias_(exp.Literal.number(position), "c"),
                exp.alias_(node, "v"),
                exp.alias_(exp.Count(this=exp.Star()), "n"),
            )
            .from_(table_node(str(table.ref)))
            .where(exp.Not(this=exp.Is(this=node.copy(), expression=exp.null())))
            .group_by(exp.Literal.number(2))
        )
    query = parts[0] if len(parts) == 1 else exp.union(*parts, distinct=False)
    return query.sql(dialect="bigquery")


def name_keys(warehouse: Asked, table: Table, name: str, key: str) -> dict[str, list[str]]:
    """The keys of the rows of each name."""
    select = exp.select(exp.column(name, quoted=True), exp.column(key, quoted=True)).from_(table_node(str(table.ref)))
    found: dict[str, list[str]] = defaultdict(list)
    for value, one in warehouse.query(select.sql(dialect="bigquery")).rows:
        found[str(value)].append(str(one))
    return dict(found)
