"""One turn of the application outside of a server: the same agents, with the laptop's sessions.

Used by the terminal and the notebook. What the turn left in `temp:` state is collected at its end, inside the run,
since nothing of it can be read afterwards.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from state_contracts import ANSWER, CHART, MESSAGE, SUMMARY, Answer, Chart, Message, Summary, TextBlock

from .errors import AskhouseError, BusyError, StorageError, UsageError
from .kept import APP_NAME
from .settings import Settings

if TYPE_CHECKING:
    from google.adk.artifacts.base_artifact_service import BaseArtifactService
    from google.adk.events.event import Event
    from google.adk.plugins.base_plugin import BasePlugin
    from google.adk.runners import Runner
    from google.adk.sessions.base_session_service import BaseSessionService


Progress = Callable[[str], None]


@dataclass(frozen=True)
class Turned:
    """What one turn brought."""

    answer: Answer
    summary: Summary | None
    chart: Chart | None
    message: Message
    session_id: str
    timings_ms: dict[str, float] = field(default_factory=dict)
    """Milliseconds since the start: `load` (imports done), `first_progress`, `run` (the turn done)."""
    turn: int = 1
    """The position of this question in its session, from 1."""
    model: str = ""
    """The model that chose the tools."""


async def ask_once(
    settings: Settings,
    question: str,
    *,
    session_id: str | None = None,
    on_progress: Progress | None = None,
    picture: bool = False,
) -> Turned:
    """Ask one question in a new session, or in the one named.

    Args:
        settings: where to ask and where sessions are kept.
        question: the person's words.
        session_id: a session of this user to continue.
        on_progress: called with each line of progress as it comes.
        picture: draw the chart and keep it with the session, for `adk web` to show.

    Raises UsageError when there is no such session, StorageError when the data folder cannot be written, BusyError
    when the session is being written by somebody else.
    """
    watch = _Watch()
    from google.genai import types

    collected = _collector()
    with _said_plainly(settings):
        async with _runner(settings, collected, picture) as runner:
            watch.note("load")
            session = await _session_of(runner.session_service, settings, session_id)
            content = types.Content(role="user", parts=[types.Part(text=question)])
            events = runner.run_async(user_id=settings.user, session_id=session, new_message=content)
            text = await _listen(events, on_progress, watch)
            watch.note("run")
    turned = _turned(collected.left, question, text, session, watch.ms)
    return replace(turned, turn=collected.left.turn, model=settings.model)


async def latest_session(settings: Settings) -> str | None:
    """The user's most recent session, or None when there is none."""
    if not (settings.home / "sessions.db").exists():
        return None
    with _said_plainly(settings):
        listed = await _session_service(settings).list_sessions(app_name=APP_NAME, user_id=settings.user)
    latest = max(listed.sessions, key=lambda session: session.last_update_time, default=None)
    return latest.id if latest else None


async def _listen(events: AsyncGenerator[Event, None], on_progress: Progress | None, watch: _Watch) -> str:
    """Follow a turn to its end; the words that were said in it."""
    said: list[str] = []
    async with aclosing(events):
        async for event in events:
            parts = (event.content.parts or []) if event.content else []
            for text in (part.text for part in parts if event.partial and part.thought and part.text):
                watch.note("first_progress")
                if on_progress is not None:
                    on_progress(text.strip())
            if not event.partial and event.author == APP_NAME:
                said += [part.text for part in parts if part.text and not part.thought]
    return "\n\n".join(said)


@asynccontextmanager
async def _runner(settings: Settings, collector: BasePlugin, picture: bool) -> AsyncIterator[Runner]:
    from google.adk.runners import Runner

    from data_analyst.agent import build_app

    app = build_app(settings)
    app.plugins.append(collector)
    runner = Runner(
        app=app,
        session_service=_session_service(settings),
        artifact_service=_artifact_service(settings) if picture else None,
    )
    try:
        yield runner
    finally:
        await runner.close()


def _session_service(settings: Settings) -> BaseSessionService:
    from .guard.sessions import guarded_session_service

    try:
        settings.home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unusable(settings, error) from error
    return guarded_session_service(settings.sessions_uri)


def _artifact_service(settings: Settings) -> BaseArtifactService:
    from google.adk.artifacts.file_artifact_service import FileArtifactService

    return FileArtifactService(root_dir=str(settings.home / "artifacts"))


async def _session_of(service: BaseSessionService, settings: Settings, session_id: str | None) -> str:
    if session_id is None:
        return (await service.create_session(app_name=APP_NAME, user_id=settings.user)).id
    found = await service.get_session(app_name=APP_NAME, user_id=settings.user, session_id=session_id)
    if found is None:
        raise UsageError(
            f"There is no session {session_id} of user {settings.user}.", "Leave it out to start a new one."
        )
    return found.id


@dataclass
class _Left:
    """What the calls of a turn left in its state, by call, in order."""

    answers: dict[str, Answer] = field(default_factory=dict)
    summaries: dict[str, Summary] = field(default_factory=dict)
    charts: dict[str, Chart] = field(default_factory=dict)
    messages: dict[str, Message] = field(default_factory=dict)
    turn: int = 1


def _collector() -> Any:
    from google.adk.agents.invocation_context import InvocationContext
    from google.adk.plugins.base_plugin import BasePlugin

    class Collector(BasePlugin):
        """Reads a turn's `temp:` values at its end, while they still exist."""

        def __init__(self) -> None:
            super().__init__(name="collector")
            self.left = _Left()

        async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:
            state = invocation_context.session.state
            asked = sum(event.author == "user" for event in invocation_context.session.events)
            self.left = _Left(
                dict(ANSWER.items(state)), dict(SUMMARY.items(state)), dict(CHART.items(state)),
                dict(MESSAGE.items(state)), asked,
            )  # fmt: skip

    return Collector()


def _turned(left: _Left, question: str, text: str, session: str, timings: dict[str, float]) -> Turned:
    call = next(reversed(left.answers), None)
    if call is None:
        # Words without a question to the data: thanks, a list of agents.
        words = Answer(question=question, outcome="answered", complete=True, blocks=[TextBlock(text=text)])
        return Turned(words, None, None, Message(text=text), session, timings)
    message = Message(text=text) if text else left.messages.get(call, Message(text=""))
    return Turned(left.answers[call], left.summaries.get(call), left.charts.get(call), message, session, timings)


@contextmanager
def _said_plainly(settings: Settings) -> Iterator[None]:
    """Say what the libraries raise in words that a person can act on."""
    try:
        yield
    except (sqlite3.Error, RuntimeError, ValueError) as error:
        plain = _plain(error, settings) or _plain(error.__cause__, settings)  # ADK wraps what a plugin or store raises
        if plain is None:
            raise
        raise plain from error


def _plain(error: BaseException | None, settings: Settings) -> AskhouseError | None:
    stale = type(error).__name__ == "StaleSessionError"  # the class is in a private module of ADK
    if stale or (isinstance(error, sqlite3.Error) and "locked" in str(error)):
        return BusyError("This session is busy in another window.", "Ask again when that one has answered.")
    return _unusable(settings, error) if isinstance(error, sqlite3.Error) else None


def _unusable(settings: Settings, error: Exception) -> StorageError:
    return StorageError(
        f"The data folder {settings.home} cannot be used: {error}.",
        "Set ASKHOUSE_HOME to a folder that can be written.",
    )


class _Watch:
    """Milliseconds since the start, noted once per name."""

    def __init__(self) -> None:
        self._start = time.perf_counter()
        self.ms: dict[str, float] = {}

    def note(self, name: str) -> None:
        self.ms.setdefault(name, round((time.perf_counter() - self._start) * 1000, 1))
