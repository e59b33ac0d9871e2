"""Which conditions of "what share of A is B" make the part, and which the whole."""

from __future__ import annotations

from collections.abc import Sequence

from .choose import RefusedError, UndecidedError
from .row import first_term
from .slots import ConditionSlot, KeySlot, PeriodSlot, Slots, WeekdaySlot
from .terms import Term

_BE = frozenset(["is", "are", "was", "were", "isn't", "aren't", "wasn't", "weren't", "did", "do", "does", "didn't"])
_BE |= {"have", "has", "had", "got"}
_PLACING = ("in", "from", "to")
_RELATIVE = ("that", "who", "which", "whose")
_KEY = "what the share is of"
_UNTOLD = (
    "I cannot tell which of the conditions make the part and which the whole. "
    "Say it like “what percentage of the flights from A was cancelled”."
)


def divide(slots: Slots, terms: Sequence[Term], chosen: dict[str, str]) -> None:
    """Sort the conditions of a share. Raises UndecidedError or RefusedError where it cannot be told."""
    if slots.is_share:
        _Division(slots, terms, chosen).divide()


class _Division:
    def __init__(self, slots: Slots, terms: Sequence[Term], chosen: dict[str, str]) -> None:
        self.slots, self.terms, self.chosen = slots, list(terms), chosen
        self.places = {id(token): place for place, term in enumerate(terms) for token in term.tokens}
        self.mark = next(place for place, term in enumerate(terms) if term.has("structure", "share"))
        self.noun, self.named = self._noun()
        self.ahead: list[ConditionSlot] = []
        self.conditions = [slot for slot in (*slots.share, *slots.conditions) if not isinstance(slot, PeriodSlot)]

    def divide(self) -> None:
        """Put each condition where it belongs."""
        placed = {id(slot): place for slot in self.conditions if (place := self._place(slot)) is not None}
        rate = self.terms[self.mark].lower.startswith("rate")
        named = [slot for slot in self.conditions if placed.get(id(slot)) == self.mark - 1]
        if rate and not named:
            name = f"{self.terms[self.mark - 1].text} " if self.mark else ""
            raise RefusedError(
                "unsupported",
                f"I did not understand what the {name}rate is. Say which part of which rows it is, "
                "for example “share of returned orders”.",
            )
        verb = self._verb()
        told = [slot for slot in self.conditions if verb is not None and placed.get(id(slot), verb) >= verb]
        if self.conditions and verb is not None and not told:
            raise RefusedError("unsupported", _UNTOLD)  # "… of the cancelled flights were in July"
        if len(self.conditions) < 2:
            return
        if len(placed) < len(self.conditions):
            raise RefusedError("unsupported", _UNTOLD)
        self.conditions.sort(key=lambda slot: placed[id(slot)])
        if rate:
            self._part(named)
            return
        self._set_ahead(placed)
        told = [slot for slot in told if any(slot is one for one in self.conditions)]
        before = [slot for slot in self.conditions if placed[id(slot)] < self.noun]
        if told:
            self._predicate(told, placed)
        elif len(before) == 1 and not self.terms[placed[id(before[0])]].text[:1].isupper():
            self._part(before)
        elif len(self.conditions) == 1:
            self._part(self.conditions)
        else:
            self._ask(placed)

    def _set_ahead(self, placed: dict[int, int]) -> None:
        """ "Of the flights from JFK, what share …": what stands ahead is of the whole."""
        behind = [slot for slot in self.conditions if placed[id(slot)] > self.mark]
        if behind:
            self.ahead = [slot for slot in self.conditions if placed[id(slot)] < self.mark]
            self.conditions = behind

    def _predicate(self, told: Sequence[ConditionSlot], placed: dict[int, int]) -> None:
        """ "was cancelled at JFK": the state is the part; "is from A and over 50": both are."""
        first, last = placed[id(told[0])], placed[id(told[-1])]
        if len(told) == 1 or any(term.lower in ("and", "or", "but") for term in self.terms[first:last]):
            self._part(told)
        elif not self._placing(first - 1):
            self._part(told[:1])
        else:
            raise RefusedError("unsupported", _UNTOLD)

    def _part(self, part: Sequence[ConditionSlot]) -> None:
        whole = [slot for slot in (*self.ahead, *self.conditions) if not any(slot is one for one in part)]
        periods = [slot for slot in self.slots.conditions if isinstance(slot, PeriodSlot)]
        self.slots.share, self.slots.conditions = list(part), [*whole, *periods]

    def _ask(self, placed: dict[int, int]) -> None:
        if len(self.conditions) > 2:
            raise RefusedError("unsupported", _UNTOLD)
        options = [f"of all {self.named}", *[self._whole(placed[id(slot)], placed) for slot in self.conditions]]
        answer = self.chosen.get(_KEY)
        if answer not in options:
            raise UndecidedError(_KEY, "Of what is the share to be taken?", options)
        place = options.index(answer)
        self._part(self.conditions if not place else [self.conditions[2 - place]])

    def _whole(self, place: int, placed: dict[int, int]) -> str:
        """ "of the flights from JFK", "of the cancelled flights"."""
        ends = [one for one in (*placed.values(), self.noun, len(self.terms)) if one > place]
        words = []
        for term in self.terms[place : min(ends)]:
            if term.kind == "mark" or term.has("structure"):
                break
            words.append(term.text)
        if place < self.noun:
            return f"of the {' '.join(words)} {self.named}"
        start = place
        while self._placing(start - 1):
            start -= 1
        return f"of the {self.named} {' '.join([*[term.text for term in self.terms[start:place]], *words])}"

    def _placing(self, place: int) -> bool:
        term = self.terms[place]
        return place > self.noun and term.kind == "structure" and term.value in _PLACING

    def _noun(self) -> tuple[int, str]:
        """Where the rows are named that the share is of, and how."""
        mentions = [slot.mention for slot in self.slots.measures if slot.mention is not None] + [self.slots.target]
        for mention in mentions:
            if mention is not None and id(mention.tokens[0]) in self.places:
                place = self.places[id(mention.tokens[0])]
                if place > self.mark:
                    return place, mention.text
        return self.mark, self.slots.measures[0].said if self.slots.measures else "rows"

    def _place(self, slot: ConditionSlot) -> int | None:
        term = slot.term if isinstance(slot, WeekdaySlot) else slot.mention if isinstance(slot, KeySlot) else None
        term = term or first_term(slot)
        return None if term is None else self.places.get(id(term.tokens[0]))

    def _verb(self) -> int | None:
        """Where the predicate begins: "was" of the main clause, a verb of going or having, or "that were"."""
        main: list[int] = []
        relative: list[int] = []
        others: list[int] = []
        asked = self.terms[self.mark].lower.startswith(("what", "which", "how much"))
        for place in range(self.noun + 1, len(self.terms)):
            is_relative = self.terms[place - 1].lower in _RELATIVE
            if self.terms[place].tokens[0].lower in _BE:
                (relative if is_relative else main).append(place)
            elif asked and not is_relative and self._acts(place):
                others.append(place)
        return next(iter((*main[:1], *others[-1:], *relative[:1])), None)

    def _acts(self, place: int) -> bool:
        """Whether a finite verb stands there: "left", or "cost" of "cost more than 50"."""
        term, before = self.terms[place], self.terms[place - 1]
        if term.lower.endswith("ing") or len(term.tokens) > 1:
            return False
        if term.kind == "structure":
            return term.value in ("from", "to") and term.lower not in (*_PLACING, "into", "at", "towards", "for")
        following = self.terms[place + 1 : place + 2]
        compared = term.kind == "mention" and bool(following) and following[0].kind == "comparators"
        if compared and before.kind in ("value", "mention", "period", "quoted"):
            return True
        return term.kind == "light" and not (following and following[0].lower.startswith("by"))
