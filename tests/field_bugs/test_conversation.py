"""Sessions survive what goes wrong in them, and remember each question once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from google.adk.cli.fast_api import get_fast_api_app
from google.adk.models import BaseLlm, LLMRegistry
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.genai import types

from askhouse.emulator.local import embedded
from askhouse.errors import BusyError
from askhouse.guard.sessions import GuardedInMemorySessionService, StateRefusedError
from askhouse.runtime import ask_once
from askhouse.settings import Settings
from data_analyst.agent import build_app
from state_contracts import CONVERSATION

from .conftest import Desk, rows_of

QUESTION = "Total sales by region"
SESSIONS = "/apps/data_analyst/users/ana/sessions"
SALES = {"North": 30, "South": 10, "East": 60}


async def state_of(settings: Settings, session: str) -> dict[str, object]:
    service = SqliteSessionService(settings.sessions_uri)
    found = await service.get_session(app_name="data_analyst", user_id=settings.user, session_id=session)
    assert found is not None
    return found.state


async def test_bug_08_an_error_of_the_service_is_said_and_the_session_goes_on(desk: Desk) -> None:
    away = desk.settings("regions", chat_endpoint="http://127.0.0.1:1")
    failed = await ask_once(away, QUESTION)
    assert failed.answer.outcome == "failed" and failed.answer.failure is not None
    assert failed.answer.failure.message in failed.message.text and "Traceback" not in failed.message.text
    turned = await ask_once(desk.settings("regions"), QUESTION, session_id=failed.session_id)
    assert dict(rows_of(turned)) == SALES


async def test_bug_10_state_from_outside_is_refused_and_not_dropped(desk: Desk) -> None:
    sessions = GuardedInMemorySessionService()
    session = await sessions.create_session(app_name="data_analyst", user_id="ana")
    runner = Runner(app=build_app(desk.settings("regions")), session_service=sessions)
    message = types.Content(role="user", parts=[types.Part(text=QUESTION)])
    with pytest.raises(StateRefusedError, match="temp:x"):
        async for _ in runner.run_async(
            user_id="ana", session_id=session.id, new_message=message, state_delta={"temp:x": 1}
        ):
            pass
    await runner.close()


async def test_bug_11_what_the_data_agent_leaves_reaches_the_agents_after_it(desk: Desk) -> None:
    turned = await desk.ask("regions", QUESTION)
    assert turned.summary is not None and "East has the highest" in turned.summary.text
    assert turned.chart is not None and turned.chart.spec is not None
    assert not [key for key in await state_of(desk.settings("regions"), turned.session_id) if key.startswith("temp:")]


HEARD: list[str] = []
"""The instructions that the model below was given."""


class Listener(BaseLlm):
    """A model that keeps what it was told and asks the person's words."""

    @classmethod
    def supported_models(cls) -> list[str]:
        return ["field/listener"]

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        HEARD.append(str(llm_request.config.system_instruction))
        words = (llm_request.contents[-1].parts or [])[-1].text or ""
        call = types.Part.from_function_call(name="analyze", args={"question": words})
        yield LlmResponse(content=types.Content(role="model", parts=[call]))


@pytest.mark.parametrize("number", [13, 14])
async def test_bug_13_14_braces_in_words_are_words(desk: Desk, number: int) -> None:
    LLMRegistry.register(Listener)
    braces = "Total {column} by {{city}} and {user:name?}"
    turns = await desk.conversation("regions", braces, QUESTION, model="field/listener")
    assert braces in HEARD[-1]
    assert dict(rows_of(turns[-1])) == SALES


@asynccontextmanager
async def server_of(repo: Path, uri: str = "memory://") -> AsyncIterator[httpx.AsyncClient]:
    """ADK's own API server over our agents."""
    app = get_fast_api_app(agents_dir=str(repo / "agents"), session_service_uri=uri, web=False)
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=60) as client:
        yield client


async def test_bug_16_a_session_id_that_is_taken_is_a_conflict(repo: Path) -> None:
    async with server_of(repo) as server:
        assert (await server.post(SESSIONS, json={"sessionId": "s1"})).status_code == 200
        assert (await server.post(SESSIONS, json={"sessionId": "s1"})).status_code == 409
        assert (await server.get(f"{SESSIONS}/s1")).status_code == 200


async def test_bug_17_two_tabs_of_one_session_are_both_answered(desk: Desk) -> None:
    sessions = GuardedInMemorySessionService()
    session = await sessions.create_session(app_name="data_analyst", user_id="ana")
    runner = Runner(app=build_app(desk.settings("regions")), session_service=sessions)

    async def say(words: str) -> str:
        message = types.Content(role="user", parts=[types.Part(text=words)])
        run = runner.run_async(user_id="ana", session_id=session.id, new_message=message)
        texts = [event.content.parts[0].text async for event in run if event.content and not event.partial]
        return "\n".join(filter(None, texts))

    one, other = await asyncio.gather(say(QUESTION), say("What can you do?"))
    assert "East has the highest" in one and other and "East has" not in other
    stored = await sessions.get_session(app_name="data_analyst", user_id="ana", session_id=session.id)
    assert stored is not None and [event.author for event in stored.events].count("user") == 2
    await runner.close()


async def test_bug_17_two_terminals_on_one_session_lose_nothing(desk: Desk) -> None:
    settings = desk.settings("regions")
    first = await ask_once(settings, QUESTION)
    asked = (ask_once(settings, QUESTION, session_id=first.session_id) for _ in range(2))
    outcomes = await asyncio.gather(*asked, return_exceptions=True)
    answered = [outcome for outcome in outcomes if not isinstance(outcome, BaseException)]
    busy = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
    assert answered and all(dict(rows_of(turned)) == SALES for turned in answered)
    assert all(isinstance(outcome, BusyError) for outcome in busy), busy
    assert dict(rows_of(await ask_once(settings, QUESTION, session_id=first.session_id))) == SALES


class Inventive(BaseLlm):
    """A model that calls a tool which does not exist, then says what it was told of it."""

    @classmethod
    def supported_models(cls) -> list[str]:
        return ["field/inventive"]

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        last = (llm_request.contents[-1].parts or [])[-1]
        if last.function_response:
            part = types.Part(text=f"The tool said: {last.function_response.response}")
        else:
            part = types.Part.from_function_call(name="foo", args={"x": 1})
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


async def test_bug_70_a_tool_that_does_not_exist_does_not_end_the_conversation(desk: Desk) -> None:
    LLMRegistry.register(Inventive)
    first = await ask_once(desk.settings("regions", model="field/inventive"), QUESTION)
    assert "foo" in first.message.text and "Traceback" not in first.message.text
    turned = await ask_once(desk.settings("regions"), QUESTION, session_id=first.session_id)
    assert dict(rows_of(turned)) == SALES


@asynccontextmanager
async def failing_twice(address: str) -> AsyncIterator[tuple[str, list[int]]]:
    """The service at an address, with a door that is shut the first two times; what it answered."""
    given: list[int] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        line, *fields = head.strip().splitlines()
        headers = {name.strip().lower(): value.strip() for name, _, value in (field.partition(":") for field in fields)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        if len(given) < 2:
            status, reply = 503, b'{"error": {"code": 503, "message": "Try later.", "status": "UNAVAILABLE"}}'
        else:
            async with httpx.AsyncClient(timeout=60) as client:
                done = await client.post(address + line.split()[1], content=body,
                                         headers={"content-type": "application/json"})  # fmt: skip
            status, reply = done.status_code, done.content
        given.append(status)
        told = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nRetry-After: 0\r\n"
        writer.write(f"{told}Content-Length: {len(reply)}\r\nConnection: close\r\n\r\n".encode() + reply)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", given
    finally:
        server.close()


async def test_bug_74_a_question_that_was_tried_again_is_stored_once(desk: Desk) -> None:
    rest = await asyncio.to_thread(lambda: embedded(desk.settings("regions")).rest)
    async with failing_twice(rest) as (address, given):
        settings = desk.settings("regions", chat_endpoint=address, transport="rest")
        turned = await ask_once(settings, QUESTION)
    assert given == [503, 503, 200]
    assert dict(rows_of(turned)) == SALES and turned.turn == 1
    conversation = CONVERSATION.read(await state_of(settings, turned.session_id))
    assert conversation is not None and [turn.question for turn in conversation.turns] == [QUESTION]
