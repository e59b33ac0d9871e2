"""What result columns are called: measures are named with the condition that makes them what they are."""

from __future__ import annotations

import re
from dataclasses import replace

from .naming import forms_of
from .plan import Aggregate, ColumnRef, Compare, Condition, Measure, Missing, OneOf, Plan, Ratio
from .semantics import SemanticLayer

_STATES = frozenset(["status", "condition"])


def labelled(plan: Plan, layer: SemanticLayer) -> Plan:
    """The plan with a share named after its part, and a count after the one state that all its rows are in."""
    return replace(plan, measures=tuple(_labelled(one, plan, layer) for one in plan.measures))


def _labelled(measure: Measure, plan: Plan, layer: SemanticLayer) -> Measure:
    if isinstance(measure, Ratio) and measure.percent:
        told = [_adjective(one, layer) or _quality(one) for one in measure.top.where]
        return replace(measure, name=f"{measure.name} {' and '.join(told)}") if all(told) else measure
    if isinstance(measure, Aggregate) and measure.name.startswith("number of ") and not measure.where:
        states = [word for one in plan.conditions if (word := _adjective(one, layer))]
        return replace(measure, name=f"{measure.name} {states[0]}") if len(states) == 1 else measure
    return measure


def _adjective(one: Condition, layer: SemanticLayer) -> str:
    """A state in one word: "cancelled" for a missing departure, "returned" for that status; else nothing."""
    if isinstance(one, Missing) and one.said:
        field = layer.field(replace(one.column, via=""))
        held = {form for name in field.names for forms in name.forms for form in forms}
        names_column = any(forms_of(word) & held for word in one.said.lower().split())
        return one.said.lower() if one.negated == names_column else f"not {one.said.lower()}"
    if isinstance(one, OneOf) and len(one.values) == 1 and not one.negated:
        words = layer.field(replace(one.column, via="")).words
        return str(one.values[0]).lower() if words[-1] in _STATES and str(one.values[0]).isalpha() else ""
    if isinstance(one, Compare) and isinstance(one.column, ColumnRef) and one.operator == "=":
        field = layer.field(replace(one.column, via=""))
        if field.role == "flag" and one.value in (True, 1):
            return " ".join(word for word in field.words if word not in ("is", "has"))
    return ""


def _quality(one: Condition) -> str:
    """A condition as it stands behind a noun: "with country Germany"."""
    if isinstance(one, OneOf) and len(one.values) <= 2:
        values = " or ".join(str(value) for value in one.values)
        return f"with {one.column.column} {'not ' if one.negated else ''}{values}"
    if isinstance(one, Compare) and isinstance(one.column, ColumnRef) and not isinstance(one.value, ColumnRef):
        words = {">": "over", ">=": "at least", "<": "under", "<=": "at most", "=": "", "<>": "not"}
        number = int(one.value) if isinstance(one.value, float) and one.value.is_integer() else one.value
        return re.sub(r"\s+", " ", f"with {one.column.column} {words[one.operator]} {number}")
    return ""
