"""The parts of a question once its words are told apart, before columns are chosen."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from .periods import Period
from .plan import Direction, Function, Operator
from .terms import Term
from .values import Held

Way = Literal["from", "to"]


@dataclass
class MeasureSlot:
    """A number asked for: a function over what a mention or a business word (revenue) names."""

    function: Function | None
    mention: Term | None = None
    business: dict[str, Any] | None = None
    distinct: bool = False
    said: str = ""
    worth: bool = False
    """Whether the amount of rows of a table is asked, not their number."""


@dataclass
class DimensionSlot:
    """What to group by: a mention, a grain or a part of the calendar."""

    mention: Term | None = None
    grain: str = ""
    way: Way | None = None
    target: bool = False
    of: Term | None = None
    """Of what moment the grain is meant: "hour of departure"."""


@dataclass
class CompareSlot:
    """A column or a measure compared with a number."""

    operator: Operator
    number: float
    mention: Term | None = None
    hint: list[str] = field(default_factory=list)
    measure: MeasureSlot | None = None
    unit: str = ""


@dataclass
class CountSlot:
    """How many rows of another table belong to the subject: "more than 3 orders"."""

    operator: Operator
    number: float
    mention: Term | None


@dataclass
class ValueSlot:
    """One or more values that a column must have, or must not have."""

    terms: list[Term]
    negated: bool = False
    qualifier: Term | None = None
    way: Way | None = None
    joined: Literal["", "and", "or"] = ""
    beside: Term | None = None
    """Another value right beside it: "women's jeans"."""


@dataclass
class LikeSlot:
    """Text that starts with, ends with or contains something."""

    mention: Term | None
    form: Literal["starts", "ends", "contains"]
    text: str
    negated: bool = False


@dataclass
class RelationSlot:
    """Has, or has not, rows of another table, or a filled column."""

    mention: Term
    negated: bool = False
    missing: bool = False
    """Whether the question says itself that the value is missing."""


@dataclass
class StateSlot:
    """Is in a state that a word names (cancelled), with no value of that name."""

    term: Term
    negated: bool = False


@dataclass
class PeriodSlot:
    """When. `mention` names the moment where the question does (shipped in July)."""

    period: Period
    mention: Term | None = None
    negated: bool = False
    near: Term | None = None
    """The table named last before it: "users who joined in May" is about the users' own time."""
    clause: bool = False
    """Whether a clause about that table stands between them."""


@dataclass
class KeySlot:
    """The row of a table that a number names: "user 5"."""

    mention: Term
    number: int


@dataclass
class WeekdaySlot:
    """On certain days of the week, 1 = Sunday; the term may also be a stored value."""

    term: Term
    negated: bool = False


ConditionSlot = (
    KeySlot | WeekdaySlot | CompareSlot | CountSlot | ValueSlot | LikeSlot | RelationSlot | StateSlot | PeriodSlot
)


def values_of(slot: ConditionSlot) -> list[Held]:
    """The stored values that a condition may be about."""
    return [held for term in slot.terms for held in term.held] if isinstance(slot, ValueSlot) else []


@dataclass
class OrderSlot:
    """Sort by a measure or mention; `superlative` is the lexicon's entry where a superlative said it."""

    direction: Literal["desc", "asc", "best", "worst"]
    measure: MeasureSlot | None = None
    mention: Term | None = None
    superlative: dict[str, Any] | None = None
    time: bool = False


@dataclass
class Slots:
    """All parts of one question."""

    measures: list[MeasureSlot] = field(default_factory=list)
    dimensions: list[DimensionSlot] = field(default_factory=list)
    conditions: list[ConditionSlot] = field(default_factory=list)
    share: list[ConditionSlot] = field(default_factory=list)
    """Conditions of the part, in "what share of … is …"."""
    is_share: bool = False
    is_compare: bool = False
    is_any: bool = False
    """Whether periods are joined by "or"."""
    is_rows: bool = False
    is_list: bool = False
    order: list[OrderSlot] = field(default_factory=list)
    limit: int | None = None
    target: Term | None = None
    target_plural: bool = False
    columns: list[Term] = field(default_factory=list)
    tables: list[Term] = field(default_factory=list)
    returned: list[Term] = field(default_factory=list)
    """Columns that a closing sentence asks for: "Return the name and the total"."""
    distinct: bool = False
    direction: Direction | None = None
    verbs: list[Term] = field(default_factory=list)
    """Verbs of going that had no place to go from or to: "how many flights left"."""
    units: list[str] = field(default_factory=list)
    """Units in which numbers are wanted: "in hours"."""
    way: Way | None = None
    """A direction that the question's verb gave without an object ("how many flights left")."""
