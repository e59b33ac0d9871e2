"""The person's own tables: one immutable Parquet file and one catalogue row for each, in the data folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from .base import Column, Table, TableRef
from .catalogue import LOCAL_PROJECT, USER_DATASET, Stored


def tables_folder(home: Path) -> Path:
    """Where the person's tables lie."""
    return home / USER_DATASET


def loaded_tables(home: Path) -> dict[TableRef, Stored]:
    """The person's tables as the catalogue rows describe them now."""
    rows = (_read_row(path) for path in sorted(tables_folder(home).glob("*.json")))
    return {row.table.ref: row for row in rows if row is not None}


def loaded_token(home: Path) -> str:
    """Changes whenever a table is loaded, replaced or forgotten."""
    return " ".join(path.name for path in sorted(tables_folder(home).glob("*.parquet")))


def _read_row(path: Path) -> Stored | None:
    """The catalogue row in a file, or None when it was removed in between."""
    try:
        row: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return None
    file = path.parent / row["file"]
    table = Table(
        ref=TableRef(LOCAL_PROJECT, USER_DATASET, row["name"]),
        columns=tuple(_column(column) for column in row["columns"]),
        description=row["description"],
        row_count=row["row_count"],
        size_bytes=sum(row["column_bytes"].values()),
        modified=datetime.fromisoformat(row["modified"]),
    )
    escaped = str(file).replace("'", "''")
    return Stored(table, f"read_parquet('{escaped}')", row["column_bytes"])


def _column(row: Mapping[str, Any]) -> Column:
    fields = tuple(_column(field) for field in row.get("fields", ()))
    return Column(row["name"], row["type"], row.get("mode", "NULLABLE"), row.get("description", ""), fields)
