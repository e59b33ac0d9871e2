"""The whole application as `adk web` runs it: one Runner, SQLite sessions, pictures in files."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from google.adk.artifacts.file_artifact_service import FileArtifactService
from google.adk.runners import Runner
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.genai import types

from askhouse.settings import Settings
from data_analyst.agent import build_app

USER = "user"


@dataclass(frozen=True)
class Said:
    """What a turn brought, and when (by `time.perf_counter`)."""

    text: str
    first_thought: float | None
    pictures: int


@dataclass
class Talk:
    """Conversations with one running application."""

    runner: Runner
    session: str = ""

    async def begin(self) -> None:
        """Start a new session."""
        created = await self.runner.session_service.create_session(app_name=self.runner.app_name, user_id=USER)
        self.session = created.id

    async def say(self, words: str) -> Said:
        """One turn, to its end. Raises RuntimeError when it brought no words: then nothing was measured."""
        content = types.Content(role="user", parts=[types.Part(text=words)])
        texts: list[str] = []
        first, pictures = None, 0
        async for event in self.runner.run_async(user_id=USER, session_id=self.session, new_message=content):
            parts = (event.content.parts or []) if event.content else []
            if first is None and event.partial and any(part.thought for part in parts):
                first = time.perf_counter()
            texts += [part.text for part in parts if part.text and not part.thought and not event.partial]
            pictures += len(event.actions.artifact_delta)
        if not texts:
            raise RuntimeError(f"no answer to {words!r}")
        return Said("\n".join(texts), first, pictures)


@asynccontextmanager
async def talking(settings: Settings) -> AsyncIterator[Talk]:
    """The application over these settings."""
    runner = Runner(
        app=build_app(settings),
        session_service=SqliteSessionService(settings.sessions_uri),
        artifact_service=FileArtifactService(root_dir=str(settings.home / "artifacts")),
    )
    talk = Talk(runner)
    await talk.begin()
    try:
        yield talk
    finally:
        await runner.close()
