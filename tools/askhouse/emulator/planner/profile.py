"""What a table's columns hold, by one query for the figures and one for the values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sqlglot import exp

from ...warehouse.base import Rows, Table

_COMPARABLE = frozenset(["INT64", "FLOAT64", "NUMERIC", "BIGNUMERIC", "DATE", "DATETIME", "TIMESTAMP"])
_COUNTABLE = frozenset(["INT64", "STRING", "BOOL", "DATE"])


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


def table_node(table: str) -> exp.Table:
    """A table as GoogleSQL names it: `project.dataset.table`."""
    return exp.Table(this=exp.Identifier(this=table, quoted=True))


def call(function: str, *arguments: exp.Expr) -> exp.Anonymous:
    """A GoogleSQL function that needs no translation."""
    return exp.Anonymous(this=function, expressions=list(arguments))


def profile(warehouse: Asked, table: Table) -> dict[str, ColumnStats]:
    """The figures of every plain column of a table."""
    wanted: list[tuple[str, str, exp.Expr]] = []
    for column in table.columns:
        if column.fields or column.mode == "REPEATED":
            continue
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
    if not columns:
        return found
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
    for position, value, rows in warehouse.query(query.sql(dialect="bigquery")).rows:
        found[columns[int(position)]].append((str(value), int(rows)))
    return found


def name_keys(warehouse: Asked, table: Table, name: str, key: str) -> dict[str, list[str]]:
    """The keys of the rows of each name."""
    select = exp.select(exp.column(name, quoted=True), exp.column(key, quoted=True)).from_(table_node(str(table.ref)))
    found: dict[str, list[str]] = defaultdict(list)
    for value, one in warehouse.query(select.sql(dialect="bigquery")).rows:
        found[str(value)].append(str(one))
    return dict(found)
