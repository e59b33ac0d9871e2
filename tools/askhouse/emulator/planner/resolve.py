"""From slots to a plan: tables, columns and functions chosen so that every word of the question has its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from itertools import pairwise

from .choose import (
    RefusedError,
    UndecidedError,
    fits_any,
    fits_table,
    label_of,
)
from .conditions import Conditions
from .groups import Groups
from .joins import base_for, distance, paths_up, unconnected
from .lexicons import english
from .measures import additive, home_of, table_of
from .orders import Orders
from .plan import (
    Aggregate,
    AnyOf,
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
    OneOf,
    Order,
    Plan,
    Ratio,
    ShareOfTotal,
    TimeRef,
)
from .quantities import is_quantity
from .semantics import Entity
from .slots import CompareSlot, CountSlot, DimensionSlot, MeasureSlot, PeriodSlot
from .terms import Term

MOST_ROWS = 100
_NO_NUMBER = "I did not understand which number is wanted for each group."


class Resolver(Orders, Groups):
    """One question over one layer; `chooser.assumed` must be said with the answer."""

    def plan(self) -> Plan:
        """The plan. Raises UndecidedError or RefusedError."""
        self.chooser.anchors = self._anchors()
        self._share_as_measure()
        self._superlatives()
        if not self.slots.measures and (self._counts() or self._bare_number()):
            self._count_target()
        if self.slots.dimensions and not self.slots.measures and not self.slots.order:
            self.slots.measures += self._having_slots()  # "revenue over 1000 by category"
        if self.slots.dimensions and not self.slots.measures:
            first = any(one.superlative for one in self.slots.order)
            text = "The first or last row of each group is not understood." if first else _NO_NUMBER
            raise RefusedError("unsupported", text)
        return self._aggregate_plan() if self.slots.measures else self._listing_plan()

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
            and not mention.candidates[0].entity.namesakes  # which one is meant is still to be told
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
        return grouped or (
            not slots.is_list and slots.target.kind == "mention" and self._target_is_table() and not slots.columns
        )

    def _bare_number(self) -> bool:
        """ "what is the cost of all stock": one number of many rows, of which nothing tells which one."""
        slots = self.slots
        if slots.target is None or slots.is_rows or slots.order or slots.conditions or slots.target_plural:
            return False
        if slots.target.kind != "mention" or slots.limit is not None or slots.distinct:
            return False
        one = slots.target.candidates[0]
        return one.field is not None and is_quantity(one.field)

    def _target_is_table(self) -> bool:
        assert self.slots.target is not None
        return bool(self.slots.target.candidates) and self.slots.target.candidates[0].is_table

    def _count_target(self) -> None:
        target = self.slots.target
        assert target is not None
        best = target.candidates[0]
        if best.field is not None and best.field.role == "number" and not best.field.counts:
            self.slots.measures.append(self._asked_function(target))
        else:
            self.slots.measures.append(MeasureSlot("count", target, said=target.text))
        self.slots.target = None

    def _asked_function(self, target: Term) -> MeasureSlot:
        """A bare number by group: whether its average or its total is meant must be told."""
        key, options = f"function {target.lower}", [f"average {target.text}", f"total {target.text}"]
        answer = options[1] if additive(target) else self.chooser.chosen.get(key)
        if answer not in options:
            raise UndecidedError(key, f"Do you want the average or the total of {target.text}?", options)
        return MeasureSlot("avg" if answer == options[0] else "sum", target, said=target.text)

    def _aggregate_plan(self) -> Plan:
        self._number_per_row()
        first = self._home_of(self.slots.measures[0])[0]
        self.chooser.home = first
        measures = list(dict.fromkeys(self.measure(slot) for slot in self.slots.measures))
        home = home_of(measures[0])
        self.chooser.home = home
        self._counted_group(home)
        self._own_counts(measures, home)
        measures += [measure for slot in self._having_slots() if (measure := self.measure(slot)) not in measures]
        dimensions = self.dimensions(home)
        self._same_groups(measures, dimensions)
        self._return_columns(dimensions, measures)
        base = base_for(self.layer, home, [table_of(one) for one in dimensions])
        conditions = Conditions(
            self.layer, self.chooser, self.when, home, base if base and self.layer.entities[base].times else None
        )
        counted = (
            measures[0].column
            if isinstance(measures[0], Aggregate) and measures[0].function == "count_distinct"
            else None
        )
        conditions.counted = counted if isinstance(counted, ColumnRef) else None
        relations = [table for table in self._relations(home) if table != base]
        if self.slots.is_share and relations:
            named = self.layer.entities[relations[0]].said
            raise RefusedError("unsupported", f"I cannot tell whether {named} are of the part or of the whole.")
        plain = [slot for slot in self.slots.conditions if not isinstance(slot, CompareSlot) or slot.measure is None]
        where = [*conditions.resolve(plain, relations), *self.pointing]
        if self.slots.is_share:
            measures = self._shares(measures, conditions, dimensions)
        if (
            conditions.split is not None
            and not self.slots.is_share
            and all(not (isinstance(one, ByColumn) and one.column == conditions.split) for one in dimensions)
        ):
            dimensions.append(ByColumn(conditions.split, said=conditions.split.column))
        where = self._periods(where, dimensions)
        self._check_values(where)
        having = tuple(self._having(measures))
        order, limit = self._order(measures, dimensions)
        within = self._within(dimensions) if limit else ()
        measures = [self._on_its_way(one, dimensions) for one in measures]
        return Plan(home, tuple(measures), tuple(dimensions), tuple(where), having, order, limit, within)

    def _same_groups(self, measures: Sequence[Measure], dimensions: Sequence[Dimension]) -> None:
        """Refuse or say where rows of another kind have a month or a country of their own that is not the group's."""
        for home in dict.fromkeys(home_of(one) for one in measures[1:]):
            for mine, group in zip(self._own_groups(home), dimensions, strict=False):
                table, entity = table_of(group), self.layer.entities[home]
                keys = [link.column for link in self.layer.up.get(home, ())]  # "by carrier" is the same everywhere
                named = isinstance(mine, ByColumn) and mine.column.column in (*entity.identifier, *entity.label, *keys)
                if table == home or table_of(mine) != home or named:
                    continue
                if not paths_up(self.layer, table, home):
                    text = "These numbers belong to rows of different kinds; ask for one at a time."
                    raise RefusedError("unsupported", text)
                told = self.when.name(group.time) if isinstance(group, ByTime) else f"{group.column.column} of"
                where = "" if isinstance(group, ByTime) else f" {self.layer.entities[table].said}"
                self.chooser.say(f"The groups are by {told}{where}; {entity.said} without such rows are not counted.")

    def _own_groups(self, home: str) -> list[Dimension]:
        """What the rows of a table would be grouped by if they were asked for alone."""
        assumed, at = list(self.chooser.assumed), self.chooser.home
        try:
            self.chooser.home = home
            return self.dimensions(home)
        except (RefusedError, UndecidedError):
            return []
        finally:
            self.chooser.assumed, self.chooser.home = assumed, at

    def _on_its_way(self, measure: Measure, dimensions: Sequence[Dimension]) -> Measure:
        """The measure with the link that leads to its rows, where several do: the altitude of which airport?"""
        if isinstance(measure, Ratio):
            top, bottom = (self._led(part, dimensions) for part in (measure.top, measure.bottom))
            return replace(measure, top=top, bottom=bottom)
        if isinstance(measure, ShareOfTotal):
            return replace(measure, of=self._led(measure.of, dimensions))
        return self._led(measure, dimensions)

    def _led(self, part: Aggregate, dimensions: Sequence[Dimension]) -> Aggregate:
        base = base_for(self.layer, part.table, [table_of(one) for one in dimensions])
        if base is None or base == part.table:
            return part
        links = {path[-1].column for path in paths_up(self.layer, base, part.table) if path}
        grouped = [one.column.column for one in dimensions if isinstance(one, ByColumn) and one.column.table == base]
        told = [column for column in grouped if column in links]
        if len(told) != 1:
            entity = self.layer.entities[part.table]
            link = self.chooser.link_to(base, entity, self.slots.way, entity.said)
            told = [link.column] if link else []
        if not told or len(links) < 2:
            return part
        said = f"{part.said} ({told[0]})"
        if isinstance(part.column, ColumnRef):
            return replace(part, column=replace(part.column, via=told[0]), said=said)
        identifier = self.layer.entities[part.table].identifier
        if part.column is not None or part.function != "count" or len(identifier) != 1:
            raise RefusedError("unsupported", f"The way to {part.said} is not understood here.")
        column = ColumnRef(part.table, identifier[0], told[0])
        return replace(part, function="count_distinct", column=column, said=said)

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

    def _own_counts(self, measures: list[Measure], home: str) -> None:
        """ "employees per department with more than 10 employees": the groups' own count."""
        for slot in list(self.slots.conditions):
            if not isinstance(slot, CountSlot) or slot.mention is None or not self.slots.dimensions:
                continue
            first = measures[0]
            own = slot.mention.candidates[0].is_table and slot.mention.candidates[0].entity.key == home
            if own and isinstance(first, Aggregate) and first.function == "count" and first.column is None:
                self.slots.conditions.remove(slot)
                self.having.append((first, slot.operator, slot.number))

    def _having_slots(self) -> list[MeasureSlot]:
        return [
            slot.measure for slot in self.slots.conditions if isinstance(slot, CompareSlot) and slot.measure is not None
        ]

    def _having(self, measures: list[Measure]) -> list[Having]:
        found = []
        for slot in self.slots.conditions:
            if isinstance(slot, CompareSlot) and slot.measure is not None:
                found.append(Having(measures.index(self.measure(slot.measure)), slot.operator, slot.number))
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
                raise RefusedError("no_path", unconnected(self.layer, one.entity.key, home))
        for column in self.slots.columns:
            raise RefusedError("unused_words", english().text("unused", words=f"“{column.text}” here"))
        return list(dict.fromkeys(found))

    def _pointed_at(self, home: str, key: str) -> None:
        """ "publications presented at conferences": rows that point at none are left out, where there are such."""
        links = [link for link in self.layer.up.get(home, ()) if link.parent == key]
        if len(links) != 1:
            return
        if links[0].match < 1:
            self.pointing.append(Missing(ColumnRef(key, links[0].parent_column), negated=True))
        elif self.layer.entities[home].fields[links[0].column].stats.nulls:
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

    def _check_values(self, where: Sequence[Condition]) -> None:
        """Refuse what no row can fulfil: two different values of one column at once."""
        held = [one for one in where if isinstance(one, OneOf) and not one.negated]
        for place, first in enumerate(held):
            for second in held[place + 1 :]:
                if first.column == second.column and not set(first.values) & set(second.values):
                    both = f"{first.values[0]} and {second.values[0]}"
                    raise RefusedError("unsupported", f"No row has {both} as {first.column.column} at once.")

    def _periods(self, where: list[Condition], dimensions: list[Dimension]) -> list[Condition]:
        """Several periods of one moment: any of them counts; compared, or joined by "and", each is a group."""
        during = [one for one in where if isinstance(one, During) and not one.negated]
        if len({(one.start, one.end) for one in during}) < len(during):
            raise RefusedError("unsupported", "The two periods are the same days. Name them by their dates.")
        if len(during) < 2 or len({one.time for one in during}) > 1 or not _apart(during):
            return where
        units = {slot.period.unit for slot in self.slots.conditions if isinstance(slot, PeriodSlot)}
        unit = units.pop() if len(units) == 1 else None
        if not self.slots.is_any and not any(isinstance(one, ByTime) for one in dimensions):
            if unit is None:
                raise RefusedError("unsupported", "Comparing periods of different lengths is not understood.")
            dimensions.append(ByTime(during[0].time, unit, unit))
        return [one for one in where if one not in during] + [AnyOf(tuple(during))]

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
            elif isinstance(one.column, TimeRef) and columns:
                columns += [ColumnRef(one.column.table, name) for name in one.column.columns]
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
            self.having.append((self.measure(measure_slot), slot.operator, slot.number))
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
            if order.time and order.mention is not None and order.mention.candidates[0].entity.key != home:
                raise RefusedError("unsupported", f"The first or last of {order.mention.text} is not understood here.")
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


def _apart(during: Sequence[During]) -> bool:
    """Whether no two periods overlap."""
    spans = sorted((one.start or date.min, one.end or date.max) for one in during)
    return all(first[1] <= second[0] for first, second in pairwise(spans))
