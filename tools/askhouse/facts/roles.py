"""What each column of a result is for: when, which, or how much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from state_contracts import Column, Result

from . import moments
from .names import expanded, is_identifier, is_stock, is_year, promises_sum, readable, words_of
from .shape import Aggregate, Grain, Output, Shape, output_named, shape_of
from .units import PLAIN, Unit, unit_of

RoleKind = Literal["time", "category", "measure", "moment", "nested"]
NUMBERS = frozenset(("INT64", "FLOAT64", "NUMERIC", "BIGNUMERIC"))
_COUNTS = frozenset(("n", "count", "cnt", "num", "number", "total", "f", "0", "rows"))
"""Words of a count that do not say of what."""
_TIMES = frozenset(("DATE", "DATETIME", "TIMESTAMP"))
_NESTED = frozenset(("STRUCT", "ARRAY", "JSON", "GEOGRAPHY", "RECORD"))


@dataclass(frozen=True)
class Role:
    """One column and its part in the result. A `moment` is a date that was computed: the first, the last."""

    position: int
    name: str
    kind: RoleKind
    label: str
    """The column in words: "average departure delay"."""
    grain: Grain | None = None
    aggregate: Aggregate | None = None
    additive: bool = False
    stock: bool = False
    """Whether the values are levels, which may be summed over things but not over time."""
    unit: Unit = PLAIN
    whole: bool = False
    """Whether the values are whole numbers."""

    @property
    def is_code(self) -> bool:
        """Whether whole numbers are shown digit by digit: stored, not computed, they may be flight numbers or times."""
        return self.whole and self.aggregate is None and not promises_sum(self.name)


@dataclass(frozen=True)
class Roles:
    """The columns of one result by their part in it."""

    all: tuple[Role, ...]
    shape: Shape

    def of(self, *kinds: RoleKind) -> list[Role]:
        """The columns of these kinds, in order."""
        return [role for role in self.all if role.kind in kinds]

    @property
    def keys(self) -> list[Role]:
        """The columns that say what a row is about."""
        return self.of("time", "category")


def roles_of(result: Result, question: str = "") -> Roles:
    """The part of each column, from its type, its name, its values and the query's tree.

    The question lends its words to the labels; it changes nothing else.
    """
    shape = shape_of(result.sql)
    columns = zip(result.columns, _cells_by_column(result), strict=True)
    return Roles(tuple(_role(i, *column, shape, question) for i, column in enumerate(columns)), shape)


def _cells_by_column(result: Result) -> list[tuple[Any, ...]]:
    return list(zip(*result.rows, strict=True)) or [() for _ in result.columns]


def _role(position: int, column: Column, values: Sequence[Any], shape: Shape, question: str) -> Role:
    output = shape.output(column.name, position) if shape.known else output_named(column.name)
    kind, grain = _kind(column, values, output, shape)
    measured = kind == "measure"
    label = _label(column.name, output, shape) if kind in ("measure", "moment") else readable(column.name)
    return Role(
        position=position,
        name=column.name,
        kind=kind,
        label=expanded(label, question),
        grain=grain,
        aggregate=output.aggregate,
        additive=measured and (output.additive if output.known else not shape.known and promises_sum(column.name)),
        stock=is_stock(column.name),
        unit=unit_of(column.name, column.description, output, values) if measured else _encoding(column),
        whole=column.type == "INT64",
    )


def _encoding(column: Column) -> Unit:
    """How cells that are no text are written as one."""
    return Unit("named", "base64") if column.type == "BYTES" else PLAIN


def _kind(column: Column, values: Sequence[Any], output: Output, shape: Shape) -> tuple[RoleKind, Grain | None]:
    if column.mode == "REPEATED" or column.type in _NESTED:
        return "nested", None
    if column.type in _TIMES:
        grain = output.grain or moments.grain_of_moments(values)
        if output.grain is None and shape.known and grain in ("month", "year"):
            grain = "day"  # days that happen to begin months are still days
        return ("moment" if output.aggregate in ("minimum", "maximum") else "time"), grain
    if column.type in NUMBERS:
        return _kind_of_numbers(column, values, output, shape)
    named = output.grain or moments.grain_of_words(values)
    return ("time", named) if named and column.type == "STRING" else ("category", None)


def _kind_of_numbers(
    column: Column, values: Sequence[Any], output: Output, shape: Shape
) -> tuple[RoleKind, Grain | None]:
    if output.aggregate is None and column.type == "INT64":
        grain = output.grain or _calendar(column.name, values)
        if grain:
            return "time", grain
        if is_identifier(column.name) or (shape.grouped and output.known):
            return "category", None
    return "measure", None


def _calendar(name: str, values: Sequence[Any]) -> Grain | None:
    if is_year(name) and all(value is None or 1000 <= value <= 9999 for value in values):
        return "year"
    words = words_of(name)
    return moments.grain_of_numbers(words[-1], values) if words else None


def _label(name: str, output: Output, shape: Shape) -> str:
    words, label = words_of(name), readable(name)
    if output.aggregate == "count" and _COUNTS.issuperset(words):
        return f"number of {readable(shape.table)}" if shape.table else "number of rows"
    match output.aggregate:
        case "count" | "distinct" if not {"number", "count", "num", "total", "n"} & set(words):
            return f"number of {label}"
        case "average" if not {"average", "avg", "mean"} & set(words):
            return f"average {label}"
        case "minimum" if not {"min", "minimum", "lowest", "smallest", "first", "earliest"} & set(words):
            return f"{'earliest' if _is_dated(words) else 'lowest'} {label}"
        case "maximum" if not {"max", "maximum", "highest", "largest", "last", "latest"} & set(words):
            return f"{'latest' if _is_dated(words) else 'highest'} {label}"
    return label


def _is_dated(words: list[str]) -> bool:
    return bool(words) and words[-1] in ("date", "day", "time", "at", "timestamp")
