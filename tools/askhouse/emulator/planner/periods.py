"""Periods in words: absolute, relative to today, open on one side, or a month or quarter whose year the data tells."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cache
from typing import Literal

from .lexicons import lexicon
from .words import Token

Unit = Literal["day", "week", "month", "quarter", "year"]
_UNITS: dict[str, Unit] = {
    "day": "day", "days": "day", "week": "week", "weeks": "week", "month": "month", "months": "month",
    "quarter": "quarter", "quarters": "quarter", "year": "year", "years": "year",
}  # fmt: skip
_MONTH_NAMES = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]


class OutOfCalendarError(Exception):
    """A period reaches before the first or beyond the last day that can be computed with."""


@dataclass(frozen=True)
class Period:
    """[start, end), either side open when None.

    `yearless` marks a month, quarter or day whose year is to be found in the data: its dates lie in the year 1.
    `relative` marks what today decides; `unit` and `back` describe "last month", "last 3 days" and the like.
    """

    start: date | None
    end: date | None
    said: str
    relative: bool = False
    yearless: bool = False
    unit: Unit | None = None

    def in_year(self, year: int) -> Period:
        """A yearless period, in that year."""

        def move(day: date | None) -> date | None:
            return None if day is None else date(year + day.year - 4, day.month, day.day)

        start = move(self.start)
        return replace(self, start=start, end=move(self.end), said=f"{self.said} {year}", yearless=False)


YEARLESS = 4  # a leap year, so that 29 February can be said


def begin(day: date, unit: Unit) -> date:
    """The first day of the unit in which the day lies. A week begins on Sunday, as in GoogleSQL."""
    if unit == "week":
        return day - timedelta(days=(day.weekday() + 1) % 7)
    if unit == "month":
        return day.replace(day=1)
    if unit == "quarter":
        return date(day.year, 3 * ((day.month - 1) // 3) + 1, 1)
    return date(day.year, 1, 1) if unit == "year" else day


def shift(day: date, unit: Unit, count: int) -> date:
    """The day so many units later (earlier when negative); the end of a shorter month is respected."""
    if unit in ("day", "week"):
        return day + timedelta(days=count * (7 if unit == "week" else 1))
    months = day.year * 12 + day.month - 1 + count * {"month": 1, "quarter": 3, "year": 12}[unit]
    year, month = divmod(months, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def last_full(day: date, unit: Unit, count: int = 1) -> tuple[date, date]:
    """[start, end) of the last `count` units that were over when the day ended."""
    following = day + timedelta(days=1)
    end = begin(following, unit)
    return shift(end, unit, -count), end


def month_period(year: int, month: int, *, yearless: bool = False) -> Period:
    """A calendar month."""
    start = date(year, month, 1)
    said = _MONTH_NAMES[month - 1] + ("" if yearless else f" {year}")
    return Period(start, shift(start, "month", 1), said, yearless=yearless, unit="month")


def year_period(year: int) -> Period:
    """A calendar year."""
    return Period(date(year, 1, 1), date(year + 1, 1, 1), str(year), unit="year")


def quarter_period(year: int, quarter: int, *, yearless: bool = False) -> Period:
    """A calendar quarter."""
    start = date(year, 3 * quarter - 2, 1)
    said = f"quarter {quarter}" + ("" if yearless else f" of {year}")
    return Period(start, shift(start, "quarter", 1), said, yearless=yearless, unit="quarter")


def say(start: date | None, end: date | None) -> str:
    """The days in words: "1 July to 30 September 2025"."""
    last = end - timedelta(days=1) if end else None
    if start and last:
        return _day(start) if start == last else f"{_day(start)} to {_day(last)}"
    return f"from {_day(start)}" if start else f"until {_day(last)}" if last else "always"


def _day(day: date) -> str:
    return f"{day.day} {_MONTH_NAMES[day.month - 1]} {day.year}"


class PeriodReader:
    """Reads periods out of tokens, given what today is."""

    def __init__(self, tokens: Sequence[Token], today: date) -> None:
        self.tokens = tokens
        self.words = [token.lower for token in tokens]
        self.today = today
        self.book = lexicon("en").raw

    def read(self, at: int) -> tuple[Period, int] | None:
        """The longest period that begins at this token, with the number of tokens it takes.

        Raises OutOfCalendarError when it leaves the years 1 to 9999.
        """
        try:
            return self._longest(at)
        except (OverflowError, ValueError) as error:
            raise OutOfCalendarError(self.words[at]) from error

    def _longest(self, at: int) -> tuple[Period, int] | None:
        found = [
            hit
            for method in (
                self._range,
                self._open,
                self._relative,
                self._last_weekday,
                self._ago,
                self._named,
                self._to_date,
                self._absolute,
            )
            if (hit := method(at)) is not None
        ]
        return max(found, key=lambda hit: hit[1]) if found else None

    def _is(self, at: int, key: str) -> int:
        """Tokens that a phrase of the time lexicon takes at this place; 0 when it is not there."""
        best = 0
        for words in _time_phrases()[key]:
            if tuple(self.words[at : at + len(words)]) == words:
                best = max(best, len(words))
        return best

    def _range(self, at: int) -> tuple[Period, int] | None:
        opening = self._is(at, "between")
        first = self._absolute(at + opening) if opening else self._absolute(at)
        if first is None:
            return None
        place = at + opening + first[1]
        joint = self._is(place, "to")
        if not joint or (not opening and self.words[place] == "and"):
            return None
        second = self._absolute(place + joint)
        if second is None or first[0].start is None or second[0].end is None:
            return None
        start, end = first[0], second[0]
        if start.yearless and not end.yearless and end.start:
            start = start.in_year(end.start.year)
        elif end.yearless and not start.yearless and start.start:
            end = end.in_year(start.start.year)
        if start.start is None or end.end is None or start.start >= end.end:
            return None
        said = say(start.start, end.end) if not start.yearless else f"{start.said} to {end.said}"
        return Period(start.start, end.end, said, yearless=start.yearless), place + joint + second[1] - at

    def _open(self, at: int) -> tuple[Period, int] | None:
        for key in ("since", "until", "before", "after"):
            length = self._is(at, key)
            hit = self._absolute(at + length) or self._relative(at + length) if length else None
            if length and hit:
                period = hit[0]
                if key in ("since",) and self.words[at] == "from" and self._is(at + length + hit[1], "to"):
                    continue
                if self.words[at] in ("from", "to", "up", "through", "starting") and self.words[at] != "starting":
                    continue
                side = {
                    "since": (period.start, None), "until": (None, period.end),
                    "before": (None, period.start), "after": (period.end, None),
                }[key]  # fmt: skip
                return replace(
                    period, start=side[0], end=side[1], said=f"{key} {period.said}", unit=None
                ), length + hit[1]
        return None

    def _number(self, at: int) -> float | None:
        if at >= len(self.tokens):
            return None
        number = self.tokens[at].number
        return number if number is not None else self.book["numbers"].get(self.words[at])

    def _relative(self, at: int) -> tuple[Period, int] | None:
        place = at + (1 if at < len(self.words) and self.words[at] == "the" else 0)
        for key in ("last", "this", "next"):
            length = self._is(place, key)
            if not length:
                continue
            if key == "last" and self.words[place] == "most":
                continue
            number = self._number(place + length)
            counted = place + length + (1 if number is not None else 0)
            extra = (
                1
                if counted < len(self.words) and self.words[counted] in ("full", "calendar", "complete", "iso", "whole")
                else 0
            )
            unit = _UNITS.get(self.words[counted + extra]) if counted + extra < len(self.words) else None
            if unit is None:
                continue
            said = " ".join(self.words[place : counted + extra + 1])
            tail, whole, earlier = self._inclusive(counted + extra + 1)
            period = self._relative_period(key, unit, int(number) if number else None, said, full=bool(extra) or whole)
            if earlier and period.start is not None:
                period = replace(period, start=period.start - timedelta(days=1))
            return period, counted + extra + 1 + tail - at
        return None

    def _last_weekday(self, at: int) -> tuple[Period, int] | None:
        """ "last Monday", "last weekend": the latest one that was over before today."""
        place = at + (1 if at < len(self.words) and self.words[at] == "the" else 0)
        length = self._is(place, "last")
        named = place + length
        if not length or named >= len(self.words) or self.words[named + 1 : named + 2] == ["of"]:
            return None
        day = self.book["weekdays"].get(self.words[named])
        weekend = self.words[named] == "weekend"
        if (day is None and not weekend) or (day is not None and self.words[named].endswith("s")):
            return None
        wanted = 5 if day is None else (day + 5) % 7  # Python counts from Monday
        back = (self.today.weekday() - wanted) % 7 or 7
        back += 7 if weekend and back == 1 else 0  # on Sunday this weekend is not over
        start, days = self.today - timedelta(days=back), 2 if weekend else 1
        said = " ".join(self.words[place : named + 1])
        return Period(start, start + timedelta(days=days), said, relative=True), named + 1 - at

    def _inclusive(self, at: int) -> tuple[int, bool, bool]:
        """Tokens of "inclusive of today" or "excluding the current week" here; whether full units are meant, and
        whether the day so many units ago counts too."""
        start = at + (1 if at < len(self.words) and self.words[at] == "," else 0)
        length = self._is(start, "inclusive")
        if not length:
            return 0, False, False
        end = start + length
        if self.words[end - 1] == "inclusive" and self.words[end : end + 1] == ["of"]:
            ago = next(
                (place for place in range(end + 1, min(end + 5, len(self.words))) if self.words[place] == "ago"), None
            )
            return (ago + 1 - at, False, True) if ago else (0, False, False)
        return end - at, self.words[start] in ("excluding", "exclusive", "not"), False

    def _relative_period(self, key: str, unit: Unit, number: int | None, said: str, *, full: bool) -> Period:
        following = self.today + timedelta(days=1)
        if key == "this":
            start = begin(self.today, unit)
            return Period(start, shift(start, unit, 1), said, relative=True)
        if key == "next":
            start = shift(begin(self.today, unit), unit, 1)
            return Period(start, shift(start, unit, number or 1), said, relative=True)
        if number is None and unit == "day":
            return Period(self.today - timedelta(days=1), self.today, said, relative=True, unit=unit)
        if number is None or full:
            current = begin(self.today, unit)
            return Period(shift(current, unit, -(number or 1)), current, said, relative=True, unit=unit)
        return Period(shift(following, unit, -number), following, said, relative=True, unit=unit)

    def _ago(self, at: int) -> tuple[Period, int] | None:
        number = self._number(at)
        if number is None or at + 2 >= len(self.words) or self.words[at + 2] != "ago":
            return None
        unit = _UNITS.get(self.words[at + 1])
        if unit is None:
            return None
        start = begin(shift(self.today, unit, -int(number)), unit)
        return Period(start, shift(start, unit, 1), f"{int(number)} {unit}s ago", relative=True), 3

    def _named(self, at: int) -> tuple[Period, int] | None:
        for key, back in (("today", 0), ("yesterday", 1), ("tomorrow", -1)):
            if self._is(at, key):
                day = self.today - timedelta(days=back)
                return Period(day, day + timedelta(days=1), key, relative=True, unit="day"), 1
        return None

    def _to_date(self, at: int) -> tuple[Period, int] | None:
        for key, unit in (("to_date", "year"), ("month_to_date", "month")):
            length = self._is(at, key)
            if length:
                following = self.today + timedelta(days=1)
                return Period(begin(self.today, unit), following, f"{unit} to date", relative=True), length  # type: ignore[arg-type]
        return None

    def _absolute(self, at: int) -> tuple[Period, int] | None:
        while_the = 1 if at < len(self.words) and self.words[at] == "the" else 0
        year_word = 1 if at + while_the < len(self.words) and self.words[at + while_the] in ("year", "month") else 0
        of_word = (
            1 if year_word and at + while_the + 1 < len(self.words) and self.words[at + while_the + 1] == "of" else 0
        )
        place = at + while_the + year_word + of_word
        hit = self._date(place) or self._month(place) or self._quarter(place) or self._half(place) or self._year(place)
        return (hit[0], hit[1] + place - at) if hit else None

    def _date(self, at: int) -> tuple[Period, int] | None:
        if at >= len(self.tokens):
            return None
        if self.tokens[at].kind in ("date", "quoted") and re.fullmatch(r"\d{4}-\d{1,2}-\d{1,2}", self.words[at]):
            return (period, 1) if (period := _one_day(*map(int, self.words[at].split("-")))) else None
        months = self.book["months"]
        for day_at, month_at in ((at, at + 1), (at + 1, at)):
            if max(day_at, month_at) >= len(self.words):
                continue
            day_text = re.fullmatch(r"(\d{1,2})(st|nd|rd|th)?", self.words[day_at])
            month = months.get(self.words[month_at])
            if day_text is None or month is None:
                if (
                    month is None
                    and day_at == at
                    and day_text
                    and self.words[at + 1] == "of"
                    and at + 2 < len(self.words)
                ):
                    month = months.get(self.words[at + 2])
                    if month:
                        return self._with_year(int(day_text[1]), month, at + 3, 3)
                continue
            return self._with_year(int(day_text[1]), month, at + 2, 2)
        return None

    def _with_year(self, day: int, month: int, at: int, taken: int) -> tuple[Period, int] | None:
        comma = 1 if at < len(self.words) and self.words[at] == "," else 0
        year = self._year(at + comma)
        if year and year[0].start:
            period = _one_day(year[0].start.year, month, day)
            return (period, taken + comma + year[1]) if period else None
        period = _one_day(YEARLESS, month, day)
        return (replace(period, yearless=True, said=f"{day} {_MONTH_NAMES[month - 1]}"), taken) if period else None

    def _month(self, at: int) -> tuple[Period, int] | None:
        month = self.book["months"].get(self.words[at]) if at < len(self.words) else None
        if month is None or (self.words[at] in ("may", "march", "mar") and self._is_verb(at)):
            return None
        of = 1 if at + 1 < len(self.words) and self.words[at + 1] in ("of", ",", "in") else 0
        year = self._year(at + 1 + of)
        if year and year[0].start:
            return month_period(year[0].start.year, month), 1 + of + year[1]
        return month_period(YEARLESS, month, yearless=True), 1

    def _is_verb(self, at: int) -> bool:
        if at == 0 and self.words[at] == "may" and self.tokens[at].text.islower():
            return self._year(at + 1) is None
        return (
            self.tokens[at].text.islower()
            and at > 0
            and self.words[at - 1]
            not in (
                "in",
                "for",
                "of",
                "during",
                "since",
                "from",
                "to",
                "and",
                "until",
                "before",
                "after",
                "between",
                ",",
                "or",
                "last",
                "the",
                "march",
            )
        )

    def _quarter(self, at: int) -> tuple[Period, int] | None:
        if at >= len(self.words):
            return None
        taken, quarter = 0, 0
        if match := re.fullmatch(r"q([1-4])", self.words[at]):
            taken, quarter = 1, int(match[1])
        elif (
            self.words[at] in self.book["time"]["ordinals"]
            and at + 1 < len(self.words)
            and self.words[at + 1] == "quarter"
        ):
            taken, quarter = 2, self.book["time"]["ordinals"][self.words[at]]
        if not taken:
            year = self._year(at)
            match = re.fullmatch(r"q([1-4])", self.words[at + 1]) if year and at + 1 < len(self.words) else None
            return (quarter_period(year[0].start.year, int(match[1])), 2) if year and match and year[0].start else None
        of = 1 if at + taken < len(self.words) and self.words[at + taken] in ("of", "in") else 0
        year = self._year(at + taken + of)
        if year and year[0].start:
            return quarter_period(year[0].start.year, quarter), taken + of + year[1]
        return quarter_period(YEARLESS, quarter, yearless=True), taken

    def _half(self, at: int) -> tuple[Period, int] | None:
        ordinals = self.book["time"]["ordinals"]
        if at + 1 >= len(self.words) or self.words[at] not in ordinals or self.words[at + 1] != "half":
            return None
        of = 1 if at + 2 < len(self.words) and self.words[at + 2] == "of" else 0
        year = self._year(at + 2 + of)
        if not year or not year[0].start or ordinals[self.words[at]] > 2:
            return None
        start = date(year[0].start.year, 6 * ordinals[self.words[at]] - 5, 1)
        return Period(
            start, shift(start, "month", 6), f"half {ordinals[self.words[at]]} of {start.year}"
        ), 2 + of + year[1]

    def _year(self, at: int) -> tuple[Period, int] | None:
        if (
            at < len(self.words)
            and self.words[at] == "the"
            and at + 1 < len(self.words)
            and self.words[at + 1] == "year"
        ):
            hit = self._year(at + 2)
            return (hit[0], hit[1] + 2) if hit else None
        if at < len(self.words) and self.words[at] == "year":
            hit = self._year(at + 1)
            return (hit[0], hit[1] + 1) if hit else None
        if (
            at >= len(self.tokens)
            or self.tokens[at].kind != "number"
            or not re.fullmatch(r"(19|20)\d\d", self.words[at])
        ):
            return None
        return year_period(int(self.words[at])), 1


def _one_day(year: int, month: int, day: int) -> Period | None:
    try:
        start = date(year, month, day)
    except ValueError:
        return None
    return Period(start, start + timedelta(days=1), _day(start), unit="day")


@cache
def _time_phrases() -> dict[str, list[tuple[str, ...]]]:
    from .words import phrase

    time = lexicon("en").raw["time"]
    return {key: [phrase(text) for text in texts] for key, texts in time.items() if isinstance(texts, list)}
