"""A summary without a model: one to four sentences, the answer first, every number a claim with its rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from state_contracts import Answer, Claim, ClaimKind, Preferences, Result, Summary

from .compute import Fact, FactKind, facts_of, reach_of, trend_axis
from .moments import PARTS
from .phrases import NO_VALUE, Writer, quoted
from .roles import Role, Roles, roles_of

MOST_SENTENCES = 4
_MOST_NAMES = 4
_CLAIMS: dict[FactKind, ClaimKind] = {
    "rows": "count", "value": "value", "total": "total", "subtotal": "total", "highest": "extreme",
    "lowest": "extreme", "share": "share",
    "difference": "change", "first": "value", "last": "value", "change": "change", "rise": "trend", "fall": "trend",
    "dates": "range", "nulls": "count", "endless": "count",
}  # fmt: skip
_LOW_WORDS = re.compile(
    r"\b(lowest|least|fewest|smallest|bottom|minimum|min|cheapest|shortest|slowest|weakest|earliest|youngest)\b", re.I
)


def summarize(answer: Answer, preferences: Preferences | None = None) -> Summary:
    """Say what the results of an answer say. An answer that brought no result has an empty summary."""
    writer = Writer.of(preferences)
    sentences: list[Sentence] = []
    question = answer.standalone_question or answer.question
    for i, result in enumerate(reversed(answer.results)):  # the last is what the service worked towards
        told = Teller(result, question, writer).sentences()
        sentences += told if i == 0 else told[:1]
    kept = sentences[:MOST_SENTENCES]
    return Summary(
        text=" ".join(sentence.text for sentence in kept),
        claims=[claim for sentence in kept for claim in sentence.claims],
    )


class Sentence:
    """One sentence and what it claims."""

    def __init__(self, text: str, result: str, facts: Sequence[Fact]) -> None:
        self.text = text
        self.claims = [
            Claim(text=text, kind=_CLAIMS[fact.kind], value=value, result=result, rows=list(fact.rows))
            for fact in facts
            for value in _values(fact)
        ]


def _values(fact: Fact) -> list[Any]:
    values = list(fact.value) if isinstance(fact.value, tuple) else [fact.value]
    return values + ([fact.relative] if fact.relative is not None else [])


class Teller:
    """Tells one result."""

    def __init__(self, result: Result, question: str, writer: Writer) -> None:
        self.result = result
        self.writer = writer
        self.roles: Roles = roles_of(result, question)
        self.reach = reach_of(result, self.roles)
        self.facts = facts_of(result)
        self.lowest_first = bool(_LOW_WORDS.search(question))

    def sentences(self) -> list[Sentence]:
        """The sentences, the answer first."""
        if not self.result.rows:
            return [self._say("No rows match.", self._fact("rows"))]
        if len(self.result.rows) == 1:
            return self._one_row()
        main = self._main()
        if main is None:
            return self._listing()
        axis = None if self._is_selection() else trend_axis(self.result, self.roles)
        told = self._along_time(main, axis) if axis is not None else self._by_group(main)
        if not told:
            return [*self._listing(), *self._nulls(main)]
        return [*told, *self._second(main), *self._nulls(main), *self._truncation()]

    # -- one row ------------------------------------------------------------------------------------------------

    def _one_row(self) -> list[Sentence]:
        values = [role for role in self.roles.all if role.kind in ("measure", "moment")]
        if self.roles.keys and values and self._is_answer_by_name():
            return [self._named_row(values[0])]
        told = values or self.roles.all[:1]
        if len(self.roles.all) > _MOST_NAMES and not self.roles.shape.grouped:
            return self._listing()
        nothing = [role for role in told if self._cell(0, role) is None]
        if len(nothing) == len(told):
            labels = _and([role.label for role in told])
            text = f"There is no {labels}: no rows match, or none of them has a value."
            return [self._say(text, *(self._fact("value", role) for role in told))]
        parts = [f"the {role.label} is {self._text(0, role)}" for role in told]
        if self.roles.keys and values:
            parts[0] = f"for {self._name(0)}, {parts[0]}"
        return [self._say(_capital(_and(parts)) + ".", *(self._fact("value", role) for role in told))]

    def _is_answer_by_name(self) -> bool:
        shape = self.roles.shape
        return bool((shape.limit == 1 or shape.first_place) and self._sorting())

    def _named_row(self, fallback: Role) -> Sentence:
        role = self._sorting() or fallback
        extreme = "highest" if self.reach.descending else "lowest"
        text = f"{_capital(self._name(0))} has the {extreme} {_bare(role.label)}: {self._text(0, role)}."
        return self._say(text, self._fact("value", role))

    # -- many rows ----------------------------------------------------------------------------------------------

    def _main(self) -> Role | None:
        """The measure that the answer is about: the one it is sorted by, else the first that is no rank."""
        measures = self.roles.of("measure")
        if self._is_list() and self._sorting() is None:
            return None
        ranked = [role for role in measures if role.aggregate != "window"] or measures
        return self._sorting() or next(iter(ranked), None)

    def _is_selection(self) -> bool:
        """Whether the rows are those with the most or least of something: the days of a choice are no course."""
        shape = self.roles.shape
        return bool((shape.first_place or shape.limit) and self._sorting())

    def _is_list(self) -> bool:
        """Whether the rows are records as they are stored, many columns wide."""
        shape = self.roles.shape
        return shape.known and not shape.grouped and len(self.roles.all) > 3

    def _sorting(self) -> Role | None:
        return next((role for role in self.roles.of("measure") if role.name == self.reach.sorted_by), None)

    def _listing(self) -> list[Sentence]:
        shown, count = len(self.result.rows), self.result.row_count
        if shown < count:
            return [
                self._say(f"The answer has {self._count(count)} rows; {self._count(shown)} are here.", *self._rows())
            ]
        names = self.roles.all[0] if len(self.roles.all) == 1 and shown <= 8 else None
        listed = ": " + ", ".join(self._text(i, names) for i in range(shown)) if names else ""
        return [self._say(f"The answer has {_rows(self._count(count), count)}{listed}.", *self._rows())]

    def _along_time(self, role: Role, axis: Role) -> list[Sentence]:
        first, last, change = (self._fact(kind, role) for kind in ("first", "last", "change"))
        if not first or not last or not change:
            return []
        if axis.grain in PARTS:
            return self._by_group(role)
        start, end = self._time(first.rows[0], axis), self._time(last.rows[0], axis)
        a, b = self._number(first, role), self._number(last, role)
        text = f"From {start} to {end}, the {role.label} {self._moved(change, a, b)}."
        direction = self._fact("rise", role) or self._fact("fall", role)
        if direction:
            text = text.removesuffix(".") + f", {'up' if direction.kind == 'rise' else 'down'} at every step."
        return [self._say(text, first, last, change, direction), *self._peak(role, axis), *self._in_all(role)]

    def _moved(self, change: Fact, a: str, b: str) -> str:
        if change.value == 0:
            return f"stayed at {a}" if a == b else f"went from {a} to {b}"
        verb = "rose" if change.value > 0 else "fell"
        part = f" ({self._signed(change.relative)})" if change.relative is not None else ""
        return f"{verb} from {a} to {b}{part}"

    def _signed(self, part: float) -> str:
        return ("+" if part > 0 else "") + self.writer.percent(part)

    def _peak(self, role: Role, axis: Role) -> list[Sentence]:
        high, low = self._fact("highest", role), self._fact("lowest", role)
        if not high or not low or len(self.result.rows) < 3 or high.value == low.value:
            return []
        texts = [f"{kind} in {self._times(fact, axis)} ({self._number(fact, role)})"
                 for kind, fact in (("highest", high), ("lowest", low))]  # fmt: skip
        return [self._say(f"It was {' and '.join(texts)}.", high, low)]

    def _times(self, fact: Fact, axis: Role) -> str:
        return _and([self._time(i, axis) for i in fact.rows[:3]]) + (" and others" if len(fact.rows) > 3 else "")

    def _by_group(self, role: Role) -> list[Sentence]:
        high, low = self._fact("highest", role), self._fact("lowest", role)
        if high and low and high.value == low.value and len(high.rows) == len(self.result.rows):
            text = f"All {self._count(len(high.rows))} have the same {_bare(role.label)}: {self._number(high, role)}."
            return [self._say(text, high, Fact("rows", len(high.rows))), *self._in_all(role)]
        groups = [fact for fact in self.facts if fact.kind == "subtotal" and role.name in fact.columns]
        if high and len(groups) > 1 and groups[0].value > groups[1].value:
            return [self._over_time(role, groups), self._also(role, high), *self._in_all(role)]
        pair = self._fact("difference", role)
        if pair and high and low and len(high.rows) == 1:
            return [self._pair(role, high, low, pair), *self._in_all(role)]
        lead, other = (low, high) if self._lowest_leads(low) else (high, low)
        if lead is None:
            return []
        named = len(lead.rows) == 1 and len(self.result.rows) <= 3
        rest = [self._also(role, other)] if other and self.reach.whole and not named else []
        return [self._leader(role, lead), *rest, *self._in_all(role)]

    def _lowest_leads(self, low: Fact | None) -> bool:
        sorted_up = self._sorting() is not None and not self.reach.descending
        return low is not None and (sorted_up or (self.lowest_first and self._sorting() is None))

    def _pair(self, role: Role, high: Fact, low: Fact, pair: Fact) -> Sentence:
        more = f", {self.writer.percent(pair.relative)} more" if pair.relative is not None else ""
        text = (
            f"{_capital(self._name(high.rows[0]))} has the higher {_bare(role.label)}: {self._number(high, role)}, "
            f"against {self._number(low, role)} for {self._name(low.rows[0])}{more}."
        )
        return self._say(text, high, low, Fact(pair.kind, pair.relative, pair.rows) if more else None)

    def _leader(self, role: Role, lead: Fact) -> Sentence:
        if len(lead.rows) > 1:
            names = [self._name(i) for i in lead.rows[:_MOST_NAMES]]
            limited = len(lead.rows) == self.roles.shape.limit or not self.reach.complete
            cut = "at least " if limited else ""
            more = len(lead.rows) - _MOST_NAMES
            names += [f"{cut}{self._count(more)} others"] if more > 0 else []
            text = (
                f"{_capital(_and(names))} share the {lead.kind} {_bare(role.label)}: {self._number(lead, role)} each."
            )
            return self._say(text, lead)
        share = self._fact("share", role) if lead.kind == "highest" else None
        part = f" ({self.writer.percent(share.value)} of the total)" if share else ""
        name = _capital(self._name(lead.rows[0]))
        text = f"{name} has the {lead.kind} {_bare(role.label)}: {self._number(lead, role)}{part}"
        next_ones = [] if self.reach.whole and len(self.result.rows) == 2 else self._followers(role, lead)
        if next_ones:
            listed = _and([f"{self._name(i)} ({self._text(i, role)})" for i in next_ones])
            text += f", followed by {listed}"
        values = [Fact("value", self._cell(i, role), (i,), (role.name,)) for i in next_ones]
        return self._say(text + ".", lead, share, *values)

    def _over_time(self, role: Role, groups: Sequence[Fact]) -> Sentence:
        """Which group has most over the whole time, and the next ones."""
        thing = next(key for key in self.roles.keys if key.kind == "category")
        told = groups[:3]
        names = [f"{quoted(self._cell(fact.rows[0], thing))} ({self._number(fact, role)})" for fact in told[1:]]
        text = (
            f"Over the whole time, {quoted(self._cell(told[0].rows[0], thing))} has the highest {_bare(role.label)}: "
            f"{self._number(told[0], role)}, followed by {_and(names)}."
        )
        return self._say(text, *told)

    def _followers(self, role: Role, lead: Fact) -> list[int]:
        known = [i for i, _ in enumerate(self.result.rows) if self._cell(i, role) is not None and i not in lead.rows]
        ordered = sorted(known, key=lambda i: self._cell(i, role), reverse=lead.kind == "highest")
        return ordered[:2]

    def _also(self, role: Role, other: Fact) -> Sentence:
        names = _and([self._name(i) for i in other.rows[:3]]) if len(other.rows) <= 3 else f"{len(other.rows)} rows"
        single = "single value " if any(fact.kind == "subtotal" for fact in self.facts) else ""
        text = f"The {other.kind} {single}is {self._number(other, role)}, for {names}."
        return self._say(text, other)

    def _in_all(self, role: Role) -> list[Sentence]:
        total = self._fact("total", role)
        if not total:
            return []
        count = len(self.result.rows)
        text = f"Together the {self._count(count)} rows make {self._number(total, role)}."
        return [self._say(text, total, *self._rows())]

    def _second(self, main: Role) -> list[Sentence]:
        """One sentence on a second measure, where its highest value may be claimed."""
        others = [role for role in self.roles.of("measure") if role not in (main,) and role.aggregate != "window"]
        high = self._fact("highest", others[0]) if others and self.roles.shape.grouped else None
        if not high or len(high.rows) != 1:
            return []
        text = (
            f"The highest {_bare(others[0].label)} is {self._number(high, others[0])}, for {self._name(high.rows[0])}."
        )
        return [self._say(text, high)]

    def _nulls(self, role: Role) -> list[Sentence]:
        told = []
        for kind, words in (("nulls", "no"), ("endless", "infinity, or what is not a number, as")):
            fact = next((fact for fact in self.facts if fact.kind == kind and role.name in fact.columns), None)
            if fact:
                verb = "row has" if fact.value == 1 else "rows have"
                told.append(self._say(f"{self._count(fact.value)} {verb} {words} {role.label}.", fact))
        return told

    def _truncation(self) -> list[Sentence]:
        if self.reach.complete:
            return []
        shown, count = self._count(len(self.result.rows)), self._count(self.result.row_count)
        return [self._say(f"Only {shown} of {count} rows are here, so no total is given.", *self._rows())]

    # -- words --------------------------------------------------------------------------------------------------

    def _say(self, text: str, *facts: Fact | None) -> Sentence:
        return Sentence(text, self.result.name, [fact for fact in facts if fact is not None])

    def _fact(self, kind: FactKind, role: Role | None = None) -> Fact | None:
        return next(
            (fact for fact in self.facts if fact.kind == kind and (role is None or role.name in fact.columns)), None
        )

    def _rows(self) -> list[Fact]:
        shown = len(self.result.rows)
        facts = [Fact("rows", self.result.row_count)]
        return facts if shown == self.result.row_count else [*facts, Fact("rows", shown)]

    def _cell(self, i: int, role: Role) -> Any:
        return self.result.rows[i][role.position]

    def _text(self, i: int, role: Role) -> str:
        return self.writer.cell(self._cell(i, role), role)

    def _time(self, i: int, axis: Role) -> str:
        return self._text(i, axis)

    def _number(self, fact: Fact, role: Role) -> str:
        return self.writer.number(fact.value, role.unit)

    def _count(self, count: int) -> str:
        return self.writer.number(count)

    def _name(self, i: int) -> str:
        """What row `i` is about: its groups, then its time."""
        keys = self.roles.keys
        names = [quoted(self._cell(i, key)) for key in keys if key.kind == "category"][:2]
        times = [self._text(i, key) for key in keys if key.kind == "time"][:1]
        if names and times:
            return f"{' / '.join(names)} in {times[0]}" if times[0] != NO_VALUE else " / ".join([*names, *times])
        return " / ".join(names or times) or f"row {i + 1}"


def _bare(label: str) -> str:
    """A label that can follow "the highest"."""
    return label.removeprefix("highest ").removeprefix("lowest ") if label.count(" ") > 0 else label


def _and(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:] if text[:4] in ("the ", "for ", "row ") else text


def _rows(text: str, count: int) -> str:
    return f"{text} row" if count == 1 else f"{text} rows"
