"""What the numbers of a column are counted in, where that is certain."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from .names import is_fraction, is_percent, words, words_of
from .shape import Output

UnitKind = Literal["number", "percent", "fraction", "currency", "named"]
_NAMED = words("minutes hours seconds days weeks months miles feet kilometers kilometres meters metres")
_ABBREVIATED = {"km": "km", "kg": "kg", "ms": "ms", "mph": "mph"}
_CURRENCIES = words("usd eur gbp jpy brl idr inr cny cad aud chf mxn krw")
_MONEY = words("revenue price cost spend spending profit income salary budget turnover amount")


@dataclass(frozen=True)
class Unit:
    """What a number is counted in. A `fraction` is a part of one and is shown as a percentage."""

    kind: UnitKind = "number"
    name: str = ""
    """ISO 4217 code of a currency (empty where money is meant but not which), or the word of a named unit."""


PLAIN = Unit()


def unit_of(name: str, description: str, output: Output, values: Iterable[Any]) -> Unit:
    """The unit of a column's numbers; the plain number wherever it is not certain."""
    if output.aggregate in ("count", "distinct"):
        return PLAIN
    parts = words_of(name)
    if output.percent or is_percent(name):
        return Unit("percent")
    if is_fraction(name) and _all_parts_of_one(values):
        return Unit("fraction")
    return _named(parts, description) or _money(parts) or PLAIN


def _all_parts_of_one(values: Iterable[Any]) -> bool:
    numbers = [value for value in values if isinstance(value, int | float | Decimal)]
    return bool(numbers) and all(0 <= number <= 1 for number in numbers)


def _named(parts: list[str], description: str) -> Unit | None:
    if parts and parts[-1] in _NAMED and parts[0] not in ("number", "count", "num", "n"):
        return Unit("named", parts[-1])
    if parts and parts[-1] in _ABBREVIATED:
        return Unit("named", _ABBREVIATED[parts[-1]])
    said = [word for word in words_of(description) if word in _NAMED]
    return Unit("named", said[0]) if len(set(said)) == 1 else None


def _money(parts: list[str]) -> Unit | None:
    code = next((word for word in parts if word in _CURRENCIES), None)
    if code:
        return Unit("currency", code.upper())
    return Unit("currency") if parts and not _MONEY.isdisjoint(parts) else None
