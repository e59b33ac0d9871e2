"""What a question groups by, and the columns of the groups that it wants to see."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .choose import (
    RefusedError,
    fits_group,
)
from .joins import paths_up
from .lexicons import english
from .measures import Measures
from .mentions import Candidate
from .naming import forms_of
from .plan import (
    Aggregate,
    ByColumn,
    ByTime,
    ColumnRef,
    Dimension,
    Measure,
    TimeRef,
)
from .semantics import Entity, Field
from .slots import DimensionSlot
from .terms import Term
from .words import tokenize


class Groups(Measures):
    """Dimensions of one question."""

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
        if not isinstance(measure, Aggregate):
            return False
        counted = measure.function == "count" and measure.column is None
        return any(
            (one.field is not None and one.field.ref == measure.column and one.score >= 0.4)
            or (one.is_table and counted and one.entity.key == measure.table and one.score >= 0.85)
            for one in term.candidates
        )

    def _of_group(self, term: Term, dimension: ByColumn) -> bool:
        return any(self._in_group(one, dimension) for one in term.candidates if one.score >= 0.3)

    def _in_group(self, one: Candidate, dimension: ByColumn) -> bool:
        ref = replace(dimension.column, via="")
        if one.field is None:
            return one.entity.key == ref.table
        if one.field.ref == ref or self.chooser.same_column(one.field.ref, ref):
            return True
        return one.entity.key == ref.table

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
        said = dimension.said if dimension.key else f"{dimension.said} and {one.field.ref.column}"
        return replace(dimension, more=(*dimension.more, replace(one.field.ref, via=dimension.column.via)), said=said)

    def dimensions(self, home: str) -> list[Dimension]:
        found: list[Dimension] = []
        for slot in self.slots.dimensions:
            made = self._dimension(slot, home)
            if made not in found:
                found.append(made)
        return found

    def _dimension(self, slot: DimensionSlot, home: str) -> Dimension:
        if slot.mention is None:
            return self._by_hour_column(slot, home) or self._by_time(slot, home)
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
            if slot.of is not None and not told_by(one.field, slot.of):
                return self._by_time(DimensionSlot(grain=_grain(one.field), of=slot.of), home)
            return self._calendar_part(one.field, home)
        if one.field is not None:
            return self._by_field(one.field, slot, home)
        return self._by_entity(one.entity, slot, home)

    def _calendar_part(self, field: Field, home: str) -> Dimension:
        """Year, month and day of a row's moment; an hour is the hour of the day."""
        if field.words == ("hour",) and field.ref.table == home:
            return ByColumn(field.ref, said=field.ref.column)
        return self._by_time(DimensionSlot(grain=field.words[0]), home)

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
        time = self.when.time_of(home, slot.of)
        grain = slot.grain
        if grain in ("hour", "hour of the day") and time.kind not in ("TIMESTAMP", "DATETIME"):
            time = self._time_with_hour(home)
        if time.kind == "Y" and grain != "year":
            raise RefusedError("no_date", f"{self.when.name(time)} tells the year only.")
        if time.kind in ("YM", "YMNAME") and grain in ("day", "week", "day of the week"):
            raise RefusedError("no_date", f"{self.when.name(time)} tells the month only.")
        return ByTime(time, grain, grain)  # type: ignore[arg-type]

    def _by_hour_column(self, slot: DimensionSlot, home: str) -> ByColumn | None:
        """The hour of the day where a column of its own holds it."""
        if slot.grain != "hour of the day":
            return None
        fields = self.layer.entities[home].fields.values()
        held = next((one for one in fields if one.role == "part" and one.words == ("hour",)), None)
        if held is not None and slot.of is not None and not told_by(held, slot.of):
            return None
        return ByColumn(held.ref, said=held.ref.column) if held else None

    def _time_with_hour(self, home: str) -> TimeRef:
        for time in self.layer.entities[home].times:
            if time.kind in ("TIMESTAMP", "DATETIME"):
                return time
        raise RefusedError("no_date", f"{self.layer.entities[home].said} has no time of day.")


def told_by(field: Field, of: Term) -> bool:
    """Whether a column's description says that it is a part of that moment: the hour of the departure."""
    told = {form for token in tokenize(field.description) for form in forms_of(token.lower)}
    return all(forms_of(token.lower) & told for token in of.tokens)


def _grain(field: Field) -> str:
    return "hour of the day" if field.words[0] == "hour" else field.words[0]
