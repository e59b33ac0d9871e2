"""Which column says when, and which days a period means over the data."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta

from .choose import Chooser, OtherDayError, RefusedError, UndecidedError, fits_time
from .joins import distance
from .periods import Period, last_full, say
from .plan import During, TimeRef
from .semantics import SemanticLayer
from .terms import Term

Today = Callable[[str], date]
"""The day that counts as today over a table."""


class When:
    """Times of one question."""

    def __init__(self, layer: SemanticLayer, chooser: Chooser, today: Today, day: date | None = None) -> None:
        self.layer = layer
        self.chooser = chooser
        self.today = today
        self.day = day
        """The day with which the question's periods were read."""

    def time_of(self, home: str, mention: Term | None = None) -> TimeRef:
        """The moment that counts for a table: the named one, its own first, or that of a table it points at."""
        if mention is not None:
            one = self.chooser.pick(mention, fits_time)
            assert one.field is not None
            return self.of_column(one.entity.key, one.field.ref.column)
        return self.find(home) or self._refuse(home)

    def find(self, home: str) -> TimeRef | None:
        """The table's own moment, else that of the nearest table that it points at."""
        if times := self.layer.entities[home].times:
            return times[0]
        above = sorted(
            (step, key)
            for key, entity in self.layer.entities.items()
            if entity.times and (step := distance(self.layer, home, key)) is not None
        )
        return self.layer.entities[above[0][1]].times[0] if above else None

    def of_column(self, table: str, column: str) -> TimeRef:
        """A moment by its column."""
        for time in self.layer.entities[table].times:
            if time.columns == (column,):
                return time
        return self._refuse(table)

    def _refuse(self, home: str) -> TimeRef:
        name = self.layer.entities[home].said
        raise RefusedError("no_date", f"{name} has no date, so it cannot be told by time.")

    def during(self, time: TimeRef, period: Period, *, negated: bool = False) -> During:
        """The period over that moment, its year found where the question did not name one.

        Raises UndecidedError when a relative period lies wholly after the last row.
        """
        first, last = self.span(time)
        if time.kind == "Y" and not _of_years(period):
            raise RefusedError("no_date", f"{self.name(time)} tells the year only, so {period.said} is not told by it.")
        if period.yearless:
            period = self._with_year(time, period, first, last)
        if not period.relative:
            self._check_within(period, first, last)
        if period.relative and self.day is not None and self.day != self.today(time.table):
            raise OtherDayError(self.today(time.table))
        if period.relative:
            self._check_end(period, last)
            self.chooser.say(
                f"{period.said[0].upper()}{period.said[1:]} is {say(period.start, period.end)}, by {self.name(time)}."
            )
        elif len(self.layer.entities[time.table].times) > 1 and time.kind not in ("YMD", "YM", "YMNAME"):
            self.chooser.say(f"The time is {self.name(time)}.")
        return During(time, period.start, period.end, period.said, period.relative, negated)

    def _with_year(self, time: TimeRef, period: Period, first: date | None, last: date | None) -> Period:
        assert period.start is not None or period.end is not None
        today = self.today(time.table)
        until = min(today, last) if last else today
        year = until.year
        placed = _safe_year(period, year)
        while placed.start is not None and placed.start > until and year > (first.year if first else 0):
            year -= 1
            placed = _safe_year(period, year)
        if first is None or last is None or first.year != last.year:
            self.chooser.say(f"{period.said} is taken as {placed.said}.")
        return placed

    def _check_within(self, period: Period, first: date | None, last: date | None) -> None:
        """Refuse a period of which no day is in the data, instead of answering with nothing."""
        if first is None or last is None:
            return
        held = f"The data holds {say(first, last + timedelta(days=1))}"
        if period.start is not None and period.start > last:
            raise RefusedError("unknown_value", f"{held}; {period.said} is after that.")
        if period.end is not None and period.end <= first:
            raise RefusedError("unknown_value", f"{held}; {period.said} is before that.")

    def _check_end(self, period: Period, last: date | None) -> None:
        if last is None or period.start is None or period.start <= last:
            return
        unit = period.unit or "month"
        start, end = last_full(last, unit)
        option = say(start, end)
        ends = f"The data ends on {say(last, last + timedelta(days=1))}"
        text = (
            f"{ends}, before {period.said} ({say(period.start, period.end)}). Do you want the last full {unit} instead?"
        )
        raise UndecidedError(f"period {period.said}", text, [option])

    def span(self, time: TimeRef) -> tuple[date | None, date | None]:
        """The first and last day of the data, as far as the columns' figures tell."""
        stats = self.layer.entities[time.table].fields[time.columns[0]].stats
        if time.kind in ("YMD", "YM", "YMNAME", "Y"):
            if stats.least is None or stats.greatest is None:
                return None, None
            return date(int(stats.least), 1, 1), date(int(stats.greatest), 12, 31)
        return _day(stats.least), _day(stats.greatest)

    def name(self, time: TimeRef) -> str:
        """The moment's columns in words."""
        return f"{', '.join(time.columns)} of {self.layer.entities[time.table].said}"


def _of_years(period: Period) -> bool:
    """Whether a period begins and ends with a year."""
    ends = [day for day in (period.start, period.end) if day is not None]
    return not period.yearless and all((day.month, day.day) == (1, 1) for day in ends)


def _safe_year(period: Period, year: int) -> Period:
    try:
        return period.in_year(year)
    except ValueError:  # 29 February
        raise RefusedError("unknown_value", f"{period.said} does not exist in {year}.") from None


def _day(moment: object) -> date | None:
    if isinstance(moment, datetime):
        return moment.date()
    return moment if isinstance(moment, date) else None
