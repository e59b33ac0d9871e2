"""What a question turned out to be: planned, in need of a choice, or refused."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Literal

from .plan import Plan

RefusalReason = Literal[
    "no_context",
    "no_change",
    "empty",
    "too_long",
    "language",
    "write",
    "cause",
    "forecast",
    "catalogue",
    "unused_words",
    "unknown_value",
    "no_path",
    "no_date",
    "no_measure",
    "unsupported",
    "no_history",
]


@dataclass(frozen=True)
class PastTurn:
    """One earlier turn as the client resends it. `sql` is empty where nothing was run."""

    question: str
    sql: str = ""
    text: str = ""


@dataclass(frozen=True)
class Planned:
    """A question that can be answered: its plan, the GoogleSQL, and how it was read."""

    plan: Plan | None
    """None where `sql` is an authored example's own."""
    sql: str
    lead: str
    """The plan in plain words: "Read as: average of dep_delay of flights, by month, where origin is JFK."."""
    assumptions: tuple[str, ...] = ()
    follow_ups: tuple[str, ...] = ()
    today: date | None = None
    """The day that counted as today, where a relative period used one that is not the real day."""
    origin: Literal["generated", "matched_example"] = "generated"


@dataclass(frozen=True)
class Clarification:
    """A question back. `text` ends with a question mark; an option's number, its name or a new question answers it."""

    text: str
    options: tuple[str, ...]


@dataclass(frozen=True)
class Refusal:
    """A question that is not answered, with the reason, a sentence for the person, and questions that would work."""

    reason: RefusalReason
    text: str
    nearby: tuple[str, ...] = ()


Reading = Planned | Clarification | Refusal
