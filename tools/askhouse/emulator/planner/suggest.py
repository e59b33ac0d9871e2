"""Questions that are offered: after an answer what can be asked next, beside a refusal what would have worked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rapidfuzz import fuzz

from .plan import ByColumn, ByTime, OneOf
from .semantics import Entity
from .words import tokenize

if TYPE_CHECKING:
    from .planner import Planner, Understood

MOST = 3


def follow_ups(planner: Planner, last: Understood) -> tuple[str, ...]:
    """Up to three short follow-ups, each of which was planned."""
    found: list[str] = []
    for question in _ideas(planner, last):
        if len(found) == MOST:
            break
        planned = planner.try_follow_up(question, last)
        if planned is not None and planned.plan != last.plan:
            found.append(question)
    return tuple(found)


def _ideas(planner: Planner, last: Understood) -> list[str]:
    plan = last.plan
    entity = planner.layer.entities[plan.table]
    ideas: list[str] = []
    if not plan.measures:
        return [f"How many {entity.said.replace('_', ' ')} are there?"]
    grouped = {one.column.column for one in plan.dimensions if isinstance(one, ByColumn)}
    timed = any(isinstance(one, ByTime) for one in plan.dimensions)
    if not timed and entity.times:
        ideas.append("And by month?")
    fixed = {one.column.column for one in plan.conditions if isinstance(one, OneOf)}
    for name in _group_columns(planner, entity):
        if name not in grouped and name not in fixed:
            ideas.append(f"By {name.replace('_', ' ')}?")
    if timed:
        ideas.append("And by quarter?")
    if grouped and not plan.limit:
        ideas.append("Top 5")
    return ideas


def _group_columns(planner: Planner, entity: Entity) -> list[str]:
    near = [entity, *[planner.layer.entities[link.parent] for link in planner.layer.up.get(entity.key, ())]]
    found = [
        one.ref.column
        for table in near
        for one in table.fields.values()
        if one.role in ("text", "foreign") and 2 <= one.stats.distinct <= 60 and one.type == "STRING"
    ]
    return list(dict.fromkeys(found))[:6]


def nearby(planner: Planner, question: str) -> tuple[str, ...]:
    """Up to three questions near the refused one that were planned, run, and return rows."""
    words = {token.stem for token in tokenize(question)}
    ranked = sorted(_standalone(planner), key=lambda text: -_likeness(words, question, text))
    found: list[str] = []
    for text in ranked[:12]:
        if len(found) == MOST:
            break
        planned = planner.try_plan(text)
        if planned is not None and planner.returns_rows(planned.sql):
            found.append(text)
    return tuple(found)


def _likeness(words: set[str], question: str, text: str) -> float:
    own = {token.stem for token in tokenize(text)}
    return len(words & own) * 100 + fuzz.token_set_ratio(question, text)


def _standalone(planner: Planner) -> list[str]:
    found: list[str] = []
    for entity in sorted(planner.layer.entities.values(), key=lambda one: -one.rows):
        said = entity.said if re.search(r"\d", entity.said) else entity.said.replace("_", " ")
        found.append(f"How many {said} are there?")
        groups = _group_columns(planner, entity)
        if groups:
            found.append(f"How many {said} by {groups[0].replace('_', ' ')}?")
        if entity.times:
            found.append(f"How many {said} by month?")
        for one in [one for one in entity.fields.values() if one.role == "number" and not one.counts][:4]:
            name = one.ref.column.replace("_", " ")
            found.append(f"What is the average {name} of {said}?")
            if groups:
                found.append(f"What is the average {name} of {said} by {groups[0].replace('_', ' ')}?")
    return found
