"""No word of a question is lost or taken for another: it counts, is asked about, or the question is refused."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from askhouse.emulator.planner import Clock, PastTurn, Planned, Planner, Refusal
from askhouse.warehouse.duckdb import LocalWarehouse

Oracle = Callable[[str, str], list[tuple[object, ...]]]


def number(planner: Planner, warehouse: LocalWarehouse, question: str) -> object:
    """The one number that answers a question."""
    reading = planner.read(question)
    assert isinstance(reading, Planned), reading
    return warehouse.query(reading.sql).rows[0][0]


@pytest.mark.parametrize(
    ("question", "first", "after"),
    [
        ("How many orders last Monday?", "2025-12-29", "2025-12-30"),
        ("How many orders last Wednesday?", "2025-12-24", "2025-12-25"),
        ("How many orders last weekend?", "2025-12-27", "2025-12-29"),
    ],
)
def test_the_last_day_of_a_name_is_one_day(
    shop: Planner, warehouse: LocalWarehouse, oracle: Oracle, question: str, first: str, after: str
) -> None:
    gold = f"SELECT count(*) FROM orders WHERE created_at >= '{first}' AND created_at < '{after}'"
    assert number(shop, warehouse, question) == oracle("thelook_ecommerce", gold)[0][0]


@pytest.mark.parametrize("day", ["9999-12-31", "9999-12-29", "0001-01-01", "0001-01-02"])
@pytest.mark.parametrize("question", ["orders last month", "orders this year", "orders today", "orders last Monday"])
@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo", "America/New_York"])
def test_the_ends_of_the_calendar_are_no_error(
    planner_of: Callable[..., Planner], day: str, question: str, zone: str
) -> None:
    planner = planner_of("thelook_ecommerce", Clock(datetime.fromisoformat(day).replace(tzinfo=UTC), zone))
    assert planner.read(question) is not None
    assert isinstance(planner.read("How many orders in 2024?"), Planned)


def test_a_period_beyond_the_calendar_is_refused(shop: Planner) -> None:
    for question in ("orders in the last 999999 months", "orders on 9999-12-31"):
        assert isinstance(shop.read(question), Refusal)


def test_a_follow_up_does_not_drop_one_of_its_periods(flights: Planner) -> None:
    first = flights.read("average arrival delay by carrier")
    assert isinstance(first, Planned)
    reading = flights.read("in July vs June", [PastTurn("average arrival delay by carrier", first.sql, first.lead)])
    assert not isinstance(reading, Planned) or ("2013, 6" in reading.sql and "2013, 7" in reading.sql)


def test_the_end_of_a_journey_is_told_by_its_column(flights: Planner) -> None:
    reading = flights.read("flights from LAX to JFK")
    assert isinstance(reading, Planned)
    assert "origin (faa of airports) is LAX and dest (faa of airports) is JFK" in reading.lead
