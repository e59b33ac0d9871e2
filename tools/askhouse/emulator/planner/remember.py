"""What was measured of the tables, kept in a file, so that the next process need not measure again."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from contextlib import suppress
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from ...warehouse.base import Rows, Warehouse

_READ: dict[str, Callable[[str], Any]] = {
    "moment": datetime.fromisoformat,
    "day": date.fromisoformat,
    "number": Decimal,
}


class Remembering:
    """A warehouse whose answers are remembered in one file, until the warehouse's version changes.

    A folder that cannot be written, or a file that cannot be read, costs time and nothing else.
    """

    def __init__(self, warehouse: Warehouse, folder: Path) -> None:
        self._warehouse = warehouse
        token = hashlib.sha256(warehouse.version().encode()).hexdigest()[:16]
        self._file = folder / f"measured-{token}.json"
        self._known: dict[str, list[list[Any]]] = {}
        self._changed = False
        with suppress(OSError, ValueError):
            self._known = json.loads(self._file.read_text("utf-8"))

    def query(self, sql: str) -> Rows:
        """The rows of a query, remembered or new."""
        if sql in self._known:
            rows = [tuple(_from_json(cell) if type(cell) is dict else cell for cell in row) for row in self._known[sql]]
            return Rows((), rows, len(rows))
        found = self._warehouse.query(sql)
        self._known[sql] = [[_to_json(cell) for cell in row] for row in found.rows]
        self._changed = True
        return found

    def save(self) -> None:
        """Write what is new; files of older versions go."""
        if not self._changed:
            return
        with suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            draft = self._file.with_suffix(f".{os.getpid()}")
            draft.write_text(json.dumps(self._known, ensure_ascii=False), "utf-8")
            draft.replace(self._file)
            for old in self._file.parent.glob("measured-*.json"):
                if old != self._file:
                    old.unlink(missing_ok=True)


def _to_json(cell: Any) -> Any:
    if isinstance(cell, datetime):
        return {"moment": cell.isoformat()}
    if isinstance(cell, date):
        return {"day": cell.isoformat()}
    return {"number": str(cell)} if isinstance(cell, Decimal) else cell


def _from_json(cell: dict[str, str]) -> Any:
    kind, text = next(iter(cell.items()))
    return _READ[kind](text)
