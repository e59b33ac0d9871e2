"""Replies from files, and servers of our own that behave badly."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from askhouse.insights.answer import AnswerBuilder, error_of
from askhouse.insights.client import InsightsClient, Question, TablesContext, Thought
from askhouse.insights.rest import messages_of
from askhouse.insights.transport import CallError
from askhouse.settings import Settings
from askhouse.warehouse.base import TableRef
from state_contracts import Answer

STREAMS = Path(__file__).parent.parent / "streams"
QUESTION = Question("What is the total revenue?", TablesContext((TableRef("example-project", "shop", "orders"),)))


def stream(name: str) -> bytes:
    """The bytes of a stored reply."""
    return (STREAMS / name).read_bytes()


async def answer_to(chunks: Iterable[bytes], question: str = "What is the total revenue?") -> Answer:
    """The answer that a REST reply in these chunks gives."""

    async def arriving() -> AsyncIterator[bytes]:
        for chunk in chunks:
            yield chunk

    builder = AnswerBuilder(question)
    error = None
    try:
        async for message in messages_of(arriving()):
            builder.add(message)
    except CallError as failed:
        error = error_of(failed.failure)
    return builder.finish(ended=error is None, error=error)


async def asked(settings: Settings, question: Question = QUESTION) -> tuple[list[Thought], Answer]:
    """Ask and collect everything."""
    parts = [part async for part in InsightsClient(settings).ask(question)]
    assert isinstance(parts[-1], Answer)
    return [part for part in parts if isinstance(part, Thought)], parts[-1]


Respond = Callable[[asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def http_server(*responses: Respond) -> AsyncIterator[tuple[str, list[Any]]]:
    """A server that answers one request after the other with these; yields its address and the bodies it got."""
    bodies: list[Any] = []
    queue = list(responses)

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = next((int(line.split(":")[1]) for line in head.splitlines() if line.startswith("content-length")), 0)
        bodies.append(json.loads(await reader.readexactly(length) or b"null"))
        await (queue.pop(0) if len(queue) > 1 else queue[0])(writer)
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", bodies
    finally:
        server.close()


def replying(status: str, body: bytes, headers: str = "", *, cut: bool = False) -> Respond:
    """A whole reply, or one that says it is longer than it is."""

    async def respond(writer: asyncio.StreamWriter) -> None:
        length = len(body) + (1000 if cut else 0)
        writer.write(f"HTTP/1.1 {status}\r\nContent-Length: {length}\r\n{headers}\r\n".encode() + body)
        await writer.drain()

    return respond


@pytest.fixture
def rest_settings(tmp_path: Path) -> Callable[[str], Settings]:
    """Settings that ask the server at an address over REST."""
    return lambda address: Settings(home=tmp_path, transport="rest", chat_endpoint=address, silence_seconds=5)
