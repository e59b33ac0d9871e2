"""Shares: the whole is what is named with what stands beside it, the part what is told of it; else a question back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from askhouse.emulator.planner import Clarification, PastTurn, Planned, Planner, Refusal
from askhouse.warehouse.duckdb import LocalWarehouse

Oracle = Callable[[str, str], list[tuple[Any, ...]]]

_JFK = "SELECT avg(CASE WHEN dep_time IS NULL THEN 1 ELSE 0 END) FROM flights WHERE origin = 'JFK'"
_LEFT = "SELECT avg(CASE WHEN origin = 'JFK' THEN 1 ELSE 0 END) FROM flights WHERE "
_ORDERS = (
    "SELECT avg(CASE WHEN o.status {} 'Returned' THEN 1 ELSE 0 END) "
    "FROM orders AS o JOIN users AS u ON u.id = o.user_id WHERE u.country = 'China'"
)
_WOMEN = "SELECT avg(CASE WHEN gender = 'F' THEN 1 ELSE 0 END) FROM users WHERE country = 'Germany'"
FLIGHTS = {
    "percentage of cancelled flights from JFK": _JFK,
    "cancellation rate of flights at JFK": _JFK,
    "What percentage of flights from JFK were cancelled?": _JFK,
    "What percentage of flights were cancelled at JFK?": _JFK,
    "Of the flights from JFK, what percentage was cancelled?": _JFK,
    "For JFK, what is the share of cancelled flights?": _JFK,
    "percentage of JFK flights that were cancelled": _JFK,
    "What percentage of flights operated by Delta left from JFK?": f"{_LEFT} carrier = 'DL'",
    "what share of flights to Los Angeles left from JFK": f"{_LEFT} dest = 'LAX'",
}
SHOP = {
    "What percentage of orders in China was not returned?": _ORDERS.format("<>"),
    "What percentage of orders was returned in China?": _ORDERS.format("="),
    "What percentage of products in Jeans cost more than 50?": (
        "SELECT avg(CASE WHEN cost > 50 THEN 1 ELSE 0 END) FROM products WHERE category = 'Jeans'"
    ),
    "share of female users in Germany": _WOMEN,
    "percentage of users who are female in Germany": _WOMEN,
    "what percentage of female users are from China": (
        "SELECT avg(CASE WHEN country = 'China' THEN 1 ELSE 0 END) FROM users WHERE gender = 'F'"
    ),
}


@pytest.mark.parametrize(("question", "sql"), FLIGHTS.items(), ids=list(FLIGHTS))
def test_flights(flights: Planner, warehouse: LocalWarehouse, oracle: Oracle, question: str, sql: str) -> None:
    assert _number(flights, warehouse, question) == pytest.approx(oracle("nycflights13", sql)[0][0])


@pytest.mark.parametrize(("question", "sql"), SHOP.items(), ids=list(SHOP))
def test_shop(shop: Planner, warehouse: LocalWarehouse, oracle: Oracle, question: str, sql: str) -> None:
    assert _number(shop, warehouse, question) == pytest.approx(oracle("thelook_ecommerce", sql)[0][0])


def test_the_whole_is_said(flights: Planner) -> None:
    reading = flights.read("percentage of cancelled flights from JFK")
    assert isinstance(reading, Planned)
    assert reading.lead.endswith("as a share of the flights where origin is JFK.")


def test_what_cannot_be_told_is_asked_back(flights: Planner, warehouse: LocalWarehouse, oracle: Oracle) -> None:
    question = "share of Delta flights from JFK"
    reading = flights.read(question)
    assert isinstance(reading, Clarification)
    assert reading.options == ("of all flights", "of the Delta flights", "of the flights from JFK")
    wholes = ["true", "carrier = 'DL'", "origin = 'JFK'"]
    for option, whole in zip(reading.options, wholes, strict=True):
        answered = flights.read(option, [PastTurn(question, None, reading.text)])
        assert isinstance(answered, Planned)
        sql = f"SELECT avg(CASE WHEN carrier = 'DL' AND origin = 'JFK' THEN 1 ELSE 0 END) FROM flights WHERE {whole}"
        got = warehouse.query(answered.sql, max_rows=2).rows
        assert got[0][0] == pytest.approx(oracle("nycflights13", sql)[0][0])


@pytest.mark.parametrize(
    "question",
    [
        "return rate of orders in China",
        "highest return rate by category",
        "Which category has the highest return rate?",
        "What percentage of cancelled orders were in July?",
        "What percentage of users bought jeans?",
    ],
)
def test_a_part_that_nothing_names_is_refused(shop: Planner, question: str) -> None:
    assert isinstance(shop.read(question), Refusal)


def _number(planner: Planner, warehouse: LocalWarehouse, question: str) -> float:
    reading = planner.read(question)
    assert isinstance(reading, Planned), reading
    rows = warehouse.query(reading.sql, max_rows=2).rows
    assert len(rows) == len(rows[0]) == 1
    return float(rows[0][0])
