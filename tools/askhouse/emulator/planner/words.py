"""Words of a question and of a schema: cut, folded, brought to a common form, and what the lexicon knows of them."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from .lexicons import lexicon

_TOKEN = re.compile(
    r"""(?P<quoted>"[^"]+"|“[^”]+”|`[^`]+`|(?<![\w])'[^']+(?:'\w[^']*)*'(?!\w)|(?<!\w)‘[^’]+’(?!\w))
      |(?P<date>\d{4}-\d{1,2}-\d{1,2}|\d{4}/\d{1,2}/\d{1,2})
      |(?P<number>[$€£]?\d{1,3}(?:,\d{3})+(?:\.\d+)?|[$€£]?\d+(?:\.\d+)?(?=%|[kKmM]?(?!\w)))(?P<scale>%|[kKmM](?!\w))?
      |(?P<word>[^\W_]+(?:_[^\W_]+)*(?:['’][^\W\d_]+)*(?:\.[^\W\d_]\b\.?)*)
      |(?P<mark>[<>]=?|[≤≥=%&;,\#\n?!]|\.(?=\s|$))""",
    re.VERBOSE,
)
_SCALES = {"k": 1_000, "m": 1_000_000}
_PIECES = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-zß-ÿ]+|[A-Z]+|\d+|[^\W\d_a-zA-Z]+")


@dataclass(frozen=True)
class Token:
    """One word, number, quoted text or mark of a question."""

    text: str
    lower: str
    kind: str = "word"
    number: float | None = None

    @property
    def stem(self) -> str:
        """The word without plural and final e."""
        return stem(self.lower)


def fold(text: str) -> str:
    """Lower case without accents: what two spellings of a value have in common."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))


def tokenize(question: str) -> list[Token]:
    """The tokens of a question, in order. Possessive endings are dropped; quoted text stays whole."""
    return [_token(match) for match in _TOKEN.finditer(question.replace("’", "'"))]


def _token(match: re.Match[str]) -> Token:
    text = match.group()
    if match["quoted"]:
        return Token(text[1:-1].strip(), fold(text[1:-1].strip()), "quoted")
    if match["date"]:
        return Token(text, text.replace("/", "-"), "date")
    if match["number"]:
        value = float(match["number"].lstrip("$€£").replace(",", "")) * _SCALES.get((match["scale"] or "").lower(), 1)
        return Token(text, text.lower(), "number", value)
    if match["mark"]:
        return Token(text, text, "mark")
    word = re.sub(r"'s$|'$", "", text) if text.lower() not in ("what's", "who's", "let's") else text
    return Token(word, fold(word))


def pieces(name: str) -> list[str]:
    """The words of an identifier: `sbCustJoinDate` and `cust_join_date` are cut alike."""
    return [fold(piece) for piece in _PIECES.findall(name)]


def phrase(text: str) -> tuple[str, ...]:
    """A text as the words that a question would use for it."""
    return tuple(token.lower for token in tokenize(text))


def normal(value: str) -> str:
    """A stored value as it is looked up: folded words, single blanks, no punctuation."""
    if value.isalnum():
        return fold(value)
    return " ".join(re.findall(r"[^\W_]+", fold(value)))


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """A noun's common form: singular, without final e ("prices" and "price" are "pric")."""
    word = lexicon("en").irregular.get(word, word)
    if len(word) > 4 and word.endswith("ies"):
        word = word[:-3] + "y"
    elif len(word) > 4 and re.search(r"(s|x|z|ch|sh)es$", word):
        word = word[:-2]
    elif len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    word = word[:-1] if len(word) > 3 and word.endswith("e") else word
    return word[:-1] + "y" if len(word) > 3 and word.endswith("i") else word


@lru_cache(maxsize=20_000)
def root(word: str) -> str:
    """A verb's common form: "ordered", "ordering" and "orders" are "order"."""
    base = lexicon("en").irregular.get(word, word)
    if base.endswith("ied") and len(base) > 4:
        base = base[:-3] + "y"
    elif base.endswith("ed") and len(base) > 4:
        base = _single(base[:-2])
    elif base.endswith("ing") and len(base) > 6:
        base = _single(base[:-3])
    return stem(base)


def _single(word: str) -> str:
    doubled = len(word) > 3 and word[-1] == word[-2] and word[-1] in "bdglmnprt"
    return word[:-1] if doubled else word
