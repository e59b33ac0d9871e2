"""What a verb in the past tense says of the rows: that it happened, where the schema tells of rows where it did not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from .choose import Chooser, RefusedError
from .joins import paths_up
from .lexicons import english
from .plan import Aggregate, ColumnRef, Condition, During, Has, Missing, Plan
from .semantics import Field, SemanticLayer
from .slots import Slots
from .terms import Term
from .words import root

_NOT = ("not", "without")


class Happened:
    """The moments that the verbs of one question are about."""

    def __init__(self, layer: SemanticLayer, terms: Sequence[Term]) -> None:
        self.layer = layer
        self.said = [term for term in terms if term.kind not in ("fillers", "mark")]

    def completed(self, plan: Plan, slots: Slots) -> tuple[Plan, tuple[str, ...]]:
        """The plan without the rows where what was asked for did not happen, and what that assumes.

        Raises RefusedError where the rows of which it is told are not those that are counted.
        """
        self._check_told(plan)
        self._check_once(plan)
        self._check_whose(plan)
        self._check_way(plan)
        added = {} if slots.is_share else {one.ref: term.text for term, one in self._moments(plan)}
        if not added:
            return plan, ()
        conditions = tuple(Missing(ref, True) for ref in added)
        told = tuple(f"“{said}” is read as: {ref.column} is given." for ref, said in added.items())
        return replace(plan, conditions=(*plan.conditions, *conditions)), told

    def _moments(self, plan: Plan) -> Iterator[tuple[Term, Field]]:
        told = {column for one in plan.conditions for column in _columns(one)}
        for place, term in enumerate(self.said):
            if place and self.said[place - 1].has("structure", *_NOT):
                continue
            for one in self._fields(plan.table, term):
                if one.stats.nulls and one.ref.column not in told:
                    yield term, one

    def _fields(self, table: str, term: Term) -> list[Field]:
        fields = list(self.layer.entities[table].fields.values())
        word = term.tokens[0].lower
        if term.has("structure", "from", "to") and word in english().raw["doubts"]["past"]:
            marks = set(english().raw["states"]["scheduled"])
            planned = {
                tuple(word for word in one.words if word not in marks) for one in fields if marks & set(one.words)
            }
            chooser = Chooser(self.layer)
            return [one for one in fields if one.words in planned and chooser.leads(one.ref, term.value)]
        verbal = term.kind in ("structure", "light") and (word.endswith("ed") or word in english().raw["irregular"])
        named = [one for one in fields if one.role == "time" and one.words[1:] in ((), ("at",), ("date",), ("on",))]
        return [one for one in named if verbal and root(one.words[0]) == root(word)]

    def _check_told(self, plan: Plan) -> None:
        """ "items not sold": the moment is one of other rows than those that are counted."""
        for one in plan.conditions:
            if not isinstance(one, Missing) or one.negated or one.column.table == plan.table:
                continue
            column = ColumnRef(one.column.table, one.column.column)
            if self.layer.field(column).role == "time":
                other, own = (self.layer.entities[table].said for table in (column.table, plan.table))
                text = f"{column.column} is told of {other}, not of {own}. Ask about {other} instead."
                raise RefusedError("unsupported", text)

    def _check_once(self, plan: Plan) -> None:
        """ "cost of products sold in 2025": each product's cost would count once, however often it was sold."""
        sales = {root(word) for key in ("sale", "order") for word in english().raw["synonyms"][key]}
        sold = [term for term in self.said if term.kind == "mention" and root(term.lower) in sales and _is_past(term)]
        passive = [term for term in sold if self.said[self.said.index(term) - 1].lower not in ("who", "that", "which")]
        if not passive or not any(self._below(one, plan.table) for one in plan.conditions):
            return
        for one in plan.measures:
            if isinstance(one, Aggregate) and one.function in ("sum", "avg") and isinstance(one.column, ColumnRef):
                said = self.layer.entities[plan.table].said
                text = f"{one.column.column} is told once of each of {said}, not of each time it was {passive[0].text}."
                raise RefusedError("unsupported", text)

    def _check_whose(self, plan: Plan) -> None:
        """ "planes that flew from JFK in 2013": the year is that of the flight, and no year of the plane itself."""
        words = english().raw["doubts"]
        verbs = (*words["happenings"], *words["past"], *words["conditions"])
        did = next((term for term in self.said if term.tokens[0].lower in verbs and term.kind != "mention"), None)
        event = any(link.child == plan.table for link in self.layer.links)
        if did is None or event:
            return
        if any(isinstance(one, During) and one.time.table == plan.table for one in plan.conditions):
            said = self.layer.entities[plan.table].said
            raise RefusedError("no_date", f"The dates of {said} do not tell when they {did.text}.")

    def _check_way(self, plan: Plan) -> None:
        """ "orders that arrived in 2025": of a table without ways, no row tells when it arrived or left."""
        chooser, fields = Chooser(self.layer), self.layer.entities[plan.table].fields.values()
        for term in self.said:
            goes = term.has("structure", "from", "to") and term.tokens[0].lower in (*_past(), "left")
            dated = any(isinstance(one, During) and one.time.table == plan.table for one in plan.conditions)
            if goes and dated and not any(one.role != "text" and chooser.leads(one.ref, term.value) for one in fields):
                text = f"No column of {self.layer.entities[plan.table].said} tells when they {term.tokens[0].text}."
                raise RefusedError("no_date", text)

    def _below(self, one: Condition, home: str) -> bool:
        if isinstance(one, During):
            return not paths_up(self.layer, home, one.time.table)
        return isinstance(one, Has) and not one.negated


def _past() -> list[str]:
    words: list[str] = english().raw["doubts"]["past"]
    return words


def _is_past(term: Term) -> bool:
    return term.lower.endswith("ed") or term.lower in english().raw["irregular"]


def _columns(one: Condition) -> tuple[str, ...]:
    if isinstance(one, During):
        return one.time.columns
    column = getattr(one, "column", None)
    return (column.column,) if isinstance(column, ColumnRef) else ()
