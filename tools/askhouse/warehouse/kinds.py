"""GoogleSQL's types: their names, which gives way to which, and how DuckDB calls them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import InvalidQueryError, UnsupportedError
from .base import Column, TableRef

Reads = frozenset[tuple[TableRef, str]]
"""Columns of tables that a value is computed from."""


@dataclass(frozen=True)
class Kind:
    """A GoogleSQL type."""

    name: str
    element: Kind | None = None
    """Of an ARRAY."""
    fields: tuple[tuple[str, Kind], ...] = ()
    """Of a STRUCT."""

    def __str__(self) -> str:
        if self.element is not None:
            return f"ARRAY<{self.element}>"
        if self.name == "STRUCT":
            return f"STRUCT<{', '.join(f'{name} {kind}'.strip() for name, kind in self.fields)}>"
        return self.name


STRING, BYTES, BOOL = Kind("STRING"), Kind("BYTES"), Kind("BOOL")
INT64, FLOAT64, NUMERIC, BIGNUMERIC = Kind("INT64"), Kind("FLOAT64"), Kind("NUMERIC"), Kind("BIGNUMERIC")
DATE, DATETIME, TIMESTAMP, TIME = Kind("DATE"), Kind("DATETIME"), Kind("TIMESTAMP"), Kind("TIME")
JSON, GEOGRAPHY, INTERVAL = Kind("JSON"), Kind("GEOGRAPHY"), Kind("INTERVAL")
NULL = Kind("NULL")
"""The type of a bare NULL, which fits every type."""

NUMBERS = ("INT64", "NUMERIC", "BIGNUMERIC", "FLOAT64")
_FROM_TEXT = {"DATE", "DATETIME", "TIMESTAMP", "TIME", "BYTES"}
_DUCKDB = {
    "STRING": "VARCHAR",
    "BYTES": "BLOB",
    "BOOL": "BOOLEAN",
    "INT64": "BIGINT",
    "FLOAT64": "DOUBLE",
    "NUMERIC": "DECIMAL(38, 9)",
    "DATE": "DATE",
    "DATETIME": "TIMESTAMP",
    "TIMESTAMP": "TIMESTAMPTZ",
    "TIME": "TIME",
    "JSON": "JSON",
    "GEOGRAPHY": "VARCHAR",
    "INTERVAL": "INTERVAL",
    "NULL": "BIGINT",
}


@dataclass(frozen=True)
class Value:
    """An expression: DuckDB's SQL for it, its type, and what it reads."""

    sql: str
    kind: Kind
    literal: Any = None
    """The value of a literal, as Python has it; its type may still give way."""
    reads: Reads = field(default=frozenset(), compare=False)
    name: str = ""
    """The name that a column of a result takes from the expression, if any."""

    def named(self, name: str) -> Value:
        """The same value under another name."""
        return replace(self, name=name)


def array_of(kind: Kind) -> Kind:
    """The type of an array."""
    return Kind("ARRAY", kind)


def kind_of(column: Column) -> Kind:
    """The type of a column."""
    fields = tuple((part.name, kind_of(part)) for part in column.fields)
    kind = Kind(column.type, fields=fields)
    return array_of(kind) if column.mode == "REPEATED" else kind


def column_of(name: str, kind: Kind) -> Column:
    """A column of a result. A bare NULL is an INT64 there, as in BigQuery."""
    if kind.element is not None:
        inner = column_of(name, kind.element)
        return Column(name, inner.type, "REPEATED", fields=inner.fields)
    fields = tuple(column_of(part, inner) for part, inner in kind.fields)
    return Column(name, "INT64" if kind == NULL else kind.name, fields=fields)


def duckdb_type(kind: Kind) -> str:
    """DuckDB's name of a type."""
    if kind.element is not None:
        return f"{duckdb_type(kind.element)}[]"
    if kind.name == "STRUCT":
        return "STRUCT(" + ", ".join(f"{quoted(name)} {duckdb_type(inner)}" for name, inner in kind.fields) + ")"
    if kind.name not in _DUCKDB:
        raise UnsupportedError(f"The type {kind} is not supported here.", "Use NUMERIC or FLOAT64.")
    return _DUCKDB[kind.name]


def delivers(duckdb_name: str, kind: Kind) -> bool:
    """Whether values of DuckDB's type come out as values of the GoogleSQL type."""
    if kind.element is not None or kind.name == "STRUCT":
        return duckdb_name.endswith("[]") if kind.element is not None else duckdb_name.startswith("STRUCT")
    if kind.name in ("INT64", "NULL"):
        whole = ("BIGINT", "INTEGER", "SMALLINT", "TINYINT", "UINTEGER", "USMALLINT", "UTINYINT")
        return duckdb_name in (*whole, '"NULL"')  # BigQuery gives a bare NULL the type INT64
    if kind == NUMERIC:
        return duckdb_name.startswith("DECIMAL")
    if kind == JSON:
        return duckdb_name in ("JSON", "VARCHAR")
    return duckdb_name == {"TIMESTAMP": "TIMESTAMP WITH TIME ZONE"}.get(kind.name, _DUCKDB.get(kind.name))


def quoted(name: str) -> str:
    """A name as DuckDB quotes it."""
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    """A string literal of DuckDB."""
    if "\0" in value:
        raise UnsupportedError("A string holds the character NUL, which is not supported here.", "Remove it.")
    return "'" + value.replace("'", "''") + "'"


def fits(value: Value, kind: Kind) -> bool:
    """Whether a value may stand where the type is wanted, without a cast."""
    have = value.kind
    if have in (kind, NULL):
        return True
    if have.element is not None and kind.element is not None:
        return have.element == NULL or fits(Value("", have.element), kind.element)
    if have == STRING and isinstance(value.literal, str):
        return kind.name in _FROM_TEXT
    if have.name in NUMBERS and kind.name in NUMBERS:
        if value.literal is not None and have == FLOAT64:
            return kind != INT64
        return NUMBERS.index(have.name) <= NUMBERS.index(kind.name)
    return have == DATE and kind == DATETIME


def cast_to(value: Value, kind: Kind) -> Value:
    """The value as the type that it fits."""
    if value.kind == kind:
        return value
    if value.kind == STRING and isinstance(value.literal, str) and kind.name in _FROM_TEXT:
        return replace(literal_of(value.literal, kind), reads=value.reads, name=value.name)
    sql = f"CAST({value.sql} AS {duckdb_type(kind)})"
    if value.literal is not None and kind == NUMERIC:
        sql = f"CAST({text(str(value.literal))} AS {duckdb_type(kind)})"
    return replace(value, sql=sql, kind=kind)


def literal_of(written: str, kind: Kind) -> Value:
    """A literal of a type, from its text."""
    if kind == BYTES:
        return Value(f"encode({text(written)})", kind)
    if kind == TIMESTAMP and written.endswith(("z", "Z")):
        written = written[:-1] + "+00"
    return Value(f"CAST({text(written)} AS {duckdb_type(kind)})", kind)


def common_kind(values: Iterable[Value]) -> Kind | None:
    """The type that all the values fit, or None."""
    values = list(values)
    firm = [value.kind for value in values if value.literal is None and value.kind != NULL]
    candidates = firm + [value.kind for value in values if value.kind != NULL]
    candidates += [FLOAT64] if any(kind.name in NUMBERS for kind in candidates) else []
    return next((kind for kind in candidates if all(fits(value, kind) for value in values)), None) or (
        NULL if not candidates else None
    )


def together(what: str, values: Iterable[Value]) -> tuple[Kind, list[Value]]:
    """The values cast to the type that they have in common. Raises InvalidQueryError naming `what` wanted it."""
    values = list(values)
    kind = common_kind(values)
    if kind is None:
        raise no_signature(what, values)
    return kind, [cast_to(value, kind) for value in values]


def no_signature(what: str, values: Iterable[Value]) -> InvalidQueryError:
    """The error for arguments of the wrong types."""
    kinds = ", ".join("INT64" if value.kind == NULL else str(value.kind) for value in values)
    return InvalidQueryError(f"No matching signature for {what} for argument types: {kinds}.", "Cast the arguments.")


def as_kind(what: str, value: Value, kind: Kind) -> Value:
    """The value as the type that `what` wants. Raises InvalidQueryError."""
    if not fits(value, kind):
        raise no_signature(what, [value])
    return cast_to(value, kind)
