"""SQLite files that several processes write: their journal."""

from __future__ import annotations

import sqlite3
import time

_PATIENCE_SECONDS = 10.0


def write_ahead(connection: sqlite3.Connection) -> None:
    """Let readers and a writer of the file go on beside each other (WAL), which the file then remembers.

    Unlike every other statement, the change of the journal does not wait for a lock, but fails at once where another
    process has the file open for writing; so the waiting is done here. Raises sqlite3.OperationalError after ten
    seconds.
    """
    until = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(0.02)
