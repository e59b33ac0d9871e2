"""A question as a row of terms: each run of words with all that it can mean, nothing left out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from rapidfuzz.distance import OSA

from .lexicons import english
from .mentions import Candidate, candidates_of
from .periods import PeriodReader
from .quantities import is_quantity
from .semantics import Entity, SemanticLayer
from .spellings import spelt_columns, spelt_tokens
from .values import Held
from .words import Token, fold, normal, root, stem, tokenize

_LONGEST_MENTION = 5
_LONGEST_VALUE = 8
_COUNTING = frozenset(["number", "count", "amount", "total", "quantity", "sum", "average"])
_WEAK = frozenset(
    ["fillers", "light", "list", "chart_words", "unsupported", "parts", "grains", "states", "measures", "intents"]
)
"""Kinds of the lexicon that an exact name of the schema overrules."""


@dataclass
class Term:
    """Some tokens and their meaning. `used` is set by whoever turns it into a part of the plan."""

    kind: str
    value: Any
    tokens: list[Token]
    candidates: list[Candidate] = field(default_factory=list)
    held: list[Held] = field(default_factory=list)
    used: bool = False

    @property
    def text(self) -> str:
        """The person's words."""
        return " ".join(token.text for token in self.tokens)

    @property
    def lower(self) -> str:
        """The person's words, folded."""
        return " ".join(token.lower for token in self.tokens)

    def has(self, kind: str, *values: Any) -> bool:
        """Whether the term is of this kind, and of one of these values where some are given."""
        return self.kind == kind and (not values or self.value in values)


@dataclass
class Scanned:
    """The terms of a question, and the words that were read as others (typing errors)."""

    terms: list[Term]
    repairs: list[tuple[str, str]]
    tokens: list[Token]
    day: date
    """What counted as today for its periods."""


def scan(layer: SemanticLayer, question: str, today: date) -> Scanned:
    """Cut a question into terms: at each place the longest meaning wins."""
    tokens, repairs = _repaired(layer, spelt_tokens(layer, question))
    periods = PeriodReader(tokens, today)
    terms: list[Term] = []
    at = 0
    while at < len(tokens):
        term = _term_at(layer, tokens, at, periods)
        terms.append(term)
        at += len(term.tokens)
    return Scanned(terms, repairs, tokens, today)


def _term_at(layer: SemanticLayer, tokens: Sequence[Token], at: int, periods: PeriodReader) -> Term:
    token = tokens[at]
    if token.kind in ("quoted", "name"):
        return _spelt_out(layer, token, at, periods)
    options: list[tuple[float, Term]] = []
    if period := periods.read(at):
        options.append((period[1] + 0.5, Term("period", period[0], list(tokens[at : at + period[1]]))))
    lexical = _lexical(tokens, at)
    if lexical and not _is_noun(layer, lexical, tokens, at):
        weight = 0.35 if lexical.kind == "measures" else 0.25 if lexical.kind in _WEAK else 0.45
        options.append((len(lexical.tokens) + weight, lexical))
    mention = _mention(layer, tokens, at)
    if mention:
        exact = mention.candidates[0].score >= 0.85 and not _calendar(mention)
        options.append((len(mention.tokens) + (0.4 if exact else 0.1), mention))
    if mention is None and lexical is None:
        mention = _measured_in(layer, token)
        if mention:
            options.append((1.1, mention))
    if journey := _journey(layer, token, mention):
        options.append((1.6, journey))
    value = _value(layer, tokens, at, lexical is not None)
    if value:
        options.append((len(value.tokens) + _value_weight(value, at), value))
    if not options:
        if token.kind == "number":
            return Term("number", token.number, [token])
        return Term("mark" if token.kind == "mark" and token.text in "?!,;.\n" else "unknown", token.text, [token])
    best = max(options, key=lambda option: option[0])[1]
    best.candidates = best.candidates or (
        mention.candidates if mention and len(mention.tokens) == len(best.tokens) else []
    )
    best.held = best.held or (value.held if value and len(value.tokens) == len(best.tokens) else [])
    return best


def _spelt_out(layer: SemanticLayer, token: Token, at: int, periods: PeriodReader) -> Term:
    """A column by its exact name, or a quoted text."""
    if token.kind == "name":
        return Term("mention", None, [token], spelt_columns(layer, token))
    if period := periods.read(at):
        return Term("period", period[0], [token])
    held = layer.values.find([token.text]) or layer.values.find_part([token.text])
    return Term("quoted", token.text, [token], candidates_of(layer, tokenize(token.text)), held)


def _measured_in(layer: SemanticLayer, token: Token) -> Term | None:
    """ "the most miles": the columns that are in this unit, as their descriptions say."""
    if token.lower not in (*english().raw["units"]["lengths"], *english().raw["units"]["money"]):
        return None
    told = re.compile(rf"\bin (?:us |u\.s\. )?{re.escape(token.lower)}\b(?! per)", re.IGNORECASE)
    found = [
        Candidate(entity, one, 0.6)
        for entity in layer.entities.values()
        for one in entity.fields.values()
        if is_quantity(one) and told.search(one.description)
    ]
    return Term("mention", None, [token], found) if found else None


def _journey(layer: SemanticLayer, token: Token, mention: Term | None) -> Term | None:
    """ "departures": rows of the one table that says from where and to where, seen from there."""
    way = english().raw["journeys"].get(token.lower)
    if way is None:
        return None
    found = [one for one in layer.entities.values() if _leads(one, "from") and _leads(one, "to")]
    named = mention.candidates[0] if mention else None
    if len(found) != 1 or (named and named.is_table and named.score >= 0.85 and named.entity is not found[0]):
        return None
    return Term("mention", way, [token], [Candidate(found[0], None, 1.0)])


def _leads(entity: Entity, way: str) -> bool:
    wanted = {stem(word) for word in english().raw["directions"][way]}
    return any(
        one.role == "foreign" and any(forms & wanted for name in one.names for forms in name.forms)
        for one in entity.fields.values()
    )


def _value_weight(value: Term, at: int) -> float:
    """Whole values count most; a part of one more when it is written as a name: "operated by United"."""
    if value.value == "other form":
        return 0.08
    if value.held[0].partial:
        return 0.2 if at and value.tokens[0].text[0].isupper() else 0.05
    return 0.3 if normal(value.held[0].value) == normal(value.text) or len(value.tokens) > 1 else 0.25


def _is_noun(layer: SemanticLayer, lexical: Term, tokens: Sequence[Token], at: int) -> bool:
    """Whether "order" in "per order by country" is the table, not the sorting, and "chart" in "without a chart"."""
    if lexical.kind == "chart_words" and lexical.tokens[0].lower in ("without", "no"):
        return any(one.score >= 0.85 for one in candidates_of(layer, lexical.tokens[-1:]))
    if not lexical.has("structure", "ordered") or at == 0:
        return False
    named = tokens[at - 1].lower in ("per", "each", "every", "an", "the", "of", "one", "any")
    return named and bool(candidates_of(layer, [tokens[at]]))


def _calendar(term: Term) -> bool:
    """Whether the words name nothing but parts of the calendar, which a grain says better."""
    grains = english().raw["grains"]
    return all(
        one.field is not None
        and (one.field.role == "part" or (one.field.role == "time" and " ".join(one.field.words) in grains))
        for one in term.candidates
    )


def _lexical(tokens: Sequence[Token], at: int) -> Term | None:
    book = english()
    for length in range(min(book.longest, len(tokens) - at), 0, -1):
        senses = book.phrases.get(tuple(token.lower for token in tokens[at : at + length]))
        if senses:
            sense = senses[0]
            return Term(sense.kind, sense.value, list(tokens[at : at + length]))
    number = english().raw["numbers"].get(tokens[at].lower)
    if number is None:
        return None
    total, length = float(number), 1
    while at + length < len(tokens) and tokens[at + length].lower in ("hundred", "thousand", "million", "billion"):
        total *= english().raw["numbers"][tokens[at + length].lower]
        length += 1
    return Term("number", total, list(tokens[at : at + length]))


def _mention(layer: SemanticLayer, tokens: Sequence[Token], at: int) -> Term | None:
    if tokens[at].kind != "word" or tokens[at].lower in ("of", "the", "a", "an"):
        return None
    best: Term | None = None
    for length in range(1, min(_LONGEST_MENTION, len(tokens) - at) + 1):
        span = list(tokens[at : at + length])
        if any(token.kind != "word" for token in span):
            break
        if span[-1].lower in ("of", "the", "a", "an") or (
            length > 2 and span[0].lower in _COUNTING and span[1].lower == "of"
        ):
            continue
        found = candidates_of(layer, span)
        if found and (best is None or found[0].score >= best.candidates[0].score * 0.8 or found[0].score >= 0.8):
            best = Term("mention", None, span, found)
    return best


def _value(layer: SemanticLayer, tokens: Sequence[Token], at: int, lexical: bool) -> Term | None:
    if tokens[at].kind not in ("word", "number"):
        return None
    whole = _whole_value(layer, tokens, at, lexical)
    if whole is not None or lexical or tokens[at].kind != "word":
        return whole
    return _other_form(layer, tokens[at]) or _part_of_value(layer, tokens, at)


def _whole_value(layer: SemanticLayer, tokens: Sequence[Token], at: int, lexical: bool) -> Term | None:
    for length in range(min(_LONGEST_VALUE, len(tokens) - at), 0, -1):
        span = list(tokens[at : at + length])
        if any(one.kind in ("quoted", "date") for one in span) or span[-1].kind == "mark":
            continue
        if length == 1 and not _may_be_value(span[0], lexical):
            continue
        if held := layer.values.find([one.lower for one in span]):
            return Term("value", None, span, held=held)
    return None


def _may_be_value(token: Token, lexical: bool) -> bool:
    """A short word of the language is a value only when it is spelt as one: "IN" may be Indiana, "in" is not."""
    return token.kind == "word" and (
        not lexical or len(token.lower) > 3 or (len(token.text) > 1 and token.text.isupper())
    )


def _other_form(layer: SemanticLayer, token: Token) -> Term | None:
    """A value in the plural, or as a verb: "stocks", "bought"."""
    for form in (token.lower.removesuffix("s"), root(token.lower)):
        if len(token.lower) > 3 and form != token.lower and (held := layer.values.find([form])):
            return Term("value", "other form", [token], held=held)
    return None


def _part_of_value(layer: SemanticLayer, tokens: Sequence[Token], at: int) -> Term | None:
    token = tokens[at]
    if len(token.lower) < (3 if token.text[0].isupper() else 5) or not layer.values.starts(token.lower):
        return None
    for length in range(min(4, len(tokens) - at), 0, -1):
        span = list(tokens[at : at + length])
        if all(one.kind == "word" for one in span) and (held := layer.values.find_part([one.lower for one in span])):
            return Term("value", None, span, held=held)
    return None


def _repaired(layer: SemanticLayer, tokens: list[Token]) -> tuple[list[Token], list[tuple[str, str]]]:
    known = _known_words(layer)
    fixed, repairs = [], []
    for token in tokens:
        better = None
        if (
            token.kind == "word"
            and len(token.lower) >= 5
            and token.lower not in known
            and not _explained(layer, token)
            and not _is_ordinary(token.lower)
        ):
            better = _closest(token.lower, known)
        if better and not _derived(token.lower, better):
            repairs.append((token.text, better))
            token = Token(better, fold(better))
        fixed.append(token)
    return fixed, repairs


def _is_ordinary(*words: str) -> bool:
    """Whether the words mean nothing here, and no other words either: "roughly" is no misspelt "monthly"."""
    return any(sense.kind == "ordinary" for sense in english().phrases.get(words, ()))


def _explained(layer: SemanticLayer, token: Token) -> bool:
    return bool(
        candidates_of(layer, [token])
        or any(layer.values.find([form]) for form in (token.lower, token.lower.removesuffix("s"), root(token.lower)))
        or layer.values.starts(token.lower)
    )


def _closest(word: str, known: Iterable[str]) -> str | None:
    reach = 2 if len(word) >= 8 else 1
    found = [
        (OSA.distance(word, other, score_cutoff=reach), other)
        for other in known
        if len(other) >= 5 and abs(len(other) - len(word)) <= reach and other[0] == word[0]
    ]
    near = [(distance, other) for distance, other in found if distance <= reach and not _swapped(word, other)]
    best = min(near, default=None)
    return best[1] if best else None


def _derived(word: str, other: str) -> bool:
    """Whether the word is another word made from that one: "visitors" is no misspelt "visits"."""
    base = stem(other)
    return word.startswith(base) and word[len(base) :] in ("or", "ors", "er", "ers", "ing", "ed", "ion", "ions", "able")


def _swapped(word: str, other: str) -> bool:
    """Whether a short word differs by one other letter: "plants" is not a misspelt "planes"."""
    return len(word) == len(other) and len(word) < 8 and sorted(word) != sorted(other)


def _known_words(layer: SemanticLayer) -> frozenset[str]:
    kept: frozenset[str] | None = getattr(layer, "_known_words", None)
    if kept is None:
        words = {word for words in english().phrases if not _is_ordinary(*words) for word in words if word.isalpha()}
        words |= set(english().raw["months"]) | set(english().raw["numbers"]) | set(english().raw["weekdays"])
        words |= {"yesterday", "today", "before", "after", "since", "until", "between"}
        kept = frozenset(words | layer.vocabulary | {word + "s" for word in layer.vocabulary})
        layer._known_words = kept  # type: ignore[attr-defined]
    return kept
