"""What is not understood, not in the data or not ours to do is refused in words, with questions that work."""

from __future__ import annotations

import pytest

from askhouse.emulator.planner import Clarification, Planned, Planner, Refusal
from askhouse.warehouse.duckdb import LocalWarehouse

REFUSED = {
    "": "empty",
    "  ?! ": "empty",
    "x" * 20_000: "too_long",
    "delete all orders": "write",
    "drop table users": "write",
    "Please update the orders": "write",
    "How many orders; DROP TABLE users": "write",
    "Why did revenue drop in March?": "cause",
    "What will revenue be next year?": "forecast",
    "Predict the number of orders": "forecast",
    "Which tables are there?": "catalogue",
    "What is the meaning of life?": "unused_words",
    "How many unicorns ordered in 2025?": "unused_words",
    "Revenue by moon phase": "unused_words",
    "Revenue in Atlantis": "unused_words",
    "Qual é a receita por categoria?": "language",
    "Berapa jumlah pelanggan per negara?": "language",
    "你好，有多少订单？": "language",
}


@pytest.mark.parametrize(("question", "reason"), REFUSED.items(), ids=[text[:40] for text in REFUSED])
def test_refusals_are_typed(shop: Planner, question: str, reason: str) -> None:
    reading = shop.read(question)
    assert isinstance(reading, Refusal), reading
    assert reading.reason == reason
    assert reading.text and len(reading.text) < 400


def test_the_words_that_were_not_used_are_named(shop: Planner) -> None:
    reading = shop.read("How many unicorns ordered rainbows in 2025?")
    assert isinstance(reading, Refusal)
    assert "“unicorns”" in reading.text and "“rainbows”" in reading.text


def test_other_languages_are_answered_in_themselves(shop: Planner) -> None:
    portuguese, indonesian = (
        shop.read("Quantos clientes temos por país?"),
        shop.read("Berapa banyak pesanan bulan lalu?"),
    )
    assert isinstance(portuguese, Refusal) and "inglês" in portuguese.text
    assert isinstance(indonesian, Refusal) and "bahasa Inggris" in indonesian.text


@pytest.mark.parametrize("question", ["How many unicorns ordered in 2025?", "delete all orders", "Revenue in Atlantis"])
def test_nearby_questions_were_tried_and_return_rows(shop: Planner, warehouse: LocalWarehouse, question: str) -> None:
    reading = shop.read(question)
    assert isinstance(reading, Refusal)
    assert 0 < len(reading.nearby) <= 3
    for nearby in reading.nearby:
        planned = shop.read(nearby)
        assert isinstance(planned, Planned)
        assert warehouse.query(planned.sql, max_rows=1).total_rows > 0


def test_two_meanings_are_asked_back(shop: Planner) -> None:
    reading = shop.read("Customers from São Paulo")
    assert isinstance(reading, Clarification)
    assert reading.options == ("São Paulo as city of users", "São Paulo as state of users")


def test_typing_errors_are_repaired_and_said(flights: Planner) -> None:
    reading = flights.read("How many flihgts left JFK?")
    assert isinstance(reading, Planned)
    assert reading.assumptions[0] == "“flihgts” is read as “flights”."


def test_another_word_is_no_typing_error(flights: Planner) -> None:
    assert isinstance(flights.read("How many plants are there?"), Refusal)


def test_definitions_that_are_assumed_are_said(flights: Planner, shop: Planner) -> None:
    cancelled = flights.read("What share of flights was cancelled?")
    assert isinstance(cancelled, Planned)
    assert any("dep_time is missing" in text for text in cancelled.assumptions)
    revenue = shop.read("Total revenue")
    assert isinstance(revenue, Planned)
    assert revenue.assumptions == ("Revenue is sale_price of order_items of every status.",)


NO_GUESS = [
    "highest revenue",  # of which groups?
    "cheapest product in each category",
    "which customer placed the first order?",
    "orders shipped and returned",
    "number of orders last 7 days vs previous 7 days",
    "what is the most common status?",  # of orders or of their items?
    "How many paid orders are there?",
    "revenue growth by month",
    "customers who bought both jeans and swim",
]


@pytest.mark.parametrize("question", NO_GUESS)
def test_what_would_be_a_guess_is_not_answered(shop: Planner, question: str) -> None:
    assert not isinstance(shop.read(question), Planned)


def test_units_are_converted_or_refused(flights: Planner) -> None:
    late = flights.read("How many flights departed more than 2 hours late?")
    assert isinstance(late, Planned) and "dep_delay > 120" in late.sql
    assert "2 hours are 120 in dep_delay." in late.assumptions
    assert isinstance(flights.read("How many airports are above 5000 meters altitude?"), Refusal)
    assert isinstance(flights.read("total air time by carrier in hours"), Refusal)


def test_two_ways_to_a_table_are_asked(flights: Planner) -> None:
    reading = flights.read("Which airports have no flights?")
    assert isinstance(reading, Clarification)
    assert reading.options == ("origin of flights", "dest of flights")


@pytest.mark.parametrize("question", ["Revenue in 2030", "How many orders before 2010?"])
def test_a_period_outside_the_data_is_told(shop: Planner, question: str) -> None:
    reading = shop.read(question)
    assert isinstance(reading, Refusal) and reading.reason == "unknown_value"
    assert "31 December 2025" in reading.text


@pytest.mark.parametrize("question", ["number of flights by", "Average arrival delay by from", "flights per"])
def test_a_grouping_without_its_group_is_refused(flights: Planner, question: str) -> None:
    reading = flights.read(question)
    assert isinstance(reading, Refusal) and reading.reason == "unused_words"
