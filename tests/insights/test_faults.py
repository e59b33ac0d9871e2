"""What the service does wrong is said in words, and what had arrived is kept."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.cloud import geminidataanalytics_v1 as api
from google.protobuf import json_format

from askhouse.errors import DeniedError
from askhouse.insights import agents, credentials
from askhouse.insights.client import InsightsClient, Thought
from askhouse.settings import Settings

from .conftest import QUESTION, asked, http_server, replying, stream

ERRORS: dict[str, Any] = json.loads(stream("synthetic/http_errors.json"))
GOOD = replying("200 OK", stream("wire/pretty_real_layout.txt"))
Reply = Callable[[Any, Any], AsyncIterator[Any]]


def _refusing(name: str) -> Callable[[asyncio.StreamWriter], Awaitable[None]]:
    error = ERRORS[name]
    headers = "".join(f"{key}: {value}\r\n" for key, value in error["headers"].items())
    return replying(f"{error['status']} Error", json.dumps([error["body"]]).encode(), headers)


@asynccontextmanager
async def grpc_server(reply: Reply) -> AsyncIterator[str]:
    server = grpc.aio.server()
    handler = grpc.unary_stream_rpc_method_handler(
        reply, api.ChatRequest.pb().FromString, lambda message: message.SerializeToString()
    )
    service = "google.cloud.geminidataanalytics.v1.DataChatService"
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, {"Chat": handler}),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        await server.stop(None)


def _messages(name: str = "simple_aggregate") -> list[Any]:
    raw = json.loads(stream(f"synthetic/{name}.json"))
    return [json_format.ParseDict(message, api.Message.pb()()) for message in raw]


@pytest.mark.parametrize(
    ("name", "code", "part"),
    [
        ("400_two_providers", "service", "refused the request"),
        ("401_no_token", "denied", "gcloud auth application-default login"),
        ("403_wrong_endpoint_or_role", "denied", "check ASKHOUSE_LOCATION"),
        ("403_api_disabled", "denied", "gcloud services enable"),
        ("404_agent", "service", "dataAgents/missing"),
    ],
)
async def test_refusals_over_rest(rest_settings: Callable[[str], Settings], name: str, code: str, part: str) -> None:
    async with http_server(_refusing(name)) as (url, requests):
        _, answer = await asked(rest_settings(url))
    assert (answer.outcome, answer.complete, len(requests)) == ("failed", False, 1)
    assert answer.failure is not None and answer.failure.code == code
    assert part in f"{answer.failure.message} {answer.failure.remedy}"


async def test_a_long_wait_is_left_to_the_person(rest_settings: Callable[[str], Settings]) -> None:
    busy = replying("429 Too Many Requests", b"", "Retry-After: 300\r\n")
    async with http_server(busy, GOOD) as (url, requests):
        _, answer = await asked(rest_settings(url))
    assert len(requests) == 1
    assert answer.failure is not None
    assert (answer.failure.code, answer.failure.remedy) == ("busy", "Ask again in about 300 seconds.")


async def test_it_asks_again_while_nothing_has_arrived(rest_settings: Callable[[str], Settings]) -> None:
    async with http_server(_refusing("503_unavailable"), GOOD) as (url, requests):
        _, answer = await asked(rest_settings(url))
    assert (answer.complete, answer.outcome, len(requests)) == (True, "answered", 2)


async def test_it_does_not_ask_again_once_a_reply_began(rest_settings: Callable[[str], Settings]) -> None:
    broken = replying("200 OK", stream("wire/truncated_mid_message.txt"), cut=True)
    async with http_server(broken, GOOD) as (url, requests):
        thoughts, answer = await asked(rest_settings(url))
    assert (len(requests), len(thoughts)) == (1, 4)
    assert (answer.complete, answer.texts) == (False, ["Total revenue across all orders is:"])
    assert answer.failure is not None and answer.failure.code == "unreachable"


async def test_nobody_at_the_address(rest_settings: Callable[[str], Settings]) -> None:
    async with http_server(GOOD) as (url, _):
        pass
    for transport in ("rest", "grpc"):
        _, answer = await asked(rest_settings(url).model_copy(update={"transport": transport}))
        assert answer.failure is not None and answer.failure.code == "unreachable"


async def test_silence_ends_the_call(tmp_path: Path) -> None:
    async def reply(_: Any, __: Any) -> AsyncIterator[Any]:
        yield _messages()[0]
        await asyncio.Event().wait()

    async with grpc_server(reply) as url:
        thoughts, answer = await asked(Settings(home=tmp_path, chat_endpoint=url, silence_seconds=1))
    assert len(thoughts) == 1
    assert answer.failure is not None and "said nothing for 1 seconds" in answer.failure.message


async def test_a_reply_that_breaks_off_over_grpc_keeps_its_rows(tmp_path: Path) -> None:
    async def reply(_: Any, context: Any) -> AsyncIterator[Any]:
        for message in _messages()[:-2]:
            yield message
        await context.abort(grpc.StatusCode.UNAVAILABLE, "The service is currently unavailable.")

    async with grpc_server(reply) as url:
        _, answer = await asked(Settings(home=tmp_path, chat_endpoint=url))
    assert (answer.outcome, answer.complete) == ("answered", False)
    assert answer.results[0].rows == [(1234567.5,)]
    assert answer.failure is not None and answer.failure.code == "unreachable"
    assert any("broke off" in notice for notice in answer.notices)


async def test_a_server_that_dies_leaves_what_it_sent(tmp_path: Path) -> None:
    server = await asyncio.create_subprocess_exec(sys.executable, "-c", DYING, stdout=asyncio.subprocess.PIPE)
    assert server.stdout is not None
    port = int(await server.stdout.readline())
    thoughts, answer = await asked(Settings(home=tmp_path, chat_endpoint=f"http://127.0.0.1:{port}"))
    assert await server.wait() == 9
    assert [thought.title for thought in thoughts] == ["Analyzing context"]
    assert answer.texts == ["Half of the"]
    assert (answer.outcome, answer.complete) == ("failed", False)
    assert answer.failure is not None and answer.failure.code == "unreachable"


DYING = """
import asyncio, os, grpc
from google.cloud import geminidataanalytics_v1 as api

def message(kind, *parts):
    text = api.TextMessage(parts=parts, text_type=kind)
    return api.Message(system_message=api.SystemMessage(text=text))

async def reply(request, context):
    yield message("THOUGHT", "Analyzing context", "Retrieved context for 1 table.")
    yield message("FINAL_RESPONSE", "Half of the")
    await asyncio.sleep(0.3)  # until both have left
    os._exit(9)

async def main():
    server = grpc.aio.server()
    handler = grpc.unary_stream_rpc_method_handler(reply, api.ChatRequest.deserialize, api.Message.serialize)
    service = "google.cloud.geminidataanalytics.v1.DataChatService"
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, {"Chat": handler}),))
    print(server.add_insecure_port("127.0.0.1:0"), flush=True)
    await server.start()
    await server.wait_for_termination()

asyncio.run(main())
"""


async def test_both_transports_give_the_same_answer(tmp_path: Path, rest_settings: Callable[[str], Settings]) -> None:
    async def reply(_: Any, __: Any) -> AsyncIterator[Any]:
        for message in _messages():
            yield message

    async with grpc_server(reply) as url:
        over_grpc = await asked(Settings(home=tmp_path, chat_endpoint=url))
    async with http_server(GOOD) as (url, _):
        over_rest = await asked(rest_settings(url))
    assert over_grpc == over_rest


async def test_thoughts_come_while_the_service_works(tmp_path: Path) -> None:
    seen = asyncio.Event()

    async def reply(_: Any, __: Any) -> AsyncIterator[Any]:
        yield _messages()[0]
        await seen.wait()  # nothing more comes until the first thought was shown
        for message in _messages()[1:]:
            yield message

    async with grpc_server(reply) as url:
        parts = InsightsClient(Settings(home=tmp_path, chat_endpoint=url)).ask(QUESTION)
        assert isinstance(await anext(parts), Thought)
        seen.set()
        *_, answer = [part async for part in parts]
    assert not isinstance(answer, Thought) and answer.complete


async def test_closing_the_iterator_stops_the_call(tmp_path: Path) -> None:
    stopped = asyncio.Event()

    async def reply(_: Any, __: Any) -> AsyncIterator[Any]:
        try:
            yield _messages()[0]
            await asyncio.Event().wait()
        finally:
            stopped.set()

    async with grpc_server(reply) as url:
        parts = InsightsClient(Settings(home=tmp_path, chat_endpoint=url)).ask(QUESTION)
        await anext(parts)
        await parts.aclose()
        await asyncio.wait_for(stopped.wait(), 10)


async def test_cancelling_the_task_stops_the_call(tmp_path: Path) -> None:
    started, stopped = asyncio.Event(), asyncio.Event()

    async def reply(_: Any, __: Any) -> AsyncIterator[Any]:
        try:
            yield _messages()[0]
            started.set()
            await asyncio.Event().wait()
        finally:
            stopped.set()

    async with grpc_server(reply) as url:
        task = asyncio.create_task(asked(Settings(home=tmp_path, chat_endpoint=url)))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(stopped.wait(), 10)


async def test_agents_are_refused_in_words(rest_settings: Callable[[str], Settings]) -> None:
    async with http_server(_refusing("403_wrong_endpoint_or_role")) as (url, _):
        with pytest.raises(DeniedError, match="ASKHOUSE_LOCATION"):
            await agents.list_accessible(rest_settings(url))


async def test_without_credentials_google_is_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "missing.json"))
    _, answer = await asked(Settings(home=tmp_path, project="example-project"))
    assert answer.failure is not None and answer.failure.code == "denied"
    assert "gcloud auth application-default login" in answer.failure.remedy


async def test_google_is_spoken_to_with_tls_and_credentials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What listens there hangs up at the greeting, so the call ends as unreachable: it was made, and not in clear."""
    person = {"type": "authorized_user", "client_id": "i", "client_secret": "s", "refresh_token": "t"}
    (tmp_path / "adc.json").write_text(json.dumps(person))
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "adc.json"))
    first_bytes = []

    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first_bytes.append(await reader.read(3))
        writer.close()

    server = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    _, answer = await asked(Settings(home=tmp_path, project="example-project", chat_endpoint=url))
    server.close()
    credentials._default.cache_clear()
    assert answer.failure is not None and answer.failure.code == "unreachable"
    assert first_bytes and all(start.startswith(b"\x16\x03") for start in first_bytes)  # a TLS greeting
