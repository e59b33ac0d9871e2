"""The port between whoever asks and whatever holds the data: tables with their meaning, and read-only GoogleSQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal, Protocol

from ..errors import TableNotFoundError

Mode = Literal["NULLABLE", "REQUIRED", "REPEATED"]


@dataclass(frozen=True, order=True)
class TableRef:
    """project.dataset.table."""

    project: str
    dataset: str
    table: str

    @classmethod
    def parse(cls, text: str) -> TableRef:
        """Read `project.dataset.table`, back-quoted or not. Raises TableNotFoundError when it is not of that form."""
        parts = text.replace("`", "").split(".")
        if len(parts) != 3 or not all(parts):
            raise TableNotFoundError(f"{text!r} is not a table.", "Write project.dataset.table.")
        return cls(*parts)

    def __str__(self) -> str:
        return f"{self.project}.{self.dataset}.{self.table}"


@dataclass(frozen=True)
class Column:
    """One column. `type` is the GoogleSQL name: INT64, STRING, TIMESTAMP, STRUCT"""

    name: str
    type: str
    mode: Mode = "NULLABLE"
    description: str = ""
    fields: tuple[Column, ...] = ()


@dataclass(frozen=True)
class ForeignKey:
    """`columns` of a table name a row of `target` by its `target_columns`."""

    columns: tuple[str, ...]
    target: TableRef
    target_columns: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """A table as the catalogue describes it."""

    ref: TableRef
    columns: tuple[Column, ...]
    description: str = ""
    row_count: int = 0
    size_bytes: int = 0
    modified: datetime | None = None
    primary_key: tuple[str, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    sample_end: date | None = None
    """For sample tables, the last day of the sample, which counts as today."""

    def column(self, name: str) -> Column:
        """The column of that name, whatever its case. Raises KeyError."""
        return next((c for c in self.columns if c.name.casefold() == name.casefold()), None) or _missing(name)


def _missing(name: str) -> Column:
    raise KeyError(name)


@dataclass(frozen=True)
class DryRun:
    """What a query would do, without doing it."""

    statement_type: str
    columns: tuple[Column, ...]
    tables: tuple[TableRef, ...]
    bytes_processed: int


@dataclass(frozen=True)
class Rows:
    """The rows of a query. `total_rows` counts all, of which `rows` may be the first ones.

    Cells are Python values: None, bool, int, float, Decimal, str, bytes, date, datetime (zone-aware for TIMESTAMP),
    time, list (ARRAY), dict (STRUCT).
    """

    columns: tuple[Column, ...]
    rows: list[tuple[Any, ...]]
    total_rows: int
    bytes_processed: int = 0


class Warehouse(Protocol):
    """Tables that can be described and asked, never changed."""

    def table_refs(self) -> Sequence[TableRef]:
        """Every table that may be asked, in order of name."""

    def table(self, ref: TableRef) -> Table:
        """Describe a table. Raises TableNotFoundError naming the nearest one."""

    def dry_run(self, sql: str, *, today: datetime | None = None) -> DryRun:
        """Check a GoogleSQL statement and say what it would read. Raises InvalidQueryError, UnsupportedError or
        TableNotFoundError."""

    def query(self, sql: str, *, max_rows: int | None = None, today: datetime | None = None) -> Rows:
        """Run one GoogleSQL SELECT.

        Args:
            sql: the statement; tables are named project.dataset.table.
            max_rows: keep the first ones only; `total_rows` counts all.
            today: the moment that CURRENT_TIMESTAMP and its kin give; the real one by default.

        Raises: as `dry_run`, and QueryLimitError when it takes too long.
        """

    def version(self) -> str:
        """A token that changes whenever a table appears, disappears or changes."""
