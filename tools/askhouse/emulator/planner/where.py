"""Values, moments and conditions of a plan as GoogleSQL."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from sqlglot import exp

from .joins import base_for, paths_up
from .plan import (
    AnyOf,
    ColumnRef,
    Compare,
    Condition,
    During,
    Elapsed,
    Frequent,
    Has,
    Like,
    Missing,
    OneOf,
    OnPart,
    Product,
    TimeRef,
    Value,
    Within,
)
from .profile import call
from .scope import NoPathError, Scope, escaped, inner_select, literal, needs_quotes, not_null
from .semantics import SemanticLayer

OPERATORS: dict[str, type[exp.Binary]] = {
    "=": exp.EQ, "<>": exp.NEQ, ">": exp.GT, ">=": exp.GTE, "<": exp.LT, "<=": exp.LTE,
}  # fmt: skip


PARTS = {
    "month of the year": "MONTH", "day of the week": "DAYOFWEEK", "hour of the day": "HOUR", "year": "YEAR",
    "quarter of the year": "QUARTER", "day of the month": "DAY",
}  # fmt: skip


class Where:
    """Turns the conditions of plans into trees over one layer."""

    def __init__(self, layer: SemanticLayer, time_zone: str) -> None:
        self.layer = layer
        self.zone = time_zone

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
        return call("DATE", *[*columns, one.copy(), one.copy()][:3])

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
            case Frequent():
                return self._frequent(scope, condition)
            case AnyOf(conditions):
                return exp.Paren(this=exp.or_(*[self._condition(scope, one) for one in conditions]))
            case During():
                return self._during(scope, condition)
            case OnPart(time, part, values, _, negated):
                node: exp.Expr = exp.In(
                    this=self._part(scope, time, PARTS[part]),
                    expressions=[exp.Literal.number(value) for value in values],
                )
                return exp.Not(this=node) if negated else node
            case _:
                return self._plain(scope, condition)

    def _plain(self, scope: Scope, condition: Condition) -> exp.Expr:
        match condition:
            case Compare(column, operator, value):
                right = scope.column(value) if isinstance(value, ColumnRef) else literal(value)
                return OPERATORS[operator](this=self._value(scope, column), expression=right)
            case OneOf(negated=True):
                return self._none_of(scope, condition)
            case OneOf(column, (value,), _):
                return exp.EQ(this=scope.column(column), expression=literal(value))
            case OneOf(column, values, _):
                return exp.In(this=scope.column(column), expressions=[literal(value) for value in values])
            case Missing(column, negated):
                node2 = exp.Is(this=scope.column(column), expression=exp.null())
                return exp.Not(this=node2) if negated else node2
            case Like(column, form, text, negated):
                pattern = {
                    "starts": f"{escaped(text)}%",
                    "ends": f"%{escaped(text)}",
                    "contains": f"%{escaped(text)}%",
                }[form]
                lowered = exp.Like(
                    this=exp.Lower(this=scope.column(column)), expression=exp.Literal.string(pattern.lower())
                )
                return exp.Not(this=lowered) if negated else lowered
        raise TypeError(type(condition).__name__)

    def _none_of(self, scope: Scope, condition: OneOf) -> exp.Expr:
        """Rows without a value have none of these values either."""
        node = scope.column(condition.column)
        if len(condition.values) == 1:
            other: exp.Expr = exp.NEQ(this=node, expression=literal(condition.values[0]))
        else:
            other = exp.Not(this=exp.In(this=node, expressions=[literal(value) for value in condition.values]))
        stats = self.layer.field(replace(condition.column, via="")).stats
        nullable = stats.nulls or condition.column.table != scope.base
        return exp.Paren(this=exp.or_(other, exp.Is(this=node.copy(), expression=exp.null()))) if nullable else other

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
        path = paths_up(self.layer, child, scope.base, has.via if child == has.table else "")[0]
        inner = Scope(self.layer, child)
        inner.alias()
        key = inner._node(path[:-1], path[-1].column)
        conditions = [self._condition(inner, one) for one in self._nested(child, has)] + [not_null(key)]
        select = inner.apply(exp.select(key.copy())).where(*conditions)
        if has.operator:
            counted = exp.Count(this=exp.Star())
            select = select.group_by(key.copy()).having(
                OPERATORS[has.operator](this=counted, expression=literal(has.count))
            )
        own = exp.column(path[-1].parent_column, table=scope.alias(), quoted=needs_quotes(path[-1].parent_column))
        node = exp.In(this=own, query=select.subquery())
        return exp.Not(this=node) if has.negated else node

    def _frequent(self, scope: Scope, frequent: Frequent) -> exp.Expr:
        inner = Scope(self.layer, frequent.column.table)
        inner.alias()
        node = inner.column(frequent.column)
        select = inner_select(inner, node, [not_null(node)]).group_by(node.copy())
        counted = OPERATORS[frequent.operator](this=exp.Count(this=exp.Star()), expression=literal(frequent.count))
        return exp.In(this=scope.column(frequent.column), query=select.having(counted).subquery())

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


def _condition_tables(condition: Condition) -> list[str]:
    match condition:
        case Frequent(column=ref):
            return [ref.table]
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
