"""GoogleSQL in, DuckDB's SQL out: the same value, or a refusal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, ClassVar

import sqlglot
from sqlglot import exp
from sqlglot.dialects.bigquery import BigQuery
from sqlglot.errors import ParseError, TokenError
from sqlglot.parsers.bigquery import BigQueryParser

from ..errors import InvalidQueryError, UnsupportedError
from .base import Column, TableRef
from .catalogue import Stored
from .kinds import column_of, delivers, kind_of
from .queries import compile_tree
from .scope import Run

MAX_SQL_CHARS = 1_000_000
"""BigQuery's limit of an unresolved query."""

_SYNTAX_FUNCTIONS = ("CAST", "SAFE_CAST", "EXTRACT", "ARRAY")


class GoogleSQL(BigQuery):
    """BigQuery's grammar with every function left by its own name, so that nothing is guessed at parsing."""

    class Parser(BigQueryParser):
        FUNCTIONS: ClassVar[Any] = {}
        NO_PAREN_FUNCTIONS: ClassVar[Any] = {}
        FUNCTION_PARSERS: ClassVar[Any] = {
            name: parse for name, parse in BigQueryParser.FUNCTION_PARSERS.items() if name in _SYNTAX_FUNCTIONS
        }

        def _parse_column(self) -> exp.Expr | None:
            """A back-quoted name is one name, whatever dots it holds: a person's file may have such columns."""
            return super(BigQueryParser, self)._parse_column()


@dataclass(frozen=True)
class Compiled:
    """A query that DuckDB can run, and what is known of it beforehand."""

    sql: str
    columns: tuple[Column, ...]
    tables: tuple[TableRef, ...]
    bytes_processed: int

    def check_types(self, duckdb_names: Sequence[str]) -> None:
        """Refuse a result whose types are not those that BigQuery would give."""
        for column, name in zip(self.columns, duckdb_names, strict=True):
            if not delivers(name, kind_of(column)):
                message = f"Column {column.name} should be {column.type} but comes as {name}."
                raise UnsupportedError(message, f"Write CAST(… AS {column.type}).")


def compile_query(sql: str, stored: Mapping[TableRef, Stored], now: datetime) -> Compiled:
    """Compile one SELECT of GoogleSQL.

    Raises InvalidQueryError, UnsupportedError or TableNotFoundError.
    """
    tree = parse(sql)
    if not isinstance(tree, exp.Query):
        raise InvalidQueryError(
            f"{statement_type(tree)} is not allowed: this data can only be read.", "Write a SELECT."
        )
    run = Run(stored, now.astimezone(UTC))
    try:
        result = compile_tree(tree, run)
    except RecursionError as error:
        raise InvalidQueryError("The query is nested too deeply.", "Write it in smaller steps.") from error
    except (KeyError, IndexError, AttributeError, TypeError, ValueError) as error:
        # The parser is lenient: what lacks a part that it must have comes through as a tree with a hole.
        raise InvalidQueryError("Syntax error: the statement is incomplete.", "Check commas and arguments.") from error
    reads = result.reads.union(*(column.reads for column in result.columns))
    return Compiled(
        sql=result.sql,
        columns=tuple(column_of(column.name, column.kind) for column in result.columns),
        tables=tuple(sorted(run.tables)),
        bytes_processed=sum(stored[ref].column_bytes[column] for ref, column in reads),
    )


def parse(sql: str) -> exp.Expr:
    """The tree of one statement. Raises InvalidQueryError when there is none, or more than one."""
    if len(sql) > MAX_SQL_CHARS:
        raise InvalidQueryError(f"The query is too large: {len(sql)} characters.", f"At most {MAX_SQL_CHARS} may be.")
    try:
        trees = [tree for tree in sqlglot.parse(sql, read=GoogleSQL) if tree is not None]
    except ParseError as error:
        raise _syntax_error(error) from error
    except (TokenError, RecursionError) as error:
        raise InvalidQueryError("Syntax error: the statement cannot be read.", "Check quotes and brackets.") from error
    if len(trees) != 1:
        found = "no statement" if not trees else f"{len(trees)} statements"
        raise InvalidQueryError(f"Syntax error: found {found}, expected one.", "Write one SELECT.")
    return trees[0]


def _syntax_error(error: ParseError) -> InvalidQueryError:
    detail = error.errors[0] if error.errors else {}
    near = str(detail.get("highlight") or "")
    column = int(detail.get("col") or 1) - max(len(near) - 1, 0)
    what = f'Unexpected "{near}"' if near else "Unexpected end of statement"
    return InvalidQueryError(f"Syntax error: {what} at [{detail.get('line') or 1}:{column}]", "Correct it there.")


def statement_type(tree: exp.Expr) -> str:
    """The kind of a statement as BigQuery names it: SELECT, INSERT, CREATE_TABLE_AS_SELECT"""
    if isinstance(tree, exp.Query):
        return "SELECT"
    if isinstance(tree, exp.Command):
        return str(tree.name).upper() or "SCRIPT"
    if isinstance(tree, exp.Create):
        kind = str(tree.args.get("kind") or "TABLE").upper()
        return f"CREATE_{kind}{'_AS_SELECT' if kind == 'TABLE' and tree.expression else ''}"
    if isinstance(tree, exp.Drop):
        return f"DROP_{str(tree.args.get('kind') or 'TABLE').upper()}"
    return {"TruncateTable": "TRUNCATE_TABLE", "Alter": "ALTER_TABLE"}.get(
        type(tree).__name__, type(tree).__name__.upper()
    )
