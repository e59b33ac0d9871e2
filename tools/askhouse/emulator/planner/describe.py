"""A plan in plain words: "average of dep_delay of flights, by month, where origin is JFK"."""

from __future__ import annotations

from dataclasses import replace

from .plan import (
    Aggregate,
    AnyOf,
    ByColumn,
    ByTime,
    ColumnRef,
    Compare,
    Condition,
    Dimension,
    During,
    Elapsed,
    Frequent,
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
    TimeRef,
    Value,
    Within,
)

_WORDS = {"=": "is", "<>": "is not", ">": "is more than", ">=": "is at least", "<": "is less than", "<=": "is at most"}
_COUNTS = {"=": "exactly", ">": "more than", ">=": "at least", "<": "fewer than", "<=": "at most", "<>": "other than"}


def lead(plan: Plan) -> str:
    """The sentence that opens an answer."""
    return f"Read as: {in_words(plan).rstrip('.')}."


def in_words(plan: Plan) -> str:
    """The plan as a phrase."""
    if plan.conditions and plan.measures and all(isinstance(one, Ratio) and one.percent for one in plan.measures):
        return _shares(plan)
    parts = [_and([_measure(one) for one in plan.measures])] if plan.measures else [_rows(plan)]
    if plan.dimensions:
        parts.append("by " + _and([_dimension(one) for one in plan.dimensions]))
    if plan.conditions:
        parts.append("where " + _and([condition(one, plan.table) for one in plan.conditions]))
    if plan.having:
        parts.append(
            "keeping "
            + _and(
                [f"{plan.measures[one.measure].said} {_COUNTS[one.operator]} {_cell(one.value)}" for one in plan.having]
            )
        )
    if plan.order and (plan.limit or not plan.measures):
        parts.append(_order(plan, plan.order[0]))
    elif plan.limit:
        parts.append(f"the first {plan.limit}")
    return ", ".join(parts)


def _shares(plan: Plan) -> str:
    """A share with what it is a share of."""
    told = [in_words(replace(plan, conditions=()))]
    where = _and([condition(one, plan.table) for one in plan.conditions])
    return ", ".join([*told, f"as a share of the {_short(plan.table)} where {where}"])


def _rows(plan: Plan) -> str:
    table = _short(plan.table)
    if not plan.columns:
        return f"rows of {table}"
    return f"{'different ' if plan.distinct else ''}{_and([_value(one) for one in plan.columns])} of {table}"


def _measure(measure: Measure) -> str:
    if isinstance(measure, Ratio) and measure.percent:
        whole = measure.bottom.said or measure.bottom.name
        return f"share of the {whole} where {_and([condition(one, measure.top.table) for one in measure.top.where])}"
    return measure.said or measure.name


def _dimension(dimension: Dimension) -> str:
    return dimension.said or (dimension.column.column if isinstance(dimension, ByColumn) else str(dimension.grain))


def _order(plan: Plan, order: Order) -> str:
    first = "highest" if order.direction == "desc" else "lowest"
    if order.by == "measure":
        ranked = plan.measures[order.position]
        name = "share" if isinstance(ranked, Ratio) and ranked.percent else ranked.said or ranked.name
    elif order.by == "dimension":
        name = _dimension(plan.dimensions[order.position])
        first = "last" if order.direction == "desc" else "first"
    else:
        name = _value(order.column) if order.column else "rows"
        if isinstance(order.column, TimeRef):
            first = "latest" if order.direction == "desc" else "earliest"
    count = (
        f"the {plan.limit} with the"
        if plan.limit and plan.limit > 1
        else "the one with the"
        if plan.limit
        else "starting with the"
    )
    each = f" for each {_and([_dimension(plan.dimensions[place]) for place in plan.within])}" if plan.within else ""
    shared = ", or all that share it" if plan.limit == 1 and order.by != "dimension" else ""
    return f"{count} {first} {name}{each}{shared}{' (20 at most)' if shared and not each else ''}"


def condition(one: Condition, home: str = "") -> str:
    """A condition as a phrase; columns of other tables than `home` are told with their table."""
    match one:
        case Compare(column, operator, value):
            return f"{_value(column)} {_WORDS[operator]} {_cell(value)}"
        case OneOf(column, values, negated):
            return f"{_owned(column, home)} is {'not ' if negated else ''}{_or([str(value) for value in values])}"
        case Missing(column, negated):
            return f"{column.column} is {'not ' if negated else ''}missing"
        case Like(column, form, text, negated):
            verb = {"starts": "starts with", "ends": "ends with", "contains": "contains"}[form]
            return f"{column.column} {'not: ' if negated else ''}{verb} “{text}”"
        case During(said=said, negated=negated):
            return f"the time is {'not ' if negated else ''}{said}"
        case OnPart(said=said, negated=negated):
            return f"the time is {'not ' if negated else ''}{said}"
        case Frequent(column, operator, count):
            return f"{_owned(column, home)} occurs in {_COUNTS[operator]} {count} rows of {_short(column.table)}"
        case Within(table, conditions):
            return f"{_short(table)} has {_and([condition(inner, table) for inner in conditions])}"
        case AnyOf(conditions):
            return _or([condition(inner) for inner in conditions])
        case Has(table, conditions, negated, operator, count):
            inner = f" where {_and([condition(one, table) for one in conditions])}" if conditions else ""
            many = f"{_COUNTS[operator]} {count} " if operator else ""
            verb = "there are not" if negated and operator else "there are no" if negated else "there are"
            return f"{verb} {many}{_short(table)}{inner}"
    raise TypeError(type(one).__name__)


def _owned(column: ColumnRef, home: str) -> str:
    if column.table == home or not home:
        return column.column
    far = f"{column.column} of {_short(column.table)}"
    return f"{column.via} ({far})" if column.via else far


def _value(value: Value | TimeRef) -> str:
    match value:
        case ColumnRef(column=column):
            return column
        case TimeRef(columns=columns):
            return ", ".join(columns)
        case Product(left, right):
            return f"{left.column} × {right.column}"
        case Elapsed(start, end):
            return f"days from {start.columns[0]} to {end.columns[0]}"
    raise TypeError(type(value).__name__)


def _cell(value: object) -> str:
    if isinstance(value, ColumnRef):
        return value.column
    return (
        str(int(value))
        if isinstance(value, float) and value.is_integer()
        else str(value).lower()
        if isinstance(value, bool)
        else str(value)
    )


def _and(texts: list[str]) -> str:
    return texts[0] if len(texts) == 1 else ", ".join(texts[:-1]) + " and " + texts[-1] if texts else ""


def _or(texts: list[str]) -> str:
    return texts[0] if len(texts) == 1 else ", ".join(texts[:-1]) + " or " + texts[-1]


def _short(table: str) -> str:
    return table.rsplit(".", 1)[-1]


__all__ = ["Aggregate", "ByTime", "condition", "in_words", "lead"]
