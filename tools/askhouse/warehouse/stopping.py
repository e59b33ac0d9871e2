"""Stopping a query that nobody waits for any more."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from threading import Lock, Timer
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_AGAIN_SECONDS = 0.05

_current: ContextVar[_Stop | None] = ContextVar("stop", default=None)


class _Stop:
    """One piece of work in another thread, and how to stop what it is doing at the moment."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._stopped = False
        self._ways: list[Callable[[], None]] = []

    def stop(self) -> None:
        """Let nothing more begin, and stop what runs: again and again, since a query that is just about to begin
        forgets that it was interrupted."""
        with self._lock:
            self._stopped = True
            for way in self._ways:
                way()
            if self._ways:
                again = Timer(_AGAIN_SECONDS, self.stop)
                again.daemon = True
                again.start()

    @contextmanager
    def by(self, way: Callable[[], None]) -> Iterator[None]:
        with self._lock:
            if self._stopped:
                raise StoppedError
            self._ways.append(way)
        try:
            yield
        finally:
            with self._lock:
                self._ways.remove(way)


class StoppedError(Exception):
    """Nobody waits for the query any more."""


@contextmanager
def stoppable(way: Callable[[], None]) -> Iterator[None]:
    """While this lasts, `way` is called when whoever waits for this thread's work gives up."""
    current = _current.get()
    if current is None:
        yield
        return
    with current.by(way):
        yield


async def in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Do the work off the event loop; when the task that waits for it is cancelled, its query is stopped."""
    stop = _Stop()
    context = copy_context()
    context.run(_current.set, stop)
    try:
        return await asyncio.get_running_loop().run_in_executor(None, lambda: context.run(work, *args, **kwargs))
    except asyncio.CancelledError:
        stop.stop()
        raise
