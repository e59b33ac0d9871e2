"""Questions that are offered: after an answer what can be asked next, beside a refusal what would have worked."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .naming import forms_of, head_of
from .plan import Aggregate, ByColumn, ByTime, OneOf, Plan
from .quantities import is_number_of_things, is_quantity, spoken
from .semantics import Entity, Field
from .words import tokenize

if TYPE_CHECKING:
    from .planner import Planner, Understood

MOST = 3
_TRIED = 14
_AVERAGES = frozenset(["average", "avg", "mean", "typical"])


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
    for one in _group_fields(planner, entity):
        if one.ref.column not in grouped and one.ref.column not in fixed:
            ideas.append(f"By {one.ref.column.replace('_', ' ')}?")
    if timed:
        ideas.append("And by quarter?")
    if grouped and not plan.limit:
        ideas.append("Top 5")
    return ideas


def _group_fields(planner: Planner, entity: Entity) -> list[Field]:
    """Columns by whose few values the table's rows are told apart, its own first."""
    near = [entity, *[planner.layer.entities[link.parent] for link in planner.layer.up.get(entity.key, ())]]
    found: dict[str, Field] = {}
    for table in near:
        for one in table.fields.values():
            few = 2 <= one.stats.distinct <= 60 and 2 * one.stats.distinct <= max(entity.rows, one.stats.rows)
            if few and one.role in ("text", "foreign") and one.type == "STRING":
                found.setdefault(one.ref.column, one)
    return list(found.values())[:6]


# Beside a refusal


@dataclass(frozen=True)
class Idea:
    """A question with what it is about; `worth` grows with how useful it is by itself."""

    texts: tuple[str, ...]
    """Ways to put it, the shortest first."""
    table: str
    column: str
    function: str
    words: frozenset[str]
    group: frozenset[str]
    worth: float


def nearby(planner: Planner, question: str) -> tuple[str, ...]:
    """Up to three questions like the refused one, else the most useful ones; each was planned and returns rows."""
    asked: set[str] = set()
    for token in tokenize(question):
        asked |= forms_of(token.lower)
    averaged = bool(_AVERAGES & {token.lower for token in tokenize(question)})
    ranked = sorted(_standalone(planner), key=lambda idea: -_likeness(idea, asked, averaged))
    found: list[str] = []
    about: set[tuple[str, str]] = set()
    for idea in ranked[:_TRIED]:
        if len(found) == MOST:
            break
        if (idea.table, idea.column) in about:
            continue
        text = next((text for text in idea.texts if _works(planner, text, idea)), None)
        if text is not None:
            found.append(text)
            about.add((idea.table, idea.column))
    return tuple(found)


def _works(planner: Planner, text: str, idea: Idea) -> bool:
    """Whether the question is planned as it is meant, and returns rows."""
    planned = planner.try_plan(text)
    if planned is None or planned.plan is None or not _is_meant(planned.plan, idea):
        return False
    return planner.returns_rows(planned.sql)


def _is_meant(plan: Plan, idea: Idea) -> bool:
    first = plan.measures[0] if plan.measures else None
    if not isinstance(first, Aggregate) or first.table != idea.table or first.function != idea.function:
        return False
    return not idea.column or getattr(first.column, "column", "") == idea.column


def _likeness(idea: Idea, asked: set[str], averaged: bool) -> float:
    named = len(asked & idea.words)
    grouped = len(asked & idea.group)
    right = 0.5 if named and averaged == (idea.function == "avg") else 0.0
    return 3 * named + grouped + right + idea.worth


def _standalone(planner: Planner) -> list[Idea]:
    layer = planner.layer
    most = max((entity.rows for entity in layer.entities.values()), default=1) or 1
    found: list[Idea] = []
    for entity in layer.entities.values():
        central = len(layer.up.get(entity.key, ())) / 4 + bool(entity.times) * 0.5 + entity.rows / most * 0.25
        found += _counts(planner, entity, central)
        found += _numbers(planner, entity, central)
    return found


def _groups(planner: Planner, entity: Entity) -> list[tuple[str, str, frozenset[str], float]]:
    """ " by carrier" and its like, with the words and how much they are worth."""
    groups = [
        (name, name, _forms(one), 0.4 - place / 20)
        for place, one in enumerate(_group_fields(planner, entity)[:4])
        for name in [f" by {_label(one)}"]
    ]
    if entity.times:
        groups.append((" by month", " by month", forms_of("month"), 0.38))
    return groups


def _counts(planner: Planner, entity: Entity, central: float) -> list[Idea]:
    said = rows_said(entity)
    words = entity.stems
    found = [Idea((f"How many {said} are there?",), entity.key, "", "count", words, frozenset(), central)]
    for name, _, group, worth in _groups(planner, entity):
        found.append(
            Idea((f"How many {said} are there{name}?",), entity.key, "", "count", words, group, central + worth + 0.2)
        )
    return found


def _numbers(planner: Planner, entity: Entity, central: float) -> list[Idea]:
    found = []
    for place, one in enumerate(_quantities(entity)):
        label, worth = _label(one), central + 0.1 - place / 50
        words = _forms(one)
        for name, _, group, more in [("", "", frozenset(), -0.1), *_groups(planner, entity)]:
            texts = (
                f"What is the average {label}{name}?",
                f"What is the average {label} of {rows_said(entity)}{name}?",
            )
            found.append(Idea(texts, entity.key, one.ref.column, "avg", words, frozenset(group), worth + more))
    return found


def _quantities(entity: Entity) -> list[Field]:
    """The columns whose averages are worth asking: quantities that most rows hold."""
    held = [one for one in entity.fields.values() if is_quantity(one) and not one.counts]
    return [one for one in held if 2 * one.stats.nulls <= one.stats.rows]


def rows_said(entity: Entity) -> str:
    """The rows of a table as a question calls them: its name in the plural, or what its description begins with."""
    name = spoken(entity.words)
    told = " ".join(head_of(entity.table.description))
    for text in (name, told):
        if text and text.split()[-1].endswith("s") and not re.search(r"\d|ss$", text) and text.split()[0] != "tbl":
            return text
    return f"rows of {entity.said.replace('_', ' ')}"


def _label(one: Field) -> str:
    """A column as a question calls it: by its name spelt out, or by the noun that its description begins with."""
    told = head_of(one.description)
    if is_number_of_things(one):
        return f"number of {spoken(one.words)}"
    short = any(len(word) <= 3 or spoken((word,)) != word for word in one.words)
    if told and len(told) <= 2 and short and _forms(one) & _all_forms(told):
        return " ".join(told)
    return spoken(one.words)


def _forms(one: Field) -> frozenset[str]:
    return frozenset(form for name in one.names for forms in name.forms for form in forms)


def _all_forms(words: Iterable[str]) -> frozenset[str]:
    return frozenset(form for word in words for form in forms_of(word))
