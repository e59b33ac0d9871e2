"""A file that another process is writing: the change of its journal waits."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

from askhouse.journal import write_ahead


def test_the_change_waits_for_a_writer(tmp_path: Path) -> None:
    file = tmp_path / "shared.db"
    with closing(sqlite3.connect(file, check_same_thread=False)) as writer, closing(sqlite3.connect(file)) as other:
        writer.execute("BEGIN EXCLUSIVE")
        done = threading.Timer(0.2, writer.rollback)
        done.start()
        write_ahead(other)
        done.join()
        assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)
