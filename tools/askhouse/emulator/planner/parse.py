"""From terms to slots: a cascade of passes, the most telling patterns first. What no pass uses stays unused."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from .comparisons import Comparisons
from .lexicons import english
from .patterns import Patterns
from .ranking import Ranking
from .row import (
    first_term,
    links_only,
    moment,
    numeric,
)
from .slots import (
    ConditionSlot,
    DimensionSlot,
    MeasureSlot,
    PeriodSlot,
    Slots,
    ValueSlot,
    Way,
)
from .terms import Term

_QUIET = ("fillers", "mark", "chart_words", "list")


_LEAVING_OUT = ("without", "except", "excluding", "except for", "leaving out", "exclude")
_IDLE = ("in", "from", "to", "with", "and", "who_verb")


_BE = frozenset(
    [
        "is",
        "are",
        "was",
        "were",
        "has",
        "have",
        "had",
        "been",
        "got",
        "be",
        "did",
        "do",
        "does",
        "come",
        "came",
        "comes",
    ]
)


def parse(terms: Sequence[Term]) -> Slots:
    """The slots of a question. Terms that no pass could use keep `used` false."""
    return Parser(terms).parse()


class Parser(Comparisons, Patterns, Ranking):
    """The whole cascade."""

    journey: Way | None = None
    _carried: list[ValueSlot]

    def parse(self) -> Slots:
        """Run the passes."""
        self._carried = []
        self._quiet()
        self._journeys()
        for step in (
            self._grouping_words,
            self._sufferings,
            self._rows,
            self._units,
            self._comparisons,
            self._likes,
            self._values,
            self._states,
            self._weekdays,
            self._missing,
            self._relations,
            self._participles,
            self._periods,
            self._share,
            self._main,
            self._leftovers,
        ):
            step()
        self._left_out_together()
        for slot in self.slots.conditions:
            if isinstance(slot, ValueSlot) and slot.way is None:
                slot.way = self.journey  # "arrivals at Los Angeles"
        return self.slots

    def _left_out_together(self) -> None:
        """ "Without returned and cancelled items": both are left out."""
        values = [slot for slot in self.slots.conditions if isinstance(slot, ValueSlot)]
        values.sort(key=lambda slot: self.terms.index(slot.terms[0]))
        for left, right in pairwise(values):
            start, end = self.terms.index(left.terms[-1]) + 1, self.terms.index(right.terms[0])
            between = [term.lower for term in self.terms[start:end]]
            before = [term.lower for term in self.terms[: self.terms.index(left.terms[0])][-1:]]
            joined = bool(between) and set(between) <= {"and", "or", ","}
            if left.negated and joined and (before in ([word] for word in _LEAVING_OUT) or left in self._carried):
                right.negated = True
                self._carried.append(right)

    def _quiet(self) -> None:
        verb = ended = asked = False
        for term in self.terms:
            if term.kind in _QUIET:
                term.used = True
                self._one(term)
                if term.kind == "list" and self.row and ended:
                    self.returned_from = len(self.row)
                elif term.kind == "list":
                    self.slots.is_list = True
                ended = (term.kind == "mark" and term.lower in ".?!;\n") or (ended and term.kind == "fillers")
                verb = verb or term.lower in _BE
                asked = asked or term.lower in ("did", "do", "does")
                continue
            ended = False
            if links_only(term, asked):
                term.used = True
                continue
            asked = asked or term.lower in ("did", "do", "does")
            self.verb_before[id(term)] = verb
            verb = False if term.kind != "structure" else verb
            self.row.append(term)

    def _one(self, article: Term) -> None:
        """ "more than an hour": the article counts."""
        following = self.terms[self.terms.index(article) + 1 :][:1]
        counted = following and following[0].lower in english().raw["units"]["words"]
        if article.lower in ("a", "an") and counted and self.row and self.row[-1].kind == "comparators":
            self.row.append(Term("number", 1.0, article.tokens))

    def _journeys(self) -> None:
        """Departures and arrivals are rows of the same table; which of them are meant tells the way."""
        ways = {term.value for term in self.row if term.kind == "mention" and term.value in ("from", "to")}
        for term in self.row:
            if term.kind == "mention" and term.value in ("from", "to"):
                term.value = None
        if len(ways) == 1:
            self.slots.way = ways.pop()
            self.journey = self.slots.way

    def _share(self) -> None:
        """ "what share of X is Y": conditions after the verb, or the last one, are the part."""
        marks = [term for term in self.row if term.has("structure", "share") and not term.used]
        if not marks:
            return
        self._take(*marks)
        self.slots.is_share = True
        self._share_whole(self.row.index(marks[0]) + 1)
        parts: list[ConditionSlot] = [slot for slot in self.slots.conditions if not isinstance(slot, PeriodSlot)]
        after = [slot for slot in parts if self.verb_before.get(id(first_term(slot)), False)]
        chosen = after or parts
        self.slots.share = chosen
        self.slots.conditions = [slot for slot in self.slots.conditions if not any(slot is one for one in chosen)]

    def _share_whole(self, at: int) -> None:
        """The rows that the share is of, when they follow: "the share of cancelled flights"."""
        while (term := self._at(at)) is not None and (term.used or term.has("structure", "in")):
            at += 1
        if term is not None and term.kind == "mention" and term.candidates[0].is_table:
            self._take(term)
            self.slots.measures.append(MeasureSlot("count", term, said=term.text))

    def _main(self) -> None:
        compared = [term for term in self.row if term.has("structure", "compare")]
        if any(not term.used and not self._against_calendar(term) for term in compared):
            self.slots.is_compare = True
            self._take(*[term for term in compared if not self._against_calendar(term)])
        place = 0
        while place < len(self.row):
            term = self.row[place]
            step = None if term.used else _STEPS.get(term.kind)
            place = step(self, place) if step else place + 1

    def _against_calendar(self, term: Term) -> bool:
        """ "weekends vs weekdays": parts of the calendar are not compared."""
        after = self._at(self.row.index(term) + 1)
        return self.row.index(term) > 0 and after is not None and after.kind in ("parts", "grains")

    def _step_count(self, place: int) -> int:
        term = self.row[place]
        before = self._at(place - 1)
        if (
            term.lower in ("count", "counts")
            and before is not None
            and before.used
            and before in (*self.slots.columns, *self.slots.returned, *self.slots.tables)
        ):
            for group in (self.slots.columns, self.slots.returned, self.slots.tables):
                group[:] = [one for one in group if one is not before]
            self._take(term)
            self._measure(MeasureSlot("count", before, said=before.text))
            return place + 1
        if term.value == "distinct":
            self._take(term)
            self.slots.distinct = True
            return place + 1
        self._take(term)
        worth, distinct, at = term.value == "worth", False, place + 1
        while (
            (other := self._at(at)) is not None
            and not other.used
            and (other.has("count", "distinct") or other.has("aggregates", "sum"))
        ):
            distinct = distinct or other.kind == "count"
            self._take(other)
            at += 1
        while (other := self._at(at)) is not None and (
            other.used or other.kind == "light" or other.has("structure", "new")
        ):
            at += 1
        if other is not None and other.kind == "mention":
            self._take(other)
            self._measure(
                MeasureSlot("sum" if worth else "count", other, distinct=distinct, said=other.text, worth=worth)
            )
            return self._and_more(at + 1, "count")
        term.used = False
        return place + 1

    def _and_more(self, place: int, function: str) -> int:
        return place

    def _step_aggregate(self, place: int) -> int:
        functions, at = [self.row[place].value], place + 1
        taken = [self.row[place]]
        while self._is(at, "structure", "and") and self._is(at + 1, "aggregates"):
            taken += [self.row[at], self.row[at + 1]]
            functions.append(self.row[at + 1].value)
            at += 2
        if self._is(at, "structure", "in") and self.row[at].lower == "of":
            taken.append(self.row[at])
            at += 1
        counted = self._is(at, "count", "count")
        if counted:
            taken.append(self.row[at])
            at += 1
        while (other := self._at(at)) is not None and (
            other.used or (other.kind == "light" and other.lower not in ("sold",))
        ):
            at += 1
        if other is not None and functions == ["avg"] and self._average_row(other):
            self._take(*taken, other)
            return at + 1
        if other is not None and other.kind in ("mention", "measures"):
            self._take(*taken, other)
            for function in functions:
                if other.kind == "measures":
                    self._measure(MeasureSlot(function, business=other.value, said=other.text))
                else:
                    if counted and not numeric(other):
                        other.value = "counted"
                    self._measure(MeasureSlot(function, other, said=other.text))
            return at + 1
        return place + 1

    def _average_row(self, term: Term) -> bool:
        """ "how many seats does the average plane have": the number of seats, averaged over the planes."""
        slot = self.slots.measures[-1] if self.slots.measures else None
        if slot is None or slot.function != "count" or slot.mention is None or not numeric(slot.mention):
            return False
        tables = {one.entity.key for one in term.candidates if one.is_table}
        if not tables & {one.entity.key for one in slot.mention.candidates if one.field is not None}:
            return False
        slot.function = "avg"
        return True

    def _step_measures(self, place: int) -> int:
        term = self.row[place]
        self._take(term)
        self._measure(MeasureSlot(None, business=term.value, said=term.text))
        return place + 1

    def _step_structure(self, place: int) -> int:
        term = self.row[place]
        if term.value == "by":
            return self._step_by(place)
        if term.value in ("ordered", "descending", "ascending"):
            return self._step_ordered(place)
        if term.value in ("from", "to") and self._is(place + 1, "structure", "by"):
            self.slots.way = term.value  # "left each airport"
        return place + 1

    def _step_by(self, place: int) -> int:
        at = self._after_by(place)
        if self._at(at) is None and all(term.kind == "structure" for term in self.row[place + 1 : at]):
            self.row[place].used = False  # by what?
        return at

    def _after_by(self, place: int) -> int:
        self._take(self.row[place])
        at = place + 1
        pending_order = next((one for one in self.slots.order if one.measure is None and one.mention is None), None)
        following = self._at(at)
        while following is not None and following.has("count", "distinct"):
            self._take(following)
            at += 1
            following = self._at(at)
        if following is None or following.used:
            return at
        if following.kind in ("count", "aggregates", "measures"):
            return at
        if (
            pending_order
            and self.slots.target is not None
            and following.kind == "mention"
            and numeric(following)
            and not following.candidates[0].is_table
        ):
            self._take(following)
            pending_order.mention = following
            return at + 1
        counted = (
            following.kind == "mention"
            and following.candidates[0].is_table
            and following.tokens[-1].lower.endswith("s")
        )
        if pending_order and self.slots.target is not None and counted:
            self._take(following)
            self._measure(MeasureSlot("count", following, said=following.text))
            return at + 1
        agent = self._clause_follows(following) or self._passive(self.row[place], following)
        if following.kind == "mention" and following.candidates[0].is_table and agent:
            self._take(following)
            self.slots.tables.append(following)
            return at + 1
        return self._dimension_list(at)

    def _clause_follows(self, term: Term) -> bool:
        """Whether a clause tells which of them: "by users who joined in May" is no grouping."""
        after = self.terms[self.terms.index(term) + 1 :][:1]
        return bool(after) and after[0].lower in ("who", "that", "which", "whose")

    def _passive(self, by: Term, following: Term) -> bool:
        """Whether "by" names who did it: "orders placed by customers"."""
        before = self.terms[self.terms.index(by) - 1]
        plural = following.tokens[-1].lower.endswith("s")
        return by.lower == "by" and plural and (before.kind == "light" or before.lower.endswith("ed"))

    def _dimension_list(self, at: int) -> int:
        while (term := self._at(at)) is not None and not term.used:
            if term.has("structure", "from", "to", "by"):
                self._take(term)
                at += 1
                continue
            if term.kind not in ("mention", "grains", "parts"):
                break
            self._take(term)
            self.slots.dimensions.append(self._dimension(term))
            at = self._of_moment(term, at)
            joint = self._at(at + 1)
            after = self._at(at + 2)
            more = (
                joint is not None
                and not joint.used
                and joint.has("structure", "and")
                and after is not None
                and not after.used
            )
            if (
                more
                and after is not None
                and joint is not None
                and (
                    after.kind in ("grains", "parts")
                    or after.has("structure", "by")
                    or (after.kind == "mention" and not numeric(after))
                )
            ):
                self._take(joint)
                at += 2
                continue
            return at + 1
        return at

    def _of_moment(self, term: Term, at: int) -> int:
        """ "by hour of departure", "by month of delivery": the moment whose part is meant."""
        of, named = self._at(at + 1), self._at(at + 2)
        calendar = term.kind != "mention" or (term.candidates[0].field and term.candidates[0].field.role == "part")
        if not calendar or of is None or of.lower != "of" or named is None or named.used:
            return at
        if named.kind != "mention" or named.candidates[0].is_table:
            return at
        self._take(of, named)
        self.slots.dimensions[-1].of = named
        return at + 2

    def _dimension(self, term: Term) -> DimensionSlot:
        if term.kind in ("grains", "parts"):
            return DimensionSlot(grain=term.value)
        way = self.slots.way
        return DimensionSlot(term, way=way)

    def _step_grain(self, place: int) -> int:
        term = self.row[place]
        self._take(term)
        if self.slots.target is None and self.slots.is_list and place == 0:
            self.slots.target = term
        else:
            self.slots.dimensions.append(DimensionSlot(grain=term.value))
        return place + 1

    def _step_mention(self, place: int) -> int:
        term = self.row[place]
        self._take(term)
        if moment(term) and (term.tokens[0].lower,) in english().phrases and len(term.tokens) == 1:
            return place + 1  # a verb that links only: "do we sell"
        before = self._at(place - 1)
        if before is not None and before.has("structure", "from", "to") and not before.used:
            self.slots.way = before.value
        if self.returned_from is not None and place >= self.returned_from:
            self.slots.returned.append(term)
        elif (
            self.slots.target is None
            and not self.slots.order
            and (not self.slots.measures or (self.slots.is_share and place == 0 and self.slots.is_list))
        ):
            self._set_target(term)
        elif term.candidates[0].is_table:
            self.slots.tables.append(term)
        else:
            self.slots.columns.append(term)
        return place + 1

    def _step_light(self, place: int) -> int:
        if not self._describes(place):
            self._take(self.row[place])
        return place + 1

    def _describes(self, place: int) -> bool:
        """Whether a verb's form stands before a noun and narrows it: "paid invoices" are not all invoices."""
        term, following = self.row[place], self._at(place + 1)
        participle = term.lower.endswith("ed") or term.lower in english().irregular
        if not participle or following is None or following.kind != "mention":
            return False
        if self.terms[self.terms.index(term) + 1] is not following:
            return False
        before = self._at(place - 1)
        return (
            before is None
            or before.kind in ("count", "aggregates", "superlatives")
            or before.has("structure", "by", "share")
        )

    def _leftovers(self) -> None:
        for place, term in enumerate(self.row):
            if term.used or term.kind != "structure":
                continue
            timed = any(isinstance(slot, PeriodSlot) for slot in self.slots.conditions) or any(
                slot.grain for slot in self.slots.dimensions
            )
            if term.value in ("from", "to") and term.lower not in ("from", "to", "into", "out of"):
                self.slots.verbs.append(term)
            if term.value in _IDLE or (term.value == "new" and timed):
                term.used = True
            elif term.value in ("times",) and place and self.row[place - 1].used:
                term.used = False
        if self.slots.limit is None:
            numbers = [term for term in self.row if term.kind == "number" and not term.used]
            for term in numbers:
                if term.lower == "one":
                    self._take(term)
            if len(numbers) == 1 and self.slots.order and self.row.index(numbers[0]) <= 1:
                self.slots.limit = int(numbers[0].value)
                self._take(numbers[0])


_STEPS = {
    "count": Parser._step_count,
    "aggregates": Parser._step_aggregate,
    "measures": Parser._step_measures,
    "superlatives": Parser._step_superlative,
    "structure": Parser._step_structure,
    "grains": Parser._step_grain,
    "parts": Parser._step_grain,
    "over_time": Parser._step_grain,
    "mention": Parser._step_mention,
    "light": Parser._step_light,
}
