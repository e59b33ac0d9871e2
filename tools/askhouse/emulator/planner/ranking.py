"""Orders that a question asks for: superlatives, "top 5", "ordered by", and the measures that they are about."""

from __future__ import annotations

from typing import Any

from .lexicons import english
from .row import Row, numeric
from .slots import MeasureSlot, OrderSlot
from .terms import Term


class Ranking(Row):
    """Finds orders and limits."""

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
        if following.kind in ("grains", "parts") and self.slots.target is None:
            self._take(following)
            self.slots.target = following
            return at + 1
        return at

    def _superlative_mention(self, order: OrderSlot, mention: Term, at: int) -> int:
        """ "highest price" sorts by it; "top 5 brands" makes brands the target; "most flights" counts them."""
        self._take(mention)
        if order.time and self.slots.target is not None and self.slots.target is not mention:
            order.mention = mention
            return at + 1
        words = order.superlative["words"] if order.superlative else []
        counts = "most" in words or "fewest" in words or any("number of" in word for word in words)
        has_target = self.slots.target is not None
        if numeric(mention) and not (mention.candidates[0].is_table and mention.candidates[0].score >= 0.85):
            order.mention = mention
            return at + 1
        if has_target and counts and self.slots.target is not mention:
            slot = MeasureSlot("count", mention, distinct=not mention.candidates[0].is_table, said=mention.text)
            order.measure = slot
            self.slots.measures.append(slot)
            return at + 1
        if counts and not has_target and self.slots.dimensions and mention.candidates[0].is_table:
            order.measure = MeasureSlot("count", mention, said=mention.text)
            self.slots.measures.append(order.measure)
        elif self.slots.target is None:
            self._set_target(mention)
        else:
            self.slots.tables.append(mention)
        return at + 1

    def _set_target(self, mention: Term) -> None:
        self.slots.target = mention
        last = mention.tokens[-1].lower
        self.slots.target_plural = last.endswith("s") and not last.endswith(("ss", "us", "is"))

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
            if not self.slots.measures:
                self.slots.measures.append(slot)
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
