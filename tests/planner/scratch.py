"""A warehouse for tests: any DuckDB tables, described by hand, asked through the product's own dialect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any

import duckdb

from askhouse.errors import TableNotFoundError
from askhouse.warehouse.base import Column, DryRun, ForeignKey, Rows, Table, TableRef
from askhouse.warehouse.catalogue import Stored
from askhouse.warehouse.dialect import compile_query

_TYPES = {
    "BIGINT": "INT64", "INTEGER": "INT64", "SMALLINT": "INT64", "HUGEINT": "INT64", "VARCHAR": "STRING",
    "DOUBLE": "FLOAT64", "FLOAT": "FLOAT64", "BOOLEAN": "BOOL", "DATE": "DATE", "TIMESTAMP": "DATETIME",
    "TIMESTAMP WITH TIME ZONE": "TIMESTAMP",
}  # fmt: skip


class ScratchWarehouse:
    """Tables of one schema of a DuckDB connection."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        schema: str = "main",
        *,
        project: str = "local",
        dataset: str | None = None,
        descriptions: Mapping[str, str] | None = None,
        keys: Mapping[str, Sequence[str]] | None = None,
        foreign_keys: Mapping[str, Sequence[tuple[str, str, str]]] | None = None,
        today: datetime | None = None,
    ) -> None:
        self.connection = connection
        self.now = today
        for macro in files("askhouse.warehouse").joinpath("data/macros.sql").read_text("utf-8").split(";\n"):
            connection.execute(macro)
        connection.execute("SET TimeZone = 'UTC'")
        self.stored: dict[TableRef, Stored] = {}
        names = connection.execute(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = ? ORDER BY 1", [schema]
        )
        for (name,) in names.fetchall():
            self._describe(
                TableRef(project, dataset or schema, name), schema, descriptions or {}, keys or {}, foreign_keys or {}
            )

    def _describe(
        self,
        ref: TableRef,
        schema: str,
        about: Mapping[str, str],
        keys: Mapping[str, Sequence[str]],
        foreign: Mapping[str, Sequence[tuple[str, str, str]]],
    ) -> None:
        source = f'"{schema}"."{ref.table}"'
        shown = self.connection.execute(f"DESCRIBE {source}").fetchall()
        columns = tuple(
            Column(row[0], _type(row[1]), description=about.get(f"{ref.table}.{row[0]}", "")) for row in shown
        )
        rows = self.connection.execute(f"SELECT COUNT(*) FROM {source}").fetchall()[0][0]
        links = tuple(
            ForeignKey((column,), TableRef(ref.project, ref.dataset, target), (target_column,))
            for column, target, target_column in foreign.get(ref.table, ())
        )
        table = Table(
            ref, columns, about.get(ref.table, ""), rows, primary_key=tuple(keys.get(ref.table, ())), foreign_keys=links
        )
        self.stored[ref] = Stored(table, source, dict.fromkeys([column.name for column in columns], 0))

    def table_refs(self) -> Sequence[TableRef]:
        return sorted(self.stored)

    def table(self, ref: TableRef) -> Table:
        if ref not in self.stored:
            raise TableNotFoundError(f"{ref} is not there.")
        return self.stored[ref].table

    def dry_run(self, sql: str, *, today: datetime | None = None) -> DryRun:
        compiled = self._compile(sql)
        return DryRun("SELECT", compiled.columns, compiled.tables, 0)

    def query(self, sql: str, *, max_rows: int | None = None, today: datetime | None = None) -> Rows:
        compiled = self._compile(sql)
        rows = self.connection.execute(compiled.sql).fetchall()
        return Rows(compiled.columns, rows[:max_rows], len(rows))

    def _compile(self, sql: str) -> Any:
        return compile_query(sql, self.stored, self.now or datetime.now(UTC))

    def version(self) -> str:
        return "scratch"


def _type(name: str) -> str:
    return "NUMERIC" if name.startswith("DECIMAL") else _TYPES.get(name, "STRING")
