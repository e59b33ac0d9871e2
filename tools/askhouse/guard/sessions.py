"""Session services that check what comes from outside a run.

A client can write state through three doors that no plugin ever sees: the creation of a session, `stateDelta` of
`/run`, and `PATCH …/sessions/{id}`. Here each is closed, with HTTP 400 and nothing changed, except for keys that name
`client` among their writers. `agents/services.py` registers these services for the usual URI schemes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from google.adk.events._internal_metadata import RESTORED_EVENT_KEY
from google.adk.events.event import Event
from google.adk.sessions.base_session_service import BaseSessionService
from google.adk.sessions.in_memory_session_service import InMemorySessionService
from google.adk.sessions.session import Session
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from starlette.exceptions import HTTPException

from state_contracts import CONTRACTS, Violation, check_delta

from ..errors import MissingPartError, UsageError
from .leaving import forget_for_client
from .plugin import FOREIGN

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncEngine

CLIENT = "client"
SCHEMES = ("memory", "sqlite", "sqlite+aiosqlite", "postgresql", "postgresql+asyncpg")
_ADDRESSES = "Write sqlite:////FILE or postgresql+asyncpg://USER@HOST/DATABASE."
MAX_TITLE = 4_000
"""Bytes of a session's name."""
TITLE = "__session_metadata__"
"""ADK's key of a session's display name. A rename sends the whole state with it, which must not revert newer values."""


class RequestRefusedError(HTTPException, ValueError):
    """A client sent what it may not; answered with HTTP 400, nothing changed."""

    def __init__(self, detail: str) -> None:
        super().__init__(400, detail)

    def __str__(self) -> str:
        return str(self.detail)


class StateRefusedError(RequestRefusedError):
    """A client tried to change state that is not its to change."""

    def __init__(self, violations: list[Violation]) -> None:
        super().__init__(f"{violations[0]} Leave state out of the request; nothing was changed.")


class _Gate(BaseSessionService):
    """Checks state changes that arrive from outside, before the service sees them."""

    guarded = True
    leaving: Callable[[Session], Awaitable[None]] | None = None
    """What is done before a session is deleted; when it fails, the session stays."""

    async def create_session(
        self, *, app_name: str, user_id: str, state: dict[str, Any] | None = None, session_id: str | None = None
    ) -> Session:
        _refuse(check_delta(state or {}, CLIENT, CONTRACTS, foreign=(TITLE,)))
        if TITLE in (state or {}):
            _check_title((state or {})[TITLE])
        return await super().create_session(  # type: ignore[safe-super]  # the service beside this class has it
            app_name=app_name, user_id=user_id, state=state, session_id=session_id
        )

    async def append_event(self, session: Session, event: Event) -> Event:
        if event.author != "user" and (event.custom_metadata or {}).get(RESTORED_EVENT_KEY):
            # A client gave it at the session's creation: words that no agent said, results of queries that never ran.
            raise RequestRefusedError("A client cannot write an event of an agent. Leave events out of the request.")
        if event.author == "user" and event.actions.state_delta:
            _admit(event)
        return await super().append_event(session, event)

    async def delete_session(self, app_name: str, user_id: str, session_id: str) -> None:
        if self.leaving is not None:
            session = await self.get_session(app_name=app_name, user_id=user_id, session_id=session_id)
            if session is not None:
                await self.leaving(session)
        await super().delete_session(  # type: ignore[safe-super]  # the service beside this class has it
            app_name=app_name, user_id=user_id, session_id=session_id
        )


class GuardedInMemorySessionService(_Gate, InMemorySessionService):
    """Sessions in this process only."""


class GuardedSqliteSessionService(_Gate, SqliteSessionService):
    """Sessions in an SQLite file."""


def guarded_session_service(uri: str, **options: Any) -> BaseSessionService:
    """The guarded service of a session URI: `memory://`, `sqlite:///FILE`, or what SQLAlchemy can name.

    Raises MissingPartError when a database is named and SQLAlchemy or its driver is not installed.
    """
    options.pop("agents_dir", None)
    scheme, _, path = uri.partition("://")
    if scheme == "memory" or (scheme == "sqlite" and not path.strip("/")):
        return GuardedInMemorySessionService()
    if scheme not in SCHEMES and not _named_by_sqlalchemy(scheme):
        raise UsageError("That address of a session store is of no known kind.", _ADDRESSES)
    if scheme == "sqlite":
        return GuardedSqliteSessionService(uri)
    return _database_service(uri, options)


def register_session_services() -> None:
    """Put the guarded services in the place of ADK's own, for the URI schemes that people use."""
    from google.adk.cli.service_registry import get_service_registry

    for scheme in SCHEMES:
        get_service_registry().register_session_service(scheme, _served)


def _served(uri: str, **options: Any) -> BaseSessionService:
    service = guarded_session_service(uri, **options)
    service.leaving = forget_for_client  # type: ignore[attr-defined]
    return service


def _named_by_sqlalchemy(scheme: str) -> bool:
    try:
        from sqlalchemy.engine.url import make_url

        make_url(f"{scheme}://").get_dialect()
    except Exception:  # nothing of the kind, or SQLAlchemy is missing
        return False
    return True


def _database_service(url: str, options: dict[str, Any]) -> BaseSessionService:
    try:
        from google.adk.sessions.database_session_service import DatabaseSessionService

        class GuardedDatabaseSessionService(_Gate, DatabaseSessionService):
            """Sessions in a database."""

        service = GuardedDatabaseSessionService(db_url=url, **options)
    except (ImportError, ValueError) as error:
        if "not found" not in str(error) and not isinstance(error, ImportError):
            raise UsageError("That address of a session store cannot be read.", _ADDRESSES) from error
        raise MissingPartError(
            "Sessions in a database need SQLAlchemy and a driver.", "pip install 'askhouse[postgres]'"
        ) from error
    if service.db_engine.dialect.name == "sqlite":
        _take_turns_writing(service.db_engine)
    return service


def _take_turns_writing(engine: AsyncEngine) -> None:
    """Let a transaction wait for the one before it from its first word.

    ADK reads a person's state, adds to it and writes it back in one transaction. PostgreSQL locks the row meanwhile;
    SQLite, left to itself, would let two read the same state, and the second would write over what the first added.
    """
    from sqlalchemy import event

    @event.listens_for(engine.sync_engine, "connect")
    def leave_transactions_to_us(connection: Any, _: Any) -> None:
        connection.isolation_level = None

    @event.listens_for(engine.sync_engine, "begin")
    def begin(connection: Any) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def _admit(event: Event) -> None:
    """Let an outside change through, cut to what it may change, or refuse it."""
    delta: Mapping[str, Any] = event.actions.state_delta
    if TITLE in delta:
        _check_title(delta[TITLE])
        event.actions.state_delta = {TITLE: delta[TITLE]}
    elif event.actions.rewind_before_invocation_id:
        # ADK computed it from the session's own history: only the values must still keep their contracts.
        _refuse(check_delta(delta, None, CONTRACTS, foreign=FOREIGN))
    else:
        _refuse(check_delta(delta, CLIENT, CONTRACTS))


def _check_title(title: Any) -> None:
    """A title is `{"displayName": TEXT}`; it travels with every listing of sessions."""
    name = title.get("displayName", "") if isinstance(title, dict) else None
    if not isinstance(name, str) or set(title) - {"displayName"}:
        raise RequestRefusedError(f"{TITLE} holds a displayName, which is a text. Nothing was changed.")
    if len(name.encode("utf-8", "replace")) > MAX_TITLE:
        raise RequestRefusedError(f"A session's name may have {MAX_TITLE:,} bytes. Nothing was changed.")


def _refuse(violations: list[Violation]) -> None:
    if violations:
        raise StateRefusedError(violations)
