"""GoogleSQL from a plan, built as a tree: each measure is computed at its own grain, so that no join counts twice."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from sqlglot import exp

from .joins import Path, base_for, paths_up
from .plan import (
    Aggregate,
    AnyOf,
    ByTime,
    ColumnRef,
    Compare,
    Condition,
    Dimension,
    During,
    Elapsed,
    Has,
    Like,
    Measure,
    Missing,
    OneOf,
    OnPart,
    Order,
    Plan,
    Product,
    Ratio,
    ShareOfTotal,
    TimeRef,
    Value,
    Within,
)
from .profile import call, table_node
from .semantics import SemanticLayer

_OPERATORS: dict[str, type[exp.Binary]] = {
    "=": exp.EQ, "<>": exp.NEQ, ">": exp.GT, ">=": exp.GTE, "<": exp.LT, "<=": exp.LTE,
}  # fmt: skip
_PARTS = {
    "month of the year": "MONTH", "day of the week": "DAYOFWEEK", "hour of the day": "HOUR", "year": "YEAR",
    "quarter of the year": "QUARTER", "day of the month": "DAY",
}  # fmt: skip


class NoPathError(Exception):
    """Two tables of a plan are not connected by any key."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first} and {second}")
        self.tables = (first, second)


def to_sql(plan: Plan, layer: SemanticLayer, time_zone: str = "UTC") -> str:
    """The plan as one GoogleSQL SELECT. Raises NoPathError."""
    return Compiler(layer, time_zone).compile(plan).sql(dialect="bigquery", pretty=True)


@dataclass
class Scope:
    """A FROM clause that grows by the joins that columns need."""

    layer: SemanticLayer
    base: str
    aliases: dict[Path, str] = field(default_factory=dict)
    joins: list[tuple[Path, str]] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)

    def alias(self, path: Path = ()) -> str:
        """The alias of the table at the end of a way; the joins to it are added when missing."""
        if path not in self.aliases:
            if path:
                self.alias(path[:-1])
            key = path[-1].parent if path else self.base
            name = re.sub(r"\W", "_", key.rsplit(".", 1)[-1])
            if name in self.taken and path:
                name = f"{name}_{path[-1].column}"
            self.taken.add(name)
            self.aliases[path] = name
            if path:
                self.joins.append((path, name))
        return self.aliases[path]

    def column(self, ref: ColumnRef) -> exp.Column:
        """A column, with the joins that it needs. Raises NoPathError."""
        found = paths_up(self.layer, self.base, ref.table, ref.via)
        if not found:
            raise NoPathError(self.base, ref.table)
        path = found[0]
        if path and path[-1].parent_column == ref.column and path[-1].match >= 1.0 and path[-1].declared:
            return self._node(path[:-1], path[-1].column)
        return self._node(path, ref.column)

    def _node(self, path: Path, column: str) -> exp.Column:
        return exp.column(column, table=self.alias(path), quoted=_needs_quotes(column))

    def apply(self, select: exp.Select) -> exp.Select:
        """The SELECT with its FROM and joins."""
        select = select.from_(exp.alias_(table_node(self.base), self.alias(), table=True))
        for path, name in self.joins:
            link = path[-1]
            on = exp.EQ(
                this=self._node(path[:-1], link.column),
                expression=exp.column(link.parent_column, table=name, quoted=_needs_quotes(link.parent_column)),
            )
            select = select.join(exp.alias_(table_node(link.parent), name, table=True), on=on, join_type="left")
        return select


def _needs_quotes(name: str) -> bool:
    return not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) or name.upper() in _RESERVED


_RESERVED = frozenset(
    [
        "ALL",
        "AND",
        "ANY",
        "ARRAY",
        "AS",
        "ASC",
        "AT",
        "BETWEEN",
        "BY",
        "CASE",
        "CAST",
        "COLLATE",
        "CONTAINS",
        "CREATE",
        "CROSS",
        "CUBE",
        "CURRENT",
        "DEFAULT",
        "DEFINE",
        "DESC",
        "DISTINCT",
        "ELSE",
        "END",
        "ENUM",
        "ESCAPE",
        "EXCEPT",
        "EXCLUDE",
        "EXISTS",
        "EXTRACT",
        "FALSE",
        "FETCH",
        "FOLLOWING",
        "FOR",
        "FROM",
        "FULL",
        "GROUP",
        "GROUPING",
        "GROUPS",
        "HASH",
        "HAVING",
        "IF",
        "IGNORE",
        "IN",
        "INNER",
        "INTERSECT",
        "INTERVAL",
        "INTO",
        "IS",
        "JOIN",
        "LATERAL",
        "LEFT",
        "LIKE",
        "LIMIT",
        "LOOKUP",
        "MERGE",
        "NATURAL",
        "NEW",
        "NO",
        "NOT",
        "NULL",
        "NULLS",
        "OF",
        "ON",
        "OR",
        "ORDER",
        "OUTER",
        "OVER",
        "PARTITION",
        "PRECEDING",
        "PROTO",
        "QUALIFY",
        "RANGE",
        "RECURSIVE",
        "RESPECT",
        "RIGHT",
        "ROLLUP",
        "ROWS",
        "SELECT",
        "SET",
        "SOME",
        "STRUCT",
        "TABLESAMPLE",
        "THEN",
        "TO",
        "TREAT",
        "TRUE",
        "UNBOUNDED",
        "UNION",
        "UNNEST",
        "USING",
        "WHEN",
        "WHERE",
        "WINDOW",
        "WITH",
        "WITHIN",
    ]
)


class Compiler:
    """Turns plans into trees over one layer."""

    def __init__(self, layer: SemanticLayer, time_zone: str) -> None:
        self.layer = layer
        self.zone = time_zone

    def compile(self, plan: Plan) -> exp.Select:
        """The plan's SELECT. Raises NoPathError."""
        if not plan.measures:
            return self._listing(plan)
        blocks = self._blocks(plan)
        if len(blocks) == 1:
            select = self._block(plan, *blocks[0])
        else:
            select = self._joined(plan, blocks)
        return self._ordered(plan, select)

    # Listings

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
                conditions.append(_not_null(self._value(scope, one.column)))
            select = select.order_by(
                exp.Ordered(this=node, desc=one.direction == "desc", nulls_first=one.direction == "asc")
            )
        select = scope.apply(select)
        select = select.where(*conditions) if conditions else select
        return select.limit(plan.limit) if plan.limit else select

    def _shown(self, scope: Scope, column: ColumnRef | TimeRef) -> exp.Expr:
        if isinstance(column, TimeRef):
            return exp.alias_(self._day(scope, column), "date")
        return scope.column(column)

    # Measures

    def _blocks(self, plan: Plan) -> list[tuple[str, list[int]]]:
        """Measures by the table at whose grain they are computed."""
        goals = [table for dimension in plan.dimensions for table in _tables(dimension)]
        found: dict[str, list[int]] = {}
        for position, measure in enumerate(plan.measures):
            home = _home(measure)
            base = base_for(self.layer, home, goals)
            if base is None:
                raise NoPathError(home, next(goal for goal in goals if not paths_up(self.layer, home, goal)))
            found.setdefault(base, []).append(position)
        return list(found.items())

    def _block(self, plan: Plan, base: str, positions: Sequence[int]) -> exp.Select:
        measures = [plan.measures[position] for position in positions]
        if any(self._needs_rows_once(measure, base) for measure in measures) or any(
            _medians(measure) for measure in measures
        ):
            return self._in_two_steps(plan, base, measures)
        scope = Scope(self.layer, base)
        scope.alias()
        groups = [node for dimension in plan.dimensions for node in self._dimension(scope, dimension)]
        select = exp.select(*[exp.alias_(node, name) for name, node, shown in groups if shown])
        select = select.select(*[exp.alias_(self._measure(scope, measure), _name(measure)) for measure in measures])
        conditions = [self._condition(scope, one) for one in plan.conditions]
        conditions += [_not_null(node) for name, node, _ in groups if plan.limit or _is_time(plan, name)]
        select = scope.apply(select)
        select = select.where(*conditions) if conditions else select
        return select.group_by(*[self._group(name, node, shown) for name, node, shown in groups]) if groups else select

    def _group(self, name: str, node: exp.Expr, shown: bool) -> exp.Expr:
        return exp.column(name) if shown and not isinstance(node, exp.Column) else node.copy()

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
                keys += [
                    scope.column(ColumnRef(part.table, name)) for name in self.layer.entities[part.table].identifier
                ]
            node = exp.column(f"v{place}")
            functions = {
                "sum": exp.Sum,
                "avg": exp.Avg,
                "min": exp.Min,
                "max": exp.Max,
                "median": exp.Max,
                "count": exp.Count,
            }
            outer.append(exp.alias_(functions.get(part.function, exp.Count)(this=node), _name(measure)))
        inner = inner.select(*[exp.alias_(key, f"k{place}") for place, key in enumerate(keys)])
        inner = inner.distinct() if keys else inner
        conditions = [self._condition(scope, one) for one in plan.conditions]
        conditions += [_not_null(node) for name, node, _ in groups if plan.limit or _is_time(plan, name)]
        inner = scope.apply(inner)
        inner = inner.where(*conditions) if conditions else inner
        names = [exp.column(name) for name, _, _ in groups]
        shown = [exp.column(name) for name, _, is_shown in groups if is_shown]
        select = exp.select(*shown, *outer).from_(inner.subquery("per_row"))
        return select.group_by(*names) if names else select

    def _joined(self, plan: Plan, blocks: list[tuple[str, list[int]]]) -> exp.Select:
        """Each block by itself, then side by side by their dimensions."""
        names = [name for dimension in plan.dimensions for name in self._dimension_names(dimension)]
        parts = [self._block(plan, base, positions) for base, positions in blocks]
        select = exp.select()
        for name in names:
            held: list[exp.Expr] = [exp.column(name, table=f"part{place}") for place in range(len(parts))]
            select = select.select(exp.alias_(exp.Coalesce(this=held[0], expressions=held[1:]), name))
        for place, (_, positions) in enumerate(blocks):
            for position in positions:
                select = select.select(exp.column(_name(plan.measures[position]), table=f"part{place}"))
        select = select.from_(parts[0].subquery("part0"))
        for place, part in enumerate(parts[1:], 1):
            if not names:
                select = select.join(part.subquery(f"part{place}"), join_type="cross")
                continue
            on = exp.and_(
                *[
                    exp.EQ(this=exp.column(name, table="part0"), expression=exp.column(name, table=f"part{place}"))
                    for name in names
                ]
            )
            select = select.join(part.subquery(f"part{place}"), on=on, join_type="full")
        return select

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

    def _value(self, scope: Scope, value: Value | TimeRef) -> exp.Expr:
        if isinstance(value, ColumnRef):
            return scope.column(value)
        if isinstance(value, TimeRef):
            return (
                self._day(scope, value)
                if value.kind not in ("TIMESTAMP", "DATETIME")
                else scope.column(ColumnRef(value.table, value.columns[0]))
            )
        if isinstance(value, Product):
            return exp.Mul(this=scope.column(value.left), expression=scope.column(value.right))
        return call("DATE_DIFF", self._day(scope, value.end), self._day(scope, value.start), exp.var("DAY"))

    # Dimensions

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

    def _period(self, scope: Scope, dimension: ByTime) -> exp.Expr:
        if dimension.grain in _PARTS:
            return self._part(scope, dimension.time, _PARTS[dimension.grain])
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

    def _part(self, scope: Scope, time: TimeRef, part: str) -> exp.Expr:
        column = scope.column(ColumnRef(time.table, time.columns[0]))
        if part == "HOUR" and time.kind in ("TIMESTAMP", "DATETIME"):
            node: exp.Expr = column
            if time.kind == "TIMESTAMP" and self.zone != "UTC":
                node = exp.AtTimeZone(this=column, zone=exp.Literal.string(self.zone))
            return exp.Extract(this=exp.var(part), expression=node)
        if part == "YEAR" and time.kind in ("YMD", "YM", "YMNAME", "Y"):
            return column
        if part == "MONTH" and time.kind in ("YMD", "YM"):
            return scope.column(ColumnRef(time.table, time.columns[1]))
        return exp.Extract(this=exp.var(part), expression=self._day(scope, time))

    def _day(self, scope: Scope, time: TimeRef) -> exp.Expr:
        columns = [scope.column(ColumnRef(time.table, name)) for name in time.columns]
        if time.kind == "DATE":
            return columns[0]
        if time.kind == "TIMESTAMP":
            return call("DATE", columns[0], *([exp.Literal.string(self.zone)] if self.zone != "UTC" else []))
        if time.kind == "DATETIME":
            return call("DATE", columns[0])
        if time.kind == "YMNAME":
            text = exp.Concat(expressions=[columns[1], exp.Literal.string(" "), exp.cast(columns[0], "STRING")])
            return call("PARSE_DATE", exp.Literal.string("%B %Y"), text)
        one = exp.Literal.number(1)
        return call("DATE", *(columns + [one.copy(), one.copy()])[:3])

    # Conditions

    def _condition(self, scope: Scope, condition: Condition) -> exp.Expr:
        tables = _condition_tables(condition)
        unreachable = [table for table in tables if not paths_up(self.layer, scope.base, table)]
        if unreachable and not isinstance(condition, Has | Within | AnyOf):
            return self._semi_join(scope, Has(unreachable[0], (condition,)))
        match condition:
            case Has():
                return self._semi_join(scope, condition)
            case Within():
                return self._within(scope, condition)
            case AnyOf(conditions):
                return exp.Paren(this=exp.or_(*[self._condition(scope, one) for one in conditions]))
            case During():
                return self._during(scope, condition)
            case OnPart(time, part, values, _, negated):
                node: exp.Expr = exp.In(
                    this=self._part(scope, time, _PARTS[part]),
                    expressions=[exp.Literal.number(value) for value in values],
                )
                return exp.Not(this=node) if negated else node
            case _:
                return self._plain(scope, condition)

    def _plain(self, scope: Scope, condition: Condition) -> exp.Expr:
        match condition:
            case Compare(column, operator, value):
                right = scope.column(value) if isinstance(value, ColumnRef) else literal(value)
                return _OPERATORS[operator](this=self._value(scope, column), expression=right)
            case OneOf(column, (value,), negated):
                return (exp.NEQ if negated else exp.EQ)(this=scope.column(column), expression=literal(value))
            case OneOf(column, values, negated):
                node = exp.In(this=scope.column(column), expressions=[literal(value) for value in values])
                return exp.Not(this=node) if negated else node
            case Missing(column, negated):
                node2 = exp.Is(this=scope.column(column), expression=exp.null())
                return exp.Not(this=node2) if negated else node2
            case Like(column, form, text, negated):
                pattern = {
                    "starts": f"{_escaped(text)}%",
                    "ends": f"%{_escaped(text)}",
                    "contains": f"%{_escaped(text)}%",
                }[form]
                lowered = exp.Like(
                    this=exp.Lower(this=scope.column(column)), expression=exp.Literal.string(pattern.lower())
                )
                return exp.Not(this=lowered) if negated else lowered
        raise TypeError(type(condition).__name__)

    def _during(self, scope: Scope, condition: During) -> exp.Expr:
        time = condition.time
        column = scope.column(ColumnRef(time.table, time.columns[0]))
        if time.kind == "Y":
            years = [exp.GTE(this=column.copy(), expression=literal(condition.start.year))] if condition.start else []
            last = (
                condition.end.year - (1 if condition.end == date(condition.end.year, 1, 1) else 0)
                if condition.end
                else None
            )
            years += [exp.LTE(this=column.copy(), expression=literal(last))] if last else []  # type: ignore[list-item]
            node: exp.Expr = exp.and_(*years)
        else:
            left = column if time.kind in ("TIMESTAMP", "DATETIME") else self._day(scope, time)
            bounds: list[exp.Expr] = []
            if condition.start:
                bounds.append(exp.GTE(this=left.copy(), expression=self._moment(time, condition.start)))
            if condition.end:
                bounds.append(exp.LT(this=left.copy(), expression=self._moment(time, condition.end)))
            node = exp.and_(*bounds)
        return exp.Not(this=exp.Paren(this=node)) if condition.negated else node

    def _moment(self, time: TimeRef, day: date) -> exp.Expr:
        text = exp.Literal.string(day.isoformat())
        if time.kind == "TIMESTAMP":
            return call("TIMESTAMP", text, *([exp.Literal.string(self.zone)] if self.zone != "UTC" else []))
        if time.kind == "DATETIME":
            return call(
                "DATETIME", call("DATE", *[exp.Literal.number(part) for part in (day.year, day.month, day.day)])
            )
        return call("DATE", *[exp.Literal.number(part) for part in (day.year, day.month, day.day)])

    def _semi_join(self, scope: Scope, has: Has) -> exp.Expr:
        """The rows of the scope's table that rows of another table point at."""
        child = has.table
        if child == scope.base and not has.negated and not has.operator:
            held = [self._condition(scope, one) for one in has.conditions]
            return exp.and_(*held) if held else exp.true()
        if child == scope.base:
            raise NoPathError(scope.base, child)
        if not paths_up(self.layer, child, scope.base):
            bridge = base_for(self.layer, scope.base, [child])
            if bridge is None or bridge == scope.base:
                raise NoPathError(scope.base, child)
            child = bridge
        path = paths_up(self.layer, child, scope.base)[0]
        inner = Scope(self.layer, child)
        inner.alias()
        key = inner._node(path[:-1], path[-1].column)
        conditions = [self._condition(inner, one) for one in self._nested(child, has)] + [_not_null(key)]
        select = inner.apply(exp.select(key.copy())).where(*conditions)
        if has.operator:
            counted = exp.Count(this=exp.Star())
            select = select.group_by(key.copy()).having(
                _OPERATORS[has.operator](this=counted, expression=literal(has.count))
            )
        own = exp.column(path[-1].parent_column, table=scope.alias(), quoted=_needs_quotes(path[-1].parent_column))
        node = exp.In(this=own, query=select.subquery())
        return exp.Not(this=node) if has.negated else node

    def _nested(self, child: str, has: Has) -> tuple[Condition, ...]:
        """Conditions at a table between: those that its rows cannot tell belong to the rows of the table named."""
        far = tuple(
            one
            for one in has.conditions
            if child != has.table and any(not paths_up(self.layer, child, table) for table in _condition_tables(one))
        )
        near = tuple(one for one in has.conditions if one not in far)
        return near if not far else (*near, Within(has.table, far))

    def _within(self, scope: Scope, within: Within) -> exp.Expr:
        identifier = self.layer.entities[within.table].identifier
        if len(identifier) != 1:
            raise NoPathError(scope.base, within.table)
        inner = Scope(self.layer, within.table)
        inner.alias()
        key = inner.column(ColumnRef(within.table, identifier[0]))
        select = inner_select(inner, key, [self._condition(inner, one) for one in within.conditions])
        return exp.In(this=scope.column(ColumnRef(within.table, identifier[0])), query=select.subquery())

    # Order

    def _ordered(self, plan: Plan, select: exp.Select) -> exp.Select:
        names = [name for dimension in plan.dimensions for name in self._dimension_names(dimension)]
        for one in plan.having:
            condition = _OPERATORS[one.operator](
                this=exp.column(_name(plan.measures[one.measure])), expression=literal(one.value)
            )
            select = (
                select.having(condition)
                if plan.dimensions and not select.args.get("joins_blocks")
                else select.where(condition)
            )
        for order in plan.order:
            column = _name(plan.measures[order.position]) if order.by == "measure" else names[order.position]
            desc = order.direction == "desc"
            select = select.order_by(
                exp.Ordered(
                    this=exp.column(column), desc=desc, nulls_first=False if desc else order.by != "measure" or None
                )
            )
        return self._limited(plan, select, names)

    def _limited(self, plan: Plan, select: exp.Select, names: Sequence[str]) -> exp.Select:
        """The first groups, or the first of each group of another dimension."""
        if not plan.limit or not plan.within:
            return select.limit(plan.limit) if plan.limit else select
        place = _numbered(plan, select, [names[position] for position in plan.within])
        return place.where(exp.LTE(this=exp.column("place"), expression=literal(plan.limit)))


def _numbered(plan: Plan, select: exp.Select, groups: Sequence[str]) -> exp.Select:
    """The rows numbered within their groups, in the plan's order, as a table to filter."""
    shown = [exp.column(name) for name in select.named_selects]
    order = select.args["order"].copy()
    number = exp.Window(this=call("ROW_NUMBER"), partition_by=[exp.column(name) for name in groups], order=order.copy())
    bare = select.copy()
    bare.set("order", None)
    inner = exp.select(*[node.copy() for node in shown], exp.alias_(number, "place")).from_(bare.subquery("grouped"))
    sorting = [
        *[exp.Ordered(this=exp.column(name), desc=False) for name in groups],
        exp.Ordered(this=exp.column("place"), desc=False),
    ]
    return exp.select(*shown).from_(inner.subquery("numbered")).order_by(*sorting)


def inner_select(scope: Scope, key: exp.Expr, conditions: Sequence[exp.Expr]) -> exp.Select:
    """The keys of the rows for which the conditions hold."""
    return scope.apply(exp.select(key)).where(*conditions)


def literal(value: Any) -> exp.Expr:
    """A constant."""
    if isinstance(value, bool):
        return exp.Boolean(this=value)
    if isinstance(value, int | float):
        number = int(value) if float(value).is_integer() else value
        return exp.Literal.number(str(number)) if number >= 0 else exp.Neg(this=exp.Literal.number(str(-number)))
    return exp.Literal.string(str(value))


def _escaped(text: str) -> str:
    return re.sub(r"([%_\\])", r"\\\1", text)


def _not_null(node: exp.Expr) -> exp.Expr:
    return exp.Not(this=exp.Is(this=node.copy(), expression=exp.null()))


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


def _condition_tables(condition: Condition) -> list[str]:
    match condition:
        case During(time=time) | OnPart(time=time):
            return [time.table]
        case Compare(column=Elapsed(start=start)):
            return [start.table]
        case Compare(column=Product(left=left)):
            return [left.table]
        case Compare(column=ColumnRef() as ref) | OneOf(column=ref) | Missing(column=ref) | Like(column=ref):
            return [ref.table]
        case _:
            return []


__all__ = ["Compiler", "NoPathError", "Order", "literal", "to_sql"]
