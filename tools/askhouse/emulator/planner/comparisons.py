"""Comparisons with numbers: "more than 60 minutes late", "with at least 3 orders", "between 10 and 20"."""

from __future__ import annotations

from typing import Any

from .lexicons import english
from .plan import Operator
from .row import Row, countable, keyed, moment, numeric, suffers, tabular, year_number
from .slots import (
    CompareSlot,
    CountSlot,
    KeySlot,
    MeasureSlot,
)
from .terms import Term

_TURNED: dict[str, Operator] = {">": "<", ">=": "<=", "<": ">", "<=": ">=", "=": "=", "<>": "<>"}


class Comparisons(Row):
    """Finds comparisons."""

    def _comparisons(self) -> None:
        for place, term in enumerate(self.row):
            if term.used:
                continue
            if term.kind == "comparators":
                self._comparison(place, term)
            elif term.has("structure", "once", "twice") and not term.used:
                number = 1 if term.value == "once" else 2
                before = self._at(place - 1)
                if before is not None and before.kind == "comparators":
                    continue
                self._count("=", number, place, place)
        for term in self.row:
            if term.has("structure", "late", "early") and not term.used and self.slots.conditions:
                last = self.slots.conditions[-1]
                if isinstance(last, CompareSlot) and last.hint == ["delay"]:
                    self._take(term)
        self._exact_numbers()

    def _exact_numbers(self) -> None:
        """ "with 3 items" and "user 5": a number that must be met."""
        for place, term in enumerate(self.row):
            if term.used or term.kind != "number" or term.value is None:
                continue
            before, after = self._at(place - 1), self._at(place + 1)
            has = before is not None and before.has("structure", "with") and not before.used
            counts = after is not None and after.kind == "mention" and not after.used
            if has and after is not None and counts and (numeric(after) or tabular(after)):
                self._take(before, term)
                self._compared("=", float(term.value), after, place + 1)
            elif before is not None and before.kind == "mention" and not before.used and keyed(before):
                self._take(before, term)
                self.slots.conditions.append(KeySlot(before, int(term.value)))

    def _comparison(self, place: int, term: Term) -> None:
        following = place + 1
        if self._is(following, "comparators", "="):
            self._take(self.row[following])
            following += 1
        number = self._at(following)
        if term.value == "between":
            self._between(place)
            return
        if number is not None and number.has("structure", "once", "twice"):
            self._take(term)
            self._count(term.value, 1 if number.value == "once" else 2, place, following)
            return
        if number is None or number.used or number.kind not in ("number", "period"):
            if term.value in (">=", "<=") and self._is(place - 1, "number"):
                number, following = self.row[place - 1], place
                self._compare(term.value, float(number.value), place - 2, place, [term, number], term.lower)
            return
        value = year_number(number) if number.kind == "period" else float(number.value)
        if value is None:
            return
        self._compare(term.value, value, place - 1, following, [term, number], term.lower)

    def _between(self, place: int) -> None:
        low, joint, high = self._at(place + 1), self._at(place + 2), self._at(place + 3)
        if not (low and high and joint and low.kind == high.kind == "number" and joint.has("structure", "and", "to")):
            return
        mark = len(self.slots.conditions)
        self._compare(">=", float(low.value), place - 1, place + 3, [self.row[place], low, joint, high], "")
        if len(self.slots.conditions) > mark:
            first = self.slots.conditions[mark]
            if isinstance(first, CompareSlot):
                self.slots.conditions.append(
                    CompareSlot("<=", float(high.value), first.mention, first.hint, first.measure)
                )
            elif isinstance(first, CountSlot):
                self.slots.conditions.append(CountSlot("<=", float(high.value), first.mention))

    def _compare(
        self, operator: Operator, value: float, left_at: int, right_at: int, taken: list[Term], said: str
    ) -> None:
        mark = len(self.slots.conditions)
        units = self._unit(right_at + 1)
        self._related(operator, value, left_at, right_at + 1 + len(units), [*taken, *units], said, units)
        for slot in self.slots.conditions[mark:]:
            if isinstance(slot, CompareSlot) and slot.mention is not None and suffers(slot.mention):
                slot.mention = self._narrowed(slot.mention, right_at + 1 + len(units))
            if isinstance(slot, CompareSlot) and units:
                slot.unit = units[0].lower
            elif isinstance(slot, CompareSlot) and any(term.text.endswith("%") for term in taken):
                slot.unit = "%"

    def _unit(self, at: int) -> list[Term]:
        """The words of measurement behind a number."""
        known = english().raw["units"]["words"]
        found: list[Term] = []
        while (term := self._at(at)) is not None and not term.used and term.lower in known and not countable(term):
            found.append(term)
            at += 1
        return found

    def _related(
        self,
        operator: Operator,
        value: float,
        left_at: int,
        after: int,
        taken: list[Term],
        said: str,
        units: list[Term],
    ) -> None:
        """Find what is compared: the word before, the word behind, or what the comparing word hints at."""
        if self._is(after, "structure", "times"):
            self._take(*taken)
            self._count(operator, value, left_at, after)
            return
        left, right = self._at(left_at), self._at(after)
        while left is not None and left.has("structure", "with", "in", "and", "by") and not left.used:
            left_at -= 1
            taken = [*taken, left] if left.has("structure", "by") else taken  # "delayed by more than an hour"
            while (before := self._at(left_at)) is not None and before.used and left.has("structure", "by"):
                left_at -= 1
            left = self._at(left_at) if left.has("structure", "in", "by") else None
        if (
            right is not None
            and right.has("structure", "in")
            and self._is(after + 1, "mention")
            and numeric(self.row[after + 1])
        ):
            right, after = self.row[after + 1], after + 1
        if right is not None and right.has("structure", "late", "early") and not right.used:
            self._take(*taken, right)
            self._late(operator, value, right.value == "late", left)
            return
        known = english().raw["units"]
        measured = bool(units) and units[0].lower in (*known["money"], *known["lengths"])
        named = right is not None and right.kind == "mention" and not right.used and numeric(right)
        if measured and not named and said not in english().raw["comparator_hints"] and _is_rows(left):
            self._take(*taken)
            self.slots.conditions.append(CompareSlot(operator, value, None, ["unit", units[0].lower]))
        elif left is not None and left.kind == "mention" and not left.used and numeric(left):
            self._take(*taken)
            self._compared(operator, value, left, left_at)
        elif right is not None and right.kind == "mention" and not right.used and (numeric(right) or tabular(right)):
            self._take(*taken)
            self._compared(operator, value, right, after)
        elif left is not None and left.kind == "measures" and not left.used:
            self._take(*taken)
            function, agg = self._aggregate_before(left_at)
            self._take(left, agg)
            self.slots.conditions.append(
                CompareSlot(operator, value, measure=MeasureSlot(function, business=left.value, said=left.text))
            )
        elif hint := english().raw["comparator_hints"].get(said):
            self._take(*taken)
            self.slots.conditions.append(CompareSlot(operator, value, None, list(hint)))

    def _late(self, operator: Operator, value: float, late: bool, verb: Term | None) -> None:
        """ "departed more than 60 minutes late": the delay of the departure."""
        mention = verb if verb is not None and verb.has("structure", "from", "to") else None
        self._take(mention)
        way = [] if mention is None else ["departure" if mention.value == "from" else "arrival"]
        sign = operator if late else _TURNED[operator]
        self.slots.conditions.append(CompareSlot(sign, value if late else -value, None, ["delay", *way]))

    def _compared(self, operator: Operator, value: float, mention: Term, place: int) -> None:
        function, agg = self._aggregate_before(place)
        if self._is(place - 1, "count") or (agg is not None and agg.kind == "count"):
            self._take(self.row[place - 1])
        if function and numeric(mention):
            self._take(mention, agg)
            self.slots.conditions.append(
                CompareSlot(operator, value, measure=MeasureSlot(function, mention, said=mention.text))
            )
            return
        self._take(mention, agg)
        if numeric(mention) and not (mention.candidates[0].is_table and mention.candidates[0].score >= 0.85):
            self.slots.conditions.append(CompareSlot(operator, value, mention))
        else:
            self.slots.conditions.append(CountSlot(operator, value, mention))

    def _aggregate_before(self, place: int) -> tuple[Any, Term | None]:
        before = self._at(place - 1)
        if before is not None and not before.used and before.kind == "aggregates":
            return before.value, before
        return None, None

    def _count(self, operator: Operator, value: float, left_at: int, end: int) -> None:
        """ "ordered more than three times": the verb or noun before, or the noun after."""
        self._take(self.row[end])
        for place in (left_at, left_at - 1):
            term = self._at(place)
            if term is not None and not term.used and term.kind == "mention" and (tabular(term) or moment(term)):
                self._take(term)
                self.slots.conditions.append(CountSlot(operator, value, term))
                return
        self.slots.conditions.append(CountSlot(operator, value, None))


def _is_rows(term: Term | None) -> bool:
    """Whether the word before names rows of a table: "flights over 1000 miles"."""
    return term is not None and not term.used and countable(term)
