"""The first place: all that share it are shown, twenty at most, in one order everywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from askhouse.emulator.planner import Planned, Planner
from askhouse.insights.read_as import read_back
from askhouse.warehouse.duckdb import LocalWarehouse

Oracle = Callable[[str, str], list[tuple[Any, ...]]]

_FEWEST = "SELECT dest, count(*) AS n FROM flights GROUP BY 1 QUALIFY rank() OVER (ORDER BY count(*)) = 1 ORDER BY 1"


def _rows(planner: Planner, warehouse: LocalWarehouse, question: str) -> list[tuple[Any, ...]]:
    reading = planner.read(question)
    assert isinstance(reading, Planned), reading
    return [tuple(row) for row in warehouse.query(reading.sql, max_rows=50).rows]


def test_the_customers_with_the_most_orders(shop: Planner, warehouse: LocalWarehouse, oracle: Oracle) -> None:
    counts = "SELECT user_id, count(*) AS n FROM orders GROUP BY 1"
    tied = oracle(
        "thelook_ecommerce",
        f"WITH c AS ({counts}) SELECT user_id, n FROM c WHERE n = (SELECT max(n) FROM c) ORDER BY user_id",
    )
    assert len(tied) > 20
    assert _rows(shop, warehouse, "Which customer placed the most orders?") == tied[:20]
    reading = shop.read("Which customer placed the most orders?")
    assert isinstance(reading, Planned)
    assert "or all that share it (20 at most)" in reading.lead
    assert "keeping the first and all that share its place" in read_back(reading.sql).text


def test_the_destinations_with_the_fewest_flights(flights: Planner, warehouse: LocalWarehouse, oracle: Oracle) -> None:
    wanted = oracle("nycflights13", _FEWEST)
    assert len(wanted) > 1
    assert _rows(flights, warehouse, "Which destination had the fewest flights?") == wanted


def test_one_winner_stays_alone(flights: Planner, warehouse: LocalWarehouse, oracle: Oracle) -> None:
    wanted = oracle("nycflights13", "SELECT carrier, count(*) FROM flights GROUP BY 1 ORDER BY 2 DESC LIMIT 1")
    assert _rows(flights, warehouse, "Which carrier has the most flights?") == wanted


def test_rows_that_share_the_first_place(flights: Planner, warehouse: LocalWarehouse, oracle: Oracle) -> None:
    ways = oracle("nycflights13", "SELECT count(*) FROM flights WHERE distance = (SELECT max(distance) FROM flights)")
    assert ways[0][0] > 20
    rows = _rows(flights, warehouse, "longest flight")
    assert len(rows) == 20
    assert rows == sorted(rows, key=lambda row: row[:3])


@pytest.mark.parametrize("question", ["top 5 most expensive products", "5 cheapest products"])
def test_the_first_rows_are_in_one_order(
    shop: Planner, warehouse: LocalWarehouse, oracle: Oracle, question: str
) -> None:
    way = "DESC" if "expensive" in question else "ASC"
    wanted = oracle("thelook_ecommerce", f"SELECT id FROM products ORDER BY retail_price {way}, id LIMIT 5")
    assert [row[0] for row in _rows(shop, warehouse, question)] == [row[0] for row in wanted]


def test_shared_first_places_in_each_group(shop: Planner, warehouse: LocalWarehouse, oracle: Oracle) -> None:
    wanted = oracle(
        "thelook_ecommerce",
        "SELECT category, department FROM order_items JOIN products AS p ON p.id = product_id GROUP BY 1, 2 "
        "QUALIFY rank() OVER (PARTITION BY department ORDER BY sum(sale_price) DESC) = 1 ORDER BY department",
    )
    rows = _rows(shop, warehouse, "category with the highest revenue in each department")
    assert [row[:2] for row in rows] == wanted
