"""Which language a question is in, as far as the lexicons tell."""

from __future__ import annotations

import re
from functools import cache

from .lexicons import LANGUAGES, english, lexicon
from .semantics import SemanticLayer
from .words import fold, tokenize

_LETTERS = re.compile(r"[^\W\d_]")
_LATIN = re.compile(r"[A-Za-zÀ-ɏ]")


def other_language(text: str, layer: SemanticLayer) -> str | None:
    """A polite sentence in the question's own language, when it is not English; else None."""
    letters = _LETTERS.findall(text)
    foreign = [letter for letter in letters if not _LATIN.match(letter)]
    words = [token.lower for token in tokenize(text) if token.kind == "word"]
    if letters and len(foreign) > len(letters) / 2:
        return english().text("language")
    ours = sum(word in _english_words() for word in words)
    for code in LANGUAGES[1:]:
        theirs = sum(word in _function_words(code) for word in words)
        if (theirs >= 2 and theirs > ours) or (theirs == 1 and ours == 0 and len(words) <= 3):
            known = {name for entity in layer.entities.values() for one in entity.names for name in one.words}
            if theirs == 1 and any(word in known for word in words):
                continue
            return str(lexicon(code).raw["texts"]["language"])
    return None


@cache
def _function_words(code: str) -> frozenset[str]:
    return frozenset(fold(word) for word in lexicon(code).raw["function_words"]) - _shared()


@cache
def _shared() -> frozenset[str]:
    return frozenset(["total", "no", "do", "as", "per", "para", "a", "and", "or"])


@cache
def _english_words() -> frozenset[str]:
    return frozenset(word for phrase in english().phrases for word in phrase)
