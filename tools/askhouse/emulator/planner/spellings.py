"""Columns that are named by their exact spelling: in quotes, with marks in the name, or like a word of the language."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from .lexicons import english
from .mentions import Candidate
from .semantics import SemanticLayer
from .words import Token, fold, tokenize

_QUOTED = r"""`[^`]+`|"[^"]+"|(?<!\w)'[^']+(?:'\w[^']*)*'(?!\w)"""
_LEADS = frozenset(["by", "per", "each", "every", "of"])
_LIKE_WORDS = frozenset(["structure", "fillers", "intents"])
"""Kinds of the lexicon that win over a column's name where it is not spelt out."""


def spelt_tokens(layer: SemanticLayer, question: str) -> list[Token]:
    """The tokens of a question; a column named by its exact spelling is one token of the kind `name`."""
    text = question.replace("’", "'").replace("“", '"').replace("”", '"')
    tokens: list[Token] = []
    start = 0
    for match in _pattern(tuple(_said(layer))).finditer(text):
        before = tokens + tokenize(text[start : match.start()])
        if _names_column(layer, match.group(), before, text[match.end() :]):
            tokens = [*before, _name(match.group())]
            start = match.end()
    return tokens + tokenize(text[start:]) if tokens else tokenize(question)


def spelt_columns(layer: SemanticLayer, token: Token) -> list[Candidate]:
    """The columns that a token of the kind `name` means."""
    return [Candidate(layer.entities[one.ref.table], one, 1.0) for one in layer.spellings[fold(token.text)]]


def _said(layer: SemanticLayer) -> list[str]:
    return [one.ref.column.replace("’", "'") for found in layer.spellings.values() for one in found]


def _name(spelling: str) -> Token:
    # The folded form keeps back-quotes, so that it is no word of the lexicon and no value.
    bare = spelling.strip('`"')
    return Token(bare, f"`{fold(bare)}`", "name")


def _names_column(layer: SemanticLayer, spelling: str, before: Sequence[Token], after: str) -> bool:
    if spelling[0] in '`"':
        value = spelling[0] == '"' and layer.values.find([spelling[1:-1]])  # `title is "Ann"` beside a column `ann`
        return fold(spelling[1:-1]) in layer.spellings and (not value or _is_named_here(before, after))
    if spelling[0] == "'" and spelling[-1] == "'":
        return False
    return not _is_ordinary(fold(spelling)) or _is_named_here(before, after)


def _is_named_here(before: Sequence[Token], after: str) -> bool:
    """Whether a column's name stands here: "by from", "total of order", "average of group"."""
    words = [token for token in before if token.lower != "the"]
    if not words or any(_is_noun(token) for token in tokenize(after)[:1]):
        return False
    if len(words) > 1 and words[-1].lower == "and":
        return words[-2].kind == "name"
    return words[-1].lower in _LEADS or _is_aggregate(words[-1].lower)


def _is_noun(following: Token) -> bool:
    """Whether the word before is none: "average order value" is no average of `order`."""
    return following.kind == "word" and (following.lower,) not in english().phrases


def _is_aggregate(word: str) -> bool:
    return any(sense.kind == "aggregates" for sense in english().phrases.get((word,), ()))


@lru_cache(maxsize=64)
def _pattern(spellings: tuple[str, ...]) -> re.Pattern[str]:
    """Quoted texts, and the names that must be spelt, the longest first."""
    special = sorted((name for name in spellings if _is_odd(name) or _is_ordinary(fold(name))), key=len, reverse=True)
    return re.compile("|".join([_QUOTED, *map(_bounded, special)]), re.IGNORECASE)


def _bounded(name: str) -> str:
    """The name as a pattern that does not begin or end within a word."""
    first, last = (r"(?<!\w)" if name[0].isalnum() else ""), (r"(?!\w)" if name[-1].isalnum() else "")
    return first + re.escape(name) + last


def _is_odd(name: str) -> bool:
    """Whether the name has marks in it, or begins with a digit, so that it is not read as words."""
    return bool(re.search(r"[^\W_]", name)) and bool(re.match(r"\d|.*[^\w\s.?!,;:-]|.*[.?!,;:]\w", name))


def _is_ordinary(name: str) -> bool:
    """Whether the name is also a number or a word of the language."""
    if re.fullmatch(r"[\d.,\s-]+(?:st|nd|rd|th|[km%])?", name) or name in _CONTRACTED:
        return True
    senses = english().phrases.get((name,), [])
    return name in _COMMANDS or any(sense.kind in _LIKE_WORDS for sense in senses[:1])


_CONTRACTED = frozenset(["it's", "what's", "who's", "let's", "that's", "there's", "i'd", "i'm"])
_COMMANDS = frozenset(["order", "group", "sort"])
