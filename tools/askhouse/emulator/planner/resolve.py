"""From slots to a plan: tables, columns and functions chosen so that every word of the question has its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from .choose import (
    Chooser,
    RefusedError,
    UndecidedError,
    fields_named,
    fits_any,
    fits_group,
    fits_number,
    fits_table,
    fits_time,
    label_of,
)
from .conditions import Conditions
from .joins import base_for, distance, paths_up
from .lexicons import english
from .mentions import Candidate
from .plan import (
    Aggregate,
    ByColumn,
    ByTime,
    ColumnRef,
    Condition,
    Dimension,
    Direction,
    During,
    Having,
    Measure,
    Missing,
    Order,
    Plan,
    Product,
    Ratio,
    ShareOfTotal,
    TimeRef,
    Value,
)
from .semantics import Entity, Field, SemanticLayer
from .slots import CompareSlot, CountSlot, DimensionSlot, MeasureSlot, OrderSlot, PeriodSlot, Slots
from .terms import Term
from .when import Today, When
from .words import root, stem

_FUNCTIONS = {
    "count": "number of",
    "count_distinct": "number of different",
    "sum": "total",
    "avg": "average",
    "min": "lowest",
    "max": "highest",
    "median": "median",
}
_PREFIX = {"sum": "total", "avg": "average", "min": "min", "max": "max", "median": "median"}
MOST_ROWS = 100
"""Rows of a listing that nobody limited."""


class Resolver:
    """One question's slots over one layer. `assumed` must be said with the answer."""

    def __init__(self, layer: SemanticLayer, slots: Slots, today: Today, chosen: dict[str, str] | None = None) -> None:
        self.layer = layer
        self.slots = slots
        self.chooser = Chooser(layer, chosen or {})
        self.when = When(layer, self.chooser, today)
        self.measures: list[Measure] = []
        self.pointing: list[Condition] = []
        self.ranked = bool(slots.target is not None and any(one.superlative for one in slots.order))
        self.having: list[tuple[Measure, str, float]] = []

    def plan(self) -> Plan:
        """The plan. Raises UndecidedError or RefusedError."""
        self.chooser.anchors = self._anchors()
        self._share_as_measure()
        self._superlatives()
        if not self.slots.measures and self._counts():
            self._count_target()
        return self._aggregate_plan() if self.slots.measures else self._listing_plan()

    # What is asked for

    def _anchors(self) -> list[str]:
        mentions = [
            self.slots.target,
            *self.slots.tables,
            *[slot.mention for slot in self.slots.measures],
            *[slot.mention for slot in self.slots.dimensions],
        ]
        found = [
            mention.candidates[0].entity.key
            for mention in mentions
            if mention is not None
            and mention.kind == "mention"
            and mention.candidates[0].is_table
            and mention.candidates[0].score >= 0.85
        ]
        return list(dict.fromkeys(found))

    def _share_as_measure(self) -> None:
        if self.slots.is_share and not self.slots.measures:
            if self.slots.target is None:
                raise RefusedError("no_measure", "I did not understand what the share is of.")
            self.slots.measures.append(MeasureSlot("count", self.slots.target, said=self.slots.target.text))
            self.slots.target = None

    def _counts(self) -> bool:
        """Whether rows of the target are to be counted though nobody said "how many"."""
        slots = self.slots
        if slots.target is None or slots.is_rows or slots.order:
            return bool(slots.dimensions and slots.target is not None and not slots.is_rows and not slots.order)
        grouped = bool(slots.dimensions) or slots.is_compare
        counted = any(
            isinstance(slot, CountSlot | CompareSlot) and (isinstance(slot, CountSlot) or slot.measure)
            for slot in slots.conditions
        )
        return (
            grouped
            or (not slots.is_list and slots.target.kind == "mention" and self._target_is_table() and not slots.columns)
            or (counted and slots.is_list and False)
        )

    def _target_is_table(self) -> bool:
        assert self.slots.target is not None
        return bool(self.slots.target.candidates) and self.slots.target.candidates[0].is_table

    def _count_target(self) -> None:
        assert self.slots.target is not None
        self.slots.measures.append(MeasureSlot("count", self.slots.target, said=self.slots.target.text))
        self.slots.target = None

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
        one = target.candidates[0]
        table = (
            one.entity.key
            if one.field is not None
            else next(iter(link.child for link in self.layer.links if link.parent == one.entity.key), None)
        )
        if table is None:
            raise RefusedError("no_measure", f"I did not understand by what {target.text} are to be ordered.")
        entity = self.layer.entities[table]
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
                order.mention = _mention_of(target, entity, fields[0])
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
        numbers = [one for one in entity.fields.values() if one.role == "number" and not one.counts][:3]
        options = [f"{one.ref.column} of {entity.said}" for one in numbers]
        children = [link.child for link in self.layer.links if link.parent == entity.key][:3]
        options = [f"number of {self.layer.entities[child].said}" for child in dict.fromkeys(children)] + options
        if target.candidates[0].field is not None:
            options = [f"number of {entity.said}", *[f"average {one.ref.column}" for one in numbers]]
        answer = self.chooser.chosen.get(key)
        if answer not in options or not options:
            if not options:
                raise RefusedError("no_measure", f"I did not understand by what {target.text} are to be ordered.")
            raise UndecidedError(key, f"{target.text.capitalize()} ordered by what?", options[:6])
        if answer.startswith("number of "):
            counted = next(one for one in self.layer.entities.values() if one.said == answer.removeprefix("number of "))
            order.measure = MeasureSlot(
                "count", Term("mention", None, target.tokens, [Candidate(counted, None, 1.0)]), said=counted.said
            )
            self.slots.measures.append(order.measure)
        elif answer.startswith("average "):
            field = next(one for one in numbers if f"average {one.ref.column}" == answer)
            order.measure = MeasureSlot("avg", _mention_of(target, entity, field), said=field.ref.column)
            self.slots.measures.append(order.measure)
        else:
            order.mention = _mention_of(
                target, entity, next(one for one in numbers if f"{one.ref.column} of {entity.said}" == answer)
            )

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

    # Measures

    def _home_of(self, slot: MeasureSlot) -> tuple[str, Candidate | None, Value | None]:
        """Where a measure's rows are, the candidate chosen, and its column."""
        if slot.business is not None:
            value = self._business(slot.business, slot.said)
            table = value.table if isinstance(value, ColumnRef) else value.left.table
            return table, None, value
        assert slot.mention is not None
        if slot.worth and slot.mention.candidates[0].is_table:
            return self._worth(slot)
        if slot.function == "count":
            one = self._counted(slot)
            return one.entity.key, one, one.field.ref if one.field else None
        if slot.mention.value == "counted" or (
            slot.mention.candidates[0].is_table and slot.function == "sum" and slot.mention.candidates[0].score >= 0.85
        ):
            one = self.chooser.pick(slot.mention, fits_table)
            return one.entity.key, one, None
        if (
            slot.function in ("min", "max")
            and slot.mention.candidates[0].field is not None
            and slot.mention.candidates[0].field.role in ("time", "part")
        ):
            one = slot.mention.candidates[0]
            assert one.field is not None
            return one.entity.key, one, one.field.ref
        one = self.chooser.pick(slot.mention, fits_number)
        assert one.field is not None
        return one.entity.key, one, one.field.ref

    def _worth(self, slot: MeasureSlot) -> tuple[str, Candidate | None, Value | None]:
        """The amount of payments: the table's column of that name."""
        assert slot.mention is not None
        entity = self.chooser.pick(slot.mention, fits_table).entity
        fields = [
            one
            for one in fields_named(self.layer, entity.key, ["amount", "value", "price", "total"])
            if one.role == "number"
        ]
        if not fields:
            raise RefusedError("no_measure", f"{entity.said} has no column that holds an amount.")
        return entity.key, Candidate(entity, fields[0], 1.0), fields[0].ref

    def _counted(self, slot: MeasureSlot) -> Candidate:
        assert slot.mention is not None

        def fit(one: Candidate) -> float:
            if one.field is None:
                return 0.05
            if one.field.counts:
                return 0.05
            return {"number": 0.0, "time": -0.6, "text": 0.0, "foreign": -0.04, "key": -0.06}.get(one.field.role, -0.1)

        return self.chooser.pick(slot.mention, fit)

    def _business(self, entry: dict[str, Any], said: str) -> ColumnRef | Product:
        """The column that holds revenue and its like."""
        never = [tuple(stem(word) for word in text.split()) for text in entry["never"]]
        found: list[tuple[int, int, ColumnRef | Product]] = []
        for table, entity in self.layer.entities.items():
            if self.chooser.anchors and not any(
                base_for(self.layer, table, [anchor]) for anchor in self.chooser.anchors
            ):
                continue
            for left, right in entry.get("product", ()):
                pair = [
                    next(iter(one for one in fields_named(self.layer, table, [text]) if one.role == "number"), None)
                    for text in (left, right)
                ]
                if pair[0] and pair[1] and not fields_named(self.layer, table, entry["columns"][:8]):
                    found.append((20, -entity.rows, Product(pair[0].ref, pair[1].ref)))
            for rank, text in enumerate(entry["columns"]):
                for one in fields_named(self.layer, table, [text]):
                    if one.role != "number" or any(_has(one, words) for words in never):
                        continue
                    found.append((rank, -entity.rows, one.ref))
        if not found:
            raise RefusedError("no_measure", f"No column of these tables holds {said}.")
        glossed = self._glossed(entry)
        best = glossed or min(found, key=lambda item: item[:2])[2]
        where = best.column if isinstance(best, ColumnRef) else f"{best.left.column} × {best.right.column}"
        table = best.table if isinstance(best, ColumnRef) else best.left.table
        rival = [
            ref for rank, _, ref in found if rank == min(found)[0] and isinstance(ref, ColumnRef) and ref.table != table
        ]
        if rival and not glossed and not self.chooser.anchors:
            key = f"business {said.lower()}"
            options = [
                f"{ref.column} of {self.layer.entities[ref.table].said}"
                for ref in [best, *rival]
                if isinstance(ref, ColumnRef)
            ]
            answer = self.chooser.chosen.get(key)
            if answer not in options:
                raise UndecidedError(key, f"“{said}” could be one of several columns. Which one?", options)
            best = next(
                ref
                for ref in [best, *rival]
                if isinstance(ref, ColumnRef) and f"{ref.column} of {self.layer.entities[ref.table].said}" == answer
            )
            return best
        entity = self.layer.entities[table]
        every = " of every status" if any(one.words[-1] == "status" for one in entity.fields.values()) else ""
        self.chooser.say(f"{said[0].upper()}{said[1:]} is {where} of {entity.said}{every}.")
        return best

    def _glossed(self, entry: dict[str, Any]) -> ColumnRef | None:
        """The column that the authored glossary names for this business word."""
        for term in self.layer.context.glossary:
            if term.term.lower() in entry["words"] or any(label.lower() in entry["words"] for label in term.labels):
                for entity in self.layer.entities.values():
                    for one in entity.fields.values():
                        if one.role == "number" and one.ref.column in term.description:
                            return one.ref
        return None

    def _measure(self, slot: MeasureSlot) -> Measure:
        home, one, value = self._home_of(slot)
        entity = self.layer.entities[home]
        if slot.business is not None:
            function = slot.function or slot.business["function"]
            prefix = "" if slot.function in (None, "sum") else f"{_PREFIX[function]} "
            name = f"{prefix}{slot.business['words'][0]}"
            return Aggregate(function, home, value, (), name, f"{_FUNCTIONS[function]} {self._said(value)}")
        if slot.function == "count" or (one is not None and one.is_table):
            return self._count_measure(slot, home, one)
        assert isinstance(value, ColumnRef)
        function = slot.function or "sum"
        return Aggregate(
            function,
            home,
            value,
            (),
            f"{_PREFIX[function]} {value.column}",
            f"{_FUNCTIONS[function]} {value.column} of {entity.said}",
        )

    def _count_measure(self, slot: MeasureSlot, home: str, one: Candidate | None) -> Measure:
        entity = self.layer.entities[home]
        if slot.function == "avg":
            return self._average_count(entity)
        held = next(
            (held for held in entity.fields.values() if held.role == "number" and held.words in (("count",), ("cnt",))),
            None,
        )
        if one is not None and one.is_table and held is not None:
            self.chooser.say(f"{entity.said} are counted by the sum of {held.ref.column}.")
            return Aggregate(
                "sum", home, held.ref, (), f"number of {entity.said}", f"total {held.ref.column} of {entity.said}"
            )
        links = [link for link in self.layer.up.get(self.chooser.home or "", ()) if link.parent == home]
        if slot.distinct and one is not None and one.is_table and len(links) == 1 and home != self.chooser.home:
            ref = ColumnRef(links[0].child, links[0].column)
            said = f"number of different {entity.said} of {self.layer.entities[ref.table].said}"
            return Aggregate("count_distinct", ref.table, ref, (), f"number of {entity.said}", said)
        if one is None or one.is_table or (one.field is not None and one.field.role == "key"):
            return Aggregate("count", home, None, (), f"number of {entity.said}", f"number of {entity.said}")
        assert one.field is not None
        if one.field.role == "number" and not slot.distinct:
            return Aggregate(
                "sum",
                home,
                one.field.ref,
                (),
                f"total {one.field.ref.column}",
                f"total {one.field.ref.column} of {entity.said}",
            )
        return Aggregate(
            "count_distinct",
            home,
            one.field.ref,
            (),
            f"number of {_plural(one.field.ref.column)}",
            f"number of different {one.field.ref.column} of {entity.said}",
        )

    def _average_count(self, counted: Entity) -> Measure:
        """Average number of orders per customer: rows divided by different customers."""
        for dimension in self.slots.dimensions:
            if dimension.mention is None:
                continue
            one = dimension.mention.candidates[0]
            links = [link for link in self.layer.up.get(counted.key, ()) if link.parent == one.entity.key]
            if links and (one.is_table or (one.field and one.field.role in ("key", "foreign"))):
                self.slots.dimensions.remove(dimension)
                top = Aggregate("count", counted.key)
                bottom = Aggregate("count_distinct", counted.key, ColumnRef(counted.key, links[0].column))
                self.chooser.say(f"{one.entity.said} without {counted.said} are not counted.")
                said = f"average number of {counted.said} per row of {one.entity.said}"
                return Ratio(top, bottom, False, f"average number of {counted.said}", said)
        raise RefusedError(
            "unsupported", f"I did not understand per what the average number of {counted.said} is meant."
        )

    def _said(self, value: Value | None) -> str:
        if isinstance(value, ColumnRef):
            return f"{value.column} of {self.layer.entities[value.table].said}"
        if isinstance(value, Product):
            return f"{value.left.column} × {value.right.column} of {self.layer.entities[value.left.table].said}"
        return "rows"

    # Plans with measures

    def _aggregate_plan(self) -> Plan:
        self._number_per_row()
        first = self._home_of(self.slots.measures[0])[0]
        self.chooser.home = first
        measures = list(dict.fromkeys(self._measure(slot) for slot in self.slots.measures))
        home = _home(measures[0])
        self.chooser.home = home
        self._counted_group(home)
        measures += [measure for slot in self._having_slots() if (measure := self._measure(slot)) not in measures]
        dimensions = self._dimensions(home)
        self._return_columns(dimensions, measures)
        base = base_for(self.layer, home, [_table(one) for one in dimensions])
        conditions = Conditions(
            self.layer, self.chooser, self.when, home, base if base and self.layer.entities[base].times else None
        )
        relations = [table for table in self._relations(home) if table != base]
        plain = [slot for slot in self.slots.conditions if not isinstance(slot, CompareSlot) or slot.measure is None]
        periods = [slot for slot in plain if isinstance(slot, PeriodSlot)]
        where = [*conditions.resolve(plain, relations), *self.pointing]
        if self.slots.is_share:
            measures = self._shares(measures, conditions, dimensions)
        if (
            conditions.split is not None
            and not self.slots.is_share
            and all(not (isinstance(one, ByColumn) and one.column == conditions.split) for one in dimensions)
        ):
            dimensions.append(ByColumn(conditions.split, said=conditions.split.column))
        elif self.slots.is_compare and not dimensions:
            dimensions += self._compared_dimension(where, periods)
        having = tuple(self._having(measures))
        order, limit = self._order(measures, dimensions)
        within = self._within(dimensions) if limit else ()
        return Plan(home, tuple(measures), tuple(dimensions), tuple(where), having, order, limit, within)

    def _number_per_row(self) -> None:
        """ "number of items per order" with a column that holds it: an average over the orders, not a group each."""
        for slot in self.slots.measures:
            if slot.function != "avg" or slot.mention is None or slot.mention.value != "counted":
                continue
            words = {stem(token.lower) for token in slot.mention.tokens}
            for dimension in list(self.slots.dimensions):
                if dimension.mention is None or not dimension.mention.candidates[0].is_table:
                    continue
                entity = dimension.mention.candidates[0].entity
                held = [one for one in entity.fields.values() if one.counts and one.counts <= words]
                if held:
                    self.slots.dimensions.remove(dimension)
                    slot.mention = _mention_of(slot.mention, entity, held[0])

    def _counted_group(self, home: str) -> None:
        """ "which categories have more than 100 products": the target becomes the group, the count its condition."""
        slots = self.slots
        if slots.target is not None and slots.target.kind != "mention":
            slots.dimensions.insert(0, DimensionSlot(grain=slots.target.value, target=True))
            slots.target = None
        elif slots.target is not None:
            if not (
                slots.target.candidates[0].is_table
                and slots.target.candidates[0].entity.key == home
                and not self._row_target(home)
            ):
                slots.dimensions.insert(0, DimensionSlot(slots.target, target=True))
            slots.target = None

    def _row_target(self, home: str) -> bool:
        return bool(self.slots.order) and not any(slot.function == "count" for slot in self.slots.measures)

    def _return_columns(self, dimensions: list[Dimension], measures: list[Measure]) -> None:
        """Columns that the question wants returned: those of the groups' own rows take the place of the name."""
        for term in self.slots.returned:
            if any(self._is_measured(term, measure) for measure in measures):
                continue
            placed = next(
                (
                    place
                    for place, one in enumerate(dimensions)
                    if isinstance(one, ByColumn) and self._of_group(term, one)
                ),
                None,
            )
            if placed is None:
                raise RefusedError("unused_words", english().text("unused", words=f"“{term.text}” here"))
            dimensions[placed] = self._with_column(term, dimensions[placed])

    def _is_measured(self, term: Term, measure: Measure) -> bool:
        column = measure.column if isinstance(measure, Aggregate) else None
        return any(one.field is not None and one.field.ref == column for one in term.candidates if one.score >= 0.4)

    def _of_group(self, term: Term, dimension: ByColumn) -> bool:
        return any(self._in_group(one, dimension) for one in term.candidates if one.score >= 0.3)

    def _in_group(self, one: Candidate, dimension: ByColumn) -> bool:
        ref = replace(dimension.column, via="")
        if one.field is None:
            return one.entity.key == ref.table
        if one.field.ref == ref or self.chooser.same_column(one.field.ref, ref):
            return True
        keyed = dimension.key is not None or ref.column in (
            *self.layer.entities[ref.table].identifier,
            *self.layer.entities[ref.table].label,
        )
        return keyed and one.entity.key == ref.table

    def _with_column(self, term: Term, dimension: Dimension) -> Dimension:
        assert isinstance(dimension, ByColumn)
        one = max((one for one in term.candidates if self._in_group(one, dimension)), key=lambda one: one.score)
        shown = (dimension.column, *dimension.more)
        if one.field is None or one.field.ref in [replace(ref, via="") for ref in shown]:
            return dimension
        if dimension.key is not None and one.field.ref == replace(dimension.key, via=""):
            return replace(dimension, show_key=True)
        if self.chooser.same_column(one.field.ref, replace(dimension.column, via="")):
            return dimension
        return replace(dimension, more=(*dimension.more, replace(one.field.ref, via=dimension.column.via)))

    def _having_slots(self) -> list[MeasureSlot]:
        return [
            slot.measure for slot in self.slots.conditions if isinstance(slot, CompareSlot) and slot.measure is not None
        ]

    def _having(self, measures: list[Measure]) -> list[Having]:
        found = []
        for slot in self.slots.conditions:
            if isinstance(slot, CompareSlot) and slot.measure is not None:
                found.append(Having(measures.index(self._measure(slot.measure)), slot.operator, slot.number))
        return found + [Having(measures.index(measure), operator, number) for measure, operator, number in self.having]  # type: ignore[arg-type]

    def _relations(self, home: str) -> list[str]:
        """Tables below the home that the question names without counting them: it must have rows there."""
        found = []
        for mention in self.slots.tables:
            one = self.chooser.pick(mention, fits_table)
            key = one.entity.key
            if key == home or distance(self.layer, home, key) is not None:
                self._pointed_at(home, key)
                continue
            if paths_up(self.layer, key, home) or base_for(self.layer, home, [key]):
                found.append(key)
            elif not any(sense.kind == "light" for sense in english().phrases.get((mention.lower,), ())):
                raise RefusedError(
                    "no_path", f"{one.entity.said} and {self.layer.entities[home].said} are not connected."
                )
        for column in self.slots.columns:
            raise RefusedError("unused_words", english().text("unused", words=f"“{column.text}” here"))
        return list(dict.fromkeys(found))

    def _pointed_at(self, home: str, key: str) -> None:
        """ "publications presented at conferences": rows that point at none are left out, where there are such."""
        links = [link for link in self.layer.up.get(home, ()) if link.parent == key]
        if len(links) == 1 and self.layer.entities[home].fields[links[0].column].stats.nulls:
            self.pointing.append(Missing(ColumnRef(home, links[0].column), negated=True))

    def _shares(self, measures: list[Measure], conditions: Conditions, dimensions: list[Dimension]) -> list[Measure]:
        part = conditions.resolve(self.slots.share)
        found: list[Measure] = []
        for measure in measures:
            if not isinstance(measure, Aggregate) or measure.function not in ("count", "sum", "count_distinct"):
                raise RefusedError("unsupported", "A share is understood of a number or a total only.")
            if part:
                top = replace(measure, where=part)
                found.append(
                    Ratio(
                        top,
                        measure,
                        True,
                        f"share of {measure.name.removeprefix('number of ')}",
                        f"share of {measure.said} where the condition holds",
                    )
                )
            elif dimensions:
                found.append(
                    ShareOfTotal(
                        measure,
                        f"share of {measure.name.removeprefix('number of ')}",
                        f"share of the {measure.said} over all groups",
                    )
                )
                found.insert(0, measure) if measure not in found else None
            else:
                raise RefusedError("unused_words", "I did not understand which part the share is of.")
        return found

    def _compared_dimension(self, where: list[Any], periods: list[PeriodSlot]) -> list[Dimension]:
        during = [one for one in where if isinstance(one, During)]
        if len(during) == 2 and len(periods) == 2:
            raise RefusedError(
                "unsupported",
                "Comparing two periods is not understood yet. Ask for the numbers by year, quarter or month.",
            )
        return []

    # Dimensions

    def _dimensions(self, home: str) -> list[Dimension]:
        found: list[Dimension] = []
        for slot in self.slots.dimensions:
            made = self._dimension(slot, home)
            if made not in found:
                found.append(made)
        return found

    def _dimension(self, slot: DimensionSlot, home: str) -> Dimension:
        if slot.mention is None:
            return self._by_time(slot, home)
        one = self.chooser.pick(slot.mention, self._fits_way(slot))
        if one.field is not None and one.field.role == "time":
            time = self.when.of_column(one.entity.key, one.field.ref.column)
            return ByTime(time, "day", one.field.ref.column)
        if (
            one.field is not None
            and one.field.role == "part"
            and one.field.words[0] in english().raw["grains"]
            and self.layer.entities[home].times
        ):
            return self._by_time(DimensionSlot(grain=one.field.words[0]), home)
        if one.field is not None:
            return self._by_field(one.field, slot, home)
        return self._by_entity(one.entity, slot, home)

    def _fits_way(self, slot: DimensionSlot) -> Any:
        way = slot.way or self.slots.way

        def fit(one: Candidate) -> float:
            base = fits_group(one)
            if way and one.field is not None and one.field.role == "foreign":
                return base + (0.2 if self.chooser.leads(one.field.ref, way) else 0.0)
            return base

        return fit

    def _by_field(self, one: Field, slot: DimensionSlot, home: str) -> Dimension:
        ref = one.ref
        for link in self.layer.up.get(home, ()):
            if link.parent == ref.table and link.parent_column == ref.column:
                ref = ColumnRef(home, link.column)
        via = ""
        if ref.table != home:
            assert slot.mention is not None
            link2 = self.chooser.link_to(
                home, self.layer.entities[ref.table], slot.way or self.slots.way, slot.mention.lower
            )
            via = link2.column if link2 else ""
        return ByColumn(ColumnRef(ref.table, ref.column, via), said=ref.column)

    def _by_entity(self, entity: Entity, slot: DimensionSlot, home: str) -> Dimension:
        assert slot.mention is not None
        via = ""
        if entity.key != home and paths_up(self.layer, home, entity.key):
            link = self.chooser.link_to(home, entity, slot.way or self.slots.way, slot.mention.lower)
            if link is not None:
                return ByColumn(ColumnRef(link.child, link.column), said=link.column)
        refs = [ColumnRef(entity.key, name, via) for name in entity.label]
        key = ColumnRef(entity.key, entity.identifier[0], via) if len(entity.identifier) == 1 else None
        if not refs:
            if key is None:
                raise RefusedError("unsupported", f"Rows of {entity.said} have no name or key to group by.")
            return ByColumn(key, said=key.column)
        unique = len(refs) == 1 and entity.fields[refs[0].column].stats.distinct >= entity.rows
        return ByColumn(
            refs[0],
            None if unique or key is None or key == refs[0] else key,
            not unique,
            tuple(refs[1:]),
            said=entity.said,
        )

    def _by_time(self, slot: DimensionSlot, home: str) -> ByTime:
        time = self.when.time_of(home)
        grain = slot.grain
        if grain in ("hour", "hour of the day"):
            time = self._time_with_hour(home)
        if time.kind == "Y" and grain != "year":
            raise RefusedError("no_date", f"{self.when.name(time)} tells the year only.")
        if time.kind in ("YM", "YMNAME") and grain in ("day", "week", "day of the week"):
            raise RefusedError("no_date", f"{self.when.name(time)} tells the month only.")
        return ByTime(time, grain, grain)  # type: ignore[arg-type]

    def _time_with_hour(self, home: str) -> TimeRef:
        fields = self.layer.entities[home].fields
        for one in fields.values():
            if one.words == ("hour",) and one.role == "part":
                raise RefusedError(
                    "unsupported",
                    f"Please ask for “{one.ref.column} of {self.layer.entities[home].said}” by name; grouping by hour is not understood here yet.",
                )
        for time in self.layer.entities[home].times:
            if time.kind in ("TIMESTAMP", "DATETIME"):
                return time
        raise RefusedError("no_date", f"{self.layer.entities[home].said} has no time of day.")

    # Order

    def _order(self, measures: list[Measure], dimensions: list[Dimension]) -> tuple[tuple[Order, ...], int | None]:
        slots = self.slots
        found: list[Order] = []
        for order in slots.order:
            if order.measure is not None:
                measure = self._measure(order.measure)
                if measure not in measures:
                    measures.append(measure)
                found.append(
                    Order("measure", measures.index(measure), direction=slots.direction or self._direction(order, None))
                )
            elif order.time or order.mention is not None:
                found.append(self._order_dimension(order, measures, dimensions))
            elif measures:
                found.append(Order("measure", 0, direction=slots.direction or self._direction(order, None)))
        limit = slots.limit
        if (
            slots.order
            and limit is None
            and dimensions
            and any(one.superlative for one in slots.order)
            and not self._plural()
        ):
            limit = 1
        if not dimensions:
            return (), None
        if not found:
            times = [place for place, one in enumerate(dimensions) if isinstance(one, ByTime)]
            if times:
                found = [Order("dimension", place, direction="asc") for place in times]
            else:
                found = [Order("measure", 0, direction=slots.direction or "desc")]
        return tuple(found), limit

    def _within(self, dimensions: list[Dimension]) -> tuple[int, ...]:
        """Dimensions beside the target of a superlative: "the top 3 categories in each department"."""
        if not self.ranked or len(dimensions) < 2:
            return ()
        return tuple(range(1, len(dimensions)))

    def _order_dimension(self, order: OrderSlot, measures: list[Measure], dimensions: list[Dimension]) -> Order:
        direction: Direction = self.slots.direction or ("desc" if order.direction == "desc" else "asc")
        if order.time:
            place = next((at for at, one in enumerate(dimensions) if isinstance(one, ByTime)), None)
            if place is None:
                raise RefusedError("unused_words", "I did not understand the order by time.")
            return Order("dimension", place, direction=direction)
        assert order.mention is not None
        for at, dimension in enumerate(dimensions):
            if isinstance(dimension, ByColumn) and any(
                one.field and one.field.ref == replace(dimension.column, via="") for one in order.mention.candidates
            ):
                return Order("dimension", at, direction=direction)
        for at, measure in enumerate(measures):
            column = measure.column if isinstance(measure, Aggregate) else None
            if any(one.field and one.field.ref == column for one in order.mention.candidates):
                return Order("measure", at, direction=self.slots.direction or "desc")
            if any(
                one.is_table and isinstance(measure, Aggregate) and one.entity.key == measure.table
                for one in order.mention.candidates[:1]
            ):
                return Order("measure", at, direction=self.slots.direction or "desc")
        if dimensions and any(one.is_table for one in order.mention.candidates[:1]):
            return Order("dimension", 0, direction=direction)
        raise RefusedError("unused_words", english().text("unused", words=f"the order by “{order.mention.text}”"))

    def _plural(self) -> bool:
        return self.slots.target_plural

    # Listings

    def _listing_plan(self) -> Plan:
        slots = self.slots
        target = slots.target
        if target is None and slots.tables:
            target = slots.tables.pop(0)
        if target is None:
            raise RefusedError("no_measure", "I did not understand what you want to know.")
        if target.kind != "mention":
            raise RefusedError("no_measure", f"I did not understand what is asked about each {target.text}.")
        group = self._group_by_count(target)
        if group is not None:
            return group
        home, columns = self._listed(target)
        self.chooser.home = home
        entity = self.layer.entities[home]
        resolver = Conditions(self.layer, self.chooser, self.when, home)
        if any(isinstance(slot, CompareSlot) and slot.measure for slot in slots.conditions):
            raise RefusedError("unsupported", "I did not understand the condition on a computed number.")
        if slots.returned:
            columns, slots.columns = [], slots.returned
        columns += [ref for ref in self._listed_columns(home) if ref not in columns]
        where = (*resolver.resolve(slots.conditions, self._relations_of_listing(home)), *self.pointing)
        order = self._listing_order(home)
        for one in order:
            if isinstance(one.column, ColumnRef) and columns and one.column not in columns:
                columns.append(one.column)
        limit = slots.limit
        if limit is None and any(one.superlative for one in slots.order) and not self._plural():
            limit = 1
        distinct = bool(columns) and not order and self._repeats(columns)
        if limit is None and entity.rows > MOST_ROWS and not distinct and (not where or not columns):
            limit = MOST_ROWS
            self.chooser.say(f"No more than {MOST_ROWS} rows are shown.")
        return Plan(home, (), (), where, (), order, limit, (), tuple(columns), distinct)

    def _group_by_count(self, target: Term) -> Plan | None:
        """ "which carriers have more than 50000 flights": groups that a count keeps."""
        counts = [slot for slot in self.slots.conditions if isinstance(slot, CountSlot)]
        measured = [
            slot for slot in self.slots.conditions if isinstance(slot, CompareSlot) and slot.measure is not None
        ]
        if not counts and not measured:
            return None
        for slot in counts:
            if slot.mention is None:
                raise RefusedError("unused_words", "I did not understand what happened so many times.")
            measure_slot = MeasureSlot("count", slot.mention, said=slot.mention.text)
            self.slots.measures.append(measure_slot)
            self.slots.conditions = [one for one in self.slots.conditions if one is not slot]
            self.chooser.home = self._home_of(measure_slot)[0]
            self.having.append((self._measure(measure_slot), slot.operator, slot.number))
        self.slots.measures += [slot.measure for slot in measured if slot.measure is not None]
        return self._aggregate_plan()

    def _listed(self, target: Term) -> tuple[str, list[ColumnRef | TimeRef]]:
        """The table that is listed, and its columns (none: all)."""
        slots = self.slots
        if slots.is_rows:
            return self.chooser.pick(target, fits_table).entity.key, []
        one = self.chooser.pick(target, fits_any)
        if one.field is not None:
            return one.entity.key, [one.field.ref]
        if not slots.columns and not self._narrow(one.entity):
            return one.entity.key, []
        return one.entity.key, [
            ColumnRef(one.entity.key, name) for name in dict.fromkeys((*one.entity.identifier, *one.entity.label))
        ]

    def _narrow(self, entity: Entity) -> bool:
        """Whether key and name are enough to show: the question asks which, not for the rows."""
        return bool(entity.label or entity.identifier) and bool(
            self.slots.conditions or self.slots.order or self.slots.tables
        )

    def _listed_columns(self, home: str) -> list[ColumnRef | TimeRef]:
        found: list[ColumnRef | TimeRef] = []
        for mention in self.slots.columns:
            one = self.chooser.pick(mention, lambda candidate: -2 if candidate.field is None else 0.0)
            assert one.field is not None
            if not paths_up(self.layer, home, one.entity.key):
                raise RefusedError(
                    "no_path", f"{label_of(one)} has several values for one row of {self.layer.entities[home].said}."
                )
            found.append(one.field.ref)
        return found

    def _relations_of_listing(self, home: str) -> list[str]:
        columns, self.slots.columns = self.slots.columns, []
        found = self._relations(home)
        self.slots.columns = columns
        return found

    def _listing_order(self, home: str) -> tuple[Order, ...]:
        found = []
        for order in self.slots.order:
            if order.time:
                direction: Direction = self.slots.direction or ("desc" if order.direction == "desc" else "asc")
                time = self.when.time_of(home)
                self.chooser.say(f"The time is {self.when.name(time)}.")
                found.append(Order("column", 0, time, direction))
            elif order.mention is not None:
                one = self.chooser.pick(
                    order.mention,
                    lambda candidate: -2 if candidate.field is None and not candidate.entity.label else 0.0,
                )
                ref = one.field.ref if one.field else ColumnRef(one.entity.key, one.entity.label[0])
                found.append(Order("column", 0, ref, self.slots.direction or self._direction(order, order.mention)))
            else:
                raise RefusedError("no_measure", "I did not understand by what the rows are to be ordered.")
        return tuple(found)

    def _repeats(self, columns: list[ColumnRef | TimeRef]) -> bool:
        return not any(isinstance(ref, ColumnRef) and self.layer.field(ref).role == "key" for ref in columns)


def _home(measure: Measure) -> str:
    if isinstance(measure, Ratio):
        return measure.top.table
    return measure.of.table if isinstance(measure, ShareOfTotal) else measure.table


def _table(dimension: Dimension) -> str:
    return dimension.time.table if isinstance(dimension, ByTime) else dimension.column.table


def _mention_of(term: Term, entity: Entity, field: Field) -> Term:
    """A mention that can mean nothing but this column."""
    return Term("mention", None, term.tokens, [Candidate(entity, field, 1.0)], used=True)


def _has(one: Field, words: tuple[str, ...]) -> bool:
    own = [stem(word) for word in one.words]
    return all(word in own for word in words)


def _plural(word: str) -> str:
    return word if word.endswith("s") else word[:-1] + "ies" if word.endswith("y") else word + "s"


__all__ = ["Resolver", "fits_time"]
