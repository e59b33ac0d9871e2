"""One turn at a time in a session: a second message waits for the first one's turn to end.

Without it two turns of one session interleave, and ADK's stores end one of them with a StaleSessionError, which leaves
a tool call without its answer. In one process a lock a session orders them; processes that share a PostgreSQL are
ordered by an advisory lock of the database, which it frees when the holder's connection dies.
"""

from __future__ import annotations

import asyncio
import hashlib
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

from google.adk.agents.invocation_context import InvocationContext
from google.adk.plugins.base_plugin import BasePlugin
from google.genai import types

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from sqlalchemy.ext.asyncio import AsyncEngine

_KEEP_ALIVE = {"tcp_keepalives_idle": "4", "tcp_keepalives_interval": "2", "tcp_keepalives_count": "2"}
"""Seconds, so that the database notices within ten that a holder's machine is gone."""

_Key = tuple[int, str, str, str]


class OneTurnAtATime(BasePlugin):
    """Serialises the turns of each session, in order of arrival."""

    def __init__(self) -> None:
        super().__init__(name="one_turn_at_a_time")
        self._locks: dict[_Key, _Lock] = {}
        self._held: dict[str, AsyncExitStack] = {}

    async def on_user_message_callback(
        self, *, invocation_context: InvocationContext, user_message: types.Content
    ) -> None:
        """Wait for this session's turn, before the message is stored, then take in what the turn before it left."""
        turn = AsyncExitStack()
        await turn.enter_async_context(self._alone(_key(invocation_context)))
        try:
            await turn.enter_async_context(_alone_in_database(invocation_context))
            await _reload(invocation_context)
        except BaseException:
            await turn.aclose()
            raise
        self._held[invocation_context.invocation_id] = turn
        self._release_with_task(invocation_context.invocation_id)

    async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:
        await self._release(invocation_context.invocation_id)

    async def on_run_error_callback(self, *, invocation_context: InvocationContext, error: Exception) -> None:
        await self._release(invocation_context.invocation_id)

    def _release_with_task(self, invocation_id: str) -> None:
        """Release when the task ends, too: a cancelled run calls neither of the callbacks."""
        if task := asyncio.current_task():
            loop = asyncio.get_running_loop()
            task.add_done_callback(lambda _: _soon(loop, self._release(invocation_id)))

    async def _release(self, invocation_id: str) -> None:
        if turn := self._held.pop(invocation_id, None):
            await turn.aclose()

    @asynccontextmanager
    async def _alone(self, key: _Key) -> AsyncIterator[None]:
        lock = self._locks.setdefault(key, _Lock())
        lock.wanted += 1
        try:
            async with lock.lock:
                yield
        finally:
            lock.wanted -= 1
            if not lock.wanted:
                self._locks.pop(key, None)


class _Lock:
    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.wanted = 0
        """Turns that hold it or wait for it; at 0 it can be forgotten."""


def _key(context: InvocationContext) -> _Key:
    session = context.session
    # An asyncio lock belongs to one loop; turns in two loops of a process meet in the store's own check.
    return id(asyncio.get_running_loop()), session.app_name, session.user_id, session.id


@asynccontextmanager
async def _alone_in_database(context: InvocationContext) -> AsyncIterator[None]:
    """Hold the session's advisory lock, where sessions are in PostgreSQL."""
    engine: AsyncEngine | None = getattr(context.session_service, "db_engine", None)
    if engine is None or engine.dialect.name != "postgresql":
        yield
        return
    from sqlalchemy import text

    number = {"key": _number("\0".join(_key(context)[1:]))}
    # Not the pool's: waiting turns would use up its connections, and the running one could not store its events.
    async with _own_connections(engine).connect() as connection:
        await connection.execute(text("SELECT pg_advisory_lock(:key)"), number)
        await connection.commit()  # the lock is the connection's, not the transaction's
        try:
            yield
        finally:
            await connection.execute(text("SELECT pg_advisory_unlock(:key)"), number)


def _own_connections(engine: AsyncEngine) -> AsyncEngine:
    from sqlalchemy.ext.asyncio import create_async_engine
    from sqlalchemy.pool import NullPool

    options = {"connect_args": {"server_settings": _KEEP_ALIVE}} if engine.driver == "asyncpg" else {}
    return create_async_engine(engine.url, poolclass=NullPool, **options)


def _number(name: str) -> int:
    """A 64-bit number of a session, as PostgreSQL's advisory locks take one."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big", signed=True)


async def _reload(context: InvocationContext) -> None:
    """Bring the session object of this run up to date, in place: the run holds on to it."""
    session = context.session
    fresh = await context.session_service.get_session(
        app_name=session.app_name, user_id=session.user_id, session_id=session.id
    )
    if fresh is None or fresh is session:
        return
    session.events[:] = fresh.events
    temp = {key: value for key, value in session.state.items() if key.startswith("temp:")}
    session.state.clear()
    session.state.update(fresh.state | temp)
    session.last_update_time = fresh.last_update_time
    if hasattr(fresh, "_storage_update_marker"):
        session._storage_update_marker = fresh._storage_update_marker


def _soon(loop: asyncio.AbstractEventLoop, release: Any) -> None:
    if loop.is_closed():
        release.close()
    else:
        task = loop.create_task(release)
        _pending.add(task)
        task.add_done_callback(_pending.discard)


_pending: set[asyncio.Task[None]] = set()
"""Releases under way; a loop keeps only weak references to its tasks."""
