"""Numbers that are asked for: what is counted, summed or averaged, and where its rows are."""

from __future__ import annotations

from datetime import date
from typing import Any

from .choose import (
    Chooser,
    RefusedError,
    UndecidedError,
    fields_named,
    fits_number,
    fits_quantity,
    fits_table,
)
from .joins import base_for
from .lexicons import english
from .mentions import Candidate
from .plan import (
    Aggregate,
    ByTime,
    ColumnRef,
    Condition,
    Dimension,
    Measure,
    Product,
    Ratio,
    ShareOfTotal,
    Value,
)
from .quantities import is_quantity, objection
from .semantics import Entity, Field, SemanticLayer
from .slots import MeasureSlot, Slots
from .terms import Term
from .units import factor
from .when import Today, When
from .words import stem

SAID = {
    "count": "number of",
    "count_distinct": "number of different",
    "sum": "total",
    "avg": "average",
    "min": "lowest",
    "max": "highest",
    "median": "median",
}


PREFIX = {"sum": "total", "avg": "average", "min": "min", "max": "max", "median": "median"}


class Measures:
    """Measures of one question over one layer."""

    def __init__(
        self,
        layer: SemanticLayer,
        slots: Slots,
        today: Today,
        chosen: dict[str, str] | None = None,
        day: date | None = None,
    ) -> None:
        self.layer = layer
        self.slots = slots
        self.chooser = Chooser(layer, chosen or {})
        self.when = When(layer, self.chooser, today, day)
        self.measures: list[Measure] = []
        self.pointing: list[Condition] = []
        self.ranked = bool(slots.target is not None and any(one.superlative for one in slots.order))
        self.having: list[tuple[Measure, str, float]] = []

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
        one = self.chooser.pick(slot.mention, fits_number if slot.function in ("min", "max") else fits_quantity)
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
        if "like" in entry:
            said = entry["like"]
            entry = next(one for one in english().raw["measures"] if said in one["words"])
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
                    if one.role != "number" or any(has_words(one, words) for words in never):
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

    def measure(self, slot: MeasureSlot) -> Measure:
        home, one, value = self._home_of(slot)
        entity = self.layer.entities[home]
        if slot.business is not None and isinstance(value, ColumnRef):
            self._check_units(value)
        if slot.business is not None and "per" in slot.business and slot.function in (None, "avg"):
            return self._per_named(slot, home, value)
        if slot.business is not None:
            if (
                slot.function == "avg"
                and slot.business["function"] == "sum"
                and (ratio := self._per_entity(slot, home, value))
            ):
                return ratio
            if "per" in slot.business and slot.function != "sum":
                raise RefusedError("unsupported", f"Of {slot.said} the average and the total are understood only.")
            function = slot.function or slot.business["function"]
            prefix = "" if slot.function in (None, "sum") else f"{PREFIX[function]} "
            name = f"{prefix}{slot.business['words'][0]}"
            return Aggregate(function, home, value, (), name, f"{SAID[function]} {self._said(value)}")
        if slot.function == "count" or (one is not None and one.is_table):
            return self._count_measure(slot, home, one)
        assert isinstance(value, ColumnRef)
        self._check_units(value)
        function = slot.function or "sum"
        if (why := objection(self.layer.field(value), function)) is not None:
            raise RefusedError("no_measure", why)
        return Aggregate(
            function,
            home,
            value,
            (),
            f"{PREFIX[function]} {value.column}",
            f"{SAID[function]} {value.column} of {entity.said}",
        )

    def _check_units(self, column: ColumnRef) -> None:
        """Refuse another unit than the column's: dollars are not shown as euros."""
        if any(factor(self.layer.field(column), unit) != 1 for unit in self.slots.units):
            wanted, about = " ".join(self.slots.units), self.layer.field(column).description
            raise RefusedError("unsupported", f"{column.column} is not in {wanted}: {about}")

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
        if is_quantity(one.field) and not slot.distinct:
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
            f"number of {plural_of(one.field.ref.column)}",
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

    def _per_named(self, slot: MeasureSlot, home: str, value: Value | None) -> Measure:
        """Average order value: the total divided by the number of different orders."""
        assert slot.business is not None
        wanted = {stem(word) for word in slot.business["per"]}
        entity = self.layer.entities[home]
        columns = [
            link.column
            for link in self.layer.up.get(home, ())
            if {stem(word) for word in self.layer.entities[link.parent].words} & wanted
        ] + [
            one.ref.column
            for one in entity.fields.values()
            if one.words[-1] == "id" and {stem(word) for word in one.words} & wanted
        ]
        per_row = {stem(word) for word in entity.words[-1:]} & wanted
        if not columns and not per_row:
            raise RefusedError("no_measure", f"No column of {entity.said} says to which order a row belongs.")
        top = Aggregate("sum", home, value)
        column = None if not columns or columns[0] in entity.identifier else ColumnRef(home, columns[0])
        bottom = Aggregate("count_distinct" if column else "count", home, column)
        divided = f"the number of different {columns[0]}" if column else f"the number of {entity.said}"
        said = f"total {self._said(value)} divided by {divided}"
        return Ratio(top, bottom, False, "average order value", said)

    def _per_entity(self, slot: MeasureSlot, home: str, value: Value | None) -> Ratio | None:
        """Average revenue per order: the total divided by the number of different orders."""
        for dimension in self.slots.dimensions:
            if dimension.mention is None or dimension.target:
                continue
            one = dimension.mention.candidates[0]
            links = [link for link in self.layer.up.get(home, ()) if link.parent == one.entity.key]
            if links and (one.is_table or (one.field and one.field.role in ("key", "foreign"))):
                self.slots.dimensions.remove(dimension)
                top = Aggregate("sum", home, value)
                bottom = Aggregate("count_distinct", home, ColumnRef(home, links[0].column))
                said = f"total {self._said(value)} divided by the number of different {links[0].column}"
                return Ratio(top, bottom, False, f"average {slot.said} per {one.entity.said}", said)
        return None

    def _said(self, value: Value | None) -> str:
        if isinstance(value, ColumnRef):
            return f"{value.column} of {self.layer.entities[value.table].said}"
        if isinstance(value, Product):
            return f"{value.left.column} × {value.right.column} of {self.layer.entities[value.left.table].said}"
        return "rows"

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
                    slot.mention = mention_of(slot.mention, entity, held[0])


def home_of(measure: Measure) -> str:
    if isinstance(measure, Ratio):
        return measure.top.table
    return measure.of.table if isinstance(measure, ShareOfTotal) else measure.table


def table_of(dimension: Dimension) -> str:
    return dimension.time.table if isinstance(dimension, ByTime) else dimension.column.table


def mention_of(term: Term, entity: Entity, field: Field) -> Term:
    """A mention that can mean nothing but this column."""
    return Term("mention", None, term.tokens, [Candidate(entity, field, 1.0)], used=True)


def has_words(one: Field, words: tuple[str, ...]) -> bool:
    own = [stem(word) for word in one.words]
    return all(word in own for word in words)


def plural_of(word: str) -> str:
    return word if word.endswith("s") else word[:-1] + "ies" if word.endswith("y") else word + "s"


def additive(mention: Term) -> bool:
    """Whether a number is added up when nobody says how it is brought together: an amount is, a price is not."""
    one = mention.candidates[0]
    words = set(one.field.words) if one.field else set()
    units = english().raw["units"]
    if mention.lower in (*units["lengths"], *units["money"]):
        return True  # "the most miles"
    return bool(words & set(english().raw["additive"]["words"]))
