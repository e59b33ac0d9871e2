"""What a language's words mean to the planner, read from its data file."""

from __future__ import annotations

import tomllib
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
    raw = book.raw
    for kind in ("fillers", "light", "list", "chart_words", "unsupported"):
        for text in raw[kind]:
            book.teach(phrase(text), kind)
    for kind in ("aggregates", "count", "comparators", "structure", "grains", "parts"):
        for value, texts in raw[kind].items():
            if value == "over_time":
                continue
            for text in texts:
                book.teach(phrase(text), kind, value)
    for kind in ("superlatives", "measures"):
        for entry in raw[kind]:
            for text in entry["words"]:
                book.teach(phrase(text), kind, entry)
    for grain, texts in raw["parts"]["over_time"].items():
        for text in texts:
            book.teach(phrase(text), "over_time", grain)
    for text in raw["creation"]["words"]:
        book.teach(phrase(text), "light")
    for text, day in raw["weekdays"].items():
        book.teach(phrase(text), "weekday", (day,))
    for text in raw["time"]["weekend"]:
        book.teach(phrase(text), "weekday", (1, 7))
    for text in raw["time"]["weekday"]:
        book.teach(phrase(text), "weekday", (2, 3, 4, 5, 6))
    for text in raw["states"]["absent"]:
        book.teach(phrase(text), "states", "absent")
    for intent, texts in raw["intents"].items():
        for text in texts:
            book.teach(phrase(text), "intents", intent)
    return book
