"""What a question means, typed: it stands between the words and the SQL, and can be printed in plain words."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Literal

Cell = str | int | float | bool
Direction = Literal["asc", "desc"]
Function = Literal["count", "count_distinct", "sum", "avg", "min", "max", "median"]
Operator = Literal["=", "<>", ">", ">=", "<", "<="]
Grain = Literal["year", "quarter", "month", "week", "day", "hour"]
Part = Literal[
    "month of the year", "day of the week", "hour of the day", "year", "quarter of the year", "day of the month"
]
TimeKind = Literal["DATE", "DATETIME", "TIMESTAMP", "YMD", "YM", "YMNAME", "Y"]


@dataclass(frozen=True, order=True)
class ColumnRef:
    """A column of a table. `via` names the foreign-key column that leads there, where more than one does."""

    table: str
    column: str
    via: str = ""


@dataclass(frozen=True, order=True)
class TimeRef:
    """When a row happened: a date or time column, or integer columns for year, month and day."""

    table: str
    columns: tuple[str, ...]
    kind: TimeKind


@dataclass(frozen=True)
class Elapsed:
    """Days from one moment of a row to another."""

    start: TimeRef
    end: TimeRef


@dataclass(frozen=True)
class Product:
    """One number of a row times another: price times quantity."""

    left: ColumnRef
    right: ColumnRef


Value = ColumnRef | Elapsed | Product


@dataclass(frozen=True)
class Compare:
    """`column operator value`."""

    column: Value
    operator: Operator
    value: Cell | ColumnRef


@dataclass(frozen=True)
class OneOf:
    """The column has one of the values, or, negated, none of them."""

    column: ColumnRef
    values: tuple[Cell, ...]
    negated: bool = False


@dataclass(frozen=True)
class Missing:
    """The column holds nothing, or, negated, something."""

    column: ColumnRef
    negated: bool = False
    said: str = ""


@dataclass(frozen=True)
class Like:
    """The text starts with, ends with or contains the given text, whatever its case."""

    column: ColumnRef
    form: Literal["starts", "ends", "contains"]
    text: str
    negated: bool = False


@dataclass(frozen=True)
class During:
    """The moment lies in [start, end); None is open. `said` is the period in words."""

    time: TimeRef
    start: date | None
    end: date | None
    said: str
    relative: bool = False
    negated: bool = False


@dataclass(frozen=True)
class OnPart:
    """A part of the moment (weekday 1 = Sunday, month, hour) has one of the values."""

    time: TimeRef
    part: Part
    values: tuple[int, ...]
    said: str
    negated: bool = False


@dataclass(frozen=True)
class Has:
    """Rows of another table point at this row: some, none (negated), or as many as `operator count` says."""

    table: str
    conditions: tuple[Condition, ...] = ()
    negated: bool = False
    operator: Operator | None = None
    count: int = 1
    via: str = ""
    """The column of that table that points here, where it has several."""


@dataclass(frozen=True)
class Frequent:
    """The column's value occurs in as many rows as `operator count` says."""

    column: ColumnRef
    operator: Operator
    count: int


@dataclass(frozen=True)
class Within:
    """The row of another table at which this row points fulfils the conditions."""

    table: str
    conditions: tuple[Condition, ...]


@dataclass(frozen=True)
class AnyOf:
    """At least one of the conditions holds."""

    conditions: tuple[Condition, ...]


Condition = Compare | OneOf | Missing | Like | During | OnPart | Has | Within | Frequent | AnyOf


@dataclass(frozen=True)
class Aggregate:
    """A number over the rows of `table`. `where` restricts this number alone."""

    function: Function
    table: str
    column: Value | None = None
    where: tuple[Condition, ...] = ()
    name: str = ""
    said: str = ""


@dataclass(frozen=True)
class Ratio:
    """One number divided by another over the same rows; `percent` where it is a part of a whole."""

    top: Aggregate
    bottom: Aggregate
    percent: bool = False
    name: str = ""
    said: str = ""
    apart: bool = False
    """Whether the numbers are of tables that nothing has to connect."""


@dataclass(frozen=True)
class ShareOfTotal:
    """A group's part of the total over all groups, 0 to 1."""

    of: Aggregate
    name: str = ""
    said: str = ""


Measure = Aggregate | Ratio | ShareOfTotal


@dataclass(frozen=True)
class ByColumn:
    """One group for each value. `key` is grouped by as well, so that namesakes stay apart; shown when `show_key`."""

    column: ColumnRef
    key: ColumnRef | None = None
    show_key: bool = False
    more: tuple[ColumnRef, ...] = ()
    said: str = ""


@dataclass(frozen=True)
class ByTime:
    """One group for each period, or for each part of the calendar."""

    time: TimeRef
    grain: Grain | Part
    said: str = ""


Dimension = ByColumn | ByTime


@dataclass(frozen=True)
class Order:
    """Sort by a measure (its position), a dimension (its position) or a column."""

    by: Literal["measure", "dimension", "column"]
    position: int = 0
    column: Value | TimeRef | None = None
    direction: Direction = "desc"


@dataclass(frozen=True)
class Having:
    """Keep the groups whose measure compares so."""

    measure: int
    operator: Operator
    value: Cell


@dataclass(frozen=True)
class Plan:
    """Measures over dimensions, or, without measures, rows of `table` with `columns` (empty: all of them)."""

    table: str
    measures: tuple[Measure, ...] = ()
    dimensions: tuple[Dimension, ...] = ()
    conditions: tuple[Condition, ...] = ()
    having: tuple[Having, ...] = ()
    order: tuple[Order, ...] = ()
    limit: int | None = None
    within: tuple[int, ...] = ()
    """Positions of dimensions for each of whose groups the limit counts: the top 3 of each department."""
    columns: tuple[ColumnRef | TimeRef, ...] = ()
    distinct: bool = False
