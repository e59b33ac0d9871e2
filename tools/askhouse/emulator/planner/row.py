"""The terms of a question in a row, and what can be told of a term by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from .lexicons import english
from .naming import forms_of
from .slots import (
    CompareSlot,
    ConditionSlot,
    CountSlot,
    LikeSlot,
    RelationSlot,
    Slots,
    StateSlot,
    ValueSlot,
)
from .terms import Term
from .words import root


class Row:
    """One question on its way through the passes."""

    def __init__(self, terms: Sequence[Term]) -> None:
        self.terms = list(terms)
        self.slots = Slots()
        self.row: list[Term] = []
        """Terms that carry meaning, in order."""
        self.verb_before: dict[int, bool] = {}
        self.returned_from: int | None = None
        """Where a closing sentence begins that says which columns to return."""

    def _at(self, place: int) -> Term | None:
        return self.row[place] if 0 <= place < len(self.row) else None

    def _is(self, place: int, kind: str, *values: Any) -> bool:
        term = self._at(place)
        return term is not None and not term.used and term.has(kind, *values)

    def _take(self, *terms: Term | None) -> None:
        for term in terms:
            if term is not None:
                term.used = True

    def _narrowed(self, term: Term, at: int) -> Term:
        """The mention, and only those of its columns that the words behind name too: "delayed at arrival"."""
        joint, more = self._at(at), self._at(at + 1)
        if joint is None or more is None or more.used or more.kind != "mention" or not joint.has("structure", "in"):
            return term
        words = [forms_of(token.lower) for token in more.tokens]
        kept = [
            one
            for one in term.candidates
            if one.field is not None
            and any(all(any(word & own for own in name.forms) for word in words) for name in one.field.names)
        ]
        if not kept or len(kept) == len(term.candidates) or more.candidates[0].is_table:
            return term
        self._take(joint, more)
        return replace(term, candidates=kept)

    def _near(self, term: Term) -> tuple[Term | None, bool]:
        """The table named last before a term, and whether a clause about it stands between."""
        clause = False
        for before in reversed(self.terms[: self.terms.index(term)]):
            clause = clause or before.lower in ("who", "that", "which", "whose")
            if before.kind == "mention" and before.candidates[0].is_table:
                return before, clause
        return None, False


def links_only(term: Term, asked: bool) -> bool:
    """Whether a word that is also a column's name is only a verb here: "did each salesperson make"."""
    if term.kind != "mention" or len(term.tokens) > 1 or not is_light(term):
        return False
    best = term.candidates[0]
    spelt = {word for name in (best.field.names if best.field else best.entity.names) for word in name.words}
    return asked or (term.lower not in spelt and not best.is_table and not moment(term))


def is_light(term: Term) -> bool:
    return any(sense.kind == "light" for sense in english().phrases.get((term.lower,), ()))


def numeric(term: Term) -> bool:
    best = max((one.score for one in term.candidates), default=0.0)
    return any(
        one.field is not None and one.field.role == "number" and one.score >= best - 0.1 for one in term.candidates
    )


def tabular(term: Term) -> bool:
    return any(one.is_table for one in term.candidates) or any(
        one.field is not None and one.field.role == "foreign" for one in term.candidates
    )


def countable(term: Term) -> bool:
    return (
        term.kind == "mention"
        and bool(term.candidates)
        and term.candidates[0].is_table
        and term.candidates[0].score >= 0.85
    )


def moment(term: Term) -> bool:
    best = term.candidates[0] if term.candidates else None
    return best is not None and best.field is not None and best.field.role == "time"


def share_column(first: Term, second: Term) -> bool:
    if "quoted" in (first.kind, second.kind) and not (first.held and second.held):
        return True
    return bool({held.column for held in first.held} & {held.column for held in second.held})


def qualifies(mention: Term, value: Term) -> bool:
    columns = {held.column for held in value.held}
    tables = {column.table for column in columns}
    if value.kind == "quoted" and not columns:
        return any(one.field is not None for one in mention.candidates)
    for one in mention.candidates:
        if one.score < 0.75:
            continue
        if one.field is not None and one.field.ref in columns:
            return True
        if (
            one.is_table
            and one.entity.key in tables
            and one.entity.label
            and any(c.table == one.entity.key and c.column in one.entity.label for c in columns)
        ):
            return True
    return False


def first_term(slot: ConditionSlot) -> Term | None:
    match slot:
        case ValueSlot(terms=terms):
            return terms[0]
        case StateSlot(term=term):
            return term
        case (
            RelationSlot(mention=mention)
            | CompareSlot(mention=mention)
            | CountSlot(mention=mention)
            | LikeSlot(mention=mention)
        ):
            return mention
        case _:
            return None


def year_number(term: Term) -> float | None:
    text = term.lower
    return float(text) if text.isdigit() else None


def keyed(term: Term) -> bool:
    """Whether a number behind the word names one row: "user 5" does, "the top users 5" does not."""
    one = term.candidates[0]
    if not one.is_table or one.score < 0.85 or term.tokens[-1].lower.endswith("s"):
        return False
    key = one.entity.identifier
    return len(key) == 1 and one.entity.fields[key[0]].type == "INT64"


def flag(term: Term) -> bool:
    """Whether the word names a column that says yes or no."""
    best = term.candidates[0] if term.candidates else None
    return best is not None and best.field is not None and best.field.role == "flag" and best.score >= 0.6


def ails(term: Term) -> bool:
    """Whether a noun names a number of something bad, of which nothing or less is none: "no arrival delay"."""
    if not numeric(term) or term.candidates[0].is_table:
        return False
    one = term.candidates[0].field
    bad = {root(word) for word in english().raw["polarity"]["bad"]} - {root("cost"), root("fee"), root("tax")}
    return one is not None and one.role == "number" and root(term.tokens[-1].lower) in bad


def suffers(term: Term) -> bool:
    """Whether a participle says that a number of something bad is more than nothing: "delayed"."""
    if len(term.tokens) != 1 or not term.lower.endswith("ed") or not numeric(term):
        return False
    return root(term.lower) in {root(word) for word in english().raw["polarity"]["bad"]}
