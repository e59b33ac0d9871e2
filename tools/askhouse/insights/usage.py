"""What each user asked and billed today, where a limit of it is set: one row a user and day, in the data folder."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from ..errors import QueryLimitError, StorageError
from ..journal import write_ahead
from ..settings import Settings

DATABASE = "usage.db"
_KEPT_DAYS = 40
_SCHEMA = """
CREATE TABLE IF NOT EXISTS usage (
    user TEXT, day TEXT, questions INTEGER NOT NULL DEFAULT 0, bytes INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (user, day)
)
"""


def is_counted(settings: Settings) -> bool:
    """Whether a limit per day is set."""
    return bool(settings.daily_questions or settings.daily_bytes)


def take_question(settings: Settings, user: str) -> None:
    """Count a question, unless that or what was billed is too much for today. Blocks on the disk.

    Raises QueryLimitError, which says how to go on, and StorageError.
    """
    with _usage(settings.home) as connection:
        today = _today()
        row = connection.execute("SELECT questions, bytes FROM usage WHERE user = ? AND day = ?", (user, today))
        questions, billed = row.fetchone() or (0, 0)
        if settings.daily_questions and questions >= settings.daily_questions:
            raise _limit(f"{questions:,} of {settings.daily_questions:,} questions", "ASKHOUSE_DAILY_QUESTIONS")
        if settings.daily_bytes and billed >= settings.daily_bytes:
            raise _limit(f"{billed:,} of {settings.daily_bytes:,} bytes billed", "ASKHOUSE_DAILY_BYTES")
        _add(connection, user, today, 1, 0)
        oldest = datetime.fromtimestamp(datetime.now(UTC).timestamp() - _KEPT_DAYS * 86_400, UTC)
        connection.execute("DELETE FROM usage WHERE day < ?", (f"{oldest:%Y-%m-%d}",))


def add_bytes(settings: Settings, user: str, billed: int) -> None:
    """Count what an answer billed. Blocks on the disk. Raises StorageError."""
    with _usage(settings.home) as connection:
        _add(connection, user, _today(), 0, billed)


def _add(connection: sqlite3.Connection, user: str, day: str, questions: int, billed: int) -> None:
    connection.execute(
        "INSERT INTO usage VALUES (?1, ?2, ?3, ?4) ON CONFLICT (user, day)"
        " DO UPDATE SET questions = questions + ?3, bytes = bytes + ?4",
        (user, day, questions, billed),
    )


def _limit(used: str, setting: str) -> QueryLimitError:
    return QueryLimitError(
        f"Today's limit is reached: {used} ({setting}).",
        f"Ask again tomorrow (the day is UTC's), or have {setting} raised.",
    )


def _today() -> str:
    return f"{datetime.now(UTC):%Y-%m-%d}"


@contextmanager
def _usage(home: Path) -> Iterator[sqlite3.Connection]:
    """One transaction that no other process can come between."""
    try:
        home.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(home / DATABASE, timeout=20, isolation_level=None)) as connection:
            write_ahead(connection)
            connection.execute(_SCHEMA)
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")
    except (OSError, sqlite3.Error) as error:
        raise StorageError(
            f"Today's usage cannot be kept in {home}: {error}.", "Set ASKHOUSE_HOME to a folder of yours."
        ) from error
