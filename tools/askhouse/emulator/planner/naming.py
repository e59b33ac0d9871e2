"""The names a table or column goes by: its identifier cut into words, what its description says, and synonyms."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .lexicons import lexicon
from .words import fold, pieces, root, stem, tokenize

_PREPOSITIONS = "of|in|at|on|where|when|who|for|to|from|the|that|which|by|as|if|with"
_AFTER_HEAD = _PREPOSITIONS + "|given|associated|assigned|used|per|cited|received|was|is"
_HEAD = re.compile(
    r"^(?:unique |the |a |an |total |text |textual |actual |full )*(?P<head>[^.,;:()]{2,60}?)"
    rf"(?= (?:{_AFTER_HEAD})\b|[.,;:()]|$)",
    re.IGNORECASE,
)
_VAGUE = frozenset(
    [
        "number",
        "name",
        "identifier",
        "id",
        "key",
        "date",
        "time",
        "type",
        "amount",
        "total",
        "value",
        "day",
        "month",
        "year",
        "foreign",
        "primary",
        "count",
        "unique",
        "code",
        "two",
        "timestamp",
        "indicates",
        "nam",
        "names",
        "steps",
        "place",
        "distance between",
    ]
)
_ASKING = frozenset(["when", "how", "what", "who", "where", "which", "whether", "every", "one"])
_STOP = frozenset(["of", "the", "a", "an", "and", "in", "at", "on", "for", "to", "per"])


@dataclass(frozen=True)
class Name:
    """One way to say a name: for each word the common forms that match it. `weight` is lower for derived names."""

    words: tuple[str, ...]
    forms: tuple[frozenset[str], ...]
    weight: float = 1.0


def forms_of(word: str) -> frozenset[str]:
    """The common forms by which a word is compared."""
    return frozenset((stem(word), root(word)))


def name_of(words: Sequence[str], weight: float = 1.0, description: str = "") -> Name:
    """A name from its words; short words also match what they abbreviate, as the lexicon or the description says."""
    return Name(tuple(words), tuple(_wide_forms(word, description) for word in words), weight)


def _wide_forms(word: str, description: str) -> frozenset[str]:
    found = set(forms_of(word))
    long = lexicon("en").abbreviations.get(word)
    if long and " " not in long:
        found |= forms_of(long)
    if 2 <= len(word) <= 6:
        for token in tokenize(description):
            if len(token.lower) > len(word) + 2 and token.lower.startswith(word):
                found |= forms_of(token.lower)
    return frozenset(found)


def names_of(identifier: Sequence[str], description: str, synonyms: Iterable[str]) -> tuple[Name, ...]:
    """All names: the identifier's words, its long form, the head of the description, and the synonyms."""
    found = [name_of(identifier, 1.0, description)]
    long = [part for word in identifier for part in lexicon("en").abbreviations.get(word, word).split()]
    if long != list(identifier) and len(long) != len(identifier):
        found.append(name_of(long, 1.0, description))
    head = head_of(description)
    if head and head != tuple(identifier):
        found.append(name_of(head, 0.9))
    found += [name_of(words, 1.0) for text in synonyms if (words := tuple(token.lower for token in tokenize(text)))]
    return tuple(found)


def head_of(description: str) -> tuple[str, ...]:
    """The noun that a description begins with: "Departure delay in minutes" gives departure delay."""
    match = _HEAD.match(description.strip())
    if match is None:
        return ()
    words = tuple(token.lower for token in tokenize(match["head"]) if token.lower not in _STOP)
    if (
        not words
        or len(words) > 4
        or words[0] in _ASKING
        or all(word in _VAGUE or stem(word) in _VAGUE for word in words)
    ):
        return ()
    return words


def identifier_words(name: str, prefix: int = 0) -> tuple[str, ...]:
    """The words of an identifier without its first `prefix` ones."""
    words = pieces(name)
    kept = words[prefix:] or words
    return tuple(word for word in kept if word not in _STOP) or tuple(kept)


def spelt_out(name: str, words: Sequence[str]) -> tuple[Name, ...]:
    """The identifier in one word, and with the small words that `identifier_words` leaves out ("size in cm")."""
    full = tuple(pieces(name))
    ways = {(fold("".join(full)),), full} - {tuple(words)}
    return tuple(name_of(way) for way in sorted(ways) if way)


def common_prefix(names: Sequence[str]) -> int:
    """How many leading words all names share, when they are a mere prefix (three names or more)."""
    cut = [pieces(name) for name in names]
    if len(cut) < 3:
        return 0
    shared = 0
    while all(len(words) > shared + 1 for words in cut) and len({words[shared] for words in cut}) == 1:
        shared += 1
    return shared
