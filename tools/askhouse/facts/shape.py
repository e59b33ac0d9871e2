"""What a query's tree says about the columns that it returns: how each was computed, in which order, up to how many."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

import sqlglot
from sqlglot import exp

from .names import forbids_sum

Aggregate = Literal["sum", "count", "distinct", "average", "minimum", "maximum", "ratio", "window", "other"]
Grain = Literal[
    "year", "quarter", "month", "week", "day", "hour", "minute", "second",
    "month_of_year", "quarter_of_year", "day_of_week", "day_of_month", "hour_of_day",
]  # fmt: skip

_TRUNCATIONS = (exp.DateTrunc, exp.TimestampTrunc, exp.DatetimeTrunc)
_UNITS: dict[str, Grain] = {
    "YEAR": "year", "ISOYEAR": "year", "QUARTER": "quarter", "MONTH": "month", "WEEK": "week", "ISOWEEK": "week",
    "DAY": "day", "HOUR": "hour", "MINUTE": "minute", "SECOND": "second",
}  # fmt: skip
_PARTS: dict[str, Grain] = {
    "YEAR": "year", "ISOYEAR": "year", "QUARTER": "quarter_of_year", "MONTH": "month_of_year",
    "DAYOFWEEK": "day_of_week", "DAY": "day_of_month", "HOUR": "hour_of_day",
}  # fmt: skip
_FORMATS: dict[str, Grain] = {"%Y": "year", "%Y-%m": "month", "%Y-%m-%d": "day", "%F": "day"}
_WRAPPERS = (exp.Alias, exp.Paren, exp.Round, exp.Cast, exp.TryCast, exp.Coalesce, exp.Floor, exp.Ceil)
_AGGREGATES: tuple[tuple[type[exp.Expr], Aggregate], ...] = (
    (exp.Window, "window"), (exp.Sum, "sum"), (exp.CountIf, "count"), (exp.ApproxDistinct, "distinct"),
    (exp.Avg, "average"), (exp.Min, "minimum"), (exp.Max, "maximum"), (exp.SafeDivide, "ratio"), (exp.Div, "ratio"),
    (exp.AggFunc, "other"),
)  # fmt: skip
_DEEPEST = 8
_CALL = re.compile(r"(?P<call>count|sum|avg|min|max)\s*\(\s*(?P<distinct>distinct\b)?(?P<of>.*)\)", re.I)
_CALLS: dict[str, Aggregate] = {
    "count": "count", "sum": "sum", "avg": "average", "min": "minimum", "max": "maximum",
}  # fmt: skip


@dataclass(frozen=True)
class Output:
    """How one column of a result was computed; the empty one where that is not known."""

    known: bool = False
    aggregate: Aggregate | None = None
    additive: bool = False
    """Whether the values of different rows may be summed."""
    grain: Grain | None = None
    percent: bool = False
    """Whether a ratio was multiplied by 100."""


@dataclass(frozen=True)
class Shape:
    """A query as its reader sees it. The empty shape stands for a query that is missing or not understood."""

    known: bool = False
    outputs: Mapping[str, Output] = field(default_factory=dict)
    in_order: tuple[Output, ...] = ()
    """The outputs by position; empty where a star hides how many there are."""
    order: tuple[tuple[str, bool], ...] = ()
    """Columns that the rows are sorted by, and whether descending."""
    limit: int | None = None
    first_place: bool = False
    """Whether the first row alone is kept, and those that share its place."""
    grouped: bool = False
    subtotals: bool = False
    """Whether rows that sum up other rows stand among them (ROLLUP, CUBE)."""
    table: str = ""
    """The one table that the rows come from directly, where there is but one."""

    def output(self, column: str, position: int = -1) -> Output:
        """The computation of a column, by its name, else (a column without one is `f0_`) by its position."""
        named = self.outputs.get(column.casefold())
        if named is None and 0 <= position < len(self.in_order):
            return self.in_order[position]
        return named or Output()


@lru_cache(maxsize=256)
def shape_of(sql: str) -> Shape:
    """Read a GoogleSQL query. Never raises: what cannot be read is the empty shape."""
    try:
        tree = sqlglot.parse_one(sql, read="bigquery") if sql.strip() else None
    except (sqlglot.errors.SqlglotError, RecursionError):
        return Shape()
    if not isinstance(tree, exp.Query):
        return Shape()
    select = tree if isinstance(tree, exp.Select) else tree.find(exp.Select)
    return _read(tree, select) if isinstance(select, exp.Select) else Shape()


def output_named(name: str) -> Output:
    """What a column's name tells where there is no query: `COUNT(x)` and `avg(x)` are named by what computed them."""
    found = _CALL.match(name)
    if found is None:
        return Output()
    aggregate: Aggregate = "distinct" if found["distinct"] else _CALLS[found["call"].casefold()]
    return Output(True, aggregate, aggregate == "count" or (aggregate == "sum" and not forbids_sum(found["of"])))


def _read(tree: exp.Query, select: exp.Select) -> Shape:
    group = select.args.get("group")
    subtotals = bool(group and group.find(exp.Rollup, exp.Cube, exp.GroupingSets))
    in_order = tuple(_output(projection, select, additive=not subtotals) for projection in select.selects)
    names = [projection.output_name.casefold() for projection in select.selects]
    return Shape(
        known=True,
        outputs={name: output for name, output in zip(names, in_order, strict=True) if name},
        in_order=() if any(projection.is_star for projection in select.selects) else in_order,
        order=_order(tree, select),
        limit=_limit(tree),
        first_place=_first_place(select),
        grouped=group is not None or any(output.aggregate for output in in_order),
        subtotals=subtotals,
        table=_only_table(tree, select),
    )


def _output(projection: exp.Expr, select: exp.Select, *, additive: bool) -> Output:
    return Output(
        known=not projection.is_star,
        aggregate=_aggregate(projection, select, 0),
        additive=additive and not forbids_sum(projection.output_name) and _additive(projection, select, 0),
        grain=_grain(projection, select, 0),
        percent=_percent(projection),
    )


def _first_place(select: exp.Select) -> bool:
    qualify = select.args.get("qualify")
    kept = qualify.this if qualify is not None else None
    if not isinstance(kept, exp.EQ) or not isinstance(kept.this, exp.Window):
        return False
    return bool(kept.this.this.sql("bigquery").upper() == "RANK()" and kept.expression.name == "1")


def _limit(tree: exp.Query) -> int | None:
    limit = tree.args.get("limit")
    number = limit.expression if isinstance(limit, exp.Limit) else None
    return int(number.this) if isinstance(number, exp.Literal) and not number.is_string else None


def _order(tree: exp.Query, select: exp.Select) -> tuple[tuple[str, bool], ...]:
    order = tree.args.get("order")
    keys = []
    for ordered in order.expressions if order else ():
        name = _ordered_name(ordered.this, select)
        if name is None:
            break
        keys.append((name, bool(ordered.args.get("desc"))))
    return tuple(keys)


def _ordered_name(key: exp.Expr, select: exp.Select) -> str | None:
    if isinstance(key, exp.Literal) and not key.is_string:
        position = int(key.this) - 1
        return select.selects[position].output_name if 0 <= position < len(select.selects) else None
    for projection in select.selects:
        if key == projection.unalias() or (isinstance(key, exp.Column) and key.name == projection.output_name):
            return projection.output_name
    return None


def _aggregate(expression: exp.Expr, select: exp.Select, depth: int) -> Aggregate | None:
    if isinstance(expression, exp.Mul | exp.Add | exp.Sub | exp.Neg):
        parts = [_aggregate(part, select, depth) for part in expression.iter_expressions()]
        return next((part for part in parts if part), None)
    if isinstance(expression, exp.Count):
        return "distinct" if isinstance(expression.this, exp.Distinct) else "count"
    if isinstance(expression, _WRAPPERS):
        return _aggregate(expression.this, select, depth)
    if isinstance(expression, exp.Column):
        beneath = _beneath(expression, select, depth)
        return _aggregate(*beneath, depth + 1) if beneath else None
    return next((name for kind, name in _AGGREGATES if isinstance(expression, kind)), None)


def _additive(expression: exp.Expr, select: exp.Select, depth: int) -> bool:
    match expression:
        case exp.Sum():
            return not isinstance(expression.this, exp.Distinct) and not _names_no_sum(expression.this)
        case exp.Count():
            return not isinstance(expression.this, exp.Distinct)
        case exp.CountIf():
            return True
        case exp.Add() | exp.Sub():
            return all(_additive(side, select, depth) for side in (expression.this, expression.expression))
        case exp.Mul() | exp.Div():
            return _additive(expression.this, select, depth) and isinstance(expression.expression, exp.Literal)
        case exp.Column():
            beneath = _beneath(expression, select, depth)
            return beneath is not None and _additive(*beneath, depth + 1)
        case _ if isinstance(expression, _WRAPPERS):
            return _additive(expression.this, select, depth)
    return False


def _names_no_sum(expression: exp.Expr) -> bool:
    return isinstance(expression, exp.Column) and forbids_sum(expression.name)


def _grain(expression: exp.Expr, select: exp.Select, depth: int) -> Grain | None:
    if isinstance(expression, _TRUNCATIONS):
        return _UNITS.get(_unit(expression.args.get("unit")))
    if isinstance(expression, exp.Extract):
        return _PARTS.get(_unit(expression.this))
    if isinstance(expression, exp.TimeToStr):
        return _FORMATS.get(expression.args["format"].name)
    if isinstance(expression, _WRAPPERS):
        return _grain(expression.this, select, depth)
    if isinstance(expression, exp.Column):
        beneath = _beneath(expression, select, depth)
        return _grain(*beneath, depth + 1) if beneath else None
    return None


def _unit(unit: Any) -> str:
    return "WEEK" if isinstance(unit, exp.WeekStart) or type(unit).__name__ == "WeekStart" else str(unit.name).upper()


def _percent(expression: exp.Expr) -> bool:
    literal = next((part for part in expression.find_all(exp.Literal) if part.name in ("100", "100.0")), None)
    return literal is not None and isinstance(literal.parent, exp.Mul) and _divides(expression)


def _divides(expression: exp.Expr) -> bool:
    return any(True for _ in expression.find_all(exp.Div, exp.SafeDivide, exp.Avg))


def _only_table(tree: exp.Query, select: exp.Select) -> str:
    sources = _sources(select)
    tables = list(tree.find_all(exp.Table))
    return tables[0].name if len(tables) == len(sources) == 1 and sources[0] is tables[0] else ""


def _beneath(column: exp.Column, select: exp.Select, depth: int) -> tuple[exp.Expr, exp.Select] | None:
    """The expression that a column of a subquery or common table expression stands for."""
    if depth >= _DEEPEST:
        return None
    for source in _sources(select):
        if column.table and column.table != source.alias_or_name:
            continue
        inner = _query_of(source, select)
        for projection in inner.selects if isinstance(inner, exp.Select) else ():
            if projection.output_name == column.name and isinstance(inner, exp.Select):
                return projection.unalias(), inner
    return None


def _sources(select: exp.Select) -> list[exp.Expr]:
    start = select.args.get("from_") or select.args.get("from")
    joins = select.args.get("joins") or ()
    return [source.this for source in (start, *joins) if source is not None]


def _query_of(source: exp.Expr, select: exp.Select) -> exp.Expr | None:
    inner: exp.Expr | None = source.this if isinstance(source, exp.Subquery) else None
    if inner is not None or not isinstance(source, exp.Table) or source.args.get("db"):
        return inner
    scope: exp.Expr | None = select
    while scope is not None:
        with_ = scope.args.get("with_") or scope.args.get("with")
        for common in with_.expressions if with_ else ():
            if common.alias == source.name:
                inner = common.this
                return inner
        scope = scope.parent
    return None
