"""Numbers and cells as the reader writes them."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal, localcontext
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
        return Locale.parse(name or DEFAULT_LOCALE)
    except (ValueError, UnknownLocaleError):
        return Locale.parse(DEFAULT_LOCALE)


@dataclass(frozen=True)
class Writer:
    """Writes numbers in a locale. Money has a currency's sign only where the data names the currency: a person's
    preference says nothing about what the amounts are."""

    locale: Locale

    @classmethod
    def of(cls, preferences: Preferences | None) -> Writer:
        """The writer for a person; an unknown locale is the default one."""
        return cls(_locale((preferences or Preferences()).locale))

    def number(self, value: Any, unit: Unit = PLAIN) -> str:
        """A number with its unit, rounded for reading: "336,776", "12.9 minutes", "2.45%"."""
        if value is None:
            return NO_VALUE
        if isinstance(value, float) and not math.isfinite(value):
            return "not a number" if math.isnan(value) else ("infinity" if value > 0 else "minus infinity")
        exact = Decimal(str(value))
        match unit.kind:
            case "percent":
                return self._percent(exact)
            case "fraction":
                return self._percent(exact * 100)
            case "currency":
                return self._money(exact, unit.name)
            case "named":
                return f"{self._plain(exact)} {unit.name.removesuffix('s') if exact == 1 else unit.name}"
        return self._plain(exact)

    def column(self, values: Sequence[Any], unit: Unit) -> list[str]:
        """The numbers of a column, with as many decimals each where that hides nothing."""
        numbers = [Decimal(str(value)) for value in values if is_finite(value)]
        money = unit.kind == "currency" and not unit.name
        places = 2 if money else _places(max(map(abs, numbers), default=Decimal(0)))
        lost = any(number and not _quantized(number, places) for number in numbers)
        whole = all(number == number.to_integral_value() for number in numbers)
        if not (money or unit.kind in ("number", "named")) or lost or whole:
            return [self.number(value, unit) for value in values]
        return [self._fixed(value, places) if is_finite(value) else self.number(value) for value in values]

    def _fixed(self, value: Any, places: int) -> str:
        pattern = re.sub(r"\.#+", "." + "0" * places if places else "", self.locale.decimal_formats[None].pattern)
        return format_decimal(_quantized(Decimal(str(value)), places), format=pattern, locale=self.locale)

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

    def _percent(self, percent: Decimal) -> str:
        """Rounded for reading, but never to the whole when something is missing from it."""
        if abs(percent) >= Decimal("1e15"):
            return f"{self._plain(percent)}%"
        shown = _rounded(percent)
        if shown == 100 and percent < 100:
            shown = percent.quantize(Decimal("0.01"), rounding=ROUND_DOWN)
        return format_percent(shown / 100, locale=self.locale, decimal_quantization=False)

    def _money(self, value: Decimal, code: str | None) -> str:
        if 0 < abs(value) < Decimal("0.01"):
            return self._plain(value) + (f" {code.upper()}" if code else "")
        cents = _quantized(value, 2)
        if code:
            return format_currency(cents, code.upper(), locale=self.locale)
        text = format_decimal(cents, locale=self.locale, format=None, decimal_quantization=False)
        return text if cents == cents.to_integral_value() else self._fixed(cents, 2)


def _rounded(value: Decimal) -> Decimal:
    """The value as precise as a reader can use: whole from 1,000, else three or four digits."""
    return value if value == value.to_integral_value() else _quantized(value, _places(abs(value)))


def _places(size: Decimal) -> int:
    return 0 if size >= 1000 else 1 if size >= 100 else 2 if size >= 1 or not size else 2 - size.adjusted()


def is_finite(value: Any) -> bool:
    """Whether the value is a number that can be written with digits."""
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool) and math.isfinite(value)


def _quantized(value: Decimal, places: int) -> Decimal:
    with localcontext() as context:
        context.prec = 60
        return value.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP)


def one_line(value: Any) -> str:
    """Text of a cell without anything that could move, hide or reverse what stands around it."""
    text = str(value)
    if text.isascii() and text.isprintable() and "  " not in text and text == text.strip():
        return text  # almost all cells
    text = "".join(_harmless(character) for character in text)
    return re.sub(r"\s+", " ", text).strip()


def harmless(text: str) -> str:
    """Text of several lines without anything that could move, hide or reverse what stands around it."""
    lines = ("".join(_harmless(character) for character in line.expandtabs(4)) for line in text.splitlines())
    return "\n".join(line.rstrip() for line in lines)


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
