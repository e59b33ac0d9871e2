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


REFUSED_IN_THE_SHOP = [
    "How many users and orders are there?",
    "number of users and orders by country",
    "How many customers visited in 2025?",
    "existing customers in 2024",
    "returning customers in 2025",
    "active customers in 2025",
    "How many orders were paid?",
    "How many orders were received?",
    "How many customers attended?",
    "customers who bought only Jeans",
    "customers who only bought Jeans",
    "customers in Chicago distribution center",
    "products in Berlin distribution center",
    "orders next Monday",
    "orders on the last 3 Mondays",
    "average revenue per month",
    "revenue minus cost",
    "revenue times cost",
    "top 3 ages by number of users",
    "roughly how many orders are there?",
    "How many items were not sold?",
    "total cost of products sold in 2025",
    "average retail price of products sold in 2025",
    "stock by distribution center",
    "How many customers were active in 2025?",
    "customers who bought just Jeans",
    "orders with only one item",
    "products in Chicago",
    "How many orders arrived in 2025?",
    "How many customers left in 2025?",
    "How many customers bought jeans only?",
    "How many orders did women pay in 2024?",
    "products with no cost",
    "orders with no items",
]


@pytest.mark.parametrize("question", REFUSED_IN_THE_SHOP)
def test_a_word_that_would_be_lost_is_refused(shop: Planner, question: str) -> None:
    assert not isinstance(shop.read(question), Planned)


PLANES = ["How many planes flew from JFK in July?", "How many planes flew from JFK in 2013?", "planes in July 2013"]


@pytest.mark.parametrize("question", ["How many flights and planes?", "How many planes flew in July?", *PLANES])
def test_two_tables_or_another_table_are_refused(flights: Planner, question: str) -> None:
    assert not isinstance(flights.read(question), Planned)


GOLD = {
    ("thelook_ecommerce", "products in Houston distribution center"): """
        SELECT count(*) FROM products p JOIN distribution_centers d ON p.distribution_center_id = d.id
        WHERE d.name LIKE 'Houston%'""",
    (
        "nycflights13",
        "How many flights were actually cancelled?",
    ): "SELECT count(*) FROM flights WHERE dep_time IS NULL",
    ("thelook_ecommerce", "products from the Houston distribution center"): """
        SELECT count(*) FROM products p JOIN distribution_centers d ON p.distribution_center_id = d.id
        WHERE d.name LIKE 'Houston%'""",
    ("nycflights13", "How many planes in 2004?"): "SELECT count(*) FROM planes WHERE year = 2004",
    ("nycflights13", "flights with missing arrival delay"): "SELECT count(*) FROM flights WHERE arr_delay IS NULL",
    ("thelook_ecommerce", "customers without age"): "SELECT count(*) FROM users WHERE age IS NULL",
    ("nycflights13", "How many flights from JFK only?"): "SELECT count(*) FROM flights WHERE origin = 'JFK'",
    ("nycflights13", "flights with no arrival delay"): "SELECT count(*) FROM flights WHERE arr_delay <= 0",
    ("nycflights13", "flights without departure delay"): "SELECT count(*) FROM flights WHERE dep_delay <= 0",
    ("nycflights13", "How many flights departed in February?"): """
        SELECT count(*) FROM flights WHERE month = 2 AND dep_time IS NOT NULL""",
    ("nycflights13", "How many flights departed from JFK in February?"): """
        SELECT count(*) FROM flights WHERE month = 2 AND origin = 'JFK' AND dep_time IS NOT NULL""",
    ("nycflights13", "How many flights arrived in February?"): """
        SELECT count(*) FROM flights WHERE month = 2 AND arr_time IS NOT NULL""",
    ("thelook_ecommerce", "How many inventory items were not sold?"): """
        SELECT count(*) FROM inventory_items WHERE sold_at IS NULL""",
    ("thelook_ecommerce", "total cost of inventory items sold in 2025"): """
        SELECT sum(cost) FROM inventory_items WHERE year(sold_at) = 2025""",
    ("nycflights13", "How many flights flew in July?"): "SELECT count(*) FROM flights WHERE month = 7",
    ("thelook_ecommerce", "How many orders did customers place in 2024?"): """
        SELECT count(*) FROM orders WHERE year(created_at) = 2024""",
}


@pytest.mark.parametrize(("asked", "gold"), GOLD.items(), ids=[question for _, question in GOLD])
def test_words_that_are_understood_count(
    planner_of: Callable[..., Planner], warehouse: LocalWarehouse, oracle: Oracle, asked: tuple[str, str], gold: str
) -> None:
    dataset, question = asked
    assert number(planner_of(dataset), warehouse, question) == pytest.approx(oracle(dataset, gold)[0][0])


def test_what_was_sold_leaves_the_rest_in_stock(shop: Planner, warehouse: LocalWarehouse, oracle: Oracle) -> None:
    reading = shop.read("average cost of items sold by category")
    assert isinstance(reading, Planned)
    found = {row[0]: round(row[1], 6) for row in warehouse.query(reading.sql).rows}
    gold = """
        SELECT p.category, avg(i.cost) FROM inventory_items i JOIN products p ON i.product_id = p.id
        WHERE i.sold_at IS NOT NULL GROUP BY 1"""
    assert found == {row[0]: round(row[1], 6) for row in oracle("thelook_ecommerce", gold)}  # type: ignore[call-overload]
