"""Superlatives: by which measure or column the first or last are found, asked where the question does not tell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .choose import (
    RefusedError,
    UndecidedError,
    fields_named,
    fits_group,
)
from .joins import base_for, distance
from .lexicons import english
from .measures import Measures, additive, mention_of
from .mentions import Candidate
from .plan import (
    ColumnRef,
    Direction,
)
from .quantities import is_quantity
from .semantics import Entity, Field
from .slots import MeasureSlot, OrderSlot, values_of
from .terms import Term
from .words import root

_PLAIN = ("asc", "desc")


class Superlatives(Measures):
    """Superlatives of one question."""

    def _superlatives(self) -> None:
        """Turn superlatives into an order over a measure, or over a column of the rows."""
        for order in self.slots.order:
            entry = order.superlative
            if entry is not None and entry.get("measure") and order.measure is not None and not self.slots.measures:
                self.slots.measures.append(order.measure)
            if entry is None or order.measure is not None or order.time:
                continue
            if entry.get("count"):
                order.measure = self._rows_of_target()
                self.slots.measures.append(order.measure)
            elif order.mention is not None:
                self._superlative_over(order, order.mention)
            elif self.slots.measures:
                order.measure = self.slots.measures[0]
            else:
                self._superlative_hint(order, entry)

    def _rows_of_target(self) -> MeasureSlot:
        target = self.slots.target
        if target is None:
            raise RefusedError("no_measure", "I did not understand what is to be counted.")
        if self.slots.tables:
            return MeasureSlot("count", self.slots.tables.pop(0), said="rows")
        if target.kind != "mention":
            return self._rows_in_time(target)
        one = self.chooser.pick(target, fits_group) if target.candidates[0].field is not None else target.candidates[0]
        below = list(dict.fromkeys(link.child for link in self.layer.links if link.parent == one.entity.key))
        tables = [one.entity.key, *below] if one.field is not None else below
        if not tables:
            raise RefusedError("no_measure", f"I did not understand by what {target.text} are to be ordered.")
        key = f"rows {target.lower}"
        options = [f"number of {self.layer.entities[table].said}" for table in tables]
        answer = self.chooser.chosen.get(key)
        if len(options) > 1 and answer not in options:
            raise UndecidedError(key, f"{target.text.capitalize()} counted by what?", options[:6])
        entity = self.layer.entities[tables[options.index(answer)] if answer else tables[0]]
        fake = Term("mention", None, target.tokens, [Candidate(entity, None, 1.0)])
        return MeasureSlot("count", fake, said=entity.said)

    def _rows_in_time(self, target: Term) -> MeasureSlot:
        """What happens in "the busiest month": rows of a table with a moment; asked where several tables have one."""
        held = {held.column.table for slot in self.slots.conditions for held in values_of(slot)}
        yearly = target.value == "year"
        timed = [one for one in self.layer.entities.values() if one.times and (yearly or one.times[0].kind != "Y")]
        pointed = {link.parent for link in self.layer.links}
        near = [one for one in timed if not held or base_for(self.layer, one.key, held) == one.key] or timed
        near = sorted(near, key=lambda one: (one.key in pointed and len(one.label) > 0, one.rows))
        options = [f"number of {one.said}" for one in near]
        if not options:
            raise RefusedError("no_date", f"No table has a date, so there is no busiest {target.text}.")
        answer = self.chooser.chosen.get(f"rows {target.lower}")
        if len(options) > 1 and answer not in options:
            raise UndecidedError(f"rows {target.lower}", f"The {target.text} is found by counting what?", options[:6])
        entity = near[options.index(answer)] if answer else near[0]
        fake = Term("mention", None, target.tokens, [Candidate(entity, None, 1.0)])
        return MeasureSlot("count", fake, said=entity.said)

    def _superlative_over(self, order: OrderSlot, mention: Term) -> None:
        target = self.slots.target
        if target is None or (target.kind == "mention" and target is mention):
            function: Any = "max" if self._direction(order, mention) == "desc" else "min"
            order.measure = MeasureSlot(function, mention, said=mention.text)
            self.slots.measures.append(order.measure)
            self.slots.order = [one for one in self.slots.order if one is not order]
            return
        if target.kind == "mention" and self._names_rows(target):
            named = {one.entity.key for one in target.candidates if one.score >= target.candidates[0].score - 0.1}
            if any(
                one.field is not None and one.field.role == "number" and one.entity.key in named and one.score > 0.4
                for one in mention.candidates
            ):
                return  # rows of the target, sorted
        self._ask_function(order, mention)

    def _names_rows(self, target: Term) -> bool:
        """Whether the target is a table, or the column by which its rows are called."""
        one = target.candidates[0]
        return one.field is None or one.field.ref.column in (*one.entity.label, *one.entity.identifier)

    def _ask_function(self, order: OrderSlot, mention: Term) -> None:
        """The column has many values for each target: which of them counts must be told."""
        key = f"function {mention.lower}"
        if additive(mention):
            order.measure = MeasureSlot("sum", mention, said=mention.text)
            self.slots.measures.append(order.measure)
            return
        words = {"average": "avg", "total": "sum", "highest single": "max", "lowest single": "min"}
        answer = self.chooser.chosen.get(key)
        options = [
            f"{word} {mention.text}"
            for word in (
                "average",
                "total",
                "highest single" if order.direction in ("desc", "worst") else "lowest single",
            )
        ]
        if answer not in options:
            raise UndecidedError(key, f"There are many values of {mention.text} for each. Which one counts?", options)
        function: Any = words[answer.removesuffix(f" {mention.text}")]
        order.measure = MeasureSlot(function, mention, said=mention.text)
        self.slots.measures.append(order.measure)

    def _superlative_hint(self, order: OrderSlot, entry: dict[str, Any]) -> None:
        target = self.slots.target
        if target is None or target.kind != "mention":
            raise RefusedError("unused_words", english().text("unused", words=f"“{entry['words'][0]}”"))
        entity = target.candidates[0].entity
        for hints, turned in ((entry.get("hint", ()), False), (entry.get("opposite_hint", ()), True)):
            fields = self._hinted(entity, hints)
            if fields:
                fields = self._one_hint(target, entity, fields)
                order.mention = mention_of(target, entity, fields[0])
                if turned and order.direction in ("asc", "desc"):
                    order.direction = "asc" if order.direction == "desc" else "desc"
                self.chooser.say(f"{entry['words'][0]} is read by {fields[0].ref.column} of {entity.said}.")
                return
        self._ask_by_what(target, entity, order)

    def _hinted(self, entity: Entity, hints: Sequence[str]) -> list[Field]:
        """The fields of the first hint that names any."""
        for hint in hints:
            fields = [
                one for one in fields_named(self.layer, entity.key, [hint]) if one.role in ("number", "part", "time")
            ]
            if fields:
                return fields
        return []

    def _one_hint(self, target: Term, entity: Entity, fields: list[Field]) -> list[Field]:
        """The field that a superlative is about; asked when its words name several."""
        key, options = f"by {target.lower}", [f"{one.ref.column} of {entity.said}" for one in fields]
        if len(fields) > 1 and self.chooser.chosen.get(key) not in options:
            raise UndecidedError(key, f"{target.text.capitalize()} by which column?", options[:6])
        return [fields[options.index(self.chooser.chosen[key])]] if len(fields) > 1 else fields

    def _ask_by_what(self, target: Term, entity: Entity, order: OrderSlot) -> None:
        key = f"by {target.lower}"
        numbers = [one for one in entity.fields.values() if is_quantity(one) and not one.counts][:3]
        options = [f"{one.ref.column} of {entity.said}" for one in numbers]
        children = {link.child for link in self.layer.links if link.parent == entity.key}
        nearest = sorted((self.layer.entities[child] for child in children), key=lambda one: (one.rows, one.key))[:3]
        options = [f"number of {child.said}" for child in nearest] + (options if order.direction in _PLAIN else [])
        if target.candidates[0].field is not None and target.candidates[0].field.role != "key":
            options = [f"number of {entity.said}", *[f"average {one.ref.column}" for one in numbers]]
        revenue = next(one for one in english().raw["measures"] if "revenue" in one["words"])
        if self._earns(entity, revenue):
            options.insert(0, "revenue")
        answer = self.chooser.chosen.get(key)
        if answer not in options or not options:
            if not options:
                raise RefusedError("no_measure", f"I did not understand by what {target.text} are to be ordered.")
            raise UndecidedError(key, f"{target.text.capitalize()} ordered by what?", options[:6])
        if answer == "revenue":
            order.measure = MeasureSlot(None, business=revenue, said="revenue")
            self.slots.measures.append(order.measure)
        elif answer.startswith("number of "):
            counted = next(one for one in self.layer.entities.values() if one.said == answer.removeprefix("number of "))
            order.measure = MeasureSlot(
                "count", Term("mention", None, target.tokens, [Candidate(counted, None, 1.0)]), said=counted.said
            )
            self.slots.measures.append(order.measure)
        elif answer.startswith("average "):
            field = next(one for one in numbers if f"average {one.ref.column}" == answer)
            order.measure = MeasureSlot("avg", mention_of(target, entity, field), said=field.ref.column)
            self.slots.measures.append(order.measure)
        else:
            order.mention = mention_of(
                target, entity, next(one for one in numbers if f"{one.ref.column} of {entity.said}" == answer)
            )

    def _earns(self, entity: Entity, revenue: dict[str, Any]) -> bool:
        """Whether revenue is told by a column from which rows of the table are reached."""
        asked = len(self.chooser.assumed)
        try:
            value = self._business(revenue, "revenue")
        except (RefusedError, UndecidedError):
            return False
        finally:
            del self.chooser.assumed[asked:]
        table = value.table if isinstance(value, ColumnRef) else value.left.table
        return table != entity.key and distance(self.layer, table, entity.key) is not None

    def _direction(self, order: OrderSlot, mention: Term | None) -> Direction:
        if order.direction in ("asc", "desc"):
            return order.direction
        words = {root(token.lower) for token in mention.tokens} if mention else set()
        if order.measure is not None:
            words |= {root(word) for word in order.measure.said.lower().split()}
            if order.measure.mention is not None:
                words |= {
                    root(word) for one in order.measure.mention.candidates[:1] if one.field for word in one.field.words
                }
        bad = bool(words & {root(word) for word in english().raw["polarity"]["bad"]})
        return "desc" if (order.direction == "worst") == bad else "asc"
