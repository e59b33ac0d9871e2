"""A server that is no Conversational Analytics API is told as such."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import grpc
import pytest

from askhouse.insights.address import Address
from askhouse.insights.grpc import GrpcTransport
from askhouse.insights.refusals import translated
from askhouse.insights.stream import Failure
from askhouse.insights.transport import CallError

GARBAGE = b"\xff\xff\xff garbage"


class Garbled(grpc.GenericRpcHandler):  # type: ignore[type-arg]  # generic in its stubs only
    """Replies to every call with bytes that are no message."""

    def service(self, handler_call_details: Any) -> Any:
        async def stream(_: bytes, __: Any) -> AsyncIterator[bytes]:
            yield GARBAGE

        async def one(_: bytes, __: Any) -> bytes:
            return GARBAGE

        if handler_call_details.method.endswith("/Chat"):
            return grpc.unary_stream_rpc_method_handler(stream)
        return grpc.unary_unary_rpc_method_handler(one)


@asynccontextmanager
async def garbled() -> AsyncIterator[int]:
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((Garbled(),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    yield port
    await server.stop(0)


@asynccontextmanager
async def shouting() -> AsyncIterator[int]:
    async def shout(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(b"HELLO " * 100)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(shout, "127.0.0.1", 0)
    yield server.sockets[0].getsockname()[1]
    server.close()


@pytest.mark.parametrize("stranger", [garbled, shouting])
@pytest.mark.parametrize("call", ["chat", "get", "list"])
async def test_garbage_is_told_in_a_sentence(
    stranger: Callable[[], AbstractAsyncContextManager[int]], call: str
) -> None:
    async with stranger() as port:
        failure = await _failure_of(call, port)
    error = translated(failure)
    assert "did not speak the API" in error.message and "ASKHOUSE_CHAT_ENDPOINT" in error.remedy


async def _failure_of(call: str, port: int) -> Failure:
    address = Address(f"http://127.0.0.1:{port}", "my-project", "global")
    transport = GrpcTransport(address)
    try:
        with pytest.raises(CallError) as told:
            if call == "chat":
                async for _ in transport.chat({"parent": address.parent}):
                    pass
            elif call == "get":
                await transport.get(address.agent_name("x"))
            else:
                await transport.list(address.parent)
    finally:
        await transport.close()
    return told.value.failure
