"""In which order the groups of an answer come, and how many of them."""

from __future__ import annotations

from dataclasses import replace

from .choose import RefusedError
from .lexicons import english
from .plan import Aggregate, ByColumn, ByTime, Dimension, Direction, Measure, Order, Ratio, ShareOfTotal
from .slots import OrderSlot
from .superlatives import Superlatives

_FIRST = 10
"""How many "the best customers" are."""


class Orders(Superlatives):
    """Orders of one question."""

    def _order(self, measures: list[Measure], dimensions: list[Dimension]) -> tuple[tuple[Order, ...], int | None]:
        slots = self.slots
        found: list[Order] = []
        for order in slots.order:
            if order.measure is not None:
                measure = self.measure(order.measure)
                shared = next(
                    (one for one in measures if isinstance(one, Ratio | ShareOfTotal) and _whole(one) == measure), None
                )
                measure = shared or measure
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
        if limit is None and dimensions and any(one.direction in ("best", "worst") for one in slots.order):
            limit = _FIRST
            self.chooser.say(f"The first {_FIRST} are shown.")
        if not dimensions and any(one.superlative for one in slots.order):
            text = "I did not understand of which groups the first or last is meant. Name them, for example by month."
            raise RefusedError("no_measure", text)
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


def _whole(share: Ratio | ShareOfTotal) -> Measure:
    return share.bottom if isinstance(share, Ratio) else share.of
