"""No write passes the contracts in a run: it is undone in the store and in the running session."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from google.adk.agents.context import Context
from google.adk.apps.app import App
from google.adk.events.event import Event
from google.adk.runners import Runner
from google.adk.sessions.in_memory_session_service import InMemorySessionService
from google.adk.sessions.session import Session
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.adk.workflow import Workflow, node
from google.genai import types

from askhouse.guard.plugin import ContractsGuard, ContractViolationError, _warn_when_unguarded
from askhouse.settings import Settings
from data_analyst.agent import build_app
from state_contracts import ANSWER, CONVERSATION, Answer, Conversation, Turn


class Run:
    """A workflow of one writing node and one reading node, under the guard."""

    def __init__(self, folder: Path, write: Any, *, strict: bool = False) -> None:
        self.seen: dict[str, Any] = {}
        self.service = SqliteSessionService(str(folder / "sessions.db"))

        def read(ctx: Context) -> None:
            self.seen = ctx.state.to_dict()

        steps = Workflow(name="steps", edges=[("START", node(write, name="data_agent"), node(read, name="finish"))])
        app = App(name="guarded", root_agent=steps, plugins=[ContractsGuard(strict=strict)])
        self.runner = Runner(app=app, session_service=self.service)
        self.events: list[Event] = []

    async def once(self, state: dict[str, Any] | None = None) -> Session:
        session = await self.service.create_session(app_name="guarded", user_id="ana", state=state or {})
        content = types.Content(role="user", parts=[types.Part(text="go")])
        run = self.runner.run_async(user_id="ana", session_id=session.id, new_message=content)
        self.events = [event async for event in run]
        await self.runner.close()
        stored = await self.service.get_session(app_name="guarded", user_id="ana", session_id=session.id)
        assert stored is not None
        return stored


def remember(ctx: Context) -> str:
    CONVERSATION.write(ctx.state, Conversation(turns=[Turn(question="one")]))
    return "x"


async def test_a_declared_write_by_its_writer_passes_and_is_stamped_with_it(tmp_path: Path) -> None:
    run = Run(tmp_path, remember)
    stored = await run.once()
    assert CONVERSATION.read(stored.state) == Conversation(turns=[Turn(question="one")])
    stamps = [event.custom_metadata for event in stored.events if event.actions.state_delta]
    assert stamps == [{"askhouse_writers": {"conversation": "data_agent"}}]


@pytest.mark.parametrize("key", ["user:notes", "app:config", "scratch", "temp:rows", "conversation"])
async def test_a_bad_write_is_undone_everywhere(tmp_path: Path, key: str, caplog: pytest.LogCaptureFixture) -> None:
    before = Conversation(turns=[Turn(question="before")])
    kept: dict[str, Any] = {}
    CONVERSATION.write(kept, before)

    def write(ctx: Context) -> str:
        ctx.state[key] = "anything"
        return "x"

    run = Run(tmp_path, write)
    stored = await run.once(kept)
    assert stored.state == kept
    assert {name: value for name, value in run.seen.items() if not name.startswith("_")} == kept
    assert key in caplog.text and "data_agent" in caplog.text


async def test_another_node_may_not_write_the_conversation(tmp_path: Path) -> None:
    run = Run(tmp_path, lambda ctx: "x")
    steps = Workflow(name="steps", edges=[("START", node(remember, name="summarizer"))])
    run.runner = Runner(
        app=App(name="guarded", root_agent=steps, plugins=[ContractsGuard()]), session_service=run.service
    )
    assert (await run.once()).state == {}


async def test_strict_mode_raises(tmp_path: Path) -> None:
    def write(ctx: Context) -> str:
        ctx.state["scratch"] = 1
        return "x"

    with pytest.raises(RuntimeError) as raised:
        await Run(tmp_path, write, strict=True).once()
    causes = [raised.value, raised.value.__cause__]
    assert any(isinstance(cause, ContractViolationError) for cause in causes)


async def test_a_partial_event_carries_no_state(tmp_path: Path) -> None:
    answer = Answer(question="q", outcome="answered", complete=True)

    async def write(ctx: Context) -> AsyncGenerator[Event, None]:
        ANSWER.write(ctx.state, "1", answer)
        yield Event(partial=True, content=types.Content(role="model", parts=[types.Part(text="…", thought=True)]))
        yield Event(output="x")

    run = Run(tmp_path, write)
    await run.once()
    assert all(not event.actions.state_delta for event in run.events if event.partial)
    assert run.seen["temp:answer.1"] is answer


async def test_a_process_that_keeps_sessions_unguarded_says_so_once(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    _warn_when_unguarded.cache_clear()  # an earlier test of this process may have heard it
    unguarded = Runner(app=build_app(settings), session_service=InMemorySessionService())
    session = await unguarded.session_service.create_session(app_name="data_analyst", user_id="ana")
    for _ in range(2):
        content = types.UserContent("thanks")
        async for _event in unguarded.run_async(user_id="ana", session_id=session.id, new_message=content):
            pass
    await unguarded.close()
    said = [record.message for record in caplog.records if "keeps the sessions unguarded" in record.message]
    assert len(said) == 1 and said[0].startswith("InMemorySessionService")
