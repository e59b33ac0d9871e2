"""Which tables and columns some words of a question can mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from .lexicons import lexicon
from .naming import Name, forms_of
from .quantities import is_quantity
from .semantics import Entity, Field, SemanticLayer
from .words import Token, phrase

_STOP = frozenset(["of", "the", "a", "an", "their", "its", "his", "her"])
_LIGHT_WORDS = frozenset(["is", "has", "was", "flag", "id", "identifier", "at", "number", "code", "name", "num"])
LEAST_SCORE = 0.3
_NAMES = frozenset(["name", "names"])
_GENERIC = _NAMES | {"id", "ids", "identifier", "identifiers"}


@dataclass(frozen=True)
class Candidate:
    """A table, or a column of it, with how well the words name it (1: exactly)."""

    entity: Entity
    field: Field | None
    score: float

    @property
    def is_table(self) -> bool:
        """Whether the table itself is meant."""
        return self.field is None


def candidates_of(layer: SemanticLayer, tokens: Sequence[Token]) -> list[Candidate]:
    """All that the words can mean, best first; empty when some word is not explained."""
    content = [word for token in tokens for word in token.lower.split("_") if token.lower not in _STOP]
    if not content:
        return []
    key = tuple(token.lower for token in tokens)
    if key not in layer.found:
        layer.found[key] = _candidates(layer, tokens, content)
    return layer.found[key]


def _candidates(layer: SemanticLayer, tokens: Sequence[Token], content: list[str]) -> list[Candidate]:
    owned = next((place for place, token in enumerate(tokens) if token.lower == "of"), len(tokens))
    found = _spelt(layer, content, owned)
    if len(content) == 2:
        found += _spelt(layer, ["".join(content)], owned)
    if not found or found[0].score < 0.85:
        found += [
            Candidate(one.entity, one.field, one.score * 0.84)
            for other in _synonyms(tuple(content))
            for one in _spelt(layer, list(other), owned)
            if one.score > 0.6
        ]
    if content[-1] in _GENERIC:
        found += _generic(layer, content)
    elif content[0] in _GENERIC and owned == 1:
        found += _generic(layer, [*content[1:], content[0]])
    if not found and len(content) > 1 and content[-1] in _NAMES:
        named = _spelt(layer, content[:-1], owned)
        found = [one for one in named if one.field is not None and one.field.role in ("text", "foreign")]
    best = {
        (one.entity.key, one.field.ref.column if one.field else ""): one for one in sorted(found, key=lambda c: c.score)
    }
    numbers = {(one.entity.key, one.score) for one in best.values() if one.field and is_quantity(one.field)}
    # "Total marks" over a table `marks` with a number `marks`: the number is summed, not the rows counted.
    return sorted(best.values(), key=lambda one: (-one.score, one.is_table and (one.entity.key, one.score) in numbers))


def _generic(layer: SemanticLayer, content: list[str]) -> list[Candidate]:
    """ "names", "IDs": the column by which the rows of a table are called, or their key."""
    forms = [forms_of(word) for word in content[:-1]]
    found = []
    for entity in layer.entities.values():
        columns = entity.label[:1] if content[-1] in _NAMES else entity.identifier[:1]
        named = max((_entity_score(name, forms) for name in entity.names), default=0.0) if forms else 0.9
        if columns and named >= 0.85:
            found.append(Candidate(entity, entity.fields[columns[0]], 0.9 if forms else 0.6))
    return found


def _spelt(layer: SemanticLayer, content: list[str], owned: int) -> list[Candidate]:
    forms = [forms_of(word) for word in content]
    plurals = [word.endswith("s") and not word.endswith("ss") for word in content]
    found = []
    for entity in layer.entities.values():
        score = max((_entity_score(name, forms) for name in entity.names), default=0.0)
        if score >= LEAST_SCORE:
            found.append(Candidate(entity, None, score))
    seen: set[int] = set()
    for form in {form for options in forms for form in options}:
        for one in layer.by_stem.get(form, ()):
            if id(one) in seen:
                continue
            seen.add(id(one))
            entity = layer.entities[one.ref.table]
            score = max(_field_score(name, forms, entity, owned, plurals) for name in one.names)
            if score >= LEAST_SCORE:
                found.append(Candidate(entity, one, score))
    return sorted(found, key=lambda candidate: -candidate.score)


def _entity_score(name: Name, forms: list[frozenset[str]]) -> float:
    matched = _matched(name, forms)
    if None in matched or len(set(matched)) < len(matched):
        return 0.0
    if len(name.words) - 1 not in matched:
        return 0.0
    return name.weight * (1.0 if len(matched) == len(name.words) else 0.5)


def _field_score(name: Name, forms: list[frozenset[str]], entity: Entity, owned: int, plurals: list[bool]) -> float:
    matched = _matched(name, forms)
    own = [place for place in matched if place is not None]
    if not own or len(set(own)) < len(own):
        return 0.0
    if any(place is None and not options & entity.stems for place, options in zip(matched, forms, strict=True)):
        return 0.0
    if any(
        place is None and plural and at < owned for at, (place, plural) in enumerate(zip(matched, plurals, strict=True))
    ):
        return 0.0  # "products cost more": the table's word is the subject
    first = next(place for place, found in enumerate(matched) if found is not None)
    if any(place is None and first < at < owned for at, place in enumerate(matched)):
        return 0.0  # "customers ordered": the table's word follows without "of"
    weights = [0.3 if word in _LIGHT_WORDS else 1.0 for word in name.words]
    covered = sum(weights[place] for place in own) / sum(weights)
    borrowed = len(own) < len(matched)
    owner = [options for place, options in zip(matched, forms, strict=True) if place is None]
    whole = any(_entity_score(one, owner) >= 0.85 for one in entity.names) if borrowed else True
    return name.weight * covered * ((0.99 if whole else 0.9) if borrowed else 1.0)


def _matched(name: Name, forms: list[frozenset[str]]) -> list[int | None]:
    return [next((place for place, own in enumerate(name.forms) if options & own), None) for options in forms]


@cache
def _synonyms(content: tuple[str, ...]) -> list[tuple[str, ...]]:
    wanted = _common(content)
    found: list[tuple[str, ...]] = []
    for group in _groups():
        if any(common == wanted for _, common in group):
            found += [words for words, _ in group if words != content]
    return found


@cache
def _groups() -> list[list[tuple[tuple[str, ...], tuple[str, ...]]]]:
    """Groups of synonyms: each phrase with its words' common forms."""
    phrases = [[phrase(text) for text in group] for group in lexicon("en").raw["synonyms"].values()]
    return [[(words, _common(words)) for words in group] for group in phrases]


def _common(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(min(forms_of(word)) for word in words)
