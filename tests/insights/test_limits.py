"""Limits: the quota shared fairly, questions and bytes of a day, the time of a reply, queries too large to run."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.cloud import geminidataanalytics_v1 as api
from google.protobuf import duration_pb2
from google.rpc import error_details_pb2, status_pb2

from askhouse.errors import QueryLimitError
from askhouse.insights import usage
from askhouse.insights.client import AgentContext, InsightsClient, Question, TablesContext
from askhouse.insights.quota import Quota, quota_of
from askhouse.settings import Settings
from askhouse.warehouse.base import TableRef
from state_contracts import Answer

from .conftest import QUESTION, asked, http_server, replying, stream
from .test_faults import GOOD, grpc_server

NOBODY = "http://127.0.0.1:9"
TABLES = TablesContext((TableRef("local", "nycflights13", "flights"),))


async def _begin(quota: Quota, user: str, begun: list[str]) -> list[float]:
    told = [seconds async for seconds in quota.turn(user)]
    begun.append(user)
    return told


async def test_nobody_waits_behind_the_crowd_of_another() -> None:
    quota, begun = Quota(limit=2, window=0.4), list[str]()
    crowd = [asyncio.create_task(_begin(quota, "crowd", begun)) for _ in range(6)]
    await asyncio.sleep(0)  # all six stand in the queue before the others come
    others = [asyncio.create_task(_begin(quota, user, begun)) for user in ("ana", "bo")]
    told = await asyncio.gather(*crowd, *others)
    assert begun[:2] == ["crowd", "crowd"]
    assert set(begun[2:4]) == {"ana", "bo"}
    assert begun[4:] == ["crowd"] * 4
    assert told[:2] == [[], []] and all(seconds > 0 for waited in told[2:] for seconds in waited)
    assert all(waited for waited in told[2:])


async def test_whoever_stops_waiting_leaves_the_queue() -> None:
    quota, begun = Quota(limit=1, window=0.3), list[str]()
    await _begin(quota, "ana", begun)
    gone = asyncio.create_task(_begin(quota, "bo", begun))
    await asyncio.sleep(0.05)
    gone.cancel()
    await asyncio.gather(gone, return_exceptions=True)
    await _begin(quota, "cy", begun)
    assert begun == ["ana", "cy"]


async def test_the_wait_for_the_quota_is_shown(rest_settings: Callable[[str], Settings]) -> None:
    async with http_server(GOOD) as (url, requests):
        settings = rest_settings(url).model_copy(update={"project": "quota-project", "chats_per_minute": 1})
        settings = settings.model_copy(update={"bigquery_endpoint": NOBODY})
        quota = quota_of("quota-project", 1)
        quota.window = 0.5
        both = await asyncio.gather(asked(settings), asked(settings))
    assert [answer.outcome for _, answer in both] == ["answered"] * 2 and len(requests) == 2
    waits = [[thought.text for thought in thoughts if thought.title == "Waiting for the quota"] for thoughts, _ in both]
    assert sorted(waits) == [[], ["about 1 seconds"]]


async def test_questions_of_a_day_are_limited_for_each_user(rest_settings: Callable[[str], Settings]) -> None:
    async with http_server(GOOD) as (url, requests):
        settings = rest_settings(url).model_copy(update={"daily_questions": 2})
        for _ in range(2):
            assert (await asked(settings))[1].outcome == "answered"
        with pytest.raises(QueryLimitError, match=r"2 of 2 questions .*ASKHOUSE_DAILY_QUESTIONS"):
            await asked(settings)
        other = Question(QUESTION.text, QUESTION.context, user="other")
        assert (await asked(settings, other))[1].outcome == "answered"
    assert len(requests) == 3


def test_bytes_of_a_day_are_limited(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, daily_bytes=100)
    usage.take_question(settings, "ana")
    usage.add_bytes(settings, "ana", 60)
    usage.take_question(settings, "ana")
    usage.add_bytes(settings, "ana", 60)
    with pytest.raises(QueryLimitError, match="120 of 100 bytes billed"):
        usage.take_question(settings, "ana")
    usage.take_question(settings, "bo")


async def test_many_at_once_stay_within_the_day(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, daily_questions=7)
    taken = [asyncio.to_thread(usage.take_question, settings, "ana") for _ in range(20)]
    outcomes = await asyncio.gather(*taken, return_exceptions=True)
    assert sum(isinstance(outcome, QueryLimitError) for outcome in outcomes) == 13


async def test_a_reply_that_goes_on_and_on_ends(tmp_path: Path) -> None:
    async def reply(_: Any, __: Any) -> AsyncIterator[Any]:
        while True:
            message = api.Message.pb()()
            message.system_message.text.parts.append("still thinking")
            message.system_message.text.text_type = api.TextMessage.TextType.THOUGHT
            yield message
            await asyncio.sleep(0.1)

    async with grpc_server(reply) as url:
        settings = Settings(home=tmp_path, chat_endpoint=url, silence_seconds=30, reply_seconds=1)
        thoughts, answer = await asked(settings)
    assert thoughts and answer.failure is not None
    assert "took longer than 1 seconds (ASKHOUSE_REPLY_SECONDS)" in answer.failure.message


async def test_a_retry_info_is_waited_for_over_grpc(tmp_path: Path) -> None:
    calls: list[float] = []

    async def reply(_: Any, context: Any) -> AsyncIterator[Any]:
        calls.append(asyncio.get_running_loop().time())
        if len(calls) == 1:
            info = error_details_pb2.RetryInfo(retry_delay=duration_pb2.Duration(nanos=700_000_000))
            status = status_pb2.Status(code=grpc.StatusCode.RESOURCE_EXHAUSTED.value[0], message="Quota exceeded")
            status.details.add().Pack(info)
            details = (("grpc-status-details-bin", status.SerializeToString()),)
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "Quota exceeded", details)
        message = api.Message.pb()()
        message.system_message.text.parts.append("There are 3.")
        message.system_message.text.text_type = api.TextMessage.TextType.FINAL_RESPONSE
        yield message

    async with grpc_server(reply) as url:
        _, answer = await asked(Settings(home=tmp_path, chat_endpoint=url))
    assert answer.texts == ["There are 3."]
    assert calls[1] - calls[0] >= 0.7  # the wait that was asked for, no less


async def test_a_retry_after_is_waited_for_over_rest(rest_settings: Callable[[str], Settings]) -> None:
    body = json.dumps([{"error": {"code": 429, "message": "Quota exceeded", "status": "RESOURCE_EXHAUSTED"}}]).encode()
    busy = replying("429 Too Many Requests", body, "Retry-After: 1\r\n")
    loop = asyncio.get_running_loop()
    async with http_server(busy, GOOD) as (url, requests):
        before = loop.time()
        _, answer = await asked(rest_settings(url))
    assert (answer.outcome, len(requests)) == ("answered", 2)
    assert loop.time() - before >= 1


@pytest.mark.parametrize(
    ("limits", "sent"),
    [
        ({}, 10 * 2**30),
        ({"confirm_bytes": 1_000}, 1_000),
        ({"confirm_bytes": 10**12}, 10 * 2**30),
        ({"max_billed_bytes": 0, "confirm_bytes": 5}, 5),
        ({"max_billed_bytes": 0}, None),
    ],
)
async def test_tables_are_always_asked_with_the_limit(
    rest_settings: Callable[[str], Settings], limits: dict[str, int], sent: int | None
) -> None:
    async with http_server(GOOD) as (url, requests):
        await asked(rest_settings(url).model_copy(update=limits))
    options = requests[0]["inlineContext"].get("options", {}).get("datasource", {})
    assert options == ({} if sent is None else {"bigQueryMaxBilledBytes": str(sent)})


async def test_what_was_too_large_says_how_to_go_on(home: Path) -> None:
    settings = Settings(home=home, confirm_bytes=1)
    (answer,) = [p async for p in InsightsClient(settings).ask(Question("How many flights by origin?", TABLES))
                 if isinstance(p, Answer)]  # fmt: skip
    assert answer.outcome == "failed" and answer.failure is not None
    assert answer.failure.code == "query_limit" and "required" in answer.failure.message
    assert "ASKHOUSE_CONFIRM_BYTES (now 1)" in answer.failure.remedy


@asynccontextmanager
async def _service_with_agent(agent: dict[str, Any]) -> AsyncIterator[str]:
    """The stored good reply, beside an agent, at one REST address."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = next((int(line.split(":")[1]) for line in head.splitlines() if line.startswith("content-length")), 0)
        await reader.readexactly(length)
        body = json.dumps(agent).encode() if head.startswith("get") else stream("wire/pretty_real_layout.txt")
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


@pytest.mark.parametrize("limited", [True, False])
async def test_a_saved_agent_without_a_limit_is_said(rest_settings: Callable[[str], Settings], limited: bool) -> None:
    options = {"options": {"datasource": {"bigQueryMaxBilledBytes": "1000"}}} if limited else {}
    agent = {"name": "a", "dataAnalyticsAgent": {"publishedContext": options}}
    async with _service_with_agent(agent) as url:
        # No BigQuery is there: the costs stay unknown, and nothing waits for them.
        settings = rest_settings(url).model_copy(update={"project": "some-project", "bigquery_endpoint": NOBODY})
        _, answer = await asked(settings, Question("What is the total revenue?", AgentContext("sales")))
    assert answer.outcome == "answered"
    assert any("agent sales sets no limit" in notice for notice in answer.notices) is not limited
