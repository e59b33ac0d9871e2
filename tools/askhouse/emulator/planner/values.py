"""Which column holds a value that a question names: an index over text columns of few distinct values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import NamedTuple

from rapidfuzz import fuzz, process

from .lexicons import lexicon
from .plan import ColumnRef
from .words import fold, normal

MOST_VALUES = 5_000
"""A column with more distinct values is not indexed."""


class Held(NamedTuple):
    """A stored value, where it is, and in how many rows."""

    column: ColumnRef
    value: str
    rows: int
    partial: bool = False
    """Whether the question named a part of the value only."""


@dataclass
class ValueIndex:
    """Stored values by their folded words."""

    _exact: dict[str, list[Held]] = field(default_factory=lambda: defaultdict(list))
    _parts: dict[str, list[Held]] = field(default_factory=lambda: defaultdict(list))
    columns: set[ColumnRef] = field(default_factory=set)
    rows_of: dict[ColumnRef, dict[str, int]] = field(default_factory=dict)
    """For each indexed column the number of rows of each value."""
    keys_of: dict[ColumnRef, dict[str, list[str]]] = field(default_factory=dict)
    """For columns that name the rows of a table, the keys of the rows of each name."""

    def add(self, column: ColumnRef, values: Iterable[tuple[str, int]]) -> None:
        """Index a column's values with their numbers of rows."""
        self.columns.add(column)
        counted = self.rows_of.setdefault(column, {})
        for value, rows in values:
            counted[value] = rows
            key = normal(value)
            if not key:
                continue
            self._exact[key].append(Held(column, value, rows))
            for word in set(key.split()) if " " in key else ():
                self._parts[word].append(Held(column, value, rows, partial=True))

    def alias(self, column: ColumnRef, word: str, value: str) -> None:
        """Teach another word for a stored value."""
        if value in self.rows_of.get(column, {}):
            self._exact[normal(word)].append(Held(column, value, self.rows_of[column][value]))

    def occurs(self, name: ColumnRef, value: str, pointing: ColumnRef) -> bool:
        """Whether rows of another table point, by that column, at a row of that name; true where nobody knows."""
        keys, counted = self.keys_of.get(name), self.rows_of.get(pointing)
        if keys is None or counted is None:
            return True
        return any(key in counted for key in keys.get(value, ()))

    def find(self, words: Sequence[str]) -> list[Held]:
        """The values that these words spell, whole."""
        spelt = normal(" ".join(words).replace("'", ""))
        spelt = spelt if spelt in self._exact else normal(" ".join(words))
        found = list(self._exact.get(spelt, ()))
        for other in _spellings().get(spelt, ()):
            found += [held for held in self._exact.get(other, ()) if held not in found]
        return found

    def find_part(self, words: Sequence[str]) -> list[Held]:
        """The values of several words that begin with these words, or that alone contain them."""
        spelt = normal(" ".join(words).replace("'", ""))
        spelt = spelt if spelt.split()[-1:] and spelt.split()[-1] in self._parts else normal(" ".join(words))
        if len(spelt) < 3:
            return []
        holders = self._parts.get(spelt.split()[0], ())
        within = [held for held in holders if f" {spelt} " in f" {normal(held.value)} "]
        return sorted(within, key=lambda held: not normal(held.value).startswith(spelt + " "))

    def starts(self, word: str) -> bool:
        """Whether some value of several words contains the word."""
        return word in self._parts

    def nearest(self, text: str, *, columns: Iterable[ColumnRef] | None = None, limit: int = 3) -> list[str]:
        """Stored values that look like the text."""
        wanted = set(columns) if columns is not None else None
        pool = {
            held.value: fold(held.value)
            for held_list in self._exact.values()
            for held in held_list
            if wanted is None or held.column in wanted
        }
        hits = process.extract(fold(text), pool, scorer=fuzz.ratio, limit=limit, score_cutoff=60)
        return [key for _, _, key in hits]

    def typo(self, word: str) -> tuple[str, float] | None:
        """The indexed value closest to a misspelt word, with a score of 0 to 100."""
        hit = process.extractOne(word, self._short_keys, scorer=fuzz.ratio, score_cutoff=86)
        return (hit[0], hit[1]) if hit else None

    @cached_property
    def _short_keys(self) -> list[str]:
        return [key for key in self._exact if 4 <= len(key) <= 30 and not key.isdigit()][:20_000]


@cache
def _spellings() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for group in lexicon("en").raw["values"].values():
        keys = [normal(text) for text in group]
        for key in keys:
            found[key] = [other for other in keys if other != key]
    return found
