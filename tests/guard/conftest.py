"""Session stores of every kind, PostgreSQL included."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from google.adk.sessions.base_session_service import BaseSessionService

from askhouse.guard.sessions import guarded_session_service

STORES = ("memory", "sqlite", "database", "postgres")


@pytest.fixture(params=STORES)
def store_uri(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Each kind of store, as the flag of `adk web` names it."""
    return {
        "memory": lambda: "memory://",
        "sqlite": lambda: f"sqlite:///{tmp_path / 'sessions.db'}",
        "database": lambda: f"sqlite+aiosqlite:///{tmp_path / 'database.db'}",
        "postgres": lambda: request.getfixturevalue("postgres_url"),
    }[request.param]()


@pytest.fixture
async def sessions(store_uri: str) -> AsyncIterator[BaseSessionService]:
    """A guarded session service on each store."""
    service = guarded_session_service(store_uri)
    yield service
    if hasattr(service, "db_engine"):
        await service.db_engine.dispose()
