"""What names mean at a place in a query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from sqlglot import exp

from ..errors import InvalidQueryError, UnsupportedError
from .base import TableRef
from .catalogue import Stored
from .guard import nearest
from .kinds import Reads, Value, quoted


@dataclass(frozen=True)
class Result:
    """A compiled query: its SQL and its columns. A column's `sql` is its name in DuckDB, its `name` the public one."""

    sql: str
    columns: tuple[Value, ...]
    reads: Reads
    """What is read whichever columns are used: filters, joins, groups."""


@dataclass
class Run:
    """One compilation: the tables there are, the moment that is now, and the columns read so far."""

    stored: Mapping[TableRef, Stored]
    now: datetime
    reads: set[tuple[TableRef, str]] = field(default_factory=set)
    tables: dict[TableRef, None] = field(default_factory=dict)

    @contextmanager
    def collecting(self) -> Iterator[set[tuple[TableRef, str]]]:
        """Gather what is read inside apart from what was read before."""
        before, self.reads = self.reads, set()
        try:
            yield self.reads
        finally:
            self.reads = before


@dataclass
class Source:
    """One item of a FROM clause."""

    alias: str
    columns: tuple[Value, ...]
    whole: Value | None = None
    """The value itself, of an unnested array."""


@dataclass
class Scope:
    """The names of one SELECT; those of the query around it are seen too."""

    run: Run
    ctes: dict[str, Result]
    parent: Scope | None = None
    sources: list[Source] = field(default_factory=list)
    merged: dict[str, Value] = field(default_factory=dict)
    """Columns of JOIN … USING, by name in lower case."""
    aliases: dict[str, Value] = field(default_factory=dict)
    """Aliases of the SELECT list, where a clause may use them."""
    windows: dict[str, exp.Window] = field(default_factory=dict)

    def add(self, source: Source) -> None:
        """Let the columns of a source be seen. Raises InvalidQueryError when its name is taken."""
        if source.alias and any(other.alias.casefold() == source.alias.casefold() for other in self.sources):
            raise InvalidQueryError(f"Duplicate table alias {source.alias} in the same FROM clause.", "Rename one.")
        self.sources.append(source)

    def source(self, name: str) -> Source | None:
        """The source of that alias, here or further out."""
        found = next((source for source in self.sources if source.alias.casefold() == name.casefold()), None)
        return found or (self.parent.source(name) if self.parent else None)

    def column(self, node: exp.Column) -> Value:
        """What a column reference stands for. Raises InvalidQueryError in BigQuery's words."""
        parts = [part.name for part in node.parts]
        found = self._plain(parts[0], node)
        if found is None:
            source = self.source(parts[0]) if len(parts) > 1 else None
            if source is None:
                self._refuse_whole_row(parts[0])
                raise self._unrecognized(parts[0], node)
            found = _member(source, parts[1], node)
            parts = parts[1:]
        elif len(parts) > 1 and (source := self.source(parts[0])) is not None and source.whole is None:
            found, parts = _member(source, parts[1], node), parts[1:]
        self.run.reads |= found.reads
        for name in parts[1:]:
            found = struct_field(found, name)
        return found

    def _plain(self, name: str, node: exp.Column) -> Value | None:
        folded = name.casefold()
        if folded in self.aliases:
            return self.aliases[folded]
        if folded in self.merged:
            return self.merged[folded]
        found = [value for source in self.sources for value in _visible(source) if value.name.casefold() == folded]
        if len(found) > 1:
            raise InvalidQueryError(f"Column name {name} is ambiguous at {place(node)}.", "Write table.column.")
        if found:
            return found[0]
        return self.parent._plain(name, node) if self.parent else None

    def _refuse_whole_row(self, name: str) -> None:
        if self.source(name) is not None:
            raise UnsupportedError(f"The whole row {name} as a value is not supported here.", f"Write {name}.*")

    def _unrecognized(self, name: str, node: exp.Column) -> InvalidQueryError:
        known = [value.name for source in self.sources for value in _visible(source)]
        known += [source.alias for source in self.sources] + list(self.aliases)
        message = f"Unrecognized name: {name}{nearest(name, known)} at {place(node)}"
        columns = ", ".join(dict.fromkeys(value.name for source in self.sources for value in source.columns))
        return InvalidQueryError(message, f"The columns are {columns}." if columns else "There is no table to read.")


def _visible(source: Source) -> tuple[Value, ...]:
    return source.columns if source.whole is None else (*source.columns, source.whole)


def _member(source: Source, name: str, node: exp.Column) -> Value:
    found = [value for value in source.columns if value.name.casefold() == name.casefold()]
    if len(found) == 1:
        return found[0]
    if found:
        raise InvalidQueryError(f"Column name {name} is ambiguous at {place(node)}.", "Rename one of the columns.")
    near = nearest(name, [value.name for value in source.columns])
    columns = ", ".join(value.name for value in source.columns)
    message = f"Name {name} not found inside {source.alias}{near} at {place(node)}"
    raise InvalidQueryError(message, f"The columns are {columns}.")


def struct_field(value: Value, name: str) -> Value:
    """A field of a STRUCT. Raises InvalidQueryError when there is none."""
    for field_name, kind in value.kind.fields:
        if field_name.casefold() == name.casefold():
            sql = f"struct_extract({value.sql}, '{field_name.replace(chr(39), chr(39) * 2)}')"
            return replace(value, sql=sql, kind=kind, name=field_name, literal=None)
    if value.kind.name == "STRUCT":
        raise InvalidQueryError(f"Field name {name} does not exist in {value.kind}.", "Use one of its fields.")
    raise InvalidQueryError(f"Cannot access field {name} on a value with type {value.kind}.", "Use the value itself.")


def place(node: exp.Expr | Any) -> str:
    """Where a name stands in the statement, as [line:column]."""
    identifier = node.parts[0] if isinstance(node, exp.Column) else node
    meta = identifier.meta
    if "line" not in meta:
        return "[1:1]"
    width = meta["end"] - meta["start"]
    return f"[{meta['line']}:{max(1, meta['col'] - width)}]"


def source_of(alias: str, result: Result) -> Source:
    """A source that reads the columns of a compiled query."""
    columns = tuple(
        replace(value, sql=f"{quoted(alias)}.{quoted(value.sql)}", literal=None) for value in result.columns
    )
    return Source(alias, columns)


def shorten(node: exp.Expr) -> str:
    """The GoogleSQL of a node, short enough for a message."""
    written = node.sql("bigquery")
    return written if len(written) <= 60 else f"{written[:57]}…"
