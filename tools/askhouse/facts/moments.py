"""Dates, times and calendar parts: recognised, ordered and said without ambiguity."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

from .shape import Grain

MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
PARTS: frozenset[Grain] = frozenset(
    ("month_of_year", "quarter_of_year", "day_of_week", "day_of_month", "hour_of_day")
)  # fmt: skip
"""Grains that recur, so that they are positions in a calendar and not moments."""

_PATTERNS: tuple[tuple[Grain, re.Pattern[str]], ...] = (
    ("year", re.compile(r"(?:1[5-9]|20|21)\d\d")),
    ("month", re.compile(r"\d{4}-(?:0[1-9]|1[0-2])")),
    ("quarter", re.compile(r"\d{4}[- ]?Q[1-4]")),
    ("day", re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])")),
)
_BOUNDS: dict[str, tuple[Grain, int, int]] = {
    "month": ("month_of_year", 1, 12),
    "quarter": ("quarter_of_year", 1, 4),
    "hour": ("hour_of_day", 0, 24),
}


def month_number(text: str) -> int | None:
    """1 to 12 for an English month, whole or of three letters."""
    name = text.strip().rstrip(".").casefold()
    return next(
        (n for n, month in enumerate(MONTHS, 1) if name and name in (month.casefold(), month[:3].casefold())), None
    )


def weekday_number(text: str) -> int | None:
    """1 (Monday) to 7 for an English weekday, whole or of three letters."""
    name = text.strip().rstrip(".").casefold()
    return next((n for n, day in enumerate(WEEKDAYS, 1) if name and name in (day.casefold(), day[:3].casefold())), None)


def moment(value: Any) -> date | datetime | None:
    """The date or time that ISO 8601 text stands for, a datetime where it has a time of day."""
    text = str(value)
    try:
        return date.fromisoformat(text) if len(text) == 10 else datetime.fromisoformat(text)
    except ValueError:
        return None


def grain_of_words(values: Sequence[Any]) -> Grain | None:
    """The grain of texts that are periods or calendar names; None unless all of them are."""
    texts = [value for value in values if value is not None]
    if not texts or not all(isinstance(text, str) for text in texts):
        return None
    if all(month_number(text) for text in texts) and len(texts) > 1:
        return "month_of_year"
    if all(weekday_number(text) for text in texts) and len(texts) > 1:
        return "day_of_week"
    return next((grain for grain, form in _PATTERNS if all(form.fullmatch(text) for text in texts)), None)


def grain_of_numbers(name: str, values: Sequence[Any]) -> Grain | None:
    """The calendar part that whole numbers of a column of this (last) name word are."""
    bounds = _BOUNDS.get(name)
    numbers = [value for value in values if value is not None]
    if bounds and numbers and all(bounds[1] <= number <= bounds[2] for number in numbers):
        return bounds[0]
    return None


def grain_of_moments(values: Sequence[Any]) -> Grain:
    """The coarsest grain that loses nothing of the dates and times; a single one keeps its own."""
    moments = [found for value in values if value is not None and (found := moment(value)) is not None]
    if any(isinstance(found, datetime) and (found.hour or found.minute or found.second) for found in moments):
        return "hour" if all(not (m.minute or m.second) for m in moments if isinstance(m, datetime)) else "second"
    if len(moments) < 2 or any(found.day != 1 for found in moments):
        return "day"
    return "year" if all(found.month == 1 for found in moments) else "month"


def order_of(value: Any, grain: Grain | None) -> tuple[int, Any]:
    """A key that sorts values of a grain by the calendar; NULL comes last."""
    if value is None:
        return (1, 0)
    if grain == "month_of_year" and isinstance(value, str):
        return (0, month_number(value) or 13)
    if grain == "day_of_week" and isinstance(value, str):
        return (0, weekday_number(value) or 8)
    return (0, value)


def said(value: Any, grain: Grain | None) -> str:
    """A value of a time column in words that mean the same everywhere: "July 2025", "1 July 2025"."""
    if isinstance(value, str) and (grain is None or grain not in PARTS):
        return _said_text(value, grain)
    if isinstance(value, int) and not isinstance(value, bool):
        return _said_number(value, grain)
    return str(value)


def _said_text(value: str, grain: Grain | None) -> str:
    if re.fullmatch(r"\d{4}-\d\d", value):
        return f"{MONTHS[int(value[5:]) - 1]} {value[:4]}" if 1 <= int(value[5:]) <= 12 else value
    if re.fullmatch(r"\d{4}[- ]?Q[1-4]", value):
        return f"Q{value[-1]} {value[:4]}"
    found = moment(value)
    return value if found is None else _said_moment(found, grain)


def _said_number(value: int, grain: Grain | None) -> str:
    if grain == "month_of_year" and 1 <= value <= 12:
        return MONTHS[value - 1]
    if grain == "quarter_of_year":
        return f"Q{value}"
    if grain == "day_of_week" and 1 <= value <= 7:
        return WEEKDAYS[(value + 5) % 7]  # BigQuery counts from Sunday = 1
    if grain == "hour_of_day":
        return f"{value:02d}:00"
    return str(value)


def _said_moment(found: date | datetime, grain: Grain | None) -> str:
    month = f"{MONTHS[found.month - 1]} {found.year}"
    if grain == "year":
        return str(found.year)
    if grain == "quarter":
        return f"Q{(found.month + 2) // 3} {found.year}"
    if grain == "month":
        return month
    day = f"{found.day} {month}"
    if grain == "week":
        return f"the week of {day}"
    if not isinstance(found, datetime) or grain == "day":
        return day
    return f"{day} {found:%H:%M}{f':{found:%S}' if found.second else ''}{_zone(found)}"


def _zone(found: datetime) -> str:
    return f" {found.tzname()}" if found.tzinfo else ""
