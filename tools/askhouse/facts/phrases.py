"""Numbers and cells as the reader writes them."""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, localcontext
from functools import lru_cache
from typing import Any

from babel import Locale, UnknownLocaleError
from babel.numbers import format_currency, format_decimal, format_percent

from state_contracts import Preferences

from .moments import said
from .roles import Role
from .units import PLAIN, Unit

NO_VALUE = "(no value)"
LONGEST_NAME = 60
DEFAULT_LOCALE = "en_US"
_UNSAFE = frozenset("\u200b\u200c\u200d\u200e\u200f\u2060\ufeff") | frozenset(
    map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A)))
)
_PLAIN_NAME = re.compile(r"[\w][\w '&/,.+-]*", re.UNICODE)


@lru_cache(maxsize=64)
def _locale(name: str | None) -> Locale:
    try:
        return Locale.parse((name or DEFAULT_LOCALE).replace("-", "_"))
    except (ValueError, UnknownLocaleError):
        return Locale.parse(DEFAULT_LOCALE)


@dataclass(frozen=True)
class Writer:
    """Writes numbers in a locale; money that names no currency is in `currency`, where one is given."""

    locale: Locale
    currency: str | None = None

    @classmethod
    def of(cls, preferences: Preferences | None) -> Writer:
        """The writer for a person; an unknown locale is the default one."""
        chosen = preferences or Preferences()
        return cls(_locale(chosen.locale), chosen.currency)

    def number(self, value: Any, unit: Unit = PLAIN) -> str:
        """A number with its unit, rounded for reading: "336,776", "12.9 minutes", "2.45%"."""
        if value is None:
            return NO_VALUE
        if isinstance(value, float) and not math.isfinite(value):
            return "not a number" if math.isnan(value) else ("infinity" if value > 0 else "minus infinity")
        exact = Decimal(str(value))
        match unit.kind:
            case "percent":
                return format_percent(_rounded(exact) / 100, locale=self.locale, decimal_quantization=False)
            case "fraction":
                return format_percent(_rounded(exact * 100) / 100, locale=self.locale, decimal_quantization=False)
            case "currency":
                return self._money(exact, unit.name or self.currency)
            case "named":
                return f"{self._plain(exact)} {unit.name.removesuffix('s') if exact == 1 else unit.name}"
        return self._plain(exact)

    def percent(self, part: float) -> str:
        """A part of one as a percentage."""
        return self.number(part, Unit("fraction"))

    def cell(self, value: Any, role: Role) -> str:
        """A cell in words, on one line: a number with its unit, a date unambiguous, a text cut and quoted if odd."""
        if value is None:
            return NO_VALUE
        if role.kind == "measure":
            return self.number(value, role.unit)
        if role.kind in ("time", "moment"):
            return said(value, role.grain)
        return quoted(value)

    def _plain(self, value: Decimal) -> str:
        if value and not Decimal("1e-6") <= abs(value) < Decimal("1e21"):
            return f"{value:.3e}"
        return format_decimal(_rounded(value), locale=self.locale, decimal_quantization=False)

    def _money(self, value: Decimal, code: str | None) -> str:
        cents = _quantized(value, 2)
        if code:
            return format_currency(cents, code.upper(), locale=self.locale)
        text = format_decimal(cents, locale=self.locale, format=None, decimal_quantization=False)
        return text if cents == cents.to_integral_value() else self._two_places(cents)

    def _two_places(self, cents: Decimal) -> str:
        pattern = self.locale.decimal_formats[None].pattern
        return format_decimal(cents, format=re.sub(r"\.#+", ".00", pattern), locale=self.locale)


def _rounded(value: Decimal) -> Decimal:
    """The value as precise as a reader can use: whole from 1,000, else three or four digits."""
    size = abs(value)
    if size == size.to_integral_value():
        return value
    places = 0 if size >= 1000 else 1 if size >= 100 else 2 if size >= 1 else 2 - size.adjusted()
    return _quantized(value, places)


def _quantized(value: Decimal, places: int) -> Decimal:
    with localcontext() as context:
        context.prec = 60
        return value.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP)


def one_line(value: Any) -> str:
    """Text of a cell without anything that could move, hide or reverse what stands around it."""
    text = "".join(_harmless(character) for character in str(value))
    return re.sub(r"\s+", " ", text).strip()


def _harmless(character: str) -> str:
    if character == "\0":
        return "\ufffd"
    if character in _UNSAFE:
        return ""
    return " " if unicodedata.category(character) in ("Cc", "Zl", "Zp") else character


def cut(text: str, longest: int) -> str:
    """The text, or its beginning and a mark where it is longer."""
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def quoted(value: Any) -> str:
    """A name that came from a cell: bare where it is plain, else in quotation marks, and cut when long."""
    if value is None:
        return NO_VALUE
    if value is True or value is False:
        return "true" if value else "false"
    text = cut(one_line(value), LONGEST_NAME)
    if _PLAIN_NAME.fullmatch(text) and len(text) < 40 and text.count(" ") < 5:
        return text
    inner = text.replace("“", "'").replace("”", "'")
    return f"“{inner}”"
