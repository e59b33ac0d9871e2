"""Numbers that are no quantities, the questions beside a refusal, and the names of result columns."""

from __future__ import annotations

from typing import Any

import pytest
from same import same

from askhouse.emulator.planner import Clarification, Planned, Planner, Refusal


@pytest.mark.parametrize(
    ("question", "why"),
    [
        ("What is the average dep time of flights?", "clock times"),
        ("Sum of scheduled arrival times", "clock times"),
        ("total flight number by carrier", "only name something"),
        ("average wind direction", "directions"),
    ],
)
def test_what_is_no_quantity_is_not_averaged(flights: Planner, question: str, why: str) -> None:
    reading = flights.read(question)
    assert isinstance(reading, Refusal) and why in reading.text


def test_earliest_times_and_numbers_of_labels_are_answered(flights: Planner) -> None:
    assert isinstance(flights.read("minimum dep time by origin"), Planned)
    counted = flights.read("How many flight numbers are there?")
    assert isinstance(counted, Planned) and "COUNT(DISTINCT" in counted.sql


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("What is the average dep time of flights?", "average departure delay"),
        ("average wind direction", "average wind speed"),
        ("passengers by month", "by month"),
        ("frobnicate", "How many flights are there by carrier?"),
    ],
)
def test_nearby_questions_resemble_the_refused_one(flights: Planner, question: str, words: str) -> None:
    reading = flights.read(question)
    assert isinstance(reading, Refusal) and any(words in offered for offered in reading.nearby)
    for offered in reading.nearby:
        assert "_" not in offered and " time" not in offered.replace("air time", "")
        assert isinstance(flights.read(offered), Planned)


@pytest.mark.parametrize(
    ("question", "column"),
    [
        ("What share of flights was cancelled?", "share_of_flights_cancelled"),
        ("How many flights were cancelled?", "number_of_flights_cancelled"),
        ("How many flights left JFK?", "number_of_flights"),
        ("share of flights with arrival delay over 60", "share_of_flights_with_arr_delay_over_60"),
    ],
)
def test_columns_are_named_after_what_they_hold(flights: Planner, question: str, column: str) -> None:
    reading = flights.read(question)
    assert isinstance(reading, Planned) and f"AS {column}\n" in reading.sql


def test_groups_come_in_one_order(shop: Planner) -> None:
    reading = shop.read("Number of orders by status and month in 2025")
    assert isinstance(reading, Planned)
    assert "".join(reading.sql.split("ORDER BY")[1].split()) == "monthASC,status"


def test_money_is_not_shown_in_another_currency(shop: Planner) -> None:
    assert isinstance(shop.read("revenue in dollars"), Planned)
    assert isinstance(shop.read("revenue in euros"), Refusal)


def test_a_column_that_is_empty_is_not_a_value_of_another(shop: Planner) -> None:
    reading = shop.read("customers without email")
    assert isinstance(reading, Planned) and "email IS NULL" in reading.sql


def test_a_state_and_its_time_are_asked_apart_where_they_differ(shop: Planner) -> None:
    asked = shop.read("How many orders were shipped?")
    assert isinstance(asked, Clarification) and len(asked.options) == 2
    assert isinstance(shop.read("How many orders were returned?"), Planned)


@pytest.mark.parametrize(
    ("question", "options"),
    [
        ("How many flights were delayed?", ("dep_delay of flights", "arr_delay of flights")),
        ("busiest day", ("number of weather", "number of flights")),
    ],
)
def test_flights_are_asked_back(flights: Planner, question: str, options: tuple[str, ...]) -> None:
    reading = flights.read(question)
    assert isinstance(reading, Clarification) and reading.options == options


def test_best_customers_are_offered_by_revenue(shop: Planner) -> None:
    reading = shop.read("Who are our best customers?")
    assert isinstance(reading, Clarification) and reading.options[:2] == ("revenue", "number of orders")


GOLD_FLIGHTS = {
    "Which airport had the most departures in December?": """SELECT origin, COUNT(*) FROM flights WHERE month = 12
        GROUP BY 1 ORDER BY 2 DESC LIMIT 1""",
    "How many arrivals were there at Los Angeles in May?": """SELECT COUNT(*) FROM flights
        WHERE dest = 'LAX' AND month = 5""",
    "How many seats does the average plane have?": "SELECT AVG(seats) FROM planes",
    "Flights by hour of departure": "SELECT hour, COUNT(*) FROM flights GROUP BY 1",
    "Which airline flew the most miles in January?": """SELECT name, SUM(distance) FROM flights
        JOIN airlines USING (carrier) WHERE month = 1 GROUP BY 1 ORDER BY 2 DESC LIMIT 1""",
    "flights not delayed at arrival": "SELECT COUNT(*) FROM flights WHERE arr_delay <= 0",
    "How many flights were delayed on departure by more than two hours?": """SELECT COUNT(*) FROM flights
        WHERE dep_delay > 120""",
}
GOLD_SHOP = {
    "average order value by country": """SELECT country, SUM(sale_price) / COUNT(DISTINCT order_id)
        FROM order_items JOIN users ON users.id = user_id GROUP BY 1""",
    "Revenue from women's jeans in 2024": """SELECT SUM(sale_price) FROM order_items i JOIN products p
        ON p.id = i.product_id WHERE department = 'Women' AND category = 'Jeans' AND year(created_at) = 2024""",
    "What is the total cost of inventory items not sold yet?": """SELECT SUM(cost) FROM inventory_items
        WHERE sold_at IS NULL""",
    "How many customers bought something in 2025?": """SELECT COUNT(DISTINCT user_id) FROM orders
        WHERE year(created_at) = 2025""",
    "Which traffic source brings the most users?": """SELECT traffic_source, COUNT(*) FROM users
        WHERE traffic_source IS NOT NULL GROUP BY 1 ORDER BY 2 DESC LIMIT 1""",
}


@pytest.mark.parametrize(
    ("dataset", "question", "gold"),
    [("nycflights13", *pair) for pair in GOLD_FLIGHTS.items()]
    + [("thelook_ecommerce", *pair) for pair in GOLD_SHOP.items()],
)
def test_ordinary_questions(
    planner_of: Any, warehouse: Any, oracle: Any, dataset: str, question: str, gold: str
) -> None:
    reading = planner_of(dataset).read(question)
    assert isinstance(reading, Planned), reading
    assert same(oracle(dataset, gold), warehouse.query(reading.sql).rows), (reading.lead, reading.sql)
