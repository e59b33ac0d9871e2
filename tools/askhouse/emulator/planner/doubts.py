"""Words that a plan would lose or take for something else: the question is refused before it is planned."""

from __future__ import annotations

from collections.abc import Sequence

from .choose import RefusedError
from .joins import paths_up
from .lexicons import english
from .row import countable, is_light, numeric
from .semantics import SemanticLayer
from .slots import Slots
from .terms import Term

_QUIET = ("fillers", "mark", "chart_words")
_CALENDAR = ("period", "weekday", "grains", "parts")


class Doubts:
    """What in the terms of one question can not be told. Raises RefusedError."""

    def __init__(self, layer: SemanticLayer, terms: Sequence[Term]) -> None:
        self.layer = layer
        self.terms = list(terms)
        kept = english().raw["doubts"]["only"]
        self.said = [term for term in terms if term.kind not in _QUIET or term.lower in kept]
        """The terms without those that carry nothing."""

    def check(self) -> None:
        """Refuse what no plan says."""
        for place, term in enumerate(self.said):
            self._only(place, term)
            self._arithmetic(place, term)
            self._happening(place, term)
            self._described(place, term)
            self._weekday(place, term)
            self._mean_of_totals(place, term)

    def counts_two(self, slots: Slots) -> None:
        """ "how many users and orders": rows of two tables are not one number."""
        firsts = [slot.mention for slot in slots.measures if slot.function == "count"] + [slots.target]
        for table in slots.tables:
            place = self.said.index(table)
            joint, before = self._at(place - 1), self._at(place - 2)
            if joint is not None and joint.has("structure", "and") and any(before is one for one in firsts):
                text = f"I count one thing at a time. Ask “how many {before.text} and how many {table.text}”."  # type: ignore[union-attr]
                raise RefusedError("unsupported", text)

    def ranks_values(self, slots: Slots) -> None:
        """ "top 3 ages by number of users": the values of a number are no groups."""
        counts = bool(slots.measures) and all(slot.function == "count" for slot in slots.measures)
        if slots.limit is None or slots.limit < 2 or slots.dimensions or not counts:
            return
        for order in slots.order:
            if order.mention is not None and not countable(order.mention) and numeric(order.mention):
                text = f"I did not understand how “{order.mention.text}” are to be ranked."
                raise RefusedError("unsupported", text)

    def counts_a_part(self, slots: Slots) -> None:
        """ "stock by center": a word that is a small part of a column's name names no number."""
        counted = [slot.mention for slot in slots.measures if slot.function == "count"]
        bare = [slots.target] if slots.dimensions and not slots.measures and not slots.order else []
        for mention in (*counted, *bare):
            if mention is not None and mention.kind == "mention" and mention.candidates[0].score < 0.4:
                raise RefusedError("unused_words", english().text("unused", words=f"“{mention.text}”"))

    def _at(self, place: int) -> Term | None:
        return self.said[place] if 0 <= place < len(self.said) else None

    def _only(self, place: int, term: Term) -> None:
        """ "who bought only jeans", "who only bought jeans": that there is nothing else is not looked up."""
        before, after = self._at(place - 1), self._at(place + 1)
        if term.lower not in english().raw["doubts"]["only"] or before is None:
            return
        verb = self._at(place - 2)
        if before.kind == "value" and verb is not None and place > 1 and _is_verb(verb) and not countable_exactly(verb):
            raise RefusedError("unsupported", f"I can not look up that “{term.text}” this and nothing else holds.")
        if after is None:
            return
        if after.kind == "number" and before.has("structure", "with", "contains"):
            raise RefusedError("unsupported", f"Please say “exactly {after.text}” where you mean that number.")
        inside = before.lower in ("who", "that", "which") or _is_verb(before) or before.has("structure", "contains")
        if inside and not after.has("structure", "in", "from", "to"):
            raise RefusedError("unsupported", f"I can not look up that “{term.text}” this and nothing else holds.")

    def _arithmetic(self, place: int, term: Term) -> None:
        """ "revenue minus cost": numbers are not reckoned with each other."""
        if term.lower not in english().raw["doubts"]["arithmetic"]:
            return
        before, after = self._at(place - 1), self._at(place + 1)
        if before is not None and after is not None and _is_number(before) and _is_number(after):
            text = f"I do not compute “{before.text} {term.text} {after.text}”: ask for each number by itself."
            raise RefusedError("unsupported", text)

    def _happening(self, place: int, term: Term) -> None:
        """ "how many customers attended", "planes that flew in July": what happened, of which no row tells."""
        words = english().raw["doubts"]
        if term.lower not in (*words["conditions"], *words["happenings"]) or term.held:
            return
        subject = next((one for one in reversed(self.said[:place]) if countable(one)), None)
        before, after = self._at(place - 1), self._at(place + 1)
        if subject is None or before is None:
            return
        narrows = term.lower in words["conditions"] and before.kind == "value"
        if not (before is subject or narrows or before.lower in ("who", "that", "which")):
            return
        if after is not None and after.has("structure", "in", "by"):
            after = self._at(place + 2)
        if after is not None and after.kind not in _CALENDAR:
            return
        entity = subject.candidates[0].entity
        event = any(link.child == entity.key for link in self.layer.links)
        if term.lower in words["conditions"] or not event:
            text = f"No column tells which {entity.said} are meant by “{term.text}”, and I would rather not guess."
            raise RefusedError("unused_words", text)

    def _described(self, place: int, term: Term) -> None:
        """ "active customers", "returning customers": a word before the noun that says what they are like."""
        after = self._at(place + 1)
        if after is None or not countable(after) or self.terms[self.terms.index(term) + 1] is not after:
            after = next((one for one in reversed(self.said[:place]) if countable(one)), None)
            if term.kind != "value" or after is None:
                return
        entity = after.candidates[0].entity
        doing = term.kind == "mention" and term.lower.endswith("ing") and term.candidates[0].field is not None
        described = term.lower in english().raw["doubts"]["described"]
        own = any(held.column.table == entity.key for held in term.held) or any(
            one.entity is entity and one.score >= 0.85 for one in term.candidates
        )
        if (doing and term.candidates[0].field.role == "time") or (described and not own):  # type: ignore[union-attr]
            raise RefusedError("unused_words", english().text("unused", words=f"“{term.text} {after.text}”"))

    def _weekday(self, place: int, term: Term) -> None:
        """ "next Monday", "last three Sundays": which of the days is meant."""
        before = self._at(place - 1)
        marks = {word for key in ("last", "this", "next") for word in english().raw["time"][key]}
        if term.kind == "weekday" and before is not None and (before.lower in marks or before.kind == "number"):
            raise RefusedError("unused_words", english().text("unused", words=f"“{before.text} {term.text}”"))

    def _mean_of_totals(self, place: int, term: Term) -> None:
        """ "average revenue per month": of the months' totals, or of the rows in each month."""
        number, per, grain = (self._at(place + step) for step in (1, 2, 3))
        if not term.has("aggregates", "avg") or number is None or number.kind != "measures" or per is None:
            return
        if per.lower not in english().raw["doubts"]["per"] or grain is None or grain.kind != "grains":
            return
        text = (
            f"The average of the {number.text} of every {grain.text} is not computed. Ask for “{number.text} by "
            f"{grain.text}” to see them all, or for the “average {number.text} by {grain.text}” of single rows."
        )
        raise RefusedError("unsupported", text)


def _is_verb(term: Term) -> bool:
    if term.kind not in ("mention", "light", "value", "measures"):
        return False
    irregular = english().raw["irregular"].get(term.lower)
    return is_light(term) or (
        len(term.tokens) == 1 and (term.lower.endswith("ed") or (bool(irregular) and not countable(term)))
    )


def countable_exactly(term: Term) -> bool:
    """Whether a word is a table's own name, and no verb for it."""
    return term.kind == "mention" and term.candidates[0].is_table and term.candidates[0].score >= 0.99


def _is_number(term: Term) -> bool:
    return term.kind in ("measures", "aggregates", "count") or (term.kind == "mention" and numeric(term))


def settled(layer: SemanticLayer, terms: Sequence[Term]) -> None:
    """ "in Houston distribution center": a value before the name of one row's table belongs to that table."""
    for place, term in enumerate(terms):
        before = next((one for one in reversed(terms[:place]) if one.kind not in _QUIET), None)
        if before is None or not before.has("structure", "in", "from", "to", "by") or term.kind != "value":
            continue
        after = terms[place + 1] if place + 1 < len(terms) else None
        subject = next((one for one in terms if one is not after and countable(one)), None)
        home = subject.candidates[0].entity.key if subject is not None else None
        if after is not None and countable(after) and not after.tokens[-1].lower.endswith("s"):
            _settle(layer, term, after, home)
        elif home is not None and (after is None or after.kind != "mention"):
            _check_side(layer, term, home)


def _settle(layer: SemanticLayer, term: Term, after: Term, home: str | None) -> None:
    table = after.candidates[0].entity.key
    if any(held.column.table == table for held in term.held):
        return
    parts = layer.values.find_part([token.lower for token in term.tokens])
    term.held = [held for held in parts if held.column.table == table]
    if not term.held or not (home is None or paths_up(layer, home, table)):
        raise RefusedError("unknown_value", f"I did not understand “{term.text} {after.text}” here.")


def _check_side(layer: SemanticLayer, term: Term, home: str) -> None:
    """ "products in Chicago": a city of those who bought them, or a part of the name of where they are."""
    if any(held.column.table == home or paths_up(layer, home, held.column.table) for held in term.held):
        return
    parts = layer.values.find_part([token.lower for token in term.tokens])
    near = [held for held in parts if held.column.table == home or paths_up(layer, home, held.column.table)]
    if near and term.held:
        far = term.held[0].column
        told = [(one.column, layer.entities[one.table].said) for one in (near[0].column, far)]
        text = f"“{term.text}” may be {told[0][0]} of {told[0][1]} or {told[1][0]} of {told[1][1]}. Please name which."
        raise RefusedError("unknown_value", text)
