"""Numbers of rows of different kinds in one answer: each is computed over its own rows, once each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from same import same

from askhouse.emulator.planner import Clarification, PastTurn, Planned, Planner, Refusal
from askhouse.warehouse.duckdb import LocalWarehouse

_SEATS = """
    SELECT f.{group}, {function}(p.seats) AS seats
    FROM (SELECT DISTINCT {group}, tailnum FROM flights) AS f JOIN planes AS p USING (tailnum) GROUP BY 1
"""
_AGES = """
    SELECT category, avg(age) AS age FROM (
      SELECT DISTINCT p.category, u.id, u.age
      FROM order_items AS i JOIN products AS p ON p.id = i.product_id JOIN users AS u ON u.id = i.user_id
    ) GROUP BY 1
"""
_BESIDE = "WITH a AS ({first}), b AS ({second}) SELECT a.*, b.{value} FROM a LEFT JOIN b USING ({group})"


def _beside(first: str, second: str, group: str, value: str) -> str:
    return _BESIDE.format(first=first, second=second, group=group, value=value)


def _seats(group: str, function: str) -> str:
    return _SEATS.format(group=group, function=function)


FLIGHTS = {
    "total distance and total seats by carrier": _beside(
        "SELECT carrier, sum(distance) FROM flights GROUP BY 1", _seats("carrier", "sum"), "carrier", "seats"
    ),
    "total seats and number of flights by carrier": (
        f"WITH b AS ({_seats('carrier', 'sum')}) SELECT f.carrier, max(b.seats), count(*) "
        "FROM flights AS f LEFT JOIN b USING (carrier) GROUP BY 1"
    ),
    "average dep delay and average seats by carrier": _beside(
        "SELECT carrier, avg(dep_delay) FROM flights GROUP BY 1", _seats("carrier", "avg"), "carrier", "seats"
    ),
    "number of flights and total seats by origin": _beside(
        "SELECT origin, count(*) FROM flights GROUP BY 1", _seats("origin", "sum"), "origin", "seats"
    ),
    "median dep delay and average seats and number of flights by carrier": (
        f"WITH b AS ({_seats('carrier', 'avg')}) SELECT f.carrier, quantile_cont(f.dep_delay, 0.5), max(b.seats), "
        "count(*) FROM flights AS f LEFT JOIN b USING (carrier) GROUP BY 1"
    ),
}
SHOP = {
    "number of order items and average age by category": _beside(
        "SELECT p.category, count(*) FROM order_items AS i JOIN products AS p ON p.id = i.product_id GROUP BY 1",
        _AGES,
        "category",
        "age",
    ),
    "revenue and average age by category": _beside(
        "SELECT category, sum(sale_price) FROM order_items JOIN products AS p ON p.id = product_id GROUP BY 1",
        _AGES,
        "category",
        "age",
    ),
    "average sale price and average num of item by status": _beside(
        "SELECT status, avg(sale_price) FROM order_items GROUP BY 1",
        "SELECT status, avg(num_of_item) AS items FROM (SELECT DISTINCT i.status, o.order_id, o.num_of_item "
        "FROM order_items AS i JOIN orders AS o USING (order_id)) GROUP BY 1",
        "status",
        "items",
    ),
}


def _check(
    planner: Planner, warehouse: LocalWarehouse, oracle: Callable[..., list[Any]], dataset: str, question: str, sql: str
) -> None:
    reading = planner.read(question)
    assert isinstance(reading, Planned), reading
    wanted = oracle(dataset, sql)
    assert len(wanted) > 2
    assert same(warehouse.query(reading.sql, max_rows=1000).rows, wanted)


@pytest.mark.parametrize(("question", "sql"), FLIGHTS.items(), ids=list(FLIGHTS))
def test_flights(
    flights: Planner, warehouse: LocalWarehouse, oracle: Callable[..., list[Any]], question: str, sql: str
) -> None:
    _check(flights, warehouse, oracle, "nycflights13", question, sql)


@pytest.mark.parametrize(("question", "sql"), SHOP.items(), ids=list(SHOP))
def test_shop(
    shop: Planner, warehouse: LocalWarehouse, oracle: Callable[..., list[Any]], question: str, sql: str
) -> None:
    _check(shop, warehouse, oracle, "thelook_ecommerce", question, sql)


def test_the_way_to_the_rows_is_asked_and_kept(
    flights: Planner, warehouse: LocalWarehouse, oracle: Callable[..., list[Any]]
) -> None:
    question = "average alt of airports by carrier"
    asked = flights.read(question)
    assert isinstance(asked, Clarification)
    assert asked.options == ("origin of flights", "dest of flights")
    for option in asked.options:
        way = option.split()[0]
        reading = flights.read(option, [PastTurn(question, None, asked.text)])
        assert isinstance(reading, Planned) and f"({way})" in reading.lead
        wanted = oracle(
            "nycflights13",
            f"SELECT carrier, avg(alt) FROM (SELECT DISTINCT carrier, {way} AS faa FROM flights) "
            "LEFT JOIN airports USING (faa) GROUP BY 1",
        )
        assert same(warehouse.query(reading.sql, max_rows=100).rows, wanted)


def test_the_way_that_is_grouped_by_is_not_asked(
    flights: Planner, warehouse: LocalWarehouse, oracle: Callable[..., list[Any]]
) -> None:
    reading = flights.read("average alt of airports by dest")
    assert isinstance(reading, Planned)
    wanted = oracle("nycflights13", "SELECT DISTINCT dest, alt FROM flights LEFT JOIN airports ON faa = dest")
    assert same(warehouse.query(reading.sql, max_rows=200).rows, wanted)


@pytest.mark.parametrize("question", ["number of flights with visibility below 1", "average temp by carrier"])
def test_a_key_of_several_columns_is_told(flights: Planner, question: str) -> None:
    reading = flights.read(question)
    assert isinstance(reading, Refusal)
    assert "by more than one column (origin and time_hour)" in reading.text


def test_months_of_different_kinds_are_not_mixed(shop: Planner) -> None:
    reading = shop.read("number of users and number of orders by month")
    assert isinstance(reading, Refusal) and "rows of different kinds" in reading.text


@pytest.mark.parametrize("group", ["month", "gender"])
def test_rows_that_the_groups_leave_out_are_told(shop: Planner, group: str) -> None:
    reading = shop.read(f"number of orders and number of users by {group}")
    assert isinstance(reading, Planned)
    assert any("users without such rows are not counted" in text for text in reading.assumptions)
