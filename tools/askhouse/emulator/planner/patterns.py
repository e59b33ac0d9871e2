"""Conditions that are told by values, states, relations and periods."""

from __future__ import annotations

from .lexicons import english
from .periods import Period
from .row import (
    Row,
    ails,
    flag,
    moment,
    qualifies,
    share_column,
    suffers,
)
from .slots import (
    CompareSlot,
    LikeSlot,
    PeriodSlot,
    RelationSlot,
    StateSlot,
    ValueSlot,
    WeekdaySlot,
)
from .terms import Term


class Patterns(Row):
    """Finds conditions other than comparisons."""

    def _units(self) -> None:
        """ "in meters", "in people per square kilometer": the column's unit, which changes nothing."""
        units = english().raw["units"]["words"]
        for place, term in enumerate(self.row):
            if not term.has("structure", "in") or term.lower != "in":
                continue
            end = place + 1
            while (unit := self._at(end)) is not None and (
                unit.lower in units or unit.lower.rstrip("s") in units or (end > place + 1 and unit.lower == "per")
            ):
                end += 1
            if end > place + 1 and not (self._at(end) is not None and self.row[end].kind == "period"):
                self.slots.units += [unit.lower for unit in self.row[place + 1 : end]]
                self._take(*self.row[place:end])

    def _sufferings(self) -> None:
        """ "delayed on departure": which of the delays."""
        for place, term in enumerate(self.row):
            if suffers(term):
                term.candidates = self._narrowed(term, place + 1).candidates

    def _grouping_words(self) -> None:
        """ "quantity sold by product" groups; "ordered from highest to lowest" sorts."""
        for place, term in enumerate(self.row):
            following = self._at(place + 1)
            if following is None:
                continue
            if term.lower == "ordered" and following.has("structure", "ascending", "descending"):
                term.kind, term.value = "structure", "ordered"
            by = term.has("structure", "in") and term.lower.endswith(" by")
            agents = following.kind == "mention" and following.candidates[0].is_table and following.lower.endswith("s")
            if by and following.kind in ("mention", "grains", "parts") and not agents:
                term.value = "by"

    def _rows(self) -> None:
        for place, term in enumerate(self.row):
            following = self._at(place + 1)
            if term.has("structure", "rows"):
                self._take(term)
                before = self._at(place - 1)
                if (before is not None and before.kind == "mention" and following is None) or (
                    term.lower in ("records", "record", "entries") and before is not None and before.kind == "mention"
                ):
                    continue
                self.slots.is_rows = True
                if self._is(place - 1, "number"):
                    self.slots.limit = int(self.row[place - 1].value)
                    self._take(self.row[place - 1])
                    if self._is(place - 2, "superlatives"):
                        self._take(self.row[place - 2])
                elif self._is(place - 1, "superlatives") and self._is(place - 2, "number"):
                    self.slots.limit = int(self.row[place - 2].value)
                    self._take(self.row[place - 1], self.row[place - 2])

    def _likes(self) -> None:
        for place, term in enumerate(self.row):
            if not term.has("structure", "starts", "ends", "contains") or term.used:
                continue
            text = self._at(place + 1)
            left = self._at(place - 1)
            negated = left is not None and left.has("structure", "not", "without")
            if negated:
                self._take(left)
                left = self._at(place - 2)
            if text is None or text.used or text.kind in ("structure", "comparators"):
                continue
            if left is not None and left.has("structure", "with"):
                left = self._at(place - 2)
            if left is None or left.kind != "mention":
                continue
            self._take(term, text, left)
            words = text.value if text.kind == "quoted" else text.text
            self.slots.conditions.append(LikeSlot(left, term.value, str(words), negated))

    def _values(self) -> None:
        place = 0
        while place < len(self.row):
            term = self.row[place]
            verb = term.has("structure", "from", "to") and term.lower not in ("from", "to")
            if verb and term.held and not self._goes(place):
                term.kind = "value"  # "how many employees left", where a status says so
            if term.kind == "measures" and term.held and not term.used and self._is_qualified(place, term):
                term.kind = "value"
            if not term.used and (term.kind in ("value",) or (term.kind == "quoted")):
                place = self._value_run(place)
            else:
                place += 1

    def _goes(self, place: int) -> bool:
        """Whether a place follows the verb: "left JFK", "left each airport"."""
        following = self._at(place + 1)
        return following is not None and (following.kind in ("value", "mention") or following.has("structure", "by"))

    def _is_qualified(self, place: int, term: Term) -> bool:
        """Whether the column beside the word says that it is a value: "the sales department"."""
        beside = [self._at(place + 1), self._at(place - 1)]
        mentions = [one for one in beside if one is not None and one.kind == "mention" and not one.used]
        return any(qualifies(one, term) for one in mentions)

    def _value_run(self, start: int) -> int:
        run, place, joined = [self.row[start]], start + 1, ""
        while place + 1 < len(self.row):
            joint, following = self.row[place], self.row[place + 1]
            if following.has("structure", "or", "and") and joint.lower == "," and place + 2 < len(self.row):
                joint, following, place = following, self.row[place + 2], place + 1
            named = following.kind in ("value", "quoted") or (moment(following) and bool(following.held))
            same = named and not following.used and share_column(run[0], following)
            if not joint.has("structure", "and", "or", "compare") or not same:
                break
            joined = "or" if joint.value == "or" else joined or "and"
            self._take(joint)
            run.append(following)
            place += 2
        slot = ValueSlot(run, joined=joined)  # type: ignore[arg-type]
        beside = (self._beside(run[-1], 1), self._beside(run[0], -1))
        slot.beside = next((one for one in beside if one is not None), None)
        self._before_value(slot, start - 1)
        if (
            slot.qualifier is None
            and (after := self._at(place)) is not None
            and not after.used
            and after.kind == "mention"
            and qualifies(after, run[0])
        ):
            slot.qualifier = after
            self._take(after)
            place += 1
        if run[0].kind == "quoted" and not run[0].held and slot.qualifier is None:
            return place
        self._take(*run)
        self.slots.conditions.append(slot)
        return place

    def _beside(self, term: Term, step: int) -> Term | None:
        """The value that stands next to a value with no word between."""
        place = self.terms.index(term) + step
        other = self.terms[place] if 0 <= place < len(self.terms) else None
        return other if other is not None and other.kind == "value" else None

    def _before_value(self, slot: ValueSlot, place: int) -> None:
        while (term := self._at(place)) is not None and not term.used:
            if term.has("structure", "not", "without"):
                slot.negated = True
                self._take(term)
                return
            if term.has("structure", "from", "to") and slot.way is None:
                slot.way = term.value
                self._take(term)
            elif term.has("structure", "in", "with", "by") or term.has("comparators", "="):
                self._take(term)
            elif term.kind == "mention" and slot.qualifier is None and qualifies(term, slot.terms[0]):
                slot.qualifier = term
                self._take(term)
                if not (
                    self._at(place - 1) is not None
                    and self.row[place - 1].has("structure", "in", "with", "not", "from", "to", "without")
                ):
                    return
            else:
                return
            place -= 1

    def _states(self) -> None:
        for place, term in enumerate(self.row):
            if term.kind == "states" and not term.used:
                before = self._at(place - 1)
                negated = before is not None and before.has("structure", "not", "without") and not before.used
                self._take(term, before if negated else None)
                if term.held:
                    self.slots.conditions.append(ValueSlot([term], negated))
                else:
                    self.slots.conditions.append(StateSlot(term, negated))

    def _weekdays(self) -> None:
        for place, term in enumerate(self.row):
            if term.kind == "weekday" and not term.used:
                before = self._at(place - 1)
                if before is not None and before.has("structure", "in", "by") and not before.used:
                    self._take(before)
                    before = self._at(place - 2)
                negated = before is not None and before.has("structure", "not", "without") and not before.used
                self._take(term, before if negated else None)
                self.slots.conditions.append(WeekdaySlot(term, negated))

    def _missing(self) -> None:
        for place, term in enumerate(self.row):
            if term.has("structure", "missing") and not term.used:
                for other in (self._at(place + 1), self._at(place - 1)):
                    if (
                        other is not None
                        and other.kind == "mention"
                        and not other.used
                        and any(one.field for one in other.candidates)
                    ):
                        self._take(term, other)
                        self.slots.conditions.append(RelationSlot(other, negated=True, missing=True))
                        break

    def _relations(self) -> None:
        for place, term in enumerate(self.row):
            if term.used or not term.has("structure", "without", "not"):
                continue
            following = place + 1
            while (
                self._at(following) is not None
                and self.row[following].kind in ("light", "structure")
                and not self.row[following].has("structure", "by")
                and following < place + 3
            ):
                following += 1
            mention = self._at(following)
            if mention is not None and suffers(mention):
                continue  # "not delayed" is no missing delay
            if mention is not None and mention.kind == "mention" and not mention.used:
                self._take(*self.row[place:following], mention)
                if term.has("structure", "without") and ails(mention):
                    self.slots.conditions.append(CompareSlot("<=", 0, mention, ["above zero"]))
                    continue
                if mention.held and not mention.candidates[0].is_table and not self._lacks(term, mention):
                    self.slots.conditions.append(ValueSlot([mention], negated=True))
                else:
                    self.slots.conditions.append(RelationSlot(mention, negated=True))

    def _lacks(self, without: Term, mention: Term) -> bool:
        """ "customers without email": the column of that name is empty, though another holds that value."""
        best = mention.candidates[0]
        if without.value != "without" or best.field is None or best.field.role != "text" or best.score < 0.85:
            return False
        ref = best.field.ref
        return all(held.column != ref for held in mention.held)

    def _participles(self) -> None:
        """ "shipped in July", "were returned": a moment's column, or the status of the same name."""
        for place, term in enumerate(self.row):
            if term.used or term.kind != "mention" or not (flag(term) or suffers(term) or (moment(term) and place)):
                continue
            before = self._at(place - 1)
            if suffers(term) and (before is None or before.kind != "superlatives"):
                negated = before is not None and before.has("structure", "not", "without") and not before.used
                self._take(term, before if negated else None)
                self.slots.conditions.append(CompareSlot("<=" if negated else ">", 0, term, ["above zero"]))
                continue
            if flag(term) and not (before is not None and before.has("structure", "by", "ordered")):
                self._take(term)
                self.slots.conditions.append(RelationSlot(term))
                continue
            if (before is not None and before.has("structure", "by", "ordered")) or not self._verbal(term):
                continue
            following = place + 1
            if self._is(following, "structure", "in"):
                following += 1
            if self._is(following, "period"):
                self._take(term, self.row[following], self.row[following - 1] if following > place + 1 else None)
                self.slots.conditions.append(PeriodSlot(self.row[following].value, term))
            elif term.held:
                self._take(term)
                self.slots.conditions.append(ValueSlot([term]))
            else:
                self._take(term)
                self.slots.conditions.append(RelationSlot(term))

    def _joined_period(self, term: Term) -> Period:
        """The period, in the year of the one that follows it by "and": "June and July 2025"."""
        at = self.row.index(term)
        joint, following = self._at(at + 1), self._at(at + 2)
        period: Period = term.value
        if joint is None or following is None or following.kind != "period":
            return period
        if joint.has("structure", "or"):
            self.slots.is_any = True
        if joint.has("structure", "and", "or", "compare"):
            self._take(joint)
            other: Period = following.value
            if period.yearless and not other.yearless and other.start is not None:
                return period.in_year(other.start.year)
        return period

    def _verbal(self, term: Term) -> bool:
        if (term.lower,) in english().phrases:
            return False  # a verb that links only: "do we sell"
        return term.lower.endswith("ed") or term.lower in english().irregular or self.verb_before.get(id(term), False)

    def _periods(self) -> None:
        for place, term in enumerate(self.row):
            if term.kind != "period" or term.used:
                continue
            before, mention, negated = self._at(place - 1), None, False
            while before is not None and not before.used and before.has("structure", "in", "not", "from"):
                negated = negated or before.value == "not"
                self._take(before)
                place -= 1
                before = self._at(place - 1)
            if before is not None and before.kind == "mention" and not before.used and moment(before):
                mention = before
                self._take(before)
            self._take(term)
            near, clause = self._near(term)
            value = self._joined_period(term)
            self.slots.conditions.append(PeriodSlot(value, mention, negated, near, clause))
