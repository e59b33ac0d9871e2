"""The API over gRPC, with Google's own asyncio client."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from typing import Any

import grpc
from google.api_core.exceptions import GoogleAPICallError, RetryError
from google.cloud import geminidataanalytics_v1 as api
from google.cloud.geminidataanalytics_v1.services.data_agent_service.transports import (
    DataAgentServiceGrpcAsyncIOTransport,
)
from google.cloud.geminidataanalytics_v1.services.data_chat_service.transports import (
    DataChatServiceGrpcAsyncIOTransport,
)
from google.protobuf import json_format

from .address import Address
from .credentials import google_credentials
from .refusals import NOT_THE_API
from .stream import Failure, Message, from_proto
from .transport import CallError

_OPTIONS = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
UNARY_SECONDS = 60.0


class GrpcTransport:
    """A channel of its own, opened at the first call: one channel must not serve two event loops."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._channel: grpc.aio.Channel | None = None

    async def chat(self, request: dict[str, Any]) -> AsyncGenerator[Message]:
        """Stream the reply to a ChatRequest."""
        proto = api.ChatRequest(json_format.ParseDict(request, api.ChatRequest.pb()()))
        client = await self._chats()
        try:
            stream = await client.chat(request=proto)
            async for message in stream:
                with _understood():
                    received = from_proto(api.Message.pb(message))
                yield received
        except (GoogleAPICallError, RetryError) as error:
            raise CallError(_failure(error)) from error

    async def get(self, name: str) -> dict[str, Any]:
        """A data agent."""
        client = await self._agents()
        try:
            agent = await client.get_data_agent(request=api.GetDataAgentRequest(name=name), timeout=UNARY_SECONDS)
        except (GoogleAPICallError, RetryError) as error:
            raise CallError(_failure(error)) from error
        with _understood():
            return _to_dict(api.DataAgent.pb(agent))

    async def list(self, parent: str) -> list[dict[str, Any]]:
        """The data agents that the person may use."""
        request = api.ListAccessibleDataAgentsRequest(parent=parent)
        client = await self._agents()
        try:
            pager = await client.list_accessible_data_agents(request=request, timeout=UNARY_SECONDS)
            with _understood():
                return [_to_dict(api.DataAgent.pb(agent)) async for agent in pager]
        except (GoogleAPICallError, RetryError) as error:
            raise CallError(_failure(error)) from error

    async def create_conversation(self, parent: str, conversation: dict[str, Any]) -> dict[str, Any]:
        """A new conversation that the service remembers."""
        proto = api.Conversation(json_format.ParseDict(conversation, api.Conversation.pb()()))
        request = api.CreateConversationRequest(parent=parent, conversation=proto)
        client = await self._chats()
        try:
            created = await client.create_conversation(request=request, timeout=UNARY_SECONDS)
        except (GoogleAPICallError, RetryError) as error:
            raise CallError(_failure(error)) from error
        with _understood():
            return _to_dict(api.Conversation.pb(created))

    async def delete_conversation(self, name: str) -> None:
        """Let the service forget a conversation."""
        client = await self._chats()
        try:
            request = api.DeleteConversationRequest(name=name)
            await client.delete_conversation(request=request, timeout=UNARY_SECONDS)
        except (GoogleAPICallError, RetryError) as error:
            raise CallError(_failure(error)) from error

    async def close(self) -> None:
        """Close the channel; a call that is under way is cancelled."""
        if self._channel is not None:
            await self._channel.close(None)
            self._channel = None

    async def _chats(self) -> api.DataChatServiceAsyncClient:
        transport = DataChatServiceGrpcAsyncIOTransport(channel=await self._open())
        return api.DataChatServiceAsyncClient(transport=transport)

    async def _agents(self) -> api.DataAgentServiceAsyncClient:
        transport = DataAgentServiceGrpcAsyncIOTransport(channel=await self._open())
        return api.DataAgentServiceAsyncClient(transport=transport)

    async def _open(self) -> grpc.aio.Channel:
        if self._channel is None:
            self._channel = await self._new_channel()
        return self._channel

    async def _new_channel(self) -> grpc.aio.Channel:
        if self._address.local:
            return grpc.aio.insecure_channel(self._address.target, options=[*_OPTIONS, ("grpc.enable_http_proxy", 0)])
        credentials = await google_credentials()
        channel: grpc.aio.Channel = DataChatServiceGrpcAsyncIOTransport.create_channel(
            host=self._address.target, credentials=credentials, options=_OPTIONS
        )
        return channel


def _to_dict(message: Any) -> dict[str, Any]:
    return json_format.MessageToDict(message)


@contextmanager
def _understood() -> Iterator[None]:
    """What is no message of the API reaches us as nothing at all, which no message can be made of."""
    try:
        yield
    except (AttributeError, TypeError, ValueError) as error:
        raise CallError(Failure(NOT_THE_API, "UNIMPLEMENTED")) from error


def _failure(error: Exception) -> Failure:
    if not isinstance(error, GoogleAPICallError):
        return Failure(str(error), "UNAVAILABLE")
    if "Failed parsing HTTP/2" in str(error.message):
        return Failure(NOT_THE_API, "UNIMPLEMENTED")
    code = error.grpc_status_code
    return Failure(error.message or "no reason was given", code.name if code else str(error.code), _retry_after(error))


def _retry_after(error: GoogleAPICallError) -> float | None:
    """The wait that the service asks for in a RetryInfo, in seconds."""
    delays = [detail.retry_delay for detail in error.details if hasattr(detail, "retry_delay")]
    return next((delay.seconds + delay.nanos / 1e9 for delay in delays), None)
