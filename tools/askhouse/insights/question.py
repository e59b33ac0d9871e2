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
class Question:
    """One question. `history` holds the earlier turns, oldest first: the service itself remembers none."""

    text: str
    context: TablesContext | AgentContext
    history: Sequence[Turn] = ()
    original: str = ""
    """The person's words, where `text` is their completion."""
