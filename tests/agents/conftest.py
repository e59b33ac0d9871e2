"""The real application for a test: ADK's Runner, SQLite sessions, pictures on disk, and the embedded services."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from google.adk.artifacts.file_artifact_service import FileArtifactService
from google.adk.events.event import Event
from google.adk.runners import Runner
from google.adk.sessions.session import Session
from google.genai import types

from askhouse.emulator.local import Emulator, stop_embedded
from askhouse.guard.sessions import guarded_session_service
from askhouse.settings import Settings
from data_analyst.agent import build_app


@dataclass
class Turn:
    """The events of one turn, as a client of ADK sees them."""

    events: list[Event] = field(default_factory=list)

    @property
    def messages(self) -> list[str]:
        """What the person reads: whole events with words, thoughts apart."""
        return [text for event in self.events if not event.partial and (text := _text(event, thought=False))]

    @property
    def message(self) -> str:
        assert len(self.messages) == 1, self.messages
        return self.messages[0]

    @property
    def thoughts(self) -> list[str]:
        return [text for event in self.events if event.partial and (text := _text(event, thought=True))]

    @property
    def pictures(self) -> list[str]:
        return [name for event in self.events for name in event.actions.artifact_delta]


@dataclass
class Chat:
    """One person's conversation with the application."""

    runner: Runner
    user: str
    session: str

    async def say(self, words: str) -> Turn:
        content = types.Content(role="user", parts=[types.Part(text=words)])
        run = self.runner.run_async(user_id=self.user, session_id=self.session, new_message=content)
        return Turn([event async for event in run])

    async def stored(self) -> Session:
        session = await self.runner.session_service.get_session(
            app_name=self.runner.app_name, user_id=self.user, session_id=self.session
        )
        assert session is not None
        return session


@asynccontextmanager
async def chatting(settings: Settings, user: str = "ana", session: str | None = None) -> AsyncIterator[Chat]:
    """A conversation in a process of its own as it were: new runner, new services, on the same files."""
    service = guarded_session_service(settings.sessions_uri)
    pictures = FileArtifactService(root_dir=str(settings.home / "artifacts"))
    runner = Runner(app=build_app(settings), session_service=service, artifact_service=pictures)
    if session is None:
        session = (await service.create_session(app_name=runner.app_name, user_id=user)).id
    try:
        yield Chat(runner, user, session)
    finally:
        await runner.close()


@pytest.fixture(scope="session")
def service(sample_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    """The services of this machine, standing alone and shared by the tests, as `askhouse serve` would be."""
    folder = tmp_path_factory.mktemp("service") / "askhouse"
    shutil.copytree(sample_home, folder)
    with Emulator(Settings(home=folder)) as running:
        yield running


@pytest.fixture
def settings(home: Path, service: Emulator) -> Settings:
    """Settings of a fresh machine whose services run already."""
    return Settings(home=home, chat_endpoint=service.grpc, bigquery_endpoint=service.rest, contracts="strict")


@pytest.fixture
def fresh(home: Path) -> Iterator[Settings]:
    """Settings of a fresh machine: the services start in the process, at the first question."""
    yield Settings(home=home, contracts="strict")
    stop_embedded()


@pytest.fixture
async def chat(settings: Settings) -> AsyncIterator[Chat]:
    async with chatting(settings) as conversation:
        yield conversation


def _text(event: Event, *, thought: bool) -> str:
    parts = (event.content.parts or []) if event.content else []
    return "".join(part.text for part in parts if part.text and bool(part.thought) is thought)
