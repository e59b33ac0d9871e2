"""Turns that lean on the turns before: the history is resent, the planner remembers nothing."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from askhouse.emulator.planner import Clarification, Clock, PastTurn, Planned, Planner, Reading, Refusal


def _talk(planner: Planner, *questions: str) -> list[Reading]:
    history: list[PastTurn] = []
    readings = []
    for question in questions:
        reading = planner.read(question, history)
        readings.append(reading)
        sql = reading.sql if isinstance(reading, Planned) else ""
        history.append(PastTurn(question, sql, getattr(reading, "lead", getattr(reading, "text", ""))))
    return readings


def _lead(reading: Reading) -> str:
    assert isinstance(reading, Planned), reading
    return reading.lead


FLIGHTS = [
    (
        ["Average departure delay by month", "only JFK", "what about LGA?", "and by carrier?"],
        [
            "Read as: average dep_delay of flights, by month.",
            "Read as: average dep_delay of flights, by month, where origin is JFK.",
            "Read as: average dep_delay of flights, by month, where origin is LGA.",
            "Read as: average dep_delay of flights, by month and carrier, where origin is LGA.",
        ],
    ),
    (
        ["How many flights left each airport?", "and by month?", "only in July", "as a pie"],
        [
            "Read as: number of flights, by origin.",
            "Read as: number of flights, by origin and month.",
            "Read as: number of flights, by origin and month, where the time is July 2013.",
            "Read as: number of flights, by origin and month, where the time is July 2013.",
        ],
    ),
    (
        ["How many flights did Delta have in June?", "what about United?", "the same for May"],
        [
            "Read as: number of flights, where name of airlines is Delta Air Lines Inc. and the time is June 2013.",
            "Read as: number of flights, where the time is June 2013 and name of airlines is United Air Lines Inc.",
            "Read as: number of flights, where name of airlines is United Air Lines Inc. and the time is May 2013.",
        ],
    ),
]


@pytest.mark.parametrize(
    ("question", "lead"),
    [
        ("average arrival delay by carrier", "Read as: average arr_delay of flights, by carrier."),
        ("total distance by month", "Read as: total distance of flights, by month."),
        ("and the average arrival delay", "Read as: average arr_delay of flights, where origin is JFK."),
    ],
)
def test_a_question_with_a_number_of_its_own_takes_no_filter_along(flights: Planner, question: str, lead: str) -> None:
    assert _lead(_talk(flights, "How many flights left JFK?", question)[1]) == lead


@pytest.mark.parametrize(("questions", "leads"), FLIGHTS)
def test_follow_ups_change_the_last_question(flights: Planner, questions: list[str], leads: list[str]) -> None:
    assert [_lead(reading) for reading in _talk(flights, *questions)] == leads


def test_the_same_for_another_year_replaces_the_period(shop: Planner) -> None:
    first, top, other = _talk(shop, "Revenue by product category last quarter", "top 5", "the same for 2024")
    assert "last quarter" in _lead(first)
    assert isinstance(first, Planned) and str(first.today) == "2025-12-31"
    assert "the 5 with the highest" in _lead(top)
    assert "the time is 2024" in _lead(other) and "last quarter" not in _lead(other)
    assert isinstance(other, Planned) and other.today is None


def test_a_whole_new_question_starts_anew(shop: Planner) -> None:
    readings = _talk(shop, "How many users are there?", "How many orders by status?", "only 2025")
    assert _lead(readings[1]) == "Read as: number of orders, by status."
    assert _lead(readings[2]) == "Read as: number of orders, by status, where the time is 2025."


@pytest.mark.parametrize("answer", ["2", "arr_delay of flights", "arr_delay", "Average arrival delay by carrier?"])
def test_a_question_back_takes_a_number_a_name_or_a_new_question(flights: Planner, answer: str) -> None:
    asked = flights.read("Average delay by carrier")
    assert isinstance(asked, Clarification)
    assert asked.text.endswith("?")
    assert asked.options == ("dep_delay of flights", "arr_delay of flights")
    reading = flights.read(answer, [PastTurn("Average delay by carrier", "", asked.text)])
    assert isinstance(reading, Planned) and "arr_delay of flights, by carrier" in reading.lead


def test_a_choice_is_kept_by_later_follow_ups(flights: Planner) -> None:
    readings = _talk(flights, "Average delay by carrier", "2", "only JFK")
    assert _lead(readings[2]) == "Read as: average arr_delay of flights, by carrier, where origin is JFK."


def test_a_follow_up_without_history_is_refused(shop: Planner) -> None:
    assert isinstance(shop.read("and by month?"), Refusal)
    assert isinstance(shop.read("only JFK"), Refusal)


def test_a_period_after_the_data_offers_the_last_full_one(planner_of: Any) -> None:
    late = planner_of("nycflights13", Clock(datetime(2014, 6, 15, tzinfo=UTC)))
    asked = late.read("How many flights last month?")
    assert isinstance(asked, Clarification)
    assert "31 December 2013" in asked.text
    assert asked.options == ("1 December 2013 to 31 December 2013",)
    answered = late.read("yes", [PastTurn("How many flights last month?", "", asked.text)])
    assert isinstance(answered, Planned)
    assert "DATE(2013, 12, 1)" in answered.sql and "DATE(2014, 1, 1)" in answered.sql


def test_offered_follow_ups_can_be_asked(flights: Planner, shop: Planner) -> None:
    for planner, question in ((flights, "Average departure delay for JFK"), (shop, "Revenue by country in 2025")):
        first = planner.read(question)
        assert isinstance(first, Planned) and first.follow_ups
        for follow_up in first.follow_ups:
            second = planner.read(follow_up, [PastTurn(question, first.sql, first.lead)])
            assert isinstance(second, Planned) and second.sql != first.sql


CHANGES = [
    (
        ["Average departure delay by month", "only JFK", "and LGA", "only LGA", "and for EWR?"],
        ["origin is JFK", "origin is JFK or LGA", "origin is LGA", "origin is EWR"],
    ),
    (
        ["How many flights in July", "also in August", "and by carrier?"],
        ["by month, where the time is July 2013 or the time is August 2013", "by month and carrier, where"],
    ),
    (
        ["Average departure delay by origin", "total instead of average", "break it down by carrier", "the median"],
        ["total dep_delay of flights, by origin", "by origin and carrier", "median dep_delay of flights"],
    ),
    (
        ["Flights by carrier", "without Delta", "in percent"],
        ["name of airlines is not Delta Air Lines Inc.", "share of the number of flights over all groups, by carrier"],
    ),
]


@pytest.mark.parametrize(("questions", "parts"), CHANGES)
def test_follow_ups_add_take_out_and_turn(flights: Planner, questions: list[str], parts: list[str]) -> None:
    readings = _talk(flights, *questions)[1:]
    for reading, part in zip(readings, parts, strict=True):
        assert part in _lead(reading)


def test_groups_are_sorted_by_name(flights: Planner) -> None:
    for words in ("sort by name", "alphabetically"):
        reading = _talk(flights, "How many flights by carrier", words)[1]
        assert isinstance(reading, Planned) and "carrier ASC" in reading.sql.split("ORDER BY")[1]


def test_nothing_is_left_is_said(flights: Planner) -> None:
    readings = _talk(flights, "How many flights by month at JFK", "without JFK")
    assert isinstance(readings[1], Refusal) and "Nothing would be left" in readings[1].text


def test_an_open_question_is_repeated_and_keeps_what_is_added(flights: Planner) -> None:
    readings = _talk(flights, "Average delay by carrier", "and by month?", "hmm", "the second")
    for reading in readings[:3]:
        assert isinstance(reading, Clarification) and reading.options == readings[0].options  # type: ignore[union-attr]
    assert isinstance(readings[1], Clarification) and "and by month?" in readings[1].text
    assert _lead(readings[3]) == "Read as: average arr_delay of flights, by carrier and month."


def test_a_whole_question_takes_the_place_of_an_open_one(flights: Planner) -> None:
    assert _lead(_talk(flights, "Average delay by carrier", "How many flights are there?")[1]).endswith("of flights.")
    assert isinstance(_talk(flights, "Average delay by carrier", "delete all flights")[1], Refusal)


def test_a_long_conversation_keeps_its_filters(flights: Planner) -> None:
    said = ["How many flights left JFK in July?", *["by carrier", "only UA", "without UA", "only DL"] * 3]
    assert _lead(_talk(flights, *said, "and the average distance?")[-1]) == (
        "Read as: average distance of flights, by carrier, "
        "where origin is JFK, the time is July 2013 and carrier is DL."
    )


def test_an_addition_to_a_question_that_was_forgotten_is_refused(flights: Planner) -> None:
    reading = flights.read("and the average distance?", [PastTurn("frobnicate the zorgs", "", "")])
    assert isinstance(reading, Refusal) and reading.reason == "no_context"


NARROWED = [
    (
        "average departure delay by carrier",
        "only for flights leaving JFK",
        "average dep_delay of flights, by carrier, where origin is JFK.",
    ),
    (
        "average departure delay by carrier",
        "just for JFK flights",
        "average dep_delay of flights, by carrier, where origin is JFK.",
    ),
    (
        "Which five carriers had the worst average arrival delay?",
        "and the best five?",
        "average arr_delay of flights, by carrier, the 5 with the lowest average arr_delay of flights.",
    ),
    (
        "Which 5 carriers have the most flights?",
        "and the fewest?",
        "number of flights, by carrier, the 5 with the lowest number of flights.",
    ),
]


@pytest.mark.parametrize(("first", "then", "lead"), NARROWED)
def test_words_that_narrow_or_turn_keep_what_is_asked(flights: Planner, first: str, then: str, lead: str) -> None:
    assert _lead(_talk(flights, first, then)[1]) == f"Read as: {lead}"


@pytest.mark.parametrize("then", ["exclude cancelled orders", "only customers in France", "without returned items"])
def test_the_noun_of_a_condition_does_not_become_what_is_counted(shop: Planner, then: str) -> None:
    assert _lead(_talk(shop, "revenue by country in 2025", then)[1]).startswith(
        "Read as: total sale_price of order_items, by country, where the time is 2025 and "
    )


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("average arrival delay by carrier", "in July vs June"),
        ("number of flights by month", "compare with 2012"),
        ("average departure delay by carrier", "with the full name of the airline"),
    ],
)
def test_a_change_that_is_not_understood_is_refused(flights: Planner, first: str, then: str) -> None:
    reading = _talk(flights, first, then)[1]
    assert isinstance(reading, Refusal) and reading.reason == "no_change"
