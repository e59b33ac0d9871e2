"""The ratio of one number to another: each half is a question of its own, over the same groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING

from .choose import RefusedError
from .describe import condition
from .plan import Aggregate, Condition, During, OneOf, Plan, Ratio, ShareOfTotal
from .terms import Term

if TYPE_CHECKING:
    from .planner import Planner, Understood

_QUIET = ("fillers", "list", "mark", "chart_words")


def halves(terms: Sequence[Term]) -> tuple[list[Term], list[Term]] | None:
    """The terms of both numbers in "the ratio of A to B"; None when no ratio is asked."""
    start = next((place for place, term in enumerate(terms) if term.lower in ("ratio", "ratio of")), None)
    if start is None or any(term.kind not in _QUIET for term in terms[:start]):
        return None
    begin = start + (2 if terms[start + 1 : start + 2] and terms[start + 1].lower == "of" else 1)
    middle = next(
        (place for place in range(begin + 1, len(terms)) if terms[place].lower in ("to", "to the", "out of")), None
    )
    if middle is None or middle == len(terms) - 1:
        return None
    for term in terms[:begin]:
        term.used = True
    terms[middle].used = True
    return list(terms[begin:middle]), list(terms[middle + 1 :])


def plan_ratio(
    planner: Planner, text: str, parts: tuple[list[Term], list[Term]], chosen: dict[str, str], day: date
) -> Understood:
    """The plan of a ratio. Raises UndecidedError, RefusedError, NoPathError."""
    first, second = (planner.plan_part(text, part, chosen, day, counting=True) for part in parts)
    top, bottom = _number(first.plan), _number(second.plan)
    groups = first.plan.dimensions or second.plan.dimensions
    if second.plan.dimensions and second.plan.dimensions != groups:
        raise RefusedError("unsupported", "The two numbers of the ratio are not over the same groups.")
    if first.plan.dimensions and not second.plan.dimensions:
        return _of_total(first, second)
    apart = top.table != bottom.table
    if apart and groups:
        raise RefusedError("unsupported", "A ratio of numbers of two tables is understood without groups only.")
    shared = () if apart else _shared(first.plan.conditions, second.plan.conditions)
    top = replace(top, where=tuple(one for one in first.plan.conditions if one not in shared))
    bottom = replace(bottom, where=tuple(one for one in second.plan.conditions if one not in shared))
    ratio = Ratio(top, bottom, name="ratio", said=f"ratio of {_said(top)} to {_said(bottom)}", apart=apart)
    plan = Plan(top.table, (ratio,), groups, shared)
    assumed = tuple(dict.fromkeys((*first.assumed, *second.assumed)))
    return replace(first, plan=plan, assumed=assumed)


def _of_total(first: Understood, second: Understood) -> Understood:
    """ "the number in each state to the total number": the groups' parts of the whole."""
    top, bottom = _number(first.plan), _number(second.plan)
    if top != bottom or first.plan.conditions != second.plan.conditions:
        raise RefusedError("unsupported", "The two numbers of the ratio are not over the same groups.")
    share = ShareOfTotal(top, "ratio", f"share of the {top.said} over all groups")
    return replace(first, plan=replace(first.plan, measures=(share,), order=()))


def _number(plan: Plan) -> Aggregate:
    plain = len(plan.measures) == 1 and not plan.having and plan.limit is None
    if not plain or not isinstance(plan.measures[0], Aggregate) or plan.measures[0].function == "median":
        raise RefusedError("unsupported", "I did not understand one of the two numbers of the ratio.")
    return plan.measures[0]


def _shared(first: tuple[Condition, ...], second: tuple[Condition, ...]) -> tuple[Condition, ...]:
    """What stands at the end, about something else than the first half, holds for both: "… in New York"."""
    if not first:
        return tuple(one for one in second if one in first)
    told = {_about(one) for one in first}
    return tuple(one for one in second if isinstance(one, OneOf | During) and _about(one) not in told)


def _about(one: Condition) -> object:
    return getattr(one, "column", None) or getattr(one, "time", None) or one


def _said(part: Aggregate) -> str:
    where = " and ".join(condition(each, part.table) for each in part.where)
    return f"{part.said} where {where}" if where else part.said
