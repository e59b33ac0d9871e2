"""What the emulator remembers: agents, conversations and operations, in one SQLite file that processes share."""

from __future__ import annotations

import builtins
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from ..errors import StorageError
from ..journal import write_ahead
from .jobs import DATABASE

_SCHEMA = """
CREATE TABLE IF NOT EXISTS data_agents (name TEXT PRIMARY KEY, body TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS operations (name TEXT PRIMARY KEY, body TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS conversations (name TEXT PRIMARY KEY, body TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS messages (
    position INTEGER PRIMARY KEY, conversation TEXT NOT NULL, message_id TEXT NOT NULL, body TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS messages_of ON messages (conversation, position);
"""


class Store:
    """Resources by name, as JSON text. Every call is one transaction on a connection of its own, so that any thread
    may make it and a killed process leaves nothing half done."""

    def __init__(self, home: Path) -> None:
        self._path = home / DATABASE
        try:
            home.mkdir(parents=True, exist_ok=True)
            with self._connection() as connection:
                write_ahead(connection)
                connection.executescript(_SCHEMA)
        except (OSError, sqlite3.Error) as error:
            raise StorageError(
                f"The folder {home} cannot be written: {error}.", "Set ASKHOUSE_HOME to a folder of yours."
            ) from error

    def add(self, table: str, name: str, body: str) -> bool:
        """Keep a new resource; False when the name is taken."""
        with self._connection() as connection:
            try:
                connection.execute(f"INSERT INTO {table} VALUES (?, ?)", (name, body))
            except sqlite3.IntegrityError:
                return False
        return True

    def put(self, table: str, name: str, body: str) -> None:
        """Keep a resource, new or not."""
        with self._connection() as connection:
            connection.execute(f"INSERT OR REPLACE INTO {table} VALUES (?, ?)", (name, body))

    def get(self, table: str, name: str) -> str | None:
        """The resource of that name."""
        with self._connection() as connection:
            row = connection.execute(f"SELECT body FROM {table} WHERE name = ?", (name,)).fetchone()
        return row[0] if row else None

    def list(self, table: str, prefix: str) -> dict[str, str]:
        """The resources whose name begins so, by name."""
        with self._connection() as connection:
            rows = connection.execute(
                f"SELECT name, body FROM {table} WHERE substr(name, 1, ?) = ? ORDER BY name", (len(prefix), prefix)
            ).fetchall()
        return dict(rows)

    def add_messages(self, conversation: str, messages: Iterable[tuple[str, str]]) -> None:
        """Keep messages, each an id and a body, at the end of a conversation that exists."""
        with self._connection() as connection:
            connection.executemany(
                "INSERT INTO messages (conversation, message_id, body)"
                " SELECT ?1, ?2, ?3 WHERE EXISTS (SELECT 1 FROM conversations WHERE name = ?1)",
                [(conversation, message_id, body) for message_id, body in messages],
            )

    def messages(self, conversation: str) -> builtins.list[tuple[str, str]]:
        """The ids and bodies of a conversation's messages, oldest first."""
        with self._connection() as connection:
            return connection.execute(
                "SELECT message_id, body FROM messages WHERE conversation = ? ORDER BY position", (conversation,)
            ).fetchall()

    def delete_conversation(self, name: str) -> None:
        """Forget a conversation with its messages."""
        with self._connection() as connection:
            connection.execute("DELETE FROM messages WHERE conversation = ?", (name,))
            connection.execute("DELETE FROM conversations WHERE name = ?", (name,))

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self._path, timeout=20)) as connection, connection:
            yield connection
