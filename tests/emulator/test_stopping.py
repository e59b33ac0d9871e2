"""When nobody listens any more, the query of a chat stops in the warehouse."""

from __future__ import annotations

import asyncio
import sys
import time
from contextlib import aclosing
from uuid import uuid4

import pytest

from askhouse.emulator.local import Emulator
from askhouse.insights.client import AgentContext, InsightsClient, Question, Thought
from askhouse.settings import Settings, Transport

from .conftest import PARENT, agent_with_example, clients

ENDLESS = (
    "SELECT COUNT(*) AS n FROM `local.nycflights13.flights` a, `local.nycflights13.flights` b WHERE a.month <> b.day"
)


def _queries() -> int:
    """Threads that are inside a query of the warehouse."""
    running = 0
    for frame in sys._current_frames().values():
        at = frame
        while at is not None:
            if at.f_code.co_name == "_query" and at.f_code.co_filename.endswith("warehouse/duckdb.py"):
                running += 1
                break
            at = at.f_back  # type: ignore[assignment]
    return running


async def _until(count: int) -> None:
    assert await asyncio.to_thread(_is_reached, count)


def _is_reached(count: int) -> bool:
    for _ in range(2_000):
        if _queries() == count:
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize("transport", ["grpc", "rest"])
@pytest.mark.parametrize("way", ["close", "cancel"])
async def test_the_query_ends_with_its_listener(emulator: Emulator, transport: Transport, way: str) -> None:
    agent_id = f"endless-{uuid4().hex[:8]}"
    async with clients(emulator) as (_, agents):
        await agents.create_data_agent_sync(
            parent=PARENT, data_agent_id=agent_id, data_agent=agent_with_example("How long does it take?", ENDLESS)
        )
    settings = Settings(
        home=emulator.settings.home, transport=transport,
        chat_endpoint=emulator.grpc if transport == "grpc" else emulator.rest,
    )  # fmt: skip
    asking = InsightsClient(settings).ask(Question("How long does it take?", AgentContext(agent_id)))

    async def listen() -> None:
        async with aclosing(asking):
            async for part in asking:
                assert isinstance(part, Thought)
                if way == "close" and part.text.startswith("Executing"):
                    await _until(1)
                    return

    listening = asyncio.create_task(listen())
    if way == "cancel":
        await _until(1)
        listening.cancel()
    await asyncio.gather(listening, return_exceptions=True)
    await _until(0)
