"""The emulator behind its doors: one warehouse, one store, one clock, shared by gRPC and REST."""

from __future__ import annotations

from datetime import datetime, time
from pathlib import Path
from zoneinfo import ZoneInfo

from ..settings import Settings
from ..warehouse.base import Warehouse
from .agents import Agents
from .chat import Chat
from .conversations import Conversations
from .jobs import JobStore
from .planner.clock import Clock
from .store import Store


class Core:
    """What every door serves."""

    def __init__(self, home: Path, warehouse: Warehouse, clock: Clock) -> None:
        self.warehouse = warehouse
        self.jobs = JobStore(home)
        store = Store(home)
        self.agents = Agents(store)
        self.conversations = Conversations(store)
        self.chat = Chat(warehouse, self.jobs, self.agents, self.conversations, clock)


def clock_of(settings: Settings) -> Clock:
    """The clock that the settings ask for."""
    if settings.today is None:
        return Clock(None, settings.time_zone)
    return Clock(datetime.combine(settings.today, time(12), ZoneInfo(settings.time_zone)), settings.time_zone)
