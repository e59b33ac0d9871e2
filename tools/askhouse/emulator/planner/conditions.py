"""Conditions of a plan from the slots that ask for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from .choose import (
    Chooser,
    RefusedError,
    UndecidedError,
    fields_named,
    fits_any,
    fits_field,
    fits_number,
    fits_table,
    fits_time,
)
from .joins import base_for, children_of, paths_up
from .lexicons import english
from .mentions import Candidate
from .plan import ColumnRef, Compare, Condition, During, Frequent, Has, Like, Missing, OneOf, OnPart, Operator
from .quantities import is_quantity
from .semantics import Field, SemanticLayer
from .slots import (
    CompareSlot,
    ConditionSlot,
    CountSlot,
    KeySlot,
    LikeSlot,
    PeriodSlot,
    RelationSlot,
    StateSlot,
    ValueSlot,
    WeekdaySlot,
)
from .units import factor
from .when import When
from .words import root, stem, tokenize

_OPPOSITE: dict[str, Operator] = {"<": ">=", "<=": ">"}


@dataclass
class Conditions:
    """Resolves condition slots around the table at which the question is computed."""

    layer: SemanticLayer
    chooser: Chooser
    when: When
    home: str
    base: str | None = None
    """The more detailed table whose rows are joined, where a group lies below the home."""
    relations: tuple[str, ...] = ()
    counted: ColumnRef | None = None
    """The column whose different values are counted."""
    split: ColumnRef | None = None
    """The column of values that are compared with each other."""

    def resolve(self, slots: Sequence[ConditionSlot], relations: Sequence[str] = ()) -> tuple[Condition, ...]:
        """All conditions. `relations` are child tables of which the home must have rows."""
        self.relations = tuple(relations)
        found: list[Condition] = []
        down: dict[str, list[Condition]] = {table: [] for table in relations}
        for slot in slots:
            for condition in (self._turned(one, slot) for one in self.one(slot)):
                child = self._child(condition, slot, relations)
                if child is None:
                    found.append(condition)
                else:
                    down.setdefault(child, []).append(self._seen_from(child, condition, slot))
        self._check_scope(found, down)
        return tuple(found) + tuple(Has(table, tuple(inside), via=self._via(table)) for table, inside in down.items())

    def _seen_from(self, child: str, condition: Condition, slot: ConditionSlot) -> Condition:
        """A condition as the rows of a table below hold it: which of several ways leads to its column is told there."""
        ref = condition.column if isinstance(condition, OneOf | Like) else None
        if ref is None or ref.via or len(paths_up(self.layer, child, ref.table)) < 2:
            return condition
        return replace(self, home=child, relations=()).one(slot)[0]

    def _check_scope(self, found: Sequence[Condition], down: Mapping[str, list[Condition]]) -> None:
        """ "who passed Rome but not Europe": whether Europe was not passed, or not taken at all, is not told."""
        for without in found:
            if not isinstance(without, Has) or not without.negated or not without.conditions:
                continue
            column = getattr(without.conditions[0], "column", None)
            if any(getattr(one, "column", column) != column for inside in down.values() for one in inside):
                raise RefusedError("unsupported", "I did not understand what all is to be left out.")

    def _turned(self, condition: Condition, slot: ConditionSlot) -> Condition:
        """None of the values in rows below means that there is no row with them."""
        if not isinstance(condition, OneOf | Like) or not condition.negated:
            return condition
        if paths_up(self.layer, self.home, condition.column.table):
            return condition
        child = base_for(self.layer, self.home, [condition.column.table])
        if child is None:
            return condition
        seen = self._seen_from(child, condition, slot)
        assert isinstance(seen, OneOf | Like)
        return Has(child, (replace(seen, negated=False),), True, via=self._via(child))

    def _child(self, condition: Condition, slot: ConditionSlot, relations: Sequence[str]) -> str | None:
        """The table below the home in whose rows a condition has to hold, if it does not hold of the home's own."""
        if isinstance(condition, During) and isinstance(slot, PeriodSlot):
            return next((table for table in relations if table == self._told(slot)), None)
        ref = condition.column if isinstance(condition, Compare | OneOf | Like | Missing) else None
        if not isinstance(ref, ColumnRef) or paths_up(self.layer, self.home, ref.table):
            return None
        if isinstance(condition, OneOf | Like) and condition.negated:
            return None
        if isinstance(slot, ValueSlot) and slot.joined == "and" and len(slot.terms) > 1:
            return None
        near = next((table for table in reversed(relations) if base_for(self.layer, table, [ref.table])), None)
        return near or base_for(self.layer, self.home, [ref.table])

    def one(self, slot: ConditionSlot) -> list[Condition]:
        """The conditions of one slot."""
        match slot:
            case ValueSlot():
                return self._value_or_state(slot)
            case CompareSlot():
                return [self._compare(slot)]
            case CountSlot():
                return [self._count(slot)]
            case LikeSlot():
                return [self._like(slot)]
            case RelationSlot():
                return [self._relation(slot)]
            case StateSlot():
                return [self._state(slot)]
            case PeriodSlot():
                return [self._period(slot)]
            case WeekdaySlot():
                return [self._weekday(slot)]
            case KeySlot(mention, number):
                entity = self.chooser.pick(mention, fits_table).entity
                return [Compare(ColumnRef(entity.key, entity.identifier[0]), "=", number)]

    def _value_or_state(self, slot: ValueSlot) -> list[Condition]:
        """A value; where no table of the question has it, the state that the word names, or the table."""
        try:
            return self._value(slot)
        except RefusedError:
            term = slot.terms[0]
            senses = english().phrases.get(tuple(token.lower for token in term.tokens), ())
            if len(slot.terms) == 1 and any(sense.kind == "states" for sense in senses):
                return [self._state(StateSlot(term, slot.negated))]
            if len(slot.terms) == 1 and term.candidates:
                return [self._relation(RelationSlot(term, slot.negated))]
            raise

    def _value(self, slot: ValueSlot) -> list[Condition]:
        if slot.terms[0].kind == "quoted" and not any(term.held for term in slot.terms):
            assert slot.qualifier is not None
            one = self.chooser.pick(slot.qualifier, fits_field)
            assert one.field is not None
            if one.field.ref in self.layer.values.columns:
                raise RefusedError("unknown_value", self.unknown(slot.terms[0].text, one.field.ref))
            texts = tuple(str(term.value) for term in slot.terms)
            return [OneOf(one.field.ref, texts, slot.negated)]
        self.chooser.near = {held.column.table for held in slot.beside.held} if slot.beside else set()
        column, held = self.chooser.value_column(slot.terms, slot.qualifier, slot.way)
        via = ""
        if column.table != self.home and paths_up(self.layer, self.home, column.table):
            link = self.chooser.link_to(self.home, self.layer.entities[column.table], slot.way, slot.terms[0].lower)
            via = link.column if link else ""
        if not slot.negated and len(held) > 1 and slot.joined == "and":
            if not paths_up(self.layer, self.home, column.table):
                return [
                    Has(child, (OneOf(column, (one.value,)),))
                    for one in held
                    if (child := base_for(self.layer, self.home, [column.table]))
                ]
            self.split = ColumnRef(column.table, column.column, via)
        if len(held) == 1 and (told := self._moment_instead(slot, column, held[0].value)) is not None:
            return [told]
        values = tuple(dict.fromkeys(one.value for one in held))
        return [OneOf(ColumnRef(column.table, column.column, via), values, slot.negated)]

    def _moment_instead(self, slot: ValueSlot, column: ColumnRef, value: str) -> Condition | None:
        """Shipped as a status, or as a time of shipping that is given: asked where these are different rows."""
        term = slot.terms[0]
        moments = [
            one.field
            for one in term.candidates
            if one.field and one.field.role == "time" and one.entity.key == column.table and one.score >= 0.6
        ]
        if len(moments) != 1 or slot.qualifier is not None:
            return None
        given = moments[0].stats.rows - moments[0].stats.nulls
        if given == self.layer.values.rows_of.get(column, {}).get(value):
            return None
        name = moments[0].ref.column
        key, options = f"state {term.lower}", [f"{column.column} is {value} now", f"{name} is given"]
        answer = self.chooser.chosen.get(key)
        if answer not in options:
            raise UndecidedError(key, f"“{term.text}” can be told in two ways. Which one?", options)
        return Missing(moments[0].ref, not slot.negated, term.text) if answer == options[1] else None

    def unknown(self, text: str, column: ColumnRef) -> str:
        """A sentence for a value that a column does not hold, with the nearest ones."""
        near = self.layer.values.nearest(text, columns=[column])
        offered = f" Nearest: {', '.join(near)}." if near else ""
        return f"“{text}” is not a value of {column.column}.{offered}"

    def _compare(self, slot: CompareSlot) -> Condition:
        if slot.mention is not None:
            one = self.chooser.pick(slot.mention, fits_number)
            assert one.field is not None
            if slot.hint == ["above zero"]:
                sign = "more than 0" if slot.operator == ">" else "0 or less"
                self.chooser.say(f"“{slot.mention.text}” is read by {one.field.ref.column}: {sign}.")
            return Compare(one.field.ref, slot.operator, self._in_unit(one.field, slot))
        if slot.hint[0] == "unit":
            return self._compare_in_unit(slot)
        tables = [self.home, *[link.parent for link in self.layer.up.get(self.home, ())]]
        for table in tables:
            fields = [
                one
                for one in fields_named(self.layer, table, slot.hint[:1] if slot.hint[0] == "delay" else slot.hint)
                if one.role == "number"
            ]
            if slot.hint[0] == "delay" and len(slot.hint) > 1:
                fields = [
                    one
                    for one in fields
                    if any(stem(slot.hint[1]) in forms for name in one.names for forms in name.forms)
                ]
            if fields:
                if len(fields) > 1 and slot.hint[0] == "delay":
                    raise RefusedError("unused_words", english().text("unused", words="“late” (departing or arriving)"))
                return Compare(fields[0].ref, slot.operator, self._in_unit(fields[0], slot))
        raise RefusedError("no_measure", f"No column says {' or '.join(slot.hint)}.")

    def _compare_in_unit(self, slot: CompareSlot) -> Condition:
        """ "charges over 400 euros": the one quantity of the table that is in euros."""
        fields = [
            one
            for one in self.layer.entities[self.home].fields.values()
            if is_quantity(one) and slot.hint[1] in {token.lower for token in tokenize(one.description)}
        ]
        if len(fields) != 1:
            raise RefusedError("no_measure", f"I did not understand what is to be compared with {slot.hint[1]}.")
        self.chooser.say(f"What is compared is {fields[0].ref.column}.")
        return Compare(fields[0].ref, slot.operator, slot.number)

    def _in_unit(self, field: Field, slot: CompareSlot) -> float:
        """The number in the column's own unit."""
        times = factor(field, slot.unit) if slot.unit else 1.0
        if times is None:
            raise RefusedError("unsupported", f"{field.ref.column} is not in {slot.unit}: {field.description}")
        if times != 1:
            self.chooser.say(f"{slot.number:g} {slot.unit} are {slot.number * times:g} in {field.ref.column}.")
        return slot.number * times

    def _count(self, slot: CountSlot) -> Condition:
        if slot.mention is None:
            raise RefusedError("unused_words", "I did not understand what happened so many times.")
        happened = not any(one.is_table for one in slot.mention.candidates)  # "admitted more than twice"
        one = self.chooser.pick(slot.mention, fits_time if happened else fits_table)
        table = one.entity.key
        if happened and one.field is not None and one.field.stats.nulls:
            raise RefusedError("unused_words", english().text("unused", words=f"“{slot.mention.text}” so many times"))
        if table == self.home and self.counted is not None:
            return Frequent(self.counted, slot.operator, int(slot.number))
        bridge = base_for(self.layer, self.home, [table])
        if table != self.home and bridge not in (None, self.home, table) and not paths_up(self.layer, table, self.home):
            table = str(bridge)
        if table == self.home or not paths_up(self.layer, table, self.home):
            raise RefusedError("no_path", f"{one.entity.said} do not belong to {self.layer.entities[self.home].said}.")
        count, via = int(slot.number), self._via(table)
        if slot.operator in _OPPOSITE:
            return Has(table, (), True, _OPPOSITE[slot.operator], count, via)
        if slot.operator == "=" and count == 0:
            return Has(table, (), True, via=via)
        return Has(table, (), False, slot.operator, count, via)

    def _via(self, child: str) -> str:
        """The column by which rows of a table below point at the home; asked when it has several."""
        home = self.layer.entities[self.home]
        link = self.chooser.link_to(child, home, None, home.said.lower())
        return link.column if link else ""

    def _like(self, slot: LikeSlot) -> Condition:
        assert slot.mention is not None

        def fit(one: Candidate) -> float:
            if one.field is None:
                return 0.0 if one.entity.label and len(one.entity.label) == 1 else -2
            return 0.02 if one.field.role in ("text", "foreign", "key") else -2

        one = self.chooser.pick(slot.mention, fit)
        ref = one.field.ref if one.field else ColumnRef(one.entity.key, one.entity.label[0])
        return Like(ref, slot.form, slot.text, slot.negated)

    def _relation(self, slot: RelationSlot) -> Condition:
        one = self.chooser.pick(slot.mention, fits_any)
        if one.field is not None:
            if one.field.role == "flag":
                return self._flag(one, slot.negated)
            if one.field.role in ("time", "text", "number", "foreign") and paths_up(
                self.layer, self.home, one.entity.key
            ):
                self._check_none(slot, one.field)
                return Missing(one.field.ref, not slot.negated, slot.mention.text)
            if one.field.role == "time" and paths_up(self.layer, one.entity.key, self.home):
                given = (Missing(one.field.ref, True, slot.mention.text),) if one.field.stats.nulls else ()
                return Has(one.entity.key, given, slot.negated, via=self._via(one.entity.key))  # "never admitted"
            raise RefusedError("unsupported", english().text("unused", words=f"“{slot.mention.text}”"))
        if one.entity.key == self.home:
            raise RefusedError("unsupported", english().text("unused", words=f"“{slot.mention.text}”"))
        if paths_up(self.layer, one.entity.key, self.home):
            return Has(one.entity.key, (), slot.negated, via=self._via(one.entity.key))
        if base_for(self.layer, self.home, [one.entity.key]) not in (None, self.home):
            return Has(one.entity.key, (), slot.negated)
        links = [link for link in self.layer.up.get(self.home, ()) if link.parent == one.entity.key]
        if links:
            return Missing(ColumnRef(self.home, links[0].column), not slot.negated)
        raise RefusedError("no_path", f"{one.entity.said} and {self.layer.entities[self.home].said} are not connected.")

    def _check_none(self, slot: RelationSlot, field: Field) -> None:
        """ "products with no cost": whether it is zero or missing must be told where both, or neither, occur."""
        if not slot.negated or slot.missing or not is_quantity(field):
            return
        least = field.stats.least
        zero = isinstance(least, int | float | Decimal) and least <= 0
        if zero or not field.stats.nulls:
            name = field.ref.column
            held = f"{name} is zero in some rows" if zero else f"{name} is missing in no row"
            text = f"{held}: say “{name} = 0” or “{name} is missing” instead of “no {slot.mention.text}”."
            raise RefusedError("unused_words", text)

    def _flag(self, one: Candidate, negated: bool) -> Condition:
        assert one.field is not None
        value: bool | int = (not negated) if one.field.type == "BOOL" else int(not negated)
        return Compare(one.field.ref, "=", value)

    def _state(self, slot: StateSlot) -> Condition:
        """Cancelled, where no value says so: the scheduled event has no actual time."""
        marks = set(english().raw["states"]["scheduled"])
        for table in [self.home, *children_of(self.layer, self.home)[:3]]:
            fields = list(self.layer.entities[table].fields.values())
            planned = [one for one in fields if marks & set(one.words)]
            for one in planned:
                rest = tuple(word for word in one.words if word not in marks)
                actual = next((other for other in fields if other.words == rest and other.stats.nulls), None)
                if actual is not None and table == self.home:
                    what = f"{actual.ref.column} is missing though {one.ref.column} is given"
                    self.chooser.say(f"“{slot.term.text}” is read as: {what}.")
                    return Missing(actual.ref, slot.negated, slot.term.text)
        raise RefusedError("unknown_value", f"No column says which rows are {slot.term.text}.")

    def _weekday(self, slot: WeekdaySlot) -> Condition:
        """A stored day name where the table has such a column, else the day of the week of the table's moment."""
        own = [held for held in slot.term.held if held.column.table == self.home]
        days = [name for name, day in english().raw["weekdays"].items() if day in slot.term.value]
        stored = [held for name in days for held in self.layer.values.find([name]) if held.column.table == self.home]
        if own or stored:
            held = own or stored
            return OneOf(held[0].column, tuple(dict.fromkeys(one.value for one in held)), slot.negated)
        time = self.when.time_of(self.home)
        if time.kind in ("YM", "YMNAME", "Y"):
            raise RefusedError("no_date", f"{self.when.name(time)} tells no day of the week.")
        return OnPart(time, "day of the week", slot.term.value, slot.term.text, slot.negated)

    def _told(self, slot: PeriodSlot) -> str | None:
        """The table whose own time the period is about, as the question's order of words tells."""
        if slot.near is None:
            return None
        table = slot.near.candidates[0].entity.key
        if table == self.home or (paths_up(self.layer, self.home, table) and not slot.clause):
            return None
        return table if self.layer.entities[table].times else None

    def _period(self, slot: PeriodSlot) -> Condition:
        told = self._told(slot)
        if slot.mention is not None and slot.mention.candidates[0].field is not None:
            time = self.when.time_of(self.home, slot.mention)
        elif (told is not None and told in self.relations) or (
            told is not None and paths_up(self.layer, self.home, told)
        ):
            time = self.when.time_of(told)
        else:
            time = self.when.time_of(self.base or self.home)
        return self.when.during(time, slot.period, negated=slot.negated)


def says(words: Sequence[str], text: str) -> bool:
    """Whether one of the words is the text's form."""
    return root(text) in {root(word) for word in words}


__all__ = ["Conditions", "OnPart", "says"]
