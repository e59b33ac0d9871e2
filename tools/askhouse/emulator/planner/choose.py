"""Which of its possible meanings a mention has: the nearest to the question's other tables, or a question back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date

from .joins import base_for, distance, paths_up
from .lexicons import english
from .mentions import Candidate
from .plan import ColumnRef
from .quantities import is_quantity
from .readings import RefusalReason
from .semantics import Entity, Field, Link, SemanticLayer
from .slots import Way
from .terms import Term
from .values import Held
from .words import normal, root, stem

_CLOSE = 0.045
_FAR = 0.4
"""How much worse another column may fit when a word is only a part of its values."""


class UndecidedError(Exception):
    """The question has several meanings; `key` is the mention, `options` what it can mean."""

    def __init__(self, key: str, text: str, options: Sequence[str]) -> None:
        super().__init__(text)
        self.key, self.text, self.options = key, text, tuple(options)


class RefusedError(Exception):
    """The question cannot be planned."""

    def __init__(self, reason: RefusalReason, text: str) -> None:
        super().__init__(text)
        self.reason, self.text = reason, text


class OtherDayError(Exception):
    """The question is about a table over which another day counts as today than the one it was read with."""

    def __init__(self, day: date) -> None:
        super().__init__(day.isoformat())
        self.day = day


@dataclass
class Chooser:
    """Choices over one layer. `chosen` holds the person's own answers, by mention; `assumed` what must be said."""

    layer: SemanticLayer
    chosen: dict[str, str] = field(default_factory=dict)
    anchors: list[str] = field(default_factory=list)
    home: str | None = None
    near: set[str] = field(default_factory=set)
    """Tables of the value that stands right beside: "women's jeans"."""
    assumed: list[str] = field(default_factory=list)

    def say(self, text: str) -> None:
        """Add an assumption, once."""
        if text not in self.assumed:
            self.assumed.append(text)

    # Columns and tables

    def pick(self, mention: Term, fit: Callable[[Candidate], float], *, asking: bool = True) -> Candidate:
        """The best candidate; `fit` adds to its score, or excludes it by returning a number below -1.

        Raises UndecidedError when two are equally good, RefusedError when none fits.
        """
        scored = sorted(
            ((one.score + bonus + self._closeness(one), one) for one in mention.candidates if (bonus := fit(one)) > -1),
            key=lambda pair: -pair[0],
        )
        if not scored:
            raise RefusedError("unused_words", english().text("unused", words=f"“{mention.text}” here"))
        if answer := self.chosen.get(mention.lower):
            chosen = [one for _, one in scored if label_of(one) == answer]
            if chosen:
                return chosen[0]
        best = self._original(scored)
        rivals = [one for score, one in scored if score >= scored[0][0] - _CLOSE and not self._same(best, one)]
        if rivals and asking:
            options = list(dict.fromkeys(label_of(one) for one in [best, *rivals]))
            if len(options) > 1:
                raise UndecidedError(
                    mention.lower, f"“{mention.text}” can mean several things. Which one?", options[:6]
                )
        return best

    def _original(self, scored: list[tuple[float, Candidate]]) -> Candidate:
        """The best one, or the column that it merely repeats when that is named nearly as well."""
        score, best = scored[0]
        for other_score, other in scored[1:]:
            if best.field is None or other.field is None or other_score < score - 0.2:
                continue
            if self.home != best.entity.key and self.is_copy(best.field.ref, other.field.ref):
                return other
        return best

    def _closeness(self, one: Candidate) -> float:
        if self.home is None:
            below = any(distance(self.layer, one.entity.key, anchor) is not None for anchor in self.anchors)
            return 0.1 if one.entity.key in self.anchors else 0.05 if below else 0.0
        steps = distance(self.layer, self.home, one.entity.key)
        if steps is not None:
            bonus = 0.3 - 0.06 * steps
        else:
            bonus = 0.05 if base_for(self.layer, self.home, [one.entity.key]) else -0.5
        return bonus + (0.1 if one.entity.key in self.anchors else 0.0)

    def _same(self, first: Candidate, second: Candidate) -> bool:
        """Whether both say the same: a key and the column that points at it, or a copy of the other's column."""
        if first.is_table != second.is_table:
            column, table = (second, first) if first.is_table else (first, second)
            if column.entity is table.entity and first.is_table:
                return True  # the table before its own column of the same name
            if (
                column.entity is table.entity
                and column.field is not None
                and column.field.ref.column in table.entity.label
            ):
                return True
            return any(
                column.field is not None
                and link.child == column.entity.key
                and link.column == column.field.ref.column
                and link.parent == table.entity.key
                for link in self.layer.links
            ) or (column.field is not None and column.field.role == "key" and column.entity is table.entity)
        if first.field is None or second.field is None:
            return first.entity is second.entity
        return self.same_column(first.field.ref, second.field.ref)

    def same_column(self, first: ColumnRef, second: ColumnRef) -> bool:
        """Whether two columns hold the same thing."""
        ends = {(ref.table, ref.column) for ref in (first, second)}
        for link in self.layer.links:
            if {(link.child, link.column), (link.parent, link.parent_column)} == ends:
                return True
        return self.is_copy(first, second) or self.is_copy(second, first)

    def is_copy(self, copy: ColumnRef, original: ColumnRef) -> bool:
        """Whether a column repeats one of a table that its row points at (`product_category`, `orders.gender`)."""
        if not any(link.parent == original.table for link in self.layer.up.get(copy.table, ())):
            return False
        own = {stem(word) for word in self.layer.entities[original.table].words}
        words = [stem(word) for word in self.layer.field(copy).words]
        wanted = [stem(word) for word in self.layer.field(original).words]
        return (words == wanted and wanted not in (["id"], ["creat"], ["statu"], ["status"])) or (
            [word for word in words if word not in own] == wanted and words != wanted
        )

    # Ways

    def link_to(self, start: str, entity: Entity, way: Way | None, said: str) -> Link | None:
        """The last link of the way from `start` to the entity, where it has to be told (two airports of a flight).

        None when there is only one. Raises UndecidedError when the question does not tell.
        """
        paths = paths_up(self.layer, start, entity.key)
        links = list(dict.fromkeys(path[-1] for path in paths if path))
        if len(links) < 2:
            return None
        if way:
            told = [link for link in links if self.leads(ColumnRef(link.child, link.column), way)]
            if len(told) == 1:
                return told[0]
        if answer := self.chosen.get(said):
            for link in links:
                if answer == f"{link.column} of {_short(link.child)}":
                    return link
        options = [f"{link.column} of {_short(link.child)}" for link in links]
        raise UndecidedError(said, f"“{said}” can be reached in several ways. Which one?", options)

    def leads(self, ref: ColumnRef, way: Way) -> bool:
        """Whether a column's name says where something starts, or where it ends."""
        wanted = {form for word in english().raw["directions"][way] for form in (stem(word), root(word))}
        one = self.layer.field(ref)
        return any(forms & wanted for name in one.names for forms in name.forms)

    # Values

    def value_column(
        self, terms: Sequence[Term], qualifier: Term | None, way: Way | None
    ) -> tuple[ColumnRef, list[Held]]:
        """The column that holds the value of every term, and the values. Raises UndecidedError, RefusedError."""
        pools = [_starting([held for held in term.held if self._occurs(held, way)], term) for term in terms]
        shared = set.intersection(*[{held.column for held in pool} for pool in pools])
        scored = sorted(
            ((self._value_score(column, pools, qualifier, way), column) for column in shared),
            key=lambda pair: (-pair[0], pair[1]),
        )
        scored = [pair for pair in scored if pair[0] > 0]
        said = terms[0].text
        if not scored:
            raise RefusedError("unknown_value", f"“{said}” is not a value that belongs to this question.")
        scored = self._asked(said, scored, pools)
        column = next(
            (
                one
                for score, one in scored
                if score > scored[0][0] - 0.1 and self.is_copy(scored[0][1], one) and self.home != scored[0][1].table
            ),
            scored[0][1],
        )
        reach = _CLOSE
        partial = all(held.partial for pool in pools for held in pool if held.column == column)
        if partial and qualifier is None and way is None:
            reach = _FAR
        rivals = [
            other
            for score, other in scored[1:]
            if score >= scored[0][0] - reach and other != column and not self.same_column(column, other)
        ]
        if rivals:
            told = [column]
            for other in rivals:
                if not any(self.same_column(one, other) for one in told):
                    told.append(other)
            options = [f"{said} as {one.column} of {_short(one.table)}" for one in told]
            raise UndecidedError(
                f"value {said.lower()}", f"“{said}” is found in several columns. Which one?", options[:6]
            )
        if column.table in self.near and len(shared) > 1:
            self.say(f"“{said}” is read as {column.column} of {_short(column.table)}.")
        return column, [
            self._one_value(term, [held for held in pool if held.column == column])
            for term, pool in zip(terms, pools, strict=True)
        ]

    def _occurs(self, held: Held, way: Way | None) -> bool:
        """Whether rows of the home point at a row of that name; true where the index cannot tell."""
        if self.home is None or held.column.table == self.home:
            return True
        links = [link for link in self.layer.up.get(self.home, ()) if link.parent == held.column.table]
        told = [link for link in links if way is None or self.leads(ColumnRef(link.child, link.column), way)] or links
        return not told or any(
            self.layer.values.occurs(held.column, held.value, ColumnRef(link.child, link.column)) for link in told
        )

    def _asked(
        self, said: str, scored: list[tuple[float, ColumnRef]], pools: list[list[Held]]
    ) -> list[tuple[float, ColumnRef]]:
        answer = self.chosen.get(f"value {said.lower()}")
        told = [pair for pair in scored if answer == f"{said} as {pair[1].column} of {_short(pair[1].table)}"]
        if told:
            return told
        top = [pair for pair in scored if pair[0] >= scored[0][0] - _CLOSE]
        if len(top) > 1:
            rows = {
                pair[1]: sum(held.rows for pool in pools for held in pool if held.column == pair[1]) for pair in top
            }
            most = max(top, key=lambda pair: rows[pair[1]])
            others = [rows[pair[1]] for pair in top if pair[1] != most[1] and pair[1].table == most[1].table]
            if others and len(others) == len(top) - 1 and rows[most[1]] > 50 * max(others):
                where = f"{most[1].column} of {_short(most[1].table)}"
                self.say(f"“{said}” is read as {where}, where nearly all of its rows are.")
                return [most]
        return scored

    def _value_score(
        self, column: ColumnRef, pools: list[list[Held]], qualifier: Term | None, way: Way | None
    ) -> float:
        partial = any(all(held.partial for held in pool if held.column == column) for pool in pools)
        score = 0.5 if partial else 1.0
        if self.home is not None:
            steps = distance(self.layer, self.home, column.table)
            if steps is not None:
                score += 0.3 - 0.06 * steps
            elif base_for(self.layer, self.home, [column.table]):
                score += 0.05
            else:
                return -1.0
        if column.table in self.anchors:
            score += 0.1
        if column.table in self.near:
            score += 0.12
        if qualifier is not None:
            fits = [
                one.score
                for one in qualifier.candidates
                if (one.field and one.field.ref == column) or (one.is_table and one.entity.key == column.table)
            ]
            score += max(fits) if fits else -0.8
        if way is not None and self.layer.field(column).role in ("foreign", "text"):
            other: Way = "to" if way == "from" else "from"
            score += 0.2 if self.leads(column, way) else -0.9 if self.leads(column, other) else 0.0
        if self.layer.field(column).role == "key" and any(link.parent == column.table for link in self.layer.links):
            score -= 0.05
        return score

    def _one_value(self, term: Term, pool: list[Held]) -> Held:
        exact = [held for held in pool if not held.partial]
        if exact:
            spelt = [held for held in exact if held.value.casefold() == term.text.casefold()] or exact
            others = [held.value for held in exact if held.value != spelt[0].value]
            if others and len(spelt) == 1:
                rest = " and ".join(f"“{one}”" for one in others)
                self.say(f"“{spelt[0].value}” is counted alone; {rest} is another value of {spelt[0].column.column}.")
            if spelt[0].value.casefold() != term.text.casefold():
                self.say(f"“{term.text}” is read as {spelt[0].column.column} = “{spelt[0].value}”.")
            return spelt[0]
        values = sorted({held.value for held in pool})
        if answer := self.chosen.get(f"which {term.lower}"):
            told = [held for held in pool if held.value == answer]
            if told:
                return told[0]
        if len(values) > 1:
            if len(values) > 8:
                some = ", ".join(values[:3])
                text = f"“{term.text}” is part of {len(values)} values, such as {some}. Please name one whole."
                raise RefusedError("unknown_value", text)
            raise UndecidedError(f"which {term.lower}", f"“{term.text}” is part of several values. Which one?", values)
        self.say(f"“{term.text}” is read as {pool[0].column.column} = “{pool[0].value}”.")
        return pool[0]


def _starting(pool: list[Held], term: Term) -> list[Held]:
    """Of the values that contain the words, those that begin with them, if there are such."""
    begin = [held for held in pool if not held.partial or normal(held.value).startswith(f"{normal(term.text)} ")]
    return begin or pool


def label_of(one: Candidate) -> str:
    """A candidate as a person chooses it."""
    return one.entity.said if one.field is None else f"{one.field.ref.column} of {one.entity.said}"


def fits_number(one: Candidate) -> float:
    """Prefer columns that can be summed or averaged."""
    return -2 if one.field is None or one.field.role != "number" else 0.0


def fits_quantity(one: Candidate) -> float:
    """Prefer numbers of which a total or an average means something."""
    return fits_number(one) - (0.0 if one.field is None or is_quantity(one.field) else 0.15)


def fits_group(one: Candidate) -> float:
    """Prefer what can be grouped by; numbers come last."""
    if one.field is None:
        return 0.02
    return {"text": 0.03, "foreign": 0.0, "key": 0.0, "flag": 0.02, "part": -0.02, "time": -0.2, "number": -0.25}.get(
        one.field.role, -0.1
    )


def fits_any(one: Candidate) -> float:
    """Take what is named best."""
    if one.field is None:
        return 0.03
    return {"key": 0.02, "foreign": -0.03}.get(one.field.role, 0.0)


def fits_field(one: Candidate) -> float:
    """Take a column."""
    return -2 if one.field is None else 0.0


def fits_time(one: Candidate) -> float:
    """Take a moment."""
    return -2 if one.field is None or one.field.role != "time" else 0.0


def fits_table(one: Candidate) -> float:
    """Take a table."""
    return -2 if one.field is not None else 0.0


def fields_named(layer: SemanticLayer, entity: str, words: Iterable[str]) -> list[Field]:
    """Fields of a table whose name is, or ends with, one of the phrases, in the order of the phrases."""
    found: list[Field] = []
    for text in words:
        wanted = [stem(word) for word in text.split()]
        for one in layer.entities[entity].fields.values():
            for name in one.names:
                tail = name.forms[-len(wanted) :]
                if (
                    len(tail) == len(wanted)
                    and all(word in forms for word, forms in zip(wanted, tail, strict=True))
                    and one not in found
                ):
                    found.append(one)
    return found


def _short(table: str) -> str:
    return table.rsplit(".", 1)[-1]
