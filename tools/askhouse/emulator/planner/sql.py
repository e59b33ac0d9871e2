"""GoogleSQL from a plan, built as a tree: each measure is computed at its own grain, so that no join counts twice."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from sqlglot import exp

from .joins import base_for, paths_up
from .labels import labelled
from .plan import (
    Aggregate,
    ByColumn,
    ByTime,
    ColumnRef,
    Dimension,
    Measure,
    Plan,
    Ratio,
    ShareOfTotal,
    TimeRef,
)
from .profile import call
from .scope import NoPathError, Scope, literal, not_null
from .semantics import SemanticLayer
from .where import OPERATORS, PARTS, Where

MOST_TIED = 20
"""Rows that are shown where so many share the first place."""


def to_sql(plan: Plan, layer: SemanticLayer, time_zone: str = "UTC") -> str:
    """The plan as one GoogleSQL SELECT. Raises NoPathError."""
    return Compiler(layer, time_zone).compile(labelled(plan, layer)).sql(dialect="bigquery", pretty=True)


class Compiler(Where):
    """Turns plans into trees over one layer."""

    def compile(self, plan: Plan) -> exp.Select:
        """The plan's SELECT. Raises NoPathError."""
        if not plan.measures:
            return self._listing(plan)
        if len(plan.measures) == 1 and isinstance(plan.measures[0], Ratio) and plan.measures[0].apart:
            return self._apart(plan.measures[0])
        blocks = self._blocks(plan)
        if len(blocks) == 1:
            return self._ordered(plan, self._block(plan, *blocks[0]))
        joined = self._joined(plan, blocks)
        if plan.having:
            joined = exp.select(*[exp.column(name) for name in joined.named_selects]).from_(joined.subquery("together"))
        return self._ordered(plan, joined, grouped=False)

    def _listing(self, plan: Plan) -> exp.Select:
        scope = Scope(self.layer, plan.table)
        scope.alias()
        columns: list[exp.Expr] = [self._shown(scope, column) for column in plan.columns] or [exp.Star()]
        select = exp.select(*columns)
        if plan.distinct:
            select = select.distinct()
        conditions = [self._condition(scope, one) for one in plan.conditions]
        for one in plan.order:
            node = (
                exp.column(_output(plan.columns[one.position]), quoted=False)
                if one.column is None
                else self._value(scope, one.column)
            )
            if one.column is not None:
                conditions.append(not_null(self._value(scope, one.column)))
            select = select.order_by(
                exp.Ordered(this=node, desc=one.direction == "desc", nulls_first=one.direction == "asc")
            )
        first = [node.copy() for node in select.args["order"].expressions] if plan.order else []
        for ref in self._telling(plan) if first and plan.limit else ():
            select = select.order_by(exp.Ordered(this=scope.column(ref), desc=False, nulls_first=True))
        select = scope.apply(select)
        select = select.where(*conditions) if conditions else select
        if first and plan.limit == 1:
            return select.qualify(_first(exp.Order(expressions=first))).limit(MOST_TIED)
        return select.limit(plan.limit) if plan.limit else select

    def _telling(self, plan: Plan) -> list[ColumnRef]:
        """Columns by which rows that are alike in their order come in one order everywhere."""
        if plan.distinct:
            return []
        entity = self.layer.entities[plan.table]
        every = [name for name, one in entity.fields.items() if one.role != "number"]
        return [ColumnRef(plan.table, name) for name in entity.identifier or every]

    def _shown(self, scope: Scope, column: ColumnRef | TimeRef) -> exp.Expr:
        if isinstance(column, TimeRef):
            return exp.alias_(self._day(scope, column), "date")
        return scope.column(column)

    def _blocks(self, plan: Plan) -> list[tuple[str, list[int]]]:
        """Measures by the table at whose grain they are computed: rows counted once must be of one table."""
        goals = [table for dimension in plan.dimensions for table in _tables(dimension)]
        found: dict[tuple[str, str], list[int]] = {}
        for position, measure in enumerate(plan.measures):
            home = _home(measure)
            base = base_for(self.layer, home, goals)
            if base is None:
                raise NoPathError(home, next(goal for goal in goals if not paths_up(self.layer, home, goal)))
            once = self._in_steps(measure, base)
            found.setdefault((base, home if once else ""), []).append(position)
        return [(base, positions) for (base, _), positions in found.items()]

    def _block(self, plan: Plan, base: str, positions: Sequence[int]) -> exp.Select:
        measures = [plan.measures[position] for position in positions]
        if any(self._in_steps(measure, base) for measure in measures):
            return self._in_two_steps(plan, base, measures)
        scope = Scope(self.layer, base)
        scope.alias()
        groups = [node for dimension in plan.dimensions for node in self._dimension(scope, dimension)]
        select = exp.select(*[exp.alias_(node, name) for name, node, shown in groups if shown])
        select = select.select(*[exp.alias_(self._measure(scope, measure), _name(measure)) for measure in measures])
        conditions = [self._condition(scope, one) for one in plan.conditions]
        conditions += [not_null(node) for name, node, _ in groups if plan.limit or _is_time(plan, name)]
        select = scope.apply(select)
        select = select.where(*conditions) if conditions else select
        return select.group_by(*[self._group(name, node, shown) for name, node, shown in groups]) if groups else select

    def _group(self, name: str, node: exp.Expr, shown: bool) -> exp.Expr:
        return exp.column(name) if shown and not isinstance(node, exp.Column) else node.copy()

    def _in_steps(self, measure: Measure, base: str) -> bool:
        return self._needs_rows_once(measure, base) or _medians(measure)

    def _needs_rows_once(self, measure: Measure, base: str) -> bool:
        parts = (
            [measure.top, measure.bottom]
            if isinstance(measure, Ratio)
            else [measure.of if isinstance(measure, ShareOfTotal) else measure]
        )
        return any(part.table != base and part.function in ("sum", "avg", "median") for part in parts)

    def _in_two_steps(self, plan: Plan, base: str, measures: Sequence[Measure]) -> exp.Select:
        """Rows of the measure's own table once each, then the aggregate: no fan-out, and exact medians."""
        scope = Scope(self.layer, base)
        scope.alias()
        groups = [node for dimension in plan.dimensions for node in self._dimension(scope, dimension)]
        inner = exp.select(*[exp.alias_(node, name) for name, node, _ in groups])
        keys: list[exp.Expr] = []
        outer: list[exp.Expr] = []
        for place, measure in enumerate(measures):
            part = measure.of if isinstance(measure, ShareOfTotal) else measure
            if not isinstance(part, Aggregate):
                raise NoPathError(base, _home(measure))
            value = self._filtered(scope, part)
            if part.function == "median":
                partition = [node.copy() for _, node, _ in groups]
                value = exp.Window(
                    this=call("PERCENTILE_CONT", value, exp.Literal.number("0.5")), partition_by=partition
                )
            inner = inner.select(exp.alias_(value, f"v{place}"))
            if part.table != base:
                via = part.column.via if isinstance(part.column, ColumnRef) else ""
                identifier = self.layer.entities[part.table].identifier
                if not identifier:
                    raise NoPathError(base, part.table)  # nothing tells its rows apart: they cannot be counted once
                keys += [scope.column(ColumnRef(part.table, name, via)) for name in identifier]
            node = exp.column(f"v{place}")
            functions = {
                "sum": exp.Sum,
                "avg": exp.Avg,
                "min": exp.Min,
                "max": exp.Max,
                "median": exp.Max,
                "count": exp.Count,
            }
            if part.function not in functions:
                raise NoPathError(base, part.table)
            number: exp.Expr = functions[part.function](this=node)
            if isinstance(measure, ShareOfTotal):
                total = exp.Window(this=exp.Sum(this=number.copy()), partition_by=[])
                number = call("SAFE_DIVIDE", number, total)
            outer.append(exp.alias_(number, _name(measure)))
        inner = inner.select(*[exp.alias_(key, f"k{place}") for place, key in enumerate(keys)])
        inner = inner.distinct() if keys else inner
        conditions = [self._condition(scope, one) for one in plan.conditions]
        conditions += [not_null(node) for name, node, _ in groups if plan.limit or _is_time(plan, name)]
        inner = scope.apply(inner)
        inner = inner.where(*conditions) if conditions else inner
        names = [exp.column(name) for name, _, _ in groups]
        shown = [exp.column(name) for name, _, is_shown in groups if is_shown]
        select = exp.select(*shown, *outer).from_(inner.subquery("per_row"))
        return select.group_by(*names) if names else select

    def _joined(self, plan: Plan, blocks: list[tuple[str, list[int]]]) -> exp.Select:
        """Each block by itself, then side by side by all that is grouped by, the missing included."""
        names = [name for dimension in plan.dimensions for name in self._grouped_names(dimension)]
        parts = [self._block(_all_shown(plan), base, positions) for base, positions in blocks]
        if not names:
            return self._crossed(plan, blocks, parts)
        select = exp.select()
        for name in (name for dimension in plan.dimensions for name in self._shown_names(dimension)):
            select = select.select(exp.alias_(_held(name, len(parts)), name))
        for position, measure in enumerate(plan.measures):
            place = next(place for place, (_, positions) in enumerate(blocks) if position in positions)
            held: exp.Expr = exp.column(_name(measure), table=f"part{place}")
            if isinstance(measure, Aggregate) and measure.function in ("count", "count_distinct"):
                filled_up = exp.Coalesce(this=held, expressions=[literal(0)])  # no rows there: none are counted
                held = exp.alias_(filled_up, _name(measure))
            select = select.select(held)
        select = select.from_(parts[0].subquery("part0"))
        for place, part in enumerate(parts[1:], 1):
            filled = [bool(plan.limit) or _is_time(plan, name) for name in names]
            same = [
                _equal(_held(name, place), exp.column(name, table=f"part{place}"), plain)
                for name, plain in zip(names, filled, strict=True)
            ]
            select = select.join(part.subquery(f"part{place}"), on=exp.and_(*same), join_type="full")
        return select

    def _crossed(self, plan: Plan, blocks: list[tuple[str, list[int]]], parts: list[exp.Select]) -> exp.Select:
        """Blocks of one row each, beside each other, in the measures' order."""
        place_of = {position: place for place, (_, positions) in enumerate(blocks) for position in positions}
        select = exp.select(
            *[exp.column(_name(one), table=f"part{place_of[position]}") for position, one in enumerate(plan.measures)]
        ).from_(parts[0].subquery("part0"))
        for place, part in enumerate(parts[1:], 1):
            select = select.join(part.subquery(f"part{place}"), join_type="cross")
        return select

    def _apart(self, ratio: Ratio) -> exp.Select:
        """Two numbers, each of its own table, one divided by the other."""
        both = [self._block(Plan(part.table, (part,)), part.table, [0]) for part in (ratio.top, ratio.bottom)]
        return exp.select(exp.alias_(call("SAFE_DIVIDE", *[part.subquery() for part in both]), _name(ratio)))

    def _measure(self, scope: Scope, measure: Measure) -> exp.Expr:
        if isinstance(measure, ShareOfTotal):
            part = self._aggregate(scope, measure.of)
            total = exp.Window(this=exp.Sum(this=part.copy()), partition_by=[])
            return call("SAFE_DIVIDE", part, total)
        if isinstance(measure, Ratio):
            return call("SAFE_DIVIDE", self._aggregate(scope, measure.top), self._aggregate(scope, measure.bottom))
        return self._aggregate(scope, measure)

    def _aggregate(self, scope: Scope, part: Aggregate) -> exp.Expr:
        if part.function in ("count", "count_distinct"):
            return self._count(scope, part)
        node = self._filtered(scope, part)
        functions: dict[str, type[exp.AggFunc]] = {"sum": exp.Sum, "avg": exp.Avg, "min": exp.Min, "max": exp.Max}
        return functions[part.function](this=node)

    def _count(self, scope: Scope, part: Aggregate) -> exp.Expr:
        if part.function == "count" and part.table == scope.base and part.column is None:
            if not part.where:
                return exp.Count(this=exp.Star())
            return exp.CountIf(this=exp.and_(*[self._condition(scope, one) for one in part.where]))
        if part.column is None:
            identifier = self.layer.entities[part.table].identifier
            if len(identifier) != 1:
                raise NoPathError(scope.base, part.table)
            node: exp.Expr = scope.column(ColumnRef(part.table, identifier[0]))
        else:
            node = self._value(scope, part.column)
        if part.where:
            node = exp.If(this=exp.and_(*[self._condition(scope, one) for one in part.where]), true=node)
        if part.function == "count" and part.table == scope.base:
            return exp.Count(this=node)
        return exp.Count(this=exp.Distinct(expressions=[node]))

    def _filtered(self, scope: Scope, part: Aggregate) -> exp.Expr:
        node = self._value(scope, part.column) if part.column is not None else exp.Literal.number(1)
        if not part.where:
            return node
        return exp.If(this=exp.and_(*[self._condition(scope, one) for one in part.where]), true=node)

    def _dimension(self, scope: Scope, dimension: Dimension) -> list[tuple[str, exp.Expr, bool]]:
        """Name, expression and whether it is shown, for each expression that is grouped by."""
        if isinstance(dimension, ByTime):
            return [(_time_name(dimension), self._period(scope, dimension), True)]
        found: list[tuple[str, exp.Expr, bool]] = [(_output(dimension.column), scope.column(dimension.column), True)]
        found += [(_output(ref), scope.column(ref), True) for ref in dimension.more]
        if dimension.key:
            found.append(
                (
                    _output(dimension.key) if dimension.show_key else "group_key",
                    scope.column(dimension.key),
                    dimension.show_key,
                )
            )
        return found

    def _dimension_names(self, dimension: Dimension) -> list[str]:
        if isinstance(dimension, ByTime):
            return [_time_name(dimension)]
        return [_output(dimension.column), *[_output(ref) for ref in dimension.more]]

    def _shown_names(self, dimension: Dimension) -> list[str]:
        names = self._dimension_names(dimension)
        if isinstance(dimension, ByColumn) and dimension.key and dimension.show_key:
            names.append(_output(dimension.key))
        return names

    def _grouped_names(self, dimension: Dimension) -> list[str]:
        names = self._dimension_names(dimension)
        return [*names, _output(dimension.key)] if isinstance(dimension, ByColumn) and dimension.key else names

    def _period(self, scope: Scope, dimension: ByTime) -> exp.Expr:
        if dimension.grain in PARTS:
            return self._part(scope, dimension.time, PARTS[dimension.grain])
        if dimension.grain == "hour":
            column = scope.column(ColumnRef(dimension.time.table, dimension.time.columns[0]))
            if dimension.time.kind == "DATETIME":
                return call("DATETIME_TRUNC", column, exp.var("HOUR"))
            zone = [exp.Literal.string(self.zone)] if self.zone != "UTC" else []
            return call("TIMESTAMP_TRUNC", column, exp.var("HOUR"), *zone)
        if dimension.time.kind == "Y":
            return scope.column(ColumnRef(dimension.time.table, dimension.time.columns[0]))
        day = self._day(scope, dimension.time)
        return day if dimension.grain == "day" else call("DATE_TRUNC", day, exp.var(dimension.grain.upper()))

    def _ordered(self, plan: Plan, select: exp.Select, *, grouped: bool = True) -> exp.Select:
        names = [name for dimension in plan.dimensions for name in self._dimension_names(dimension)]
        names += [_output(one.key) for one in plan.dimensions if isinstance(one, ByColumn) and one.key and one.show_key]
        for one in plan.having:
            condition = OPERATORS[one.operator](
                this=exp.column(_name(plan.measures[one.measure])), expression=literal(one.value)
            )
            select = select.having(condition) if plan.dimensions and grouped else select.where(condition)
        for order in plan.order:
            column = _name(plan.measures[order.position]) if order.by == "measure" else names[order.position]
            desc = order.direction == "desc"
            select = select.order_by(
                exp.Ordered(
                    this=exp.column(column), desc=desc, nulls_first=False if desc else order.by != "measure" or None
                )
            )
        sorted_by = {node.this.name for node in select.args["order"].expressions} if select.args.get("order") else set()
        rest = [name for name in select.named_selects if name in names and name not in sorted_by]
        if sorted_by and (len(names) > 1 or plan.limit):  # ties would come in any order
            select = select.order_by(*[exp.Ordered(this=exp.column(name), nulls_first=True) for name in rest])
        return self._limited(plan, select, names)

    def _limited(self, plan: Plan, select: exp.Select, names: Sequence[str]) -> exp.Select:
        """The first groups, or the first of each group of another dimension; a first place may be shared."""
        shared = plan.limit == 1 and bool(plan.order) and plan.order[0].by == "measure"
        if not plan.limit or not (plan.within or shared):
            return select.limit(plan.limit) if plan.limit else select
        if not shared:
            order, function = select.args["order"], "ROW_NUMBER"
        else:
            order, function = exp.Order(expressions=select.args["order"].expressions[: len(plan.order)]), "RANK"
            if not plan.within and select.args.get("group") and not select.find(exp.Window):
                return select.qualify(_first(_computed(select, order))).limit(MOST_TIED)
        place = _numbered(select, [names[position] for position in plan.within], order, function)
        place = place.where(exp.LTE(this=exp.column("place"), expression=literal(plan.limit)))
        return place if plan.within else place.limit(MOST_TIED)


def _first(order: exp.Order) -> exp.Expr:
    """Whether a row is the first in the order, or as good as the first."""
    return exp.EQ(this=exp.Window(this=call("RANK"), order=order.copy()), expression=literal(1))


def _computed(select: exp.Select, order: exp.Order) -> exp.Order:
    """The order by what its columns are computed from: a window does not see their names everywhere."""
    made = {one.alias: one.this for one in select.expressions if isinstance(one, exp.Alias)}
    order = order.copy()
    for one in order.expressions:
        if one.this.name in made:
            one.set("this", made[one.this.name].copy())
    return order


def _numbered(select: exp.Select, groups: Sequence[str], order: exp.Order, function: str) -> exp.Select:
    """The rows numbered within their groups, as a table to filter."""
    shown = [exp.column(name) for name in select.named_selects]
    number = exp.Window(this=call(function), partition_by=[exp.column(name) for name in groups], order=order.copy())
    bare = select.copy()
    bare.set("order", None)
    inner = exp.select(*[node.copy() for node in shown], exp.alias_(number, "place")).from_(bare.subquery("grouped"))
    told = [node.this.name for node in select.args["order"].expressions]
    sorting = [
        exp.Ordered(this=exp.column(name), desc=False)
        for name in dict.fromkeys((*groups, "place", *(told[1:] if function == "RANK" else ())))
    ]
    return exp.select(*shown).from_(inner.subquery("numbered")).order_by(*sorting)


def _all_shown(plan: Plan) -> Plan:
    """The plan whose groups show the key that tells namesakes apart."""
    shown = [replace(one, show_key=True) if isinstance(one, ByColumn) and one.key else one for one in plan.dimensions]
    return replace(plan, dimensions=tuple(shown))


def _held(name: str, parts: int) -> exp.Expr:
    """What the first parts hold in a column: one of them does, when groups are missing in others."""
    columns: list[exp.Expr] = [exp.column(name, table=f"part{place}") for place in range(parts)]
    return exp.Coalesce(this=columns[0], expressions=columns[1:]) if parts > 1 else columns[0]


def _equal(left: exp.Expr, right: exp.Expr, plain: bool) -> exp.Expr:
    """Equal, or, unless plain, both missing; as equalities alone, which a full join asks for."""
    if plain:
        return exp.EQ(this=left, expression=right)
    texts = [
        exp.Coalesce(this=exp.cast(side.copy(), "STRING", dialect="bigquery"), expressions=[exp.Literal.string("")])
        for side in (left, right)
    ]
    gone = [exp.Paren(this=exp.Is(this=side.copy(), expression=exp.null())) for side in (left, right)]
    return exp.and_(exp.EQ(this=texts[0], expression=texts[1]), exp.EQ(this=gone[0], expression=gone[1]))


def _home(measure: Measure) -> str:
    if isinstance(measure, Ratio):
        return measure.top.table
    return measure.of.table if isinstance(measure, ShareOfTotal) else measure.table


def _medians(measure: Measure) -> bool:
    return isinstance(measure, Aggregate) and measure.function == "median"


def _name(measure: Measure) -> str:
    return re.sub(r"\W+", "_", measure.name).strip("_") or "value"


def _output(ref: ColumnRef | TimeRef) -> str:
    return ref.column if isinstance(ref, ColumnRef) else "date"


def _time_name(dimension: ByTime) -> str:
    return (
        re.sub(r"\W+", "_", str(dimension.grain))
        .replace("day_of_the_week", "day_of_week")
        .replace("hour_of_the_day", "hour_of_day")
    )


def _is_time(plan: Plan, name: str) -> bool:
    return any(isinstance(dimension, ByTime) and _time_name(dimension) == name for dimension in plan.dimensions)


def _tables(dimension: Dimension) -> Iterable[str]:
    if isinstance(dimension, ByTime):
        return [dimension.time.table]
    return [ref.table for ref in (dimension.column, *dimension.more, *([dimension.key] if dimension.key else []))]
