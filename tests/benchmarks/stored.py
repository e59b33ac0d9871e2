"""How many bytes a store of sessions holds."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path


def stored_bytes(path: Path) -> int:
    """Bytes of all values of all rows: what the pages of the file hold, without their slack."""
    with closing(sqlite3.connect(path)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        return sum(_bytes_of(connection, table) for table in tables)


def _bytes_of(connection: sqlite3.Connection, table: str) -> int:
    columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
    sizes = " + ".join(f'COALESCE(LENGTH(CAST("{column}" AS BLOB)), 0)' for column in columns)
    return int(connection.execute(f'SELECT COALESCE(SUM({sizes}), 0) FROM "{table}"').fetchone()[0])
