"""Real replies to measure with: of the embedded emulator, through Google's clients, of as many rows as wanted.

A data agent whose authored queries return a number of rows stands for the questions: any size, no planner in between.
"""

from __future__ import annotations

import csv
import random
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import grpc
import httpx
from google.api_core.exceptions import Conflict
from google.auth.credentials import AnonymousCredentials
from google.cloud import geminidataanalytics_v1 as api
from google.cloud.geminidataanalytics_v1.services.data_chat_service.transports import (
    DataChatServiceGrpcAsyncIOTransport,
)

from askhouse.emulator.local import Emulator
from askhouse.settings import Settings

PARENT = "projects/local/locations/global"
AGENT = "bench"
LOADED_ROWS = 100_000
TURNS = 20
"""Authored questions of each size, so that no turn of a conversation repeats another."""
SIZES = (10, 50, 100, 1_000, 4_000, 16_000, LOADED_ROWS)

_READINGS = "SELECT reading, station, taken, level FROM `local.my_data.readings` ORDER BY reading LIMIT {rows}"
_DELAYS = (
    "SELECT DATE(time_hour) AS day, carrier, COUNT(*) AS flights, AVG(dep_delay) AS average_delay "
    "FROM `local.nycflights13.flights` GROUP BY day, carrier ORDER BY day, carrier LIMIT {rows}"
)


def readings(rows: int, turn: int = 1) -> str:
    """A question that is answered with so many stored rows."""
    return f"List {turn} of the first {rows} readings"


def delays(rows: int) -> str:
    """A question that is answered with so many groups: days and carriers."""
    return f"Delays of the first {rows} days and carriers"


def write_readings(path: Path) -> Path:
    """A CSV file of 100,000 rows, the same every time."""
    chance = random.Random(7)
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["reading", "station", "taken", "level"])
        rows.writerows(
            [i, f"station {i % 10}", f"2024-{i % 12 + 1:02d}-{i % 28 + 1:02d}", round(chance.uniform(0, 100), 2)]
            for i in range(LOADED_ROWS)
        )
    return path


def make_agent(rest: str) -> None:
    """Author the data agent, through Google's client."""
    authored = {readings(rows, turn): _READINGS.format(rows=rows) for rows in SIZES for turn in range(1, TURNS + 1)}
    authored |= {delays(rows): _DELAYS.format(rows=rows) for rows in SIZES}
    tables = [
        api.BigQueryTableReference(project_id="local", dataset_id=dataset, table_id=table)
        for dataset, table in (("my_data", "readings"), ("nycflights13", "flights"))
    ]
    context = api.Context(
        datasource_references=api.DatasourceReferences(bq=api.BigQueryTableReferences(table_references=tables)),
        example_queries=[
            api.ExampleQuery(natural_language_question=question, sql_query=sql) for question, sql in authored.items()
        ],
    )
    client = api.DataAgentServiceClient(
        transport="rest", credentials=AnonymousCredentials(), client_options={"api_endpoint": rest}
    )
    agent = api.DataAgent(data_analytics_agent=api.DataAnalyticsAgent(published_context=context))
    made = api.CreateDataAgentRequest(parent=PARENT, data_agent_id=AGENT, data_agent=agent)
    with suppress(Conflict):
        client.create_data_agent_sync(request=made)


@contextmanager
def running(home: Path) -> Iterator[Emulator]:
    """An emulator in this process, with the data agent."""
    with Emulator(Settings(home=home)) as emulator:
        make_agent(emulator.rest)
        yield emulator


def rest_body(emulator: Emulator, question: str) -> bytes:
    """The bytes of a reply over REST."""
    name = f"{PARENT}/dataAgents/{AGENT}"
    body = {"messages": [{"userMessage": {"text": question}}], "dataAgentContext": {"dataAgent": name}}
    with httpx.Client(trust_env=False, timeout=120) as client:
        return client.post(f"{emulator.rest}/v1/{PARENT}:chat", json=body).raise_for_status().content


def request(question: str) -> api.ChatRequest:
    """The question to the data agent, in the client's form."""
    return api.ChatRequest(
        parent=PARENT,
        messages=[api.Message(user_message=api.UserMessage(text=question))],
        data_agent_context=api.DataAgentContext(data_agent=f"{PARENT}/dataAgents/{AGENT}"),
    )


@asynccontextmanager
async def chat_client(emulator: Emulator) -> AsyncIterator[api.DataChatServiceAsyncClient]:
    """Google's asyncio client over gRPC."""
    options = [("grpc.max_receive_message_length", -1)]
    async with grpc.aio.insecure_channel(emulator.grpc.removeprefix("http://"), options=options) as channel:
        yield api.DataChatServiceAsyncClient(transport=DataChatServiceGrpcAsyncIOTransport(channel=channel))


async def protos(emulator: Emulator, question: str) -> list[Any]:
    """The messages of a reply over gRPC, as protocol buffers."""
    async with chat_client(emulator) as client:
        return [api.Message.pb(message) async for message in await client.chat(request=request(question))]


def others_of(messages: list[Any], count: int) -> list[list[Any]]:
    """The same reply so many times, each with another query: one that was read before would be remembered."""
    return [[_with_another_query(message, number) for message in messages] for number in range(10, 10 + count)]


def _with_another_query(message: Any, number: int) -> Any:
    data = message.system_message.data
    if data.WhichOneof("kind") != "matched_query":
        return message
    changed = type(message)()
    changed.CopyFrom(message)
    example = changed.system_message.data.matched_query.example_query
    example.sql_query = example.sql_query.replace("LIMIT", f"LIMIT {number}", 1)
    return changed
