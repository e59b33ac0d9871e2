"""The semantic layer: what tables and columns mean, read from schema, descriptions, keys and values."""

from __future__ import annotations

import re
import threading
import weakref
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field as made
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from ...warehouse.base import Column, Table, TableRef, Warehouse
from .context import AuthoredContext
from .naming import Name, common_prefix, identifier_words, name_of, names_of, spelt_out
from .plan import ColumnRef, TimeRef
from .profile import Asked, ColumnStats, name_keys, profile, text_values
from .remember import Remembering
from .values import MOST_VALUES, ValueIndex
from .words import fold, stem

Role = Literal["key", "foreign", "number", "text", "time", "flag", "part", "other"]
NUMBERS = frozenset(["INT64", "FLOAT64", "NUMERIC", "BIGNUMERIC"])
MOMENTS = frozenset(["DATE", "DATETIME", "TIMESTAMP"])
_CALENDAR = ("year", "month", "day", "hour", "minute", "quarter", "week")
_PLACES = frozenset(["latitude", "longitude", "lat", "lon", "lng", "zip", "postal", "code", "phone"])


@dataclass(frozen=True)
class Field:
    """A column and what it means."""

    ref: ColumnRef
    type: str
    words: tuple[str, ...]
    names: tuple[Name, ...]
    description: str
    role: Role
    stats: ColumnStats

    @property
    def counts(self) -> frozenset[str]:
        """For a column that holds a number of things (`num_of_item`, `review_count`), the stems of the things."""
        if self.role != "number":
            return frozenset()
        marks = {"num", "number", "count", "cnt", "no", "quantity", "qty"}
        ordinal = self.words[-1] in ("no", "number", "num") and len(self.words) > 1
        if not marks & set(self.words) or (ordinal and " of " not in self.description):
            return frozenset()  # "floor number" names a floor
        return frozenset(stem(word) for word in self.words if word not in marks | {"of", "total"})


@dataclass
class Entity:
    """A table and what it means."""

    table: Table
    key: str
    words: tuple[str, ...]
    names: tuple[Name, ...]
    fields: dict[str, Field]
    identifier: tuple[str, ...] = ()
    """Columns that name one row."""
    label: tuple[str, ...] = ()
    """Columns by which a person calls a row: a name, or first and last name."""
    times: tuple[TimeRef, ...] = ()
    """When a row came to be, the most telling first."""
    namesakes: bool = False
    """Whether another table of the layer has the same name in another dataset."""

    @property
    def said(self) -> str:
        """The table's name as a person reads it, with its dataset where the name alone would not tell it."""
        ref = self.table.ref
        return f"{ref.dataset}.{ref.table}" if self.namesakes else ref.table

    @property
    def rows(self) -> int:
        """Its number of rows."""
        return self.table.row_count

    @cached_property
    def stems(self) -> frozenset[str]:
        """Stems of all the words it goes by."""
        return frozenset(form for name in self.names for forms in name.forms for form in forms)


@dataclass(frozen=True)
class Link:
    """Each row of `child` points with `column` at no more than one row of `parent`, by `parent_column`."""

    child: str
    column: str
    parent: str
    parent_column: str
    declared: bool = True
    match: float = 1.0
    """Share of the child's values that are found in the parent."""


@dataclass
class SemanticLayer:
    """Tables, their links and values: all that a question can be about."""

    entities: dict[str, Entity]
    links: tuple[Link, ...]
    values: ValueIndex
    context: AuthoredContext
    found: dict[tuple[str, ...], list[Any]] = made(default_factory=dict)
    """What words were found to mean, kept for the next question."""

    def field(self, ref: ColumnRef) -> Field:
        """The field of a column. Raises KeyError."""
        return self.entities[ref.table].fields[ref.column]

    @cached_property
    def up(self) -> dict[str, list[Link]]:
        """Links from each table to the tables it points at."""
        found: dict[str, list[Link]] = defaultdict(list)
        for link in self.links:
            found[link.child].append(link)
        return found

    @cached_property
    def by_stem(self) -> dict[str, list[Field]]:
        """Fields by each stem of their names."""
        found: dict[str, list[Field]] = defaultdict(list)
        for entity in self.entities.values():
            for one in entity.fields.values():
                for form in {form for name in one.names for forms in name.forms for form in forms}:
                    found[form].append(one)
        return found

    @cached_property
    def spellings(self) -> dict[str, list[Field]]:
        """Fields by their columns' folded names."""
        found: dict[str, list[Field]] = defaultdict(list)
        for entity in self.entities.values():
            for one in entity.fields.values():
                found[fold(one.ref.column.replace("’", "'"))].append(one)
        return dict(found)

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """Words of the schema as a person would spell them, for repairing typing errors."""
        words: set[str] = set()
        for entity in self.entities.values():
            for name in entity.names:
                words |= set(name.words)
            for one in entity.fields.values():
                words |= {word for name in one.names for word in name.words}
        return frozenset(word for word in words if len(word) > 3)

    @property
    def sample_end(self) -> date | None:
        """The day on which the sample ends, when every table is a sample."""
        ends = {entity.table.sample_end for entity in self.entities.values()}
        return ends.pop() if len(ends) == 1 else None


_cache: weakref.WeakKeyDictionary[Any, dict[Any, SemanticLayer]] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def build_layer(
    warehouse: Warehouse, refs: Sequence[TableRef], context: AuthoredContext | None = None
) -> SemanticLayer:
    """The layer over these tables; kept in memory, and its measurements on disk, until the warehouse's version changes.

    Raises TableNotFoundError when a table is not there.
    """
    context = context or AuthoredContext()
    wanted = (warehouse.version(), tuple(refs), context.token())
    with _lock:
        kept = _cache.setdefault(warehouse, {})
        if wanted not in kept:
            for old in [key for key in kept if key[0] != wanted[0]]:
                del kept[old]
            kept[wanted] = _remembering(warehouse, refs, context)
        return kept[wanted]


def _remembering(warehouse: Warehouse, refs: Sequence[TableRef], context: AuthoredContext) -> SemanticLayer:
    """Build with what an earlier process measured, where the warehouse has a folder of its own."""
    home = getattr(warehouse, "home", None)
    if not isinstance(home, Path):
        return _build(warehouse, [warehouse.table(ref) for ref in refs], context)
    remembering = Remembering(warehouse, home / "measured")
    layer = _build(remembering, [warehouse.table(ref) for ref in refs], context)
    remembering.save()
    return layer


def _build(warehouse: Asked, tables: Sequence[Table], context: AuthoredContext) -> SemanticLayer:
    from .links import links_of  # reads the entities built here

    prefix = common_prefix([table.ref.table for table in tables])
    entities: dict[str, Entity] = {}
    values = ValueIndex()
    for table in tables:
        stats = profile(warehouse, table)
        entity = entity_of(table, stats, context, prefix)
        entities[entity.key] = entity
        indexed = [
            one.ref.column
            for one in entity.fields.values()
            if one.type == "STRING" and 0 < one.stats.distinct <= MOST_VALUES and one.stats.longest <= 80
        ]
        for column, held in text_values(warehouse, table, indexed).items():
            values.add(ColumnRef(entity.key, column), held)
        _index_names(warehouse, entity, values)
    names = Counter(entity.table.ref.table.casefold() for entity in entities.values())
    for entity in entities.values():
        entity.namesakes = names[entity.table.ref.table.casefold()] > 1
    return SemanticLayer(entities, links_of(warehouse, entities), values, context)


_MENTIONED = re.compile(r"(\w[\w-]*) \((\w[^()]*?)\)")


def _index_names(warehouse: Asked, entity: Entity, values: ValueIndex) -> None:
    """The keys behind names, and the words that descriptions give for values: "EWR (Newark)"."""
    for one in entity.fields.values():
        for value, word in _MENTIONED.findall(one.description):
            values.alias(one.ref, word, value)
    if len(entity.label) == len(entity.identifier) == 1 and entity.label != entity.identifier:
        name = ColumnRef(entity.key, entity.label[0])
        key = entity.fields[entity.identifier[0]]
        if name in values.columns and key.type == "STRING" and key.stats.distinct <= MOST_VALUES:
            values.keys_of[name] = name_keys(warehouse, entity.table, name.column, key.ref.column)


def entity_of(table: Table, stats: dict[str, ColumnStats], context: AuthoredContext, prefix: int = 0) -> Entity:
    """A table with its columns named and their roles told."""
    key = str(table.ref)
    words = identifier_words(table.ref.table, prefix)
    shared = common_prefix([column.name for column in table.columns])
    fields = {
        column.name: _field(table, column, stats.get(column.name, ColumnStats()), context, shared)
        for column in table.columns
        if not column.fields and column.mode != "REPEATED"
    }
    entity = Entity(
        table,
        key,
        words,
        names_of(words, context.descriptions.get(key, table.description), context.synonyms.get(key, ())),
        fields,
    )
    entity.identifier = _identifier(entity)
    for name in entity.identifier if len(entity.identifier) == 1 else ():
        one = entity.fields[name]
        entity.fields[name] = Field(one.ref, one.type, one.words, one.names, one.description, "key", one.stats)
    entity.label = _label(entity)
    entity.times = times_of(entity)
    return entity


def _field(table: Table, column: Column, stats: ColumnStats, context: AuthoredContext, shared: int) -> Field:
    ref = ColumnRef(str(table.ref), column.name)
    path = f"{table.ref}.{column.name}"
    description = context.descriptions.get(path, column.description)
    words = identifier_words(column.name, shared)
    names = names_of(words, description, context.synonyms.get(path, ())) + spelt_out(column.name, words)
    if column.type in MOMENTS and (happening := _HAPPENING.search(description)):
        names = (*names, name_of((happening[1].lower(),), 0.8))
    foreign = any(column.name in key.columns for key in table.foreign_keys)
    return Field(ref, column.type, words, names, description, _role(column, words, foreign), stats)


_HAPPENING = re.compile(r"^[^.;]*\b(?:was|were|is) (\w+(?:ed|en|ght|ld|nt))\b", re.IGNORECASE)
"""What happened at a moment: "Day on which it was returned"."""


def _role(column: Column, words: tuple[str, ...], foreign: bool) -> Role:
    if foreign:
        return "foreign"
    if column.type in MOMENTS:
        return "time"
    if column.type == "BOOL" or words[0] in ("is", "has"):
        return "flag"
    if column.type in NUMBERS:
        if words in {(part,) for part in _CALENDAR}:
            return "part"
        return "other" if words[-1] in ("id", "key") or _PLACES & set(words) else "number"
    return "text" if column.type == "STRING" else "other"


def _identifier(entity: Entity) -> tuple[str, ...]:
    if entity.table.primary_key:
        return entity.table.primary_key
    rows = entity.rows or max((one.stats.rows for one in entity.fields.values()), default=0)
    unique = [
        one
        for one in entity.fields.values()
        if rows > 0 and one.stats.distinct == rows and not one.stats.nulls and one.type in ("INT64", "STRING")
    ]
    scored = sorted(unique, key=lambda one: -_key_score(entity, one))
    return (scored[0].ref.column,) if scored and _key_score(entity, scored[0]) > 0 else ()


def _key_score(entity: Entity, one: Field) -> float:
    words, own = one.words, {stem(word) for word in entity.words}
    position = list(entity.fields).index(one.ref.column)
    if words == ("id",) or (words[-1] == "id" and {stem(word) for word in words[:-1]} <= own):
        return 10 - position / 10
    if len(words) == 1 and len(words[0]) <= 4 and words[0].endswith("id"):
        return 8 - position / 10
    if words[-1] in ("id", "code", "key"):
        return 5 - position / 10
    if words[-1] == "name" and {stem(word) for word in words[:-1]} <= own:
        return 4 - position / 10
    return 1 - position / 10 if position < 3 and one.type == "STRING" else 0


def _label(entity: Entity) -> tuple[str, ...]:
    short = {"nm": "name", "ttl": "title"}
    by_words = {
        tuple(short.get(word, word) for word in one.words): one.ref.column
        for one in entity.fields.values()
        if one.type == "STRING"
    }
    own = tuple(entity.words)
    single = tuple(stem(word) for word in own)
    for words, column in by_words.items():
        stems = tuple(stem(word) for word in words)
        if words in (("name",), ("title",), ("full", "name"), ("label",)) or stems in (
            (*single, "nam"),
            (*single, stem("title")),
            (*single[-1:], "nam"),
            single,
        ):
            return (column,)
    if ("first", "name") in by_words and ("last", "name") in by_words:
        return (by_words["first", "name"], by_words["last", "name"])
    for words, column in by_words.items():
        if words[-1] in ("name", "title", "symbol") and len(words) <= 2 and not {"file", "user", "host"} & set(words):
            return (column,)
    return ()


_BEGINNINGS = (
    "created",
    "join",
    "joined",
    "order",
    "signup",
    "registered",
    "date",
    "start",
    "time",
    "timestamp",
    "datetime",
    "hire",
)


def times_of(entity: Entity) -> tuple[TimeRef, ...]:
    """The moments of a row, the one that says when it came to be first."""
    found: list[tuple[float, TimeRef]] = []
    by_words = {one.words: one for one in entity.fields.values()}
    year, month, day = (by_words.get((part,)) for part in ("year", "month", "day"))
    if year is not None and year.type == "INT64":
        if month and day and month.type == day.type == "INT64":
            found.append((20, TimeRef(entity.key, (year.ref.column, month.ref.column, day.ref.column), "YMD")))
        elif month and month.type in ("INT64", "STRING"):
            kind: Literal["YM", "YMNAME"] = "YM" if month.type == "INT64" else "YMNAME"
            found.append((20, TimeRef(entity.key, (year.ref.column, month.ref.column), kind)))
        else:
            found.append((1, TimeRef(entity.key, (year.ref.column,), "Y")))
    for position, one in enumerate(entity.fields.values()):
        if one.type in MOMENTS:
            found.append((_time_score(entity, one, position), TimeRef(entity.key, (one.ref.column,), one.type)))  # type: ignore[arg-type]
    return tuple(ref for _, ref in sorted(found, key=lambda pair: -pair[0]))


def _time_score(entity: Entity, one: Field, position: int) -> float:
    own = {stem(word) for word in entity.words}
    score = 5 - position / 20
    if {stem(word) for word in one.words} & own:
        score += 4
    if one.words[0] in _BEGINNINGS:
        score += 2
    if {"crtd", "inserted", "updated", "modified", "loaded", "etl"} & set(one.words):
        score -= 4
    if one.stats.rows and one.stats.nulls > one.stats.rows * 0.02:
        score -= 3
    return score
