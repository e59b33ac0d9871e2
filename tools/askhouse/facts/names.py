"""What a column's name tells for certain."""

from __future__ import annotations

import re

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+|[^\W\d_]+")


def words(text: str) -> frozenset[str]:
    """A set of words from one line of them."""
    return frozenset(text.split())


NOT_SUMMED = words(
    "avg average mean median rate ratio pct percent percentage share proportion fraction year years id ids key "
    "rank position score temperature temp latitude longitude lat lon index"
)
STOCKS = words("balance stock inventory headcount population cumulative running backlog")
_SUMMED = words("count counts total sum number num n rows quantity qty revenue amount")
_IDENTIFIERS = words("id ids key keys uuid guid code codes zip zipcode postcode postal ssn phone tailnum")
_PERCENT = words("pct percent percentage")
_FRACTIONS = words("share proportion fraction ratio rate")


def words_of(name: str) -> list[str]:
    """The lower-case words of a name, whatever its case style.

    >>> words_of("avgArrDelay_2013")
    ['avg', 'arr', 'delay', '2013']
    """
    return [word.casefold() for word in _WORD.findall(name)]


def forbids_sum(name: str) -> bool:
    """Whether a column of this name must not be summed: an average, ratio, id, year or percentage."""
    return not NOT_SUMMED.isdisjoint(words_of(name))


def is_stock(name: str) -> bool:
    """Whether the values are levels at a moment, which must not be summed over time."""
    return not STOCKS.isdisjoint(words_of(name))


def promises_sum(name: str) -> bool:
    """Whether the name alone says that the values are parts of a whole."""
    words = words_of(name)
    return bool(words) and not _SUMMED.isdisjoint(words) and not forbids_sum(name)


def is_identifier(name: str) -> bool:
    """Whether the values name things, so that they are neither added nor compared."""
    words = words_of(name)
    return bool(words) and words[-1] in _IDENTIFIERS


def is_year(name: str) -> bool:
    """Whether the name is that of a calendar year."""
    return bool(words := words_of(name)) and words[-1] in ("year", "yr")


def is_percent(name: str) -> bool:
    """Whether the values are percentages, 0 to 100."""
    return not _PERCENT.isdisjoint(words_of(name))


def is_fraction(name: str) -> bool:
    """Whether the values may be parts of one: a share, a ratio, a rate."""
    return not _FRACTIONS.isdisjoint(words_of(name))


def expanded(label: str, question: str) -> str:
    """A label whose short words are written as the question writes them: "arr delay" asked for as "arrival delay".

    >>> expanded("average arr delay", "Which carrier had the worst arrival delay?")
    'average arrival delay'
    """
    asked = words_of(question)
    return " ".join(_expanded(word, asked) for word in label.split(" "))


def _expanded(word: str, asked: list[str]) -> str:
    if not 3 <= len(word) <= 4 or word in asked:
        return word
    return next((longer for longer in asked if longer.startswith(word) and len(longer) >= len(word) + 3), word)


def readable(name: str) -> str:
    """A name in words: `number_of_flights` becomes "number of flights"; a name that holds spaces stays as it is."""
    if re.fullmatch(r"f\d+_", name):
        return "value"
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        words = _WORD.findall(name)
        return " ".join(word if word.isupper() and len(word) > 1 else word.casefold() for word in words) or name
    return name
