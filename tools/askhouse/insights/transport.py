"""The ways to speak to the API: one protocol, two implementations."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any, Protocol

from ..settings import Settings
from .address import Address
from .stream import Failure, Message


class CallError(Exception):
    """A call that failed, in Google's terms."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class Transport(Protocol):
    """Requests and replies in the API's JSON form; a chat's replies as messages, as they arrive."""

    def chat(self, request: dict[str, Any]) -> AsyncGenerator[Message]:
        """Stream the reply to a ChatRequest. Raises CallError; it ends without one when the service closed it."""

    async def get(self, name: str) -> dict[str, Any]:
        """A data agent. Raises CallError."""

    async def list(self, parent: str) -> list[dict[str, Any]]:
        """The data agents that the person may use. Raises CallError."""

    async def create_conversation(self, parent: str, conversation: dict[str, Any]) -> dict[str, Any]:
        """A new conversation that the service remembers. Raises CallError."""

    async def delete_conversation(self, name: str) -> None:
        """Let the service forget a conversation. Raises CallError."""

    async def close(self) -> None:
        """Give back what the transport holds."""


async def transport_to(address: Address, settings: Settings) -> Transport:
    """A transport for one use, in the running event loop. Its libraries are loaded off the loop, the first time."""
    return await asyncio.to_thread(_transport, address, settings)


def _transport(address: Address, settings: Settings) -> Transport:
    if settings.transport == "rest":
        from .rest import RestTransport

        return RestTransport(address, settings.silence_seconds)
    from .grpc import GrpcTransport

    return GrpcTransport(address)
