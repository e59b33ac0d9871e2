"""A question that leans on the one before: "and by month?", "only JFK", "what about Delta?", "the same for 2024"."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING

from .changes import in_percent, other_function, with_conditions, with_function, with_order
from .choose import RefusedError
from .conditions import Conditions
from .lexicons import english
from .parse import parse
from .plan import (
    ByColumn,
    ByTime,
    Dimension,
    During,
    Order,
    Plan,
)
from .resolve import Resolver
from .slots import PeriodSlot, Slots
from .terms import Scanned
from .words import tokenize

_PERCENT = (
    r"(?:(?:and|now|show|it|them|that|please) )*(?:as|in) (?:an? |the )?"
    r"(?:percentages?|percent|%|shares?)(?: of the total)?"
)
_FURTHER = ("and ", "also ", "break ", "split ", "broken ")
"""How a group begins that is added to the others."""

if TYPE_CHECKING:
    from .planner import Planner, Understood


def leans(text: str) -> bool:
    """Whether the words begin as those of a question that leans on the one before."""
    words = " ".join(token.lower for token in tokenize(text) if token.kind != "mark")
    return words.startswith(tuple(f"{opening} " for opening in english().raw["followups"]["openings"]))


def adds(text: str) -> bool:
    """Whether the words begin as those of a question that adds to the one before: "and the average distance?"."""
    words = " ".join(token.lower for token in tokenize(text) if token.kind != "mark")
    return words.startswith(tuple(f"{word} " for word in english().raw["followups"]["leaning"]))


def _asks_percent(slots: Slots) -> bool:
    """Whether nothing is asked but that numbers be parts of the whole: "in percent", "as a share"."""
    percent = slots.is_share or bool({"percent", "%", "percentage"} & set(slots.units))
    named = slots.target or slots.measures or slots.conditions or slots.share or slots.dimensions or slots.order
    return percent and not named


def continued(planner: Planner, scanned: Scanned, last: Understood, chosen: dict[str, str]) -> Understood | None:
    """The last question changed by this one; None when this one stands alone."""
    from .planner import Understood

    if (function := other_function(scanned.terms)) is not None and last.plan.measures:
        return Understood(last.question, with_function(last.plan, function, planner.layer), last.assumed, last.chosen)
    openings = english().raw["followups"]["openings"]
    words = " ".join(token.lower for token in scanned.tokens if token.kind != "mark" or token.lower in "<>=").strip()
    if (
        not words.startswith(tuple(f"{opening} " for opening in openings))
        and words not in openings
        and len(scanned.tokens) > 4
    ):
        return None
    if re.fullmatch(_PERCENT, words) and last.plan.measures:
        return Understood(last.question, in_percent(last.plan), last.assumed, last.chosen)
    cleaned = _without_marks(scanned)
    slots = parse(cleaned.terms)
    if any(not term.used for term in cleaned.terms):
        return None
    if _asks_percent(slots) and last.plan.measures:
        return Understood(last.question, in_percent(last.plan), last.assumed, last.chosen)
    charted = all(term.kind in ("chart_words", "mark", "fillers") for term in scanned.terms)
    if _narrows(words) and not slots.measures and not charted:
        return _narrowed(planner, slots, last, chosen, words, scanned.day)
    if (
        slots.measures
        or slots.is_share
        or (slots.target is not None and slots.target.kind == "mention" and not _is_group(slots))
    ):
        if not slots.measures or slots.target is not None:
            return None
        if not adds(words):
            return None
    return _changed(planner, slots, last, chosen, words, scanned.day)


def _narrows(words: str) -> bool:
    """Whether the words only say which rows are meant: "only for customers in France", "without returned items"."""
    return words.startswith(tuple(f"{word} " for word in english().raw["followups"]["narrowing"]))


def _narrowed(
    planner: Planner, slots: Slots, last: Understood, chosen: dict[str, str], words: str, day: date
) -> Understood:
    """The last question with other conditions. Its subject stays: the noun of the words only carries them."""
    slots.target = None
    if slots.conditions and (understood := _changed(planner, slots, last, chosen, words, day)) is not None:
        return understood
    raise RefusedError("no_change", english().text("no_change"))


def _without_marks(scanned: Scanned) -> Scanned:
    """The terms without the words that only say that this is a follow-up."""
    silent = english().raw["followups"]["silent"]
    for term in scanned.terms:
        if term.lower in silent:
            term.used = True
            term.kind = "fillers" if term.kind != "structure" or term.lower != "only" else term.kind
    return scanned


def _is_group(slots: Slots) -> bool:
    return bool(slots.order) and slots.limit is not None


def _changed(
    planner: Planner, slots: Slots, last: Understood, chosen: dict[str, str], words: str, day: date
) -> Understood | None:
    from .planner import Understood

    plan = last.plan
    if slots.is_compare or sum(isinstance(slot, PeriodSlot) for slot in slots.conditions) > 1:
        raise RefusedError("no_change", english().text("no_change"))
    resolver = Resolver(planner.layer, slots, planner.today, {**last.chosen, **chosen}, day)
    resolver.chooser.home = plan.table
    resolver.chooser.anchors = [plan.table]
    changed = plan
    if slots.measures and plan.measures:
        measures = tuple(resolver.measure(slot) for slot in slots.measures)
        changed = replace(changed, measures=measures, having=(), order=_kept_order(changed, measures))
    if slots.dimensions:
        if not plan.measures:
            return None
        changed = _with_dimensions(changed, resolver.dimensions(plan.table), words)
    if slots.conditions:
        conditions = Conditions(planner.layer, resolver.chooser, resolver.when, plan.table)
        units = {slot.period.unit for slot in slots.conditions if isinstance(slot, PeriodSlot)}
        unit = units.pop() if len(units) == 1 else None
        changed = with_conditions(changed, conditions.resolve(slots.conditions), words, unit)
        if (
            conditions.split is not None
            and plan.measures
            and all(not (isinstance(one, ByColumn) and one.column == conditions.split) for one in changed.dimensions)
        ):
            changed = replace(
                changed, dimensions=(*changed.dimensions, ByColumn(conditions.split, said=conditions.split.column))
            )
    changed = with_order(changed, slots, words)
    if (
        changed == plan
        and slots.direction is None
        and not (slots.conditions or slots.order)
        and not any(
            term
            for term in words.split()
            if term in ("chart", "pie", "bar", "line", "graph", "table", "plot", "bars", "scatter")
        )
    ):
        return None
    assumed = tuple(dict.fromkeys([*_still_true(last.assumed, changed), *resolver.chooser.assumed]))
    return Understood(last.question, changed, assumed, last.chosen)


def _still_true(assumed: tuple[str, ...], plan: Plan) -> list[str]:
    """Assumptions about values and periods that the changed plan still holds."""
    held = repr(plan)
    kept = []
    for text in assumed:
        quoted = re.findall(r"“([^”]+)”", text)
        if (quoted and quoted[-1] not in held) or (re.match(r".* is \d", text) and not _has_relative(plan, text)):
            continue
        kept.append(text)
    return kept


def _has_relative(plan: Plan, text: str) -> bool:
    return any(isinstance(one, During) and text.lower().startswith(one.said.lower()) for one in plan.conditions)


def _kept_order(plan: Plan, measures: tuple[object, ...]) -> tuple[Order, ...]:
    return tuple(order for order in plan.order if order.by != "measure" or order.position < len(measures))


def _with_dimensions(plan: Plan, added: list[Dimension], words: str) -> Plan:
    """Another grain replaces a grain; another column is added to a grain, and replaces columns."""
    times = [one for one in added if isinstance(one, ByTime)]
    columns = [one for one in added if isinstance(one, ByColumn)]
    kept: list[Dimension] = []
    for one in plan.dimensions:
        if isinstance(one, ByTime) and times:
            continue
        if isinstance(one, ByColumn) and columns and not words.startswith(_FURTHER):
            continue
        kept.append(one)
    if isinstance(plan.limit, int) and plan.dimensions:
        plan = replace(plan, limit=None)
    dimensions = tuple(dict.fromkeys([*kept, *added]))
    first_time = next((place for place, one in enumerate(dimensions) if isinstance(one, ByTime)), None)
    order = (
        (Order("dimension", first_time, direction="asc"),)
        if first_time is not None
        else (Order("measure", 0, direction="desc"),)
    )
    return replace(plan, dimensions=dimensions, order=order)
