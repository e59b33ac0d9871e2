"""What the numbers of a column are: quantities, or numbers that only name, place or time something."""

from __future__ import annotations

import re
from typing import Literal

from .lexicons import english, lexicon
from .semantics import Field

Nature = Literal["quantity", "clock", "label", "year", "angle", "place"]

_NUMBERS = frozenset(["no", "nr", "nbr", "num", "number"])
_LABELS = frozenset(["id", "key", "code", "cd", "zip", "postal", "postcode", "phone", "isbn", "sku", "version", "seq"])
_ANGLES = frozenset(["dir", "direction", "bearing", "heading", "azimuth"])
_PLACES = frozenset(["latitude", "longitude", "lat", "lon", "lng", "tz"])
_CLOCKS = frozenset(
    ["departure", "dep", "arrival", "arr", "sched", "scheduled", "start", "end", "begin", "open", "close", "opening"]
)
_IS_LABEL = re.compile(
    r"^(?:the |a |unique )*(?:number|no\.?|id|identifier|code|key) of (?:the|a|an|each|this|one)\b"
    r"|^[^.,;]*\b(?:number|code|identifier|id)\s*(?:[.,;]|$)",
    re.IGNORECASE,
)
_OF_MANY = re.compile(r"^(?:the |total )*(?:number|count|amount) of (?!the\b|a\b|an\b|each\b|this\b)", re.IGNORECASE)
_WHY = {
    "clock": "holds clock times written as numbers (HHMM): {what} of them is not a time",
    "label": "holds numbers that only name something: {what} of them means nothing",
    "year": "holds years: {what} of them is no quantity",
    "angle": "holds directions: {what} of them is not a direction",
    "place": "holds places: {what} of them is not a place",
}


def nature(one: Field) -> Nature:
    """What a numeric column holds, told from its name, its description and its range."""
    words, about = one.words, one.description
    if re.search(r"\bHH:?MM(:?SS)?\b", about, re.IGNORECASE) or _is_clock(one):
        return "clock"
    if {"year", "yr"} & {words[-1], words[0]} or re.match(r"(the )?year\b", about, re.IGNORECASE):
        return "year" if _in_years(one) else "quantity"
    if _OF_MANY.match(about):
        return "quantity"
    if _ANGLES & set(words) or re.match(r"direction\b", about, re.IGNORECASE):
        return "angle"
    if _PLACES & set(words):
        return "place"
    if words[-1] in _LABELS or (words[-1] in _NUMBERS and len(words) > 1) or _IS_LABEL.match(about):
        return "label"
    return "quantity"


def is_quantity(one: Field) -> bool:
    """Whether totals and averages of a column mean something."""
    return one.role == "number" and nature(one) == "quantity"


def is_number_of_things(one: Field) -> bool:
    """Whether a column holds how many things there are: "Number of seats"."""
    return bool(_OF_MANY.match(one.description)) and not {"number", "count"} & set(one.words)


def objection(one: Field, function: str) -> str | None:
    """Why a column's numbers are not brought together by this function; None where they may be."""
    held = nature(one)
    if held == "quantity" or function not in ("sum", "avg", "median") or (held, function) == ("year", "median"):
        return None
    what = {"sum": "a total", "avg": "an average", "median": "a median"}[function]
    return f"{one.ref.column} {_WHY[held].format(what=what)}."


def _is_clock(one: Field) -> bool:
    """A whole number up to 2400 that is the time of a start or an end, with no unit told."""
    units = set(english().raw["units"]["words"])
    least, most = one.stats.least, one.stats.greatest
    if one.type != "INT64" or one.words[-1] not in ("time", "tm") or not _CLOCKS & set(one.words):
        return False
    told = units & set(re.findall(r"\w+", one.description.lower()))
    return not told and least is not None and int(least) >= 0 and 1000 < int(most) <= 2400


def _in_years(one: Field) -> bool:
    least, most = one.stats.least, one.stats.greatest
    return least is None or (int(least) >= 1000 and int(most) <= 2200)


def spoken(words: tuple[str, ...]) -> str:
    """The words of an identifier with abbreviations spelt out: "departure delay" for `dep_delay`."""
    return " ".join(lexicon("en").abbreviations.get(word, word) for word in words)
