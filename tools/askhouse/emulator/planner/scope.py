"""A FROM clause that grows by the joins that columns need, and the small nodes that every query uses."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from .joins import Path, paths_up
from .plan import (
    ColumnRef,
)
from .profile import table_node
from .semantics import SemanticLayer


class NoPathError(Exception):
    """Two tables of a plan are not connected by any key."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first} and {second}")
        self.tables = (first, second)


@dataclass
class Scope:
    """A FROM clause that grows by the joins that columns need."""

    layer: SemanticLayer
    base: str
    aliases: dict[Path, str] = field(default_factory=dict)
    joins: list[tuple[Path, str]] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)

    def alias(self, path: Path = ()) -> str:
        """The alias of the table at the end of a way; the joins to it are added when missing."""
        if path not in self.aliases:
            if path:
                self.alias(path[:-1])
            key = path[-1].parent if path else self.base
            name = re.sub(r"\W", "_", key.rsplit(".", 1)[-1])
            if name in self.taken and path:
                name = f"{name}_{path[-1].column}"
            self.taken.add(name)
            self.aliases[path] = name
            if path:
                self.joins.append((path, name))
        return self.aliases[path]

    def column(self, ref: ColumnRef) -> exp.Column:
        """A column, with the joins that it needs. Raises NoPathError."""
        found = paths_up(self.layer, self.base, ref.table, ref.via)
        if not found:
            raise NoPathError(self.base, ref.table)
        path = found[0]
        if path and path[-1].parent_column == ref.column and path[-1].match >= 1.0 and path[-1].declared:
            return self._node(path[:-1], path[-1].column)
        return self._node(path, ref.column)

    def _node(self, path: Path, column: str) -> exp.Column:
        return exp.column(column, table=self.alias(path), quoted=needs_quotes(column))

    def apply(self, select: exp.Select) -> exp.Select:
        """The SELECT with its FROM and joins."""
        select = select.from_(exp.alias_(table_node(self.base), self.alias(), table=True))
        for path, name in self.joins:
            link = path[-1]
            on = exp.EQ(
                this=self._node(path[:-1], link.column),
                expression=exp.column(link.parent_column, table=name, quoted=needs_quotes(link.parent_column)),
            )
            select = select.join(exp.alias_(table_node(link.parent), name, table=True), on=on, join_type="left")
        return select


def needs_quotes(name: str) -> bool:
    return not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) or name.upper() in _RESERVED


_RESERVED = frozenset(
    [
        "ALL",
        "AND",
        "ANY",
        "ARRAY",
        "AS",
        "ASC",
        "AT",
        "BETWEEN",
        "BY",
        "CASE",
        "CAST",
        "COLLATE",
        "CONTAINS",
        "CREATE",
        "CROSS",
        "CUBE",
        "CURRENT",
        "DEFAULT",
        "DEFINE",
        "DESC",
        "DISTINCT",
        "ELSE",
        "END",
        "ENUM",
        "ESCAPE",
        "EXCEPT",
        "EXCLUDE",
        "EXISTS",
        "EXTRACT",
        "FALSE",
        "FETCH",
        "FOLLOWING",
        "FOR",
        "FROM",
        "FULL",
        "GROUP",
        "GROUPING",
        "GROUPS",
        "HASH",
        "HAVING",
        "IF",
        "IGNORE",
        "IN",
        "INNER",
        "INTERSECT",
        "INTERVAL",
        "INTO",
        "IS",
        "JOIN",
        "LATERAL",
        "LEFT",
        "LIKE",
        "LIMIT",
        "LOOKUP",
        "MERGE",
        "NATURAL",
        "NEW",
        "NO",
        "NOT",
        "NULL",
        "NULLS",
        "OF",
        "ON",
        "OR",
        "ORDER",
        "OUTER",
        "OVER",
        "PARTITION",
        "PRECEDING",
        "PROTO",
        "QUALIFY",
        "RANGE",
        "RECURSIVE",
        "RESPECT",
        "RIGHT",
        "ROLLUP",
        "ROWS",
        "SELECT",
        "SET",
        "SOME",
        "STRUCT",
        "TABLESAMPLE",
        "THEN",
        "TO",
        "TREAT",
        "TRUE",
        "UNBOUNDED",
        "UNION",
        "UNNEST",
        "USING",
        "WHEN",
        "WHERE",
        "WINDOW",
        "WITH",
        "WITHIN",
    ]
)


def inner_select(scope: Scope, key: exp.Expr, conditions: Sequence[exp.Expr]) -> exp.Select:
    """The keys of the rows for which the conditions hold."""
    return scope.apply(exp.select(key)).where(*conditions)


def literal(value: Any) -> exp.Expr:
    """A constant."""
    if isinstance(value, bool):
        return exp.Boolean(this=value)
    if isinstance(value, int | float):
        number = int(value) if float(value).is_integer() else value
        return exp.Literal.number(str(number)) if number >= 0 else exp.Neg(this=exp.Literal.number(str(-number)))
    return exp.Literal.string(str(value))


def escaped(text: str) -> str:
    return re.sub(r"([%_\\])", r"\\\1", text)


def not_null(node: exp.Expr) -> exp.Expr:
    return exp.Not(this=exp.Is(this=node.copy(), expression=exp.null()))
