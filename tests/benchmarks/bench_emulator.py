"""The embedded service: fifty chats at once, beside one alone."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from statistics import median
from typing import Any

from google.cloud import geminidataanalytics_v1 as api
from measure import Figure, Place, percentile, rounded
from served import PARENT, chat_client, running

AT_ONCE = 50
QUESTIONS = (
    "How many flights left each airport?",
    "What was the average dep_delay by month?",
    "Which ten carriers had the most flights?",
    "How many flights by dest?",
    "What was the average arr_delay by carrier?",
)


def figures(place: Place) -> Iterator[Figure]:
    """Each chat is a question over the sample flights, planned and queried."""
    with running(place.home) as emulator:
        alone, together, whole = asyncio.run(_measured(emulator))
    one, slow = median(alone), percentile(together, 0.95)
    yield Figure("embedded service: one chat", rounded(one), "ms")
    note = f"{AT_ONCE / whole * 1000:.3g} chats a second"
    yield Figure(f"embedded service: slowest of 20 among {AT_ONCE} chats at once", rounded(slow), "ms", note=note)
    name = f"embedded service: {AT_ONCE} chats at once, against one after the other"
    yield Figure(name, rounded(whole / (one * AT_ONCE)), "×")


async def _measured(emulator: Any) -> tuple[list[float], list[float], float]:
    async with chat_client(emulator) as client:
        for question in QUESTIONS:  # warm up
            await _chat(client, question)
        alone = [await _chat(client, QUESTIONS[i % len(QUESTIONS)]) for i in range(25)]
        start = time.perf_counter()
        together = await asyncio.gather(*(_chat(client, QUESTIONS[i % len(QUESTIONS)]) for i in range(AT_ONCE)))
        return alone, together, (time.perf_counter() - start) * 1000


async def _chat(client: api.DataChatServiceAsyncClient, question: str) -> float:
    """Milliseconds of a chat, to its end. Raises RuntimeError when it brought no result."""
    table = api.BigQueryTableReference(project_id="local", dataset_id="nycflights13", table_id="flights")
    references = api.BigQueryTableReferences(table_references=[table])
    request = api.ChatRequest(
        parent=PARENT,
        messages=[api.Message(user_message=api.UserMessage(text=question))],
        inline_context=api.Context(datasource_references=api.DatasourceReferences(bq=references)),
    )
    start = time.perf_counter()
    messages = [message async for message in await client.chat(request=request)]
    if not any(message.system_message.data.result.data for message in messages):
        raise RuntimeError(f"no rows came for {question!r}")
    return (time.perf_counter() - start) * 1000
