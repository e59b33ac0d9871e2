"""Columns and cells as BigQuery's REST interface writes them."""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

from ..warehouse.base import Column, Table

_LEGACY = {"INT64": "INTEGER", "FLOAT64": "FLOAT", "BOOL": "BOOLEAN", "STRUCT": "RECORD"}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def schema_of(columns: Sequence[Column]) -> dict[str, Any]:
    """A TableSchema resource."""
    return {"fields": [_field(column) for column in columns]}


def _field(column: Column) -> dict[str, Any]:
    field: dict[str, Any] = {"name": column.name, "type": _LEGACY.get(column.type, column.type), "mode": column.mode}
    if column.description:
        field["description"] = column.description
    if column.fields:
        field["fields"] = [_field(part) for part in column.fields]
    return field


def rows_of(rows: Sequence[tuple[Any, ...]], columns: Sequence[Column], *, micros: bool) -> list[dict[str, Any]]:
    """TableRow resources. With `micros` a TIMESTAMP is a whole number of microseconds, else seconds."""
    return [{"f": [{"v": _cell(c, k, micros)} for c, k in zip(row, columns, strict=True)]} for row in rows]


def _cell(value: Any, column: Column, micros: bool) -> Any:
    if value is None:
        return [] if column.mode == "REPEATED" else None
    if column.mode == "REPEATED":
        single = Column(column.name, column.type, fields=column.fields)
        return [{"v": _cell(item, single, micros)} for item in value]
    if column.fields:
        return {"f": [{"v": _cell(value.get(part.name), part, micros)} for part in column.fields]}
    return _scalar(value, micros)


def _scalar(value: Any, micros: bool) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case datetime() if value.tzinfo is not None:
            count = (value - _EPOCH) // (datetime.resolution)
            return str(count) if micros else repr(count / 1_000_000)
        case date() | time():
            return value.isoformat()
        case float() if math.isinf(value):
            return "Infinity" if value > 0 else "-Infinity"
        case float():
            return "NaN" if math.isnan(value) else repr(value)
        case Decimal():
            return format(value.normalize() + 0, "f")
        case bytes():
            return base64.b64encode(value).decode()
    return str(value)


def table_of(table: Table) -> dict[str, Any]:
    """A Table resource."""
    ref = table.ref
    resource: dict[str, Any] = {
        **table_item(table),
        "description": table.description,
        "schema": schema_of(table.columns),
        "numRows": str(table.row_count),
        "numBytes": str(table.size_bytes),
        "location": "US",
        "lastModifiedTime": str(int((table.modified or _EPOCH).timestamp() * 1000)),
    }
    constraints: dict[str, Any] = {}
    if table.primary_key:
        constraints["primaryKey"] = {"columns": list(table.primary_key)}
    if table.foreign_keys:
        constraints["foreignKeys"] = [
            {
                "name": f"{ref.table}.fk${number}",
                "referencedTable": _reference(key.target.project, key.target.dataset, key.target.table),
                "columnReferences": [
                    {"referencingColumn": mine, "referencedColumn": theirs}
                    for mine, theirs in zip(key.columns, key.target_columns, strict=True)
                ],
            }
            for number, key in enumerate(table.foreign_keys, 1)
        ]
    return resource | ({"tableConstraints": constraints} if constraints else {})


def table_item(table: Table) -> dict[str, Any]:
    """A table as a list of tables shows it."""
    ref = table.ref
    return {
        "kind": "bigquery#table",
        "id": f"{ref.project}:{ref.dataset}.{ref.table}",
        "tableReference": _reference(ref.project, ref.dataset, ref.table),
        "type": "TABLE",
        "creationTime": "0",
    }


def _reference(project: str, dataset: str, table: str) -> dict[str, str]:
    return {"projectId": project, "datasetId": dataset, "tableId": table}
