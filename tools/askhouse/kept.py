"""What is kept between turns, seen from outside a run: sessions, and the state of a person."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from state_contracts import StateKey

from .errors import StorageError, UsageError
from .settings import Settings

if TYPE_CHECKING:
    from google.adk.sessions.base_session_service import BaseSessionService
    from google.adk.sessions.session import Session

APP_NAME = "data_analyst"
LAST = "last"
_CHECK = "Check the address given with --sessions, and that the database is running."
T = TypeVar("T")


class Kept:
    """The sessions and the state of one person in one store."""

    def __init__(self, service: BaseSessionService, settings: Settings) -> None:
        self._service = service
        self._settings = settings
        self._who: dict[str, Any] = {"app_name": APP_NAME, "user_id": settings.user}

    async def sessions(self) -> list[Session]:
        """All sessions, most recent first, without their events."""
        listed = await self._service.list_sessions(**self._who)
        return sorted(listed.sessions, key=lambda session: session.last_update_time, reverse=True)

    async def session(self, session_id: str) -> Session:
        """One session with its events; `last` names the most recent one. Raises UsageError when there is none."""
        if session_id == LAST and (recent := await self.sessions()):
            session_id = recent[0].id
        found = await self._service.get_session(**self._who, session_id=session_id)
        if found is None:
            raise UsageError(f"There is no session {session_id!r} here.", "`askhouse sessions list` lists them.")
        return found

    async def delete(self, session_id: str) -> str:
        """Delete one session with its events, and what a service remembers of it; its id.

        Raises UsageError when there is none, and ServiceError when the service cannot forget; nothing is deleted then.
        """
        from .guard.leaving import forget_in_service

        session = await self.session(session_id)
        await forget_in_service(session, self._settings)
        await self._service.delete_session(**self._who, session_id=session.id)
        return session.id

    async def expire(self, age: timedelta) -> list[str]:
        """Delete the sessions that nothing happened in for longer than `age`; their ids."""
        before = (datetime.now(UTC) - age).timestamp()
        old = [session.id for session in await self.sessions() if session.last_update_time < before]
        for session_id in old:
            await self.delete(session_id)
        return old

    async def read(self, key: StateKey[T]) -> T | None:
        """A `user:` value. Raises ContractError when what is stored is not the key's."""
        state = await self._service.get_user_state(**self._who)
        return key.read({f"user:{name}": value for name, value in state.items()})

    async def write(self, key: StateKey[T], value: T | None) -> None:
        """Store a `user:` value; None clears it.

        ADK writes state by events of a session only, so one is opened for it and closed again; the value stays.
        """
        from google.adk.events.event import Event
        from google.adk.events.event_actions import EventActions

        delta: dict[str, Any] = {}
        key.clear(delta) if value is None else key.write(delta, value)
        session = await self._service.create_session(**self._who)
        try:
            event = Event(author=key.writers[0], actions=EventActions(state_delta=delta))
            await self._service.append_event(session, event)
        finally:
            await self._service.delete_session(**self._who, session_id=session.id)


@asynccontextmanager
async def kept(settings: Settings, uri: str | None = None) -> AsyncIterator[Kept]:
    """What is kept for the settings' user, in this laptop's store or in the one that `uri` names."""
    from .guard.sessions import guarded_session_service

    if uri is None:
        settings.home.mkdir(parents=True, exist_ok=True)
    with _said_plainly(uri):
        service = guarded_session_service(uri or settings.sessions_uri)
    try:
        with _said_plainly(uri):
            yield Kept(service, settings)
    finally:
        if engine := getattr(service, "db_engine", None):
            await engine.dispose()


@contextmanager
def _said_plainly(uri: str | None) -> Iterator[None]:
    """Say in one sentence that a database cannot be used. Its address is shown without the password, and what the
    driver says is not shown at all where it may repeat it."""
    if uri is None or uri.startswith("memory:"):
        yield
        return
    where = re.sub(r"//[^/]*@", "//…@", uri).partition("?")[0]
    try:
        yield
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise StorageError(f"The session store {where} cannot be reached: {reason}.", _CHECK) from error
    except Exception as error:
        if not _of_database(error):
            raise
        raise StorageError(f"The session store {where} cannot be used ({type(error).__name__}).", _CHECK) from error


def _of_database(error: BaseException | None) -> bool:
    """Whether a driver or SQLAlchemy is at the root of an error."""
    while error is not None:
        if type(error).__module__.partition(".")[0] in ("asyncpg", "sqlalchemy", "sqlite3", "aiosqlite"):
            return True
        error = error.__cause__
    return False
