"""Columns and cells of a result: the service's legacy names and JSON values into GoogleSQL types and exact values."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from operator import itemgetter
from typing import Any

from state_contracts import Column

_GOOGLESQL = {
    "INTEGER": "INT64",
    "FLOAT": "FLOAT64",
    "BOOLEAN": "BOOL",
    "RECORD": "STRUCT",
    "DECIMAL": "NUMERIC",
    "BIGDECIMAL": "BIGNUMERIC",
}
_TIMESTAMP = re.compile(r"(\d{4,}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(\.\d+)?\s*(Z|UTC|[+-]\d\d(?::?\d\d)?)?")
EXACT = 2**53

Convert = Callable[[Any], Any]


@dataclass(frozen=True)
class TypedTable:
    """A result's columns and rows; `rounded` names the integer columns whose values were too large for the wire."""

    columns: list[Column]
    rows: list[tuple[Any, ...]]
    rounded: tuple[str, ...] = ()


def table_of(fields: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]]) -> TypedTable:
    """Columns in the schema's order and the cells under them; without a schema, in the order of the rows' keys."""
    described = fields or [{"name": name} for name in dict.fromkeys(key for row in rows for key in row)]
    cells = _by_column([str(field.get("name") or "") for field in described], rows)
    columns = [_column(field, column) for field, column in zip(described, cells, strict=True)]
    converted = list(map(_converted, described, columns, cells))
    for column, name in zip(columns, _distinct([column.name for column in columns]), strict=True):
        column.name = name
    rounded = (column.name for column, values in zip(columns, cells, strict=True) if _was_rounded(column, values))
    return TypedTable(columns, list(zip(*converted, strict=True)), tuple(rounded))


def _by_column(names: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> list[Sequence[Any]]:
    if len(names) > 1 and rows:
        try:
            return list(zip(*map(itemgetter(*names), rows), strict=True))
        except KeyError:  # a cell that the service left out
            pass
    return [[row.get(name) for row in rows] for name in names]


def _converted(field: Mapping[str, Any], column: Column, cells: Sequence[Any]) -> Sequence[Any]:
    if column.mode != "REPEATED":
        kinds = set(map(type, cells))
        if kinds <= _NEEDS_NONE.get(column.type, set()):
            return cells
        if column.type == "INT64" and kinds == {float} and (whole := _whole(cells)):
            return whole
    return _convert_all(_converter(field, column), cells)


def _whole(cells: Sequence[float]) -> list[int] | None:
    """All cells as integers, which is how the service's JSON means them; None where one is none. Few steps a cell."""
    try:
        integers = list(map(int, cells))
    except (ValueError, OverflowError):
        return None
    return integers if integers == list(cells) else None


def _was_rounded(column: Column, cells: Sequence[Any]) -> bool:
    if column.type != "INT64":
        return False
    numbers = [cell for cell in cells if type(cell) is float]
    return bool(numbers) and (max(numbers) > EXACT or min(numbers) < -EXACT)


def _column(field: Mapping[str, Any], cells: Sequence[Any]) -> Column:
    legacy = str(field.get("type") or "").upper()
    mode = str(field.get("mode") or "NULLABLE").upper()
    return Column(
        name=str(field.get("name") or ""),
        type=_GOOGLESQL.get(legacy, legacy) or _guess(cells),
        mode=mode if mode in ("NULLABLE", "REQUIRED", "REPEATED") else "NULLABLE",
        description=str(field.get("description") or ""),
    )


def _guess(cells: Sequence[Any]) -> str:
    """The type of a column that the service did not describe."""
    kinds = {type(cell) for cell in cells if cell is not None}
    for types, name in (({bool}, "BOOL"), ({int}, "INT64"), ({int, float}, "FLOAT64"), ({dict}, "STRUCT")):
        if kinds and kinds <= types:
            return name
    return "STRING"


def _distinct(names: Sequence[str]) -> list[str]:
    """The names, with a number where one occurs again, as BigQuery does."""
    taken: set[str] = set()
    distinct = []
    for name in names:
        candidate, number = name, 0
        while candidate in taken:
            number += 1
            candidate = f"{name}_{number}"
        taken.add(candidate)
        distinct.append(candidate)
    return distinct


def _converter(field: Mapping[str, Any], column: Column) -> Convert:
    convert = _struct(field) if column.type == "STRUCT" else _CONVERTERS.get(column.type, _text)
    if column.mode != "REPEATED":
        return convert
    return lambda cell: _convert_all(convert, cell) if isinstance(cell, list) else cell


def _convert_all(convert: Convert, cells: Sequence[Any]) -> list[Any]:
    return [None if cell is None else convert(cell) for cell in cells]


def _struct(field: Mapping[str, Any]) -> Convert:
    parts = field.get("subfields") or field.get("fields") or []
    converters = {part["name"]: _converter(part, _column(part, ())) for part in parts if part.get("name")}

    def convert(cell: Any) -> Any:
        if not isinstance(cell, dict):
            return cell
        names = [*converters, *(name for name in cell if name not in converters)]
        return {
            name: None if cell[name] is None else converters.get(name, _same)(cell[name])
            for name in names
            if name in cell
        }

    return convert


def _same(cell: Any) -> Any:
    return cell


def _text(cell: Any) -> Any:
    return cell if isinstance(cell, str) else json.dumps(cell, ensure_ascii=False)


def _integer(cell: Any) -> Any:
    try:
        if isinstance(cell, float):
            return int(cell) if cell.is_integer() else cell
        return int(cell)
    except ValueError:
        return cell


def _float(cell: Any) -> Any:
    try:
        return float(cell)
    except (ValueError, TypeError):
        return cell


def _decimal(cell: Any) -> Any:
    try:
        return Decimal(int(cell) if isinstance(cell, float) and cell.is_integer() else str(cell))
    except (InvalidOperation, ValueError):
        return cell


def _bool(cell: Any) -> Any:
    return {"true": True, "false": False}.get(cell.casefold(), cell) if isinstance(cell, str) else cell


def _timestamp(cell: Any) -> Any:
    """ISO 8601 with zone. The service prints UTC without saying so; its older replies give seconds since 1970."""
    if isinstance(cell, int | float):
        return datetime.fromtimestamp(cell, UTC).isoformat()
    match = _TIMESTAMP.fullmatch(cell.strip())
    if match is None:
        return cell
    day, clock, fraction, zone = match.groups()
    return f"{day}T{clock}{fraction or ''}{'+00:00' if zone in (None, 'Z', 'UTC') else zone}"


def _datetime(cell: Any) -> Any:
    return cell.replace(" ", "T", 1) if isinstance(cell, str) else cell


_NOTHING = type(None)
_NEEDS_NONE: Mapping[str, set[type]] = {
    "STRING": {str, _NOTHING},
    "DATE": {str, _NOTHING},
    "TIME": {str, _NOTHING},
    "INT64": {int, _NOTHING},
    "FLOAT64": {float, _NOTHING},
    "BOOL": {bool, _NOTHING},
}
"""What JSON gives and needs no conversion."""

_CONVERTERS: Mapping[str, Convert] = {
    "INT64": _integer,
    "FLOAT64": _float,
    "NUMERIC": _decimal,
    "BIGNUMERIC": _decimal,
    "BOOL": _bool,
    "TIMESTAMP": _timestamp,
    "DATETIME": _datetime,
}
