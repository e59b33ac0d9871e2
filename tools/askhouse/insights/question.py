"""What is asked, of what, after what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from state_contracts import Turn

from ..warehouse.base import TableRef


@dataclass(frozen=True)
class TablesContext:
    """Tables asked directly."""

    tables: tuple[TableRef, ...]


@dataclass(frozen=True)
class AgentContext:
    """A saved data agent, by its resource name."""

    agent: str


@dataclass(frozen=True)
class ConversationContext:
    """A conversation that the service remembers, with the saved data agent that it belongs to; both by their
    resource names."""

    conversation: str
    agent: str


Context = TablesContext | AgentContext | ConversationContext
"""What is asked: exactly one of the API's three ways."""


@dataclass(frozen=True)
class Question:
    """One question. `history` holds the earlier turns, oldest first, that the service itself does not remember."""

    text: str
    context: Context
    history: Sequence[Turn] = ()
    original: str = ""
    """The person's words, where `text` is their completion."""
    user: str = ""
    """Who asks, for limits and for a fair share of the quota; empty for the settings' user."""
