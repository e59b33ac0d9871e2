"""GoogleSQL in, DuckDB's SQL out: the same value, or a refusal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlglot
from sqlglot import exp

from ..errors import InvalidQueryError
from .base import Column, TableRef
from .catalogue import Stored
from .guard import nearest_table_error


@dataclass(frozen=True)
class Compiled:
    """A query that DuckDB can run, and what is known of it beforehand."""

    sql: str
    columns: tuple[Column, ...]
    tables: tuple[TableRef, ...]
    bytes_processed: int

    def cells(self, row: tuple[Any, ...]) -> tuple[Any, ...]:
        return row


def compile_query(sql: str, stored: Mapping[TableRef, Stored], now: datetime) -> Compiled:
    try:
        trees = [t for t in sqlglot.parse(sql, read="bigquery") if t]
    except sqlglot.errors.ParseError as error:
        raise InvalidQueryError(f"Syntax error: {error.errors[0]['description']}") from error
    if len(trees) != 1 or not isinstance(trees[0], exp.Query):
        raise InvalidQueryError("Only one SELECT statement is allowed.")
    tree = trees[0]
    tables = []
    ctes = {c.alias for c in tree.find_all(exp.CTE)}
    for t in tree.find_all(exp.Table):
        if not t.db and t.name in ctes:
            continue
        ref = TableRef(t.catalog, t.db, t.name)
        if ref not in stored:
            raise nearest_table_error(ref, stored)
        tables.append(ref)
        t.replace(
            exp.alias_(
                exp.maybe_parse(stored[ref].source, into=exp.Table, dialect="duckdb"), t.alias or t.name, table=True
            )
        )
    day = now.date().isoformat()
    for node in list(tree.find_all(exp.CurrentDate)):
        node.replace(exp.cast(exp.Literal.string(day), "date"))
    for node in list(tree.find_all(exp.CurrentTimestamp)):
        node.replace(exp.cast(exp.Literal.string(now.isoformat()), "timestamptz"))
    import duckdb

    out = tree.sql("duckdb")
    return Compiled(out, (), tuple(dict.fromkeys(tables)), 0)
