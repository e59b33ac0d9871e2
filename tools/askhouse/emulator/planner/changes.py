"""What a follow-up changes in a plan: its conditions, its function, its order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from .choose import RefusedError
from .lexicons import english
from .measures import PREFIX, SAID
from .plan import (
    Aggregate,
    AnyOf,
    ByColumn,
    ByTime,
    ColumnRef,
    Condition,
    Direction,
    During,
    Function,
    Measure,
    OneOf,
    Order,
    Plan,
    Ratio,
    ShareOfTotal,
)
from .quantities import objection
from .semantics import SemanticLayer
from .slots import OrderSlot, Slots
from .terms import Term
from .words import root

_ADDS = ("also", "and also", "add", "include", "plus", "as well")
_ASKS_ANEW = ("for", "in", "at", "on", "from", "to", "only", "just", "what", "how", "during", "with", "without", "not")


def adds(words: str) -> bool:
    """Whether a value is added to the others ("and LGA", "also 2024"), not put in their place ("and for LGA?")."""
    said = words.split()
    return words.startswith(tuple(f"{one} " for one in _ADDS)) or (
        len(said) > 1 and said[0] == "and" and said[1] not in _ASKS_ANEW
    )


def with_conditions(plan: Plan, added: Sequence[Condition], words: str, unit: str | None) -> Plan:
    """A condition on a column replaces one on the same column, or is added to it; a period replaces a period."""
    conditions = list(plan.conditions)
    for new in added:
        same = [one for one in conditions if about(one) == about(new)]
        merged = _merged(same[0], new, words) if len(same) == 1 else new
        conditions = [one for one in conditions if one not in same]
        if merged is not None:
            conditions.append(merged)
    changed = replace(plan, conditions=tuple(conditions), dimensions=_dimensions(plan, added, words))
    joined = any(isinstance(one, AnyOf) and one not in plan.conditions for one in conditions)
    if joined and unit and plan.measures and not any(isinstance(one, ByTime) for one in changed.dimensions):
        time = next(one.time for one in added if isinstance(one, During))
        grouped = (*changed.dimensions, ByTime(time, unit, unit))  # type: ignore[arg-type]
        place = len(grouped) - 1
        changed = replace(changed, dimensions=grouped, order=(Order("dimension", place, direction="asc"),))
    return changed


def _dimensions(plan: Plan, added: Sequence[Condition], words: str) -> tuple[ByColumn | ByTime, ...]:
    fixed = {about(new) for new in added if isinstance(new, OneOf) and not new.negated and len(new.values) == 1}
    if not words.startswith(("what about", "how about")):
        return plan.dimensions
    return tuple(
        one
        for one in plan.dimensions
        if not (isinstance(one, ByColumn) and ("value", replace(one.column, via="")) in fixed)
        or len(plan.dimensions) == 1
    )


def _merged(old: Condition, new: Condition, words: str) -> Condition | None:
    """Both conditions of one column as one; None where nothing is left to hold."""
    adding = adds(words)
    if isinstance(old, OneOf) and isinstance(new, OneOf) and old.column == new.column:
        if old.negated == new.negated and (adding or new.negated):
            return replace(old, values=tuple(dict.fromkeys((*old.values, *new.values))))
        if old.negated != new.negated:
            plain, taken = (old, new) if new.negated else (new, old)
            left = tuple(value for value in plain.values if value not in taken.values)
            if new.negated and not left:
                raise RefusedError("unsupported", "Nothing would be left: that is all that is counted now.")
            if not new.negated and adding and words.startswith("and "):
                return replace(old, values=(*old.values, *left))  # "without UA", "and AA"
            if not new.negated and adding:
                rest = tuple(value for value in old.values if value not in new.values)
                if rest == old.values:
                    raise RefusedError("unsupported", f"{new.values[0]} is among what is counted already.")
                return replace(old, values=rest) if rest else None
            return replace(plain, values=left or plain.values)
    if adding and isinstance(new, During) and not new.negated:
        spans = list(old.conditions) if isinstance(old, AnyOf) else [old]
        during = [one for one in spans if isinstance(one, During) and one.time == new.time and not one.negated]
        if len(during) == len(spans) and all(_apart(one, new) for one in during):
            return AnyOf((*during, new))
    return new


def _apart(first: During, second: During) -> bool:
    if None in (first.start, first.end, second.start, second.end):
        return False
    return first.end <= second.start or second.end <= first.start  # type: ignore[operator]


def about(one: Condition) -> object:
    """What a condition is about; a new one about the same takes its place."""
    if isinstance(one, During) or (isinstance(one, AnyOf) and all(isinstance(each, During) for each in one.conditions)):
        return ("time",)
    column = getattr(one, "column", None)
    if isinstance(one, OneOf) and isinstance(column, ColumnRef):
        return ("value", replace(column, via=""))
    return (type(one).__name__, column, getattr(one, "table", None), getattr(one, "operator", None))


# Function and percent


def other_function(terms: Sequence[Term]) -> Function | None:
    """The function that "total instead of average" or "the median, please" asks for; None for anything else."""
    said = [term for term in terms if term.kind not in ("fillers", "mark", "list", "light")]
    if not said or said[0].kind != "aggregates":
        return None
    rest = [term for term in said[1:] if term.lower not in ("instead", "instead of", "of", "not", "the")]
    if len(said) > 1 and said[1].lower.split()[0] not in ("instead", "not"):
        return None
    if all(term.kind == "aggregates" for term in rest):
        function: Function = said[0].value
        return function
    return None


def with_function(plan: Plan, function: Function, layer: SemanticLayer) -> Plan:
    """The plan with another function over the same columns."""
    return replace(plan, measures=tuple(_refunctioned(one, function, layer) for one in plan.measures))


def _refunctioned(measure: Measure, function: Function, layer: SemanticLayer) -> Measure:
    if not isinstance(measure, Aggregate) or not isinstance(measure.column, ColumnRef) or "count" in measure.function:
        raise RefusedError("unsupported", "That number has no other way of being brought together.")
    column = measure.column
    if (why := objection(layer.field(replace(column, via="")), function)) is not None:
        raise RefusedError("no_measure", why)
    said = f"{SAID[function]} {column.column} of {layer.entities[measure.table].said}"
    return replace(measure, function=function, name=f"{PREFIX[function]} {column.column}", said=said)


def in_percent(plan: Plan) -> Plan:
    """Numbers and totals of groups as parts of the whole."""
    if not plan.dimensions:
        raise RefusedError("unsupported", "One number alone has no percentage: name its groups, or its whole.")
    return replace(plan, measures=tuple(_part(one) for one in plan.measures))


def _part(measure: Measure) -> Measure:
    if isinstance(measure, ShareOfTotal) or (isinstance(measure, Ratio) and measure.percent):
        return measure
    if not isinstance(measure, Aggregate) or measure.function not in ("count", "sum"):
        raise RefusedError("unsupported", "A share is understood of a number or a total only.")
    name = f"share of {measure.name.removeprefix('number of ')}"
    return ShareOfTotal(measure, name, f"share of the {measure.said} over all groups")


# Order


def with_order(plan: Plan, slots: Slots, words: str) -> Plan:
    """The plan sorted, or cut, in another way."""
    alphabetic = "alphabetic" in words
    sorting = [one for one in slots.order if one.superlative is None and (one.mention is not None or one.time)]
    if plan.dimensions and (sorting or alphabetic):
        order = _by_name(plan, slots.direction) if alphabetic else _sorted(plan, sorting[0], slots.direction)
        return replace(plan, order=(order,), limit=slots.limit)
    superlative = next((one for one in slots.order if one.superlative is not None), None)
    if superlative is not None and plan.measures and plan.dimensions:
        order = Order("measure", 0, direction=_end(superlative, plan.measures[0]))
        return replace(plan, limit=slots.limit or plan.limit or 1, order=(order,))
    if slots.limit is not None and (slots.order or not plan.measures):
        direction = next((order.direction for order in slots.order if order.direction in ("asc", "desc")), "desc")
        order_by = plan.order or (Order("measure", 0),)
        if plan.measures and plan.dimensions and slots.order:
            order_by = (Order("measure", 0, direction=direction),)  # type: ignore[arg-type]
        elif not plan.measures:
            return replace(plan, limit=slots.limit)
        return replace(plan, limit=slots.limit, order=order_by) if plan.dimensions else plan
    if slots.direction is not None and plan.order:
        return replace(plan, order=(replace(plan.order[0], direction=slots.direction), *plan.order[1:]))
    return plan


def _end(order: OrderSlot, measure: Measure) -> Direction:
    """Which end is meant: the worst delay is the highest, the worst revenue the lowest."""
    if order.direction in ("asc", "desc"):
        return order.direction
    bad = {root(word) for word in english().raw["polarity"]["bad"]}
    said = {root(word) for word in re.findall(r"[a-z]+", measure.said.lower().replace("_", " "))}
    return "desc" if (order.direction == "worst") == bool(said & bad) else "asc"


def _by_name(plan: Plan, direction: Direction | None) -> Order:
    place = next((at for at, one in enumerate(plan.dimensions) if isinstance(one, ByColumn)), 0)
    return Order("dimension", place, direction=direction or "asc")


def _sorted(plan: Plan, order: OrderSlot, direction: Direction | None) -> Order:
    """By the group or the number that the words name; a bare "name" is what the groups are called."""
    if order.time:
        place = next((at for at, one in enumerate(plan.dimensions) if isinstance(one, ByTime)), None)
        if place is not None:
            return Order("dimension", place, direction=direction or "asc")
        raise RefusedError("unused_words", "I did not understand the order by time.")
    assert order.mention is not None
    refs = {one.field.ref for one in order.mention.candidates if one.field is not None and one.score >= 0.5}
    for at, dimension in enumerate(plan.dimensions):
        if isinstance(dimension, ByColumn) and replace(dimension.column, via="") in refs:
            return Order("dimension", at, direction=direction or "asc")
    for at, measure in enumerate(plan.measures):
        if isinstance(measure, Aggregate) and measure.column in refs:
            return Order("measure", at, direction=direction or "desc")
    if order.mention.lower in ("name", "names"):
        return _by_name(plan, direction)
    raise RefusedError("unused_words", english().text("unused", words=f"the order by “{order.mention.text}”"))
