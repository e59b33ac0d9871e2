"""Every change of a session's state, and the event that made it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from google.adk.events.event import Event
from google.adk.sessions.session import Session

from .plugin import ROOT, WRITERS


@dataclass(frozen=True)
class Change:
    """One key that one event changed. `old` is None where the key was not set before within this session."""

    key: str
    old: Any
    new: Any
    event: str
    time: datetime
    author: str
    """Who the event is of: the person (`user`) or the application."""
    writer: str
    """The step or tool that wrote the key; `client` where it came from outside."""


def changes_of(session: Session, key: str | None = None) -> Iterator[Change]:
    """The changes of a session's state, oldest first; of one key where `key` names it.

    `temp:` keys are never stored, and so never appear. What `user:` and `app:` keys held before this session is not
    among its events.
    """
    known: dict[str, Any] = {}
    for event in session.events:
        for changed, new in event.actions.state_delta.items():
            if key in (None, changed):
                yield _change(event, changed, known.get(changed), new)
            known[changed] = new


def kind_of(event: Event) -> str:
    """What an event is, in a word or two."""
    if event.get_function_calls():
        return "tool call"
    if event.get_function_responses():
        return "tool result"
    if event.content and event.content.parts and event.content.parts[0].text:
        return "streaming chunk" if event.partial else "complete text"
    if event.actions.state_delta or event.actions.artifact_delta:
        return "state or artifact change"
    return "control"


def _change(event: Event, key: str, old: Any, new: Any) -> Change:
    writers = (event.custom_metadata or {}).get(WRITERS, {})
    writer = writers.get(key) or ("client" if event.author == "user" else ROOT)
    return Change(key, old, new, event.id, datetime.fromtimestamp(event.timestamp, UTC), event.author, writer)
