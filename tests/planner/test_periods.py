"""Periods in words."""

from __future__ import annotations

from datetime import date

import pytest

from askhouse.emulator.planner import Planned, Planner
from askhouse.emulator.planner.periods import PeriodReader, last_full
from askhouse.emulator.planner.words import tokenize
from askhouse.warehouse.duckdb import LocalWarehouse

TODAY = date(2025, 12, 31)
PERIODS = {
    "2025": (date(2025, 1, 1), date(2026, 1, 1)),
    "July 2025": (date(2025, 7, 1), date(2025, 8, 1)),
    "Q3 2025": (date(2025, 7, 1), date(2025, 10, 1)),
    "2025 Q3": (date(2025, 7, 1), date(2025, 10, 1)),
    "first quarter of 2023": (date(2023, 1, 1), date(2023, 4, 1)),
    "second half of 2024": (date(2024, 7, 1), date(2025, 1, 1)),
    "between 2025-03-01 and 2025-03-31": (date(2025, 3, 1), date(2025, 4, 1)),
    "from January to March 2025": (date(2025, 1, 1), date(2025, 4, 1)),
    "between Jan 1, 2023 and Mar 31, 2023": (date(2023, 1, 1), date(2023, 4, 1)),
    "25 December 2013": (date(2013, 12, 25), date(2013, 12, 26)),
    "December 25th, 2013": (date(2013, 12, 25), date(2013, 12, 26)),
    "since January 2025": (date(2025, 1, 1), None),
    "before 2020": (None, date(2020, 1, 1)),
    "after 2020": (date(2021, 1, 1), None),
    "on or after Apr 1, 2023": (date(2023, 4, 1), None),
    "today": (date(2025, 12, 31), date(2026, 1, 1)),
    "yesterday": (date(2025, 12, 30), date(2025, 12, 31)),
    "last month": (date(2025, 11, 1), date(2025, 12, 1)),
    "last quarter": (date(2025, 7, 1), date(2025, 10, 1)),
    "last week": (date(2025, 12, 21), date(2025, 12, 28)),
    "last year": (date(2024, 1, 1), date(2025, 1, 1)),
    "this year": (date(2025, 1, 1), date(2026, 1, 1)),
    "last 30 days": (date(2025, 12, 2), date(2026, 1, 1)),
    "past three months": (date(2025, 10, 1), date(2026, 1, 1)),
    "last 2 full months": (date(2025, 10, 1), date(2025, 12, 1)),
    "last 6 months excluding the current month": (date(2025, 6, 1), date(2025, 12, 1)),
    "2 months ago": (date(2025, 10, 1), date(2025, 11, 1)),
    "year to date": (date(2025, 1, 1), date(2026, 1, 1)),
}


@pytest.mark.parametrize(("text", "days"), PERIODS.items(), ids=str)
def test_periods(text: str, days: tuple[date | None, date | None]) -> None:
    tokens = tokenize(text)
    hit = PeriodReader(tokens, TODAY).read(0)
    assert hit is not None
    assert (hit[0].start, hit[0].end) == days
    assert hit[1] == len(tokens)


@pytest.mark.parametrize("text", ["may I ask", "2000 orders", "the last order", "31 February 2025"])
def test_what_is_no_period(text: str) -> None:
    hit = PeriodReader(tokenize(text), TODAY).read(0)
    assert hit is None or hit[0].start is None or hit[0].start.year == 2000


def test_a_year_is_found_for_a_month() -> None:
    hit = PeriodReader(tokenize("July"), TODAY).read(0)
    assert hit is not None and hit[0].yearless
    assert hit[0].in_year(2013).start == date(2013, 7, 1)


def test_the_last_full_period_is_over() -> None:
    assert last_full(date(2025, 12, 31), "month") == (date(2025, 12, 1), date(2026, 1, 1))
    assert last_full(date(2025, 12, 30), "month") == (date(2025, 11, 1), date(2025, 12, 1))


@pytest.mark.parametrize(
    ("question", "column"),
    [
        ("orders returned in 2025 by month", "returned_at"),
        ("orders shipped in 2025 by month", "shipped_at"),
        ("orders in 2025 by month", "created_at"),
    ],
)
def test_months_are_those_of_the_moment_that_the_period_is_about(
    shop: Planner, warehouse: LocalWarehouse, question: str, column: str
) -> None:
    reading = shop.read(question)
    assert isinstance(reading, Planned), reading
    gold = warehouse.query(
        f"SELECT DATE_TRUNC(DATE({column}), MONTH) AS m, COUNT(*) FROM `bigquery-public-data.thelook_ecommerce.orders` "
        f"WHERE EXTRACT(YEAR FROM {column}) = 2025 GROUP BY m ORDER BY m"
    )
    assert warehouse.query(reading.sql).rows == gold.rows
