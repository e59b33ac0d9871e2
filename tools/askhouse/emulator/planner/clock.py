"""What "today" is: the given moment, the sample's last day, or the real day in the person's time zone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo


@dataclass(frozen=True)
class Clock:
    """`now` is a chosen moment or None for the real one; `time_zone` decides when a day begins."""

    now: datetime | None = None
    time_zone: str = "UTC"

    def today(self, sample_end: date | None = None) -> date:
        """The day that counts as today over data whose sample ends on `sample_end` (None: not a sample)."""
        if self.now is None and sample_end is not None:
            return sample_end
        return self.real_day() if self.now is None else self._local(self.now)

    def real_day(self) -> date:
        """The real day in the person's time zone."""
        return self._local(datetime.now(UTC))

    def _local(self, moment: datetime) -> date:
        aware = moment if moment.tzinfo else moment.replace(tzinfo=ZoneInfo(self.time_zone))
        try:
            return aware.astimezone(ZoneInfo(self.time_zone)).date()
        except OverflowError:  # the first or the last day of the calendar
            return aware.date()
