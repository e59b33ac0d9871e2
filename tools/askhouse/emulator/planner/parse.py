"""From terms to slots: a cascade of passes, the most telling patterns first. What no pass uses stays unused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .lexicons import english
from .plan import Operator
from .slots import (
    CompareSlot,
    ConditionSlot,
    CountSlot,
    DimensionSlot,
    LikeSlot,
    MeasureSlot,
    OrderSlot,
    PeriodSlot,
    RelationSlot,
    Slots,
    StateSlot,
    ValueSlot,
    WeekdaySlot,
)
from .terms import Term

_QUIET = ("fillers", "mark", "chart_words", "list")
_IDLE = ("in", "from", "to", "with", "and", "who_verb", "by")
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


class Parser:
    """One question on its way through the passes."""

    def __init__(self, terms: Sequence[Term]) -> None:
        self.terms = list(terms)
        self.slots = Slots()
        self.row: list[Term] = []
        """Terms that carry meaning, in order."""
        self.verb_before: dict[int, bool] = {}
        self.returned_from: int | None = None
        """Where a closing sentence begins that says which columns to return."""

    def parse(self) -> Slots:
        """Run the passes."""
        self._quiet()
        for step in (
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
        return self.slots

    # Reading along the row

    def _at(self, place: int) -> Term | None:
        return self.row[place] if 0 <= place < len(self.row) else None

    def _is(self, place: int, kind: str, *values: Any) -> bool:
        term = self._at(place)
        return term is not None and not term.used and term.has(kind, *values)

    def _take(self, *terms: Term | None) -> None:
        for term in terms:
            if term is not None:
                term.used = True

    def _quiet(self) -> None:
        verb = ended = asked = False
        for term in self.terms:
            if term.kind in _QUIET:
                term.used = True
                if term.kind == "list" and self.row and ended:
                    self.returned_from = len(self.row)
                elif term.kind == "list":
                    self.slots.is_list = True
                ended = term.kind == "mark" and term.lower in ".?!;\n" or (ended and term.kind == "fillers")
                verb = verb or term.lower in _BE
                asked = asked or term.lower in ("did", "do", "does")
                continue
            ended = False
            if _links_only(term, asked):
                term.used = True
                continue
            asked = asked or term.lower in ("did", "do", "does")
            self.verb_before[id(term)] = verb
            verb = False if term.kind != "structure" else verb
            self.row.append(term)

    # Passes

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
                self._take(*self.row[place:end])

    def _rows(self) -> None:
        for place, term in enumerate(self.row):
            following = self._at(place + 1)
            if (
                term.lower == "ordered"
                and following is not None
                and following.has("structure", "ascending", "descending")
            ):
                term.kind, term.value = "structure", "ordered"
            if term.has("structure", "rows"):
                self._take(term)
                before = self._at(place - 1)
                if (
                    before is not None
                    and before.kind == "mention"
                    and following is None
                    or term.lower in ("records", "record", "entries")
                    and before is not None
                    and before.kind == "mention"
                ):
                    continue
                self.slots.is_rows = True
                if self._is(place - 1, "number"):
                    self.slots.limit = int(self.row[place - 1].value)
                    self._take(self.row[place - 1])
                elif self._is(place - 1, "superlatives") and self._is(place - 2, "number"):
                    self.slots.limit = int(self.row[place - 2].value)
                    self._take(self.row[place - 1], self.row[place - 2])

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
        for place, term in enumerate(self.row):
            if term.has("structure", "late", "early") and not term.used and self.slots.conditions:
                last = self.slots.conditions[-1]
                if isinstance(last, CompareSlot) and last.hint == ["delay"]:
                    self._take(term)

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
        value = _year_number(number) if number.kind == "period" else float(number.value)
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
        after = right_at + 1
        if (
            (term := self._at(after)) is not None
            and not term.used
            and term.lower in english().raw["units"]["words"]
            and not _countable(term)
        ):
            taken = [*taken, term]
            after += 1
            if self._is(after, "mention") and self.row[after].lower in english().raw["units"]["words"]:
                taken.append(self.row[after])
                after += 1
        if self._is(after, "structure", "times"):
            self._take(*taken)
            self._count(operator, value, left_at, after)
            return
        left, right = self._at(left_at), self._at(after)
        while left is not None and left.has("structure", "with", "in", "and") and not left.used:
            left_at -= 1
            left = self._at(left_at) if left.has("structure", "in") else None
        if (
            right is not None
            and right.has("structure", "in")
            and self._is(after + 1, "mention")
            and _numeric(self.row[after + 1])
        ):
            right, after = self.row[after + 1], after + 1
        if right is not None and right.has("structure", "late", "early") and not right.used:
            self._take(*taken, right)
            sign: Operator = (
                operator if right.value == "late" else {">": "<", ">=": "<=", "<": ">", "<=": ">="}.get(operator, "=")
            )  # type: ignore[assignment]
            mention = left if left is not None and left.has("structure", "from", "to") else None
            self._take(mention)
            way = (
                ["departure"]
                if mention is not None and mention.value == "from"
                else ["arrival"]
                if mention is not None
                else []
            )
            self.slots.conditions.append(
                CompareSlot(sign, value if right.value == "late" else -value, None, ["delay", *way])
            )
            return
        if left is not None and left.kind == "mention" and not left.used and _numeric(left):
            self._take(*taken)
            self._compared(operator, value, left, left_at)
        elif right is not None and right.kind == "mention" and not right.used and (_numeric(right) or _tabular(right)):
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

    def _compared(self, operator: Operator, value: float, mention: Term, place: int) -> None:
        function, agg = self._aggregate_before(place)
        if self._is(place - 1, "count") or (agg is not None and agg.kind == "count"):
            self._take(self.row[place - 1])
        if function and _numeric(mention):
            self._take(mention, agg)
            self.slots.conditions.append(
                CompareSlot(operator, value, measure=MeasureSlot(function, mention, said=mention.text))
            )
            return
        self._take(mention, agg)
        if _numeric(mention) and not (mention.candidates[0].is_table and mention.candidates[0].score >= 0.85):
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
            if term is not None and not term.used and term.kind in ("mention", "light"):
                if term.kind == "mention" and _tabular(term):
                    self._take(term)
                    self.slots.conditions.append(CountSlot(operator, value, term))
                    return
        self.slots.conditions.append(CountSlot(operator, value, None))

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
            if not term.used and (term.kind in ("value",) or (term.kind == "quoted")):
                place = self._value_run(place)
            else:
                place += 1

    def _value_run(self, start: int) -> int:
        run, place, joined = [self.row[start]], start + 1, ""
        while place + 1 < len(self.row):
            joint, following = self.row[place], self.row[place + 1]
            if following.has("structure", "or", "and") and joint.lower == "," and place + 2 < len(self.row):
                joint, following, place = following, self.row[place + 2], place + 1
            named = following.kind in ("value", "quoted") or (_moment(following) and bool(following.held))
            same = named and not following.used and _share_column(run[0], following)
            if not joint.has("structure", "and", "or", "compare") or not same:
                break
            joined = "or" if joint.value == "or" else joined or "and"
            self._take(joint)
            run.append(following)
            place += 2
        slot = ValueSlot(run, joined=joined)  # type: ignore[arg-type]
        self._before_value(slot, start - 1)
        if (
            slot.qualifier is None
            and (after := self._at(place)) is not None
            and not after.used
            and after.kind == "mention"
            and _qualifies(after, run[0])
        ):
            slot.qualifier = after
            self._take(after)
            place += 1
        if run[0].kind == "quoted" and not run[0].held and slot.qualifier is None:
            return place
        self._take(*run)
        self.slots.conditions.append(slot)
        return place

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
            elif term.kind == "mention" and slot.qualifier is None and _qualifies(term, slot.terms[0]):
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
                        self.slots.conditions.append(RelationSlot(other, negated=True))
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
            if mention is not None and mention.kind == "mention" and not mention.used:
                self._take(*self.row[place:following], mention)
                if mention.held and not mention.candidates[0].is_table:
                    self.slots.conditions.append(ValueSlot([mention], negated=True))
                else:
                    self.slots.conditions.append(RelationSlot(mention, negated=True))

    def _participles(self) -> None:
        """ "shipped in July", "were returned": a moment's column, or the status of the same name."""
        for place, term in enumerate(self.row):
            if term.used or term.kind != "mention" or not _moment(term) or place == 0:
                continue
            before = self._at(place - 1)
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
            if before is not None and before.kind == "mention" and not before.used and _moment(before):
                mention = before
                self._take(before)
            self._take(term)
            near, clause = self._near(term)
            self.slots.conditions.append(PeriodSlot(term.value, mention, negated, near, clause))

    def _near(self, term: Term) -> tuple[Term | None, bool]:
        """The table named last before a term, and whether a clause about it stands between."""
        clause = False
        for before in reversed(self.terms[: self.terms.index(term)]):
            clause = clause or before.lower in ("who", "that", "which", "whose")
            if before.kind == "mention" and before.candidates[0].is_table:
                return before, clause
        return None, False

    def _share(self) -> None:
        """ "what share of X is Y": conditions after the verb, or the last one, are the part."""
        marks = [term for term in self.row if term.has("structure", "share") and not term.used]
        if not marks:
            return
        self._take(*marks)
        self.slots.is_share = True
        parts: list[ConditionSlot] = [slot for slot in self.slots.conditions if not isinstance(slot, PeriodSlot)]
        after = [slot for slot in parts if self.verb_before.get(id(_first_term(slot)), False)]
        chosen = after or parts
        self.slots.share = chosen
        self.slots.conditions = [slot for slot in self.slots.conditions if not any(slot is one for one in chosen)]

    # The main pass

    def _main(self) -> None:
        if any(term.has("structure", "compare") and not term.used for term in self.row):
            self.slots.is_compare = True
            self._take(*[term for term in self.row if term.has("structure", "compare")])
        place = 0
        while place < len(self.row):
            term = self.row[place]
            step = None if term.used else _STEPS.get(term.kind)
            place = step(self, place) if step else place + 1

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
        while (other := self._at(at)) is not None and (other.used or other.kind == "light"):
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
        if other is not None and other.kind in ("mention", "measures"):
            self._take(*taken, other)
            for function in functions:
                if other.kind == "measures":
                    self._measure(MeasureSlot(function, business=other.value, said=other.text))
                else:
                    if counted and not _numeric(other):
                        other.value = "counted"
                    self._measure(MeasureSlot(function, other, said=other.text))
            return at + 1
        return place + 1

    def _step_measures(self, place: int) -> int:
        term = self.row[place]
        self._take(term)
        self._measure(MeasureSlot(None, business=term.value, said=term.text))
        return place + 1

    def _measure(self, slot: MeasureSlot) -> None:
        for order in self.slots.order:
            if (
                order.measure is None
                and order.mention is None
                and not order.time
                and not (order.superlative or {}).get("count")
            ):
                order.measure = slot
                break
        self.slots.measures.append(slot)

    def _step_superlative(self, place: int) -> int:
        term = self.row[place]
        entry: dict[str, Any] = term.value
        order = OrderSlot(entry["direction"], superlative=entry, time=bool(entry.get("time")))
        self._take(term)
        at = place + 1
        if self._is(at, "number"):
            self.slots.limit = int(self.row[at].value)
            self._take(self.row[at])
            at += 1
        elif self._is(place - 1, "number"):
            self.slots.limit = int(self.row[place - 1].value)
            self._take(self.row[place - 1])
        if self._is(at, "superlatives"):
            inner = self._at(at)
            assert inner is not None
            order.direction, order.superlative = inner.value["direction"], inner.value
            order.time = bool(inner.value.get("time"))
            self._take(inner)
            at += 1
            if self._is(at, "number"):
                self.slots.limit = int(self.row[at].value)
                self._take(self.row[at])
                at += 1
        if entry.get("measure"):
            business = next(one for one in english().raw["measures"] if entry["measure"] in one["words"])
            order.measure = MeasureSlot(None, business=business, said=entry["measure"])
        pending = [one for one in self.slots.order if one.measure is None and one.mention is None and not one.time]
        self.slots.order = [one for one in self.slots.order if not any(one is other for other in pending)]
        self.slots.order.append(order)
        following = self._at(at)
        while following is not None and following.used and following.kind in ("value", "states", "quoted"):
            at += 1
            following = self._at(at)
        if following is None or following.used:
            return at
        if following.kind in ("aggregates", "count", "measures"):
            return at
        if following.kind == "mention":
            return self._superlative_mention(order, following, at)
        if following.kind == "grains" and self.slots.target is None:
            self.slots.target = following
        return at

    def _superlative_mention(self, order: OrderSlot, mention: Term, at: int) -> int:
        """ "highest price" sorts by it; "top 5 brands" makes brands the target; "most flights" counts them."""
        self._take(mention)
        words = order.superlative["words"] if order.superlative else []
        counts = "most" in words or "fewest" in words or any("number of" in word for word in words)
        has_target = self.slots.target is not None
        if _numeric(mention) and not (mention.candidates[0].is_table and mention.candidates[0].score >= 0.85):
            order.mention = mention
            return at + 1
        if has_target and counts and self.slots.target is not mention and mention.candidates[0].is_table:
            slot = MeasureSlot("count", mention, said=mention.text)
            order.measure = slot
            self.slots.measures.append(slot)
            return at + 1
        if self.slots.target is None:
            self._set_target(mention)
        else:
            self.slots.tables.append(mention)
        return at + 1

    def _set_target(self, mention: Term) -> None:
        self.slots.target = mention
        last = mention.tokens[-1].lower
        self.slots.target_plural = last.endswith("s") and not last.endswith("ss")

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
            and _numeric(following)
            and not following.candidates[0].is_table
        ):
            self._take(following)
            pending_order.mention = following
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
                    or (after.kind == "mention" and not _numeric(after))
                )
            ):
                self._take(joint)
                at += 2
                continue
            return at + 1
        return at

    def _dimension(self, term: Term) -> DimensionSlot:
        if term.kind in ("grains", "parts"):
            return DimensionSlot(grain=term.value)
        way = self.slots.way
        return DimensionSlot(term, way=way)

    def _step_ordered(self, place: int) -> int:
        term = self.row[place]
        self._take(term)
        if term.value in ("descending", "ascending"):
            self.slots.direction = "desc" if term.value == "descending" else "asc"
            return place + 1
        at = place + 1
        following = self._at(at)
        if following is not None and following.kind == "count" and self._is(at + 1, "mention"):
            self._take(following)
            at += 1
            following = self._at(at)
            assert following is not None
            slot = MeasureSlot("count", following, said=following.text)
            self._take(following)
            self._order_by(OrderSlot("desc", measure=slot))
            return at + 1
        if following is not None and following.kind == "superlatives":
            return at
        if following is not None and not following.used and following.kind == "mention":
            self._take(following)
            self._order_by(OrderSlot("asc", mention=following))
            return at + 1
        if following is not None and not following.used and following.kind == "grains":
            self._take(following)
            self._order_by(OrderSlot("asc", time=True))
            return at + 1
        return at

    def _order_by(self, order: OrderSlot) -> None:
        pending = next(
            (one for one in self.slots.order if one.measure is None and one.mention is None and not one.time), None
        )
        if pending:
            pending.measure, pending.mention = order.measure, order.mention
        else:
            self.slots.order.append(order)

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
        if _moment(term) and (term.tokens[0].lower,) in english().phrases and len(term.tokens) == 1:
            return place + 1  # a verb that links only: "do we sell"
        before = self._at(place - 1)
        if before is not None and before.has("structure", "from", "to") and not before.used:
            self.slots.way = before.value
        if self.returned_from is not None and place >= self.returned_from:
            self.slots.returned.append(term)
        elif self.slots.target is None and not self.slots.measures and not self.slots.order:
            self._set_target(term)
        elif term.candidates[0].is_table:
            self.slots.tables.append(term)
        else:
            self.slots.columns.append(term)
        return place + 1

    def _step_light(self, place: int) -> int:
        self._take(self.row[place])
        return place + 1

    def _leftovers(self) -> None:
        for place, term in enumerate(self.row):
            if term.used or term.kind != "structure":
                continue
            if term.value in _IDLE:
                term.used = True
            elif term.value in ("times",) and place and self.row[place - 1].used:
                term.used = False
        if self.slots.limit is None:
            numbers = [term for term in self.row if term.kind == "number" and not term.used]
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


def _links_only(term: Term, asked: bool) -> bool:
    """Whether a word that is also a column's name is only a verb here: "did each salesperson make"."""
    if term.kind != "mention" or len(term.tokens) > 1 or not _is_light(term):
        return False
    best = term.candidates[0]
    spelt = {word for name in (best.field.names if best.field else best.entity.names) for word in name.words}
    return asked or term.lower not in spelt and not best.is_table and not _moment(term)


def _is_light(term: Term) -> bool:
    return any(sense.kind == "light" for sense in english().phrases.get((term.lower,), ()))


def _numeric(term: Term) -> bool:
    best = max((one.score for one in term.candidates), default=0.0)
    return any(
        one.field is not None and one.field.role == "number" and one.score >= best - 0.1 for one in term.candidates
    )


def _tabular(term: Term) -> bool:
    return any(one.is_table for one in term.candidates) or any(
        one.field is not None and one.field.role == "foreign" for one in term.candidates
    )


def _countable(term: Term) -> bool:
    return (
        term.kind == "mention"
        and bool(term.candidates)
        and term.candidates[0].is_table
        and term.candidates[0].score >= 0.85
    )


def _moment(term: Term) -> bool:
    best = term.candidates[0] if term.candidates else None
    return best is not None and best.field is not None and best.field.role == "time"


def _share_column(first: Term, second: Term) -> bool:
    if "quoted" in (first.kind, second.kind) and not (first.held and second.held):
        return True
    return bool({held.column for held in first.held} & {held.column for held in second.held})


def _qualifies(mention: Term, value: Term) -> bool:
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


def _first_term(slot: ConditionSlot) -> Term | None:
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


def _year_number(term: Term) -> float | None:
    text = term.lower
    return float(text) if text.isdigit() else None
