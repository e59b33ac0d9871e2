"""What a language's words mean to the planner, read from its data file."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

LANGUAGES = ("en", "pt", "id")


@dataclass(frozen=True)
class Sense:
    """What a phrase means: its kind (aggregate, comparator, …) and the kind's own value."""

    kind: str
    value: Any = None


@dataclass
class Lexicon:
    """One language's words. `phrases` maps word sequences to what they may mean."""

    raw: dict[str, Any]
    phrases: dict[tuple[str, ...], list[Sense]] = field(default_factory=dict)
    longest: int = 1
    irregular: dict[str, str] = field(default_factory=dict)
    abbreviations: dict[str, str] = field(default_factory=dict)

    def text(self, key: str, **values: Any) -> str:
        """A sentence for the person."""
        return str(self.raw["texts"][key]).format(**values)

    def teach(self, words: tuple[str, ...], kind: str, value: Any = None) -> None:
        """Add a phrase."""
        self.phrases.setdefault(words, []).append(Sense(kind, value))
        self.longest = max(self.longest, len(words))


@cache
def lexicon(code: str) -> Lexicon:
    """The data file of a language, without phrases. Raises FileNotFoundError when there is none."""
    raw = tomllib.loads((files(__package__) / "lexicon" / f"{code}.toml").read_text("utf-8"))
    return Lexicon(raw, irregular=raw.get("irregular", {}), abbreviations=raw.get("abbreviations", {}))


@cache
def english() -> Lexicon:
    """English with all its phrases."""
    from .words import phrase  # words fold by the irregular forms that this module reads

    book = lexicon("en")
    for text, kind, value in _english_phrases(book.raw):
        book.teach(phrase(text), kind, value)
    return book


def _english_phrases(raw: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Each phrase of the file with its kind and value; of several meanings the first counts."""
    for kind in ("fillers", "light", "list", "chart_words", "unsupported"):
        yield from ((text, kind, None) for text in raw[kind])
    for kind in ("aggregates", "count", "comparators", "structure", "grains", "parts"):
        yield from ((text, kind, value) for value, texts in raw[kind].items() if value != "over_time" for text in texts)
    for kind in ("superlatives", "measures"):
        yield from ((text, kind, entry) for entry in raw[kind] for text in entry["words"])
    yield from ((text, "over_time", grain) for grain, texts in raw["parts"]["over_time"].items() for text in texts)
    yield from ((text, "light", None) for text in raw["creation"]["words"])
    yield from ((text, "weekday", (day,)) for text, day in raw["weekdays"].items())
    yield from ((text, "weekday", (1, 7)) for text in raw["time"]["weekend"])
    yield from ((text, "weekday", (2, 3, 4, 5, 6)) for text in raw["time"]["weekday"])
    yield from ((text, "states", "absent") for text in raw["states"]["absent"])
    yield from ((text, "ordinary", None) for text in raw["doubts"]["ordinary"])
    yield from ((text, "intents", intent) for intent, texts in raw["intents"].items() for text in texts)
