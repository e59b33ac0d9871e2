"""A fair share of the service's quota: so many chats a minute, and nobody waits behind another's crowd."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from functools import cache
from threading import Lock

_LOOK_SECONDS = 1.0
_REMEMBERED_WINDOWS = 3
"""Whoever had much of the last minutes lets others go first."""


@dataclass(eq=False)
class _Ticket:
    user: str
    number: int
    granted: bool = False


@dataclass
class Quota:
    """At most `limit` chats begin within any `window` seconds. Whoever has begun or waits for the fewest goes first,
    then whoever came first. One is shared by all threads and event loops of a process."""

    limit: int
    window: float = 60.0
    _lock: Lock = field(default_factory=Lock, repr=False)
    _begun: deque[tuple[float, str]] = field(default_factory=deque, repr=False)
    _waiting: list[_Ticket] = field(default_factory=list, repr=False)
    _numbers: int = 0

    async def turn(self, user: str) -> AsyncGenerator[float]:
        """Return when it is this user's turn; until then, yield about how many seconds are left whenever that changes.
        Whoever stops iterating leaves the queue."""
        ticket = self._queue(user)
        told: float | None = None
        try:
            while (seconds := self._seconds_left(ticket)) > 0:
                if told is None or abs(seconds - told) >= self.window / 10:
                    told = seconds
                    yield seconds
                await asyncio.sleep(min(seconds, _LOOK_SECONDS))
        finally:
            with self._lock:
                if not ticket.granted:
                    self._waiting.remove(ticket)

    def _queue(self, user: str) -> _Ticket:
        with self._lock:
            self._numbers += 1
            ticket = _Ticket(user, self._numbers)
            self._waiting.append(ticket)
            return ticket

    def _seconds_left(self, ticket: _Ticket) -> float:
        """0 when the ticket's turn has come, which then counts as begun."""
        with self._lock:
            now = time.monotonic()
            while self._begun and self._begun[0][0] <= now - _REMEMBERED_WINDOWS * self.window:
                self._begun.popleft()
            ends = [left for moment, _ in self._begun if (left := moment + self.window - now) > 0]
            position = self._order().index(ticket)
            free = self.limit - len(ends)
            if position < free:
                ticket.granted = True
                self._waiting.remove(ticket)
                self._begun.append((now, ticket.user))
                return 0.0
            rounds, place = divmod(position - free, self.limit)
            until = ends[place] if place < len(ends) else self.window
            return max(until + rounds * self.window, 0.001)

    def _order(self) -> list[_Ticket]:
        """The waiting tickets, next first."""
        before = Counter(user for _, user in self._begun)
        ranked = []
        for ticket in sorted(self._waiting, key=lambda waiting: waiting.number):
            ranked.append((before[ticket.user], ticket.number, ticket))
            before[ticket.user] += 1
        return [ticket for _, _, ticket in sorted(ranked, key=lambda entry: entry[:2])]


@cache
def quota_of(project: str, limit: int) -> Quota:
    """The quota of a project in this process."""
    return Quota(limit)
