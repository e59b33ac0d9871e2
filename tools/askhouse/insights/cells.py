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

from ..emulator.cells import as_text

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
_EXACT_TYPES = ("INT64", "NUMERIC", "BIGNUMERIC", "STRUCT")
_NUMBERS = (int, float)
_SURE = 15
"""Digits of a decimal that a double keeps, whatever they are."""
_NO_DIGIT = re.compile(r"e.*$|[^0-9]")

Convert = Callable[[Any], Any]


@dataclass(frozen=True)
class TypedTable:
    """A result's columns and rows; `rounded` names the columns whose numbers may have lost digits: they travel as
    doubles."""

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
    rounded = [
        column.name
        for field, column, values in zip(described, columns, cells, strict=True)
        if _may_be_rounded(field, column, values)
    ]
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


def _may_be_rounded(field: Mapping[str, Any], column: Column, cells: Sequence[Any]) -> bool:
    """Whether a column, or a part of it, holds numbers that a double cannot tell from others."""
    if column.type not in _EXACT_TYPES:
        return False
    if column.mode == "REPEATED":
        cells = [item for cell in cells if isinstance(cell, list) for item in cell]
    if column.type == "STRUCT":
        structs = [cell for cell in cells if isinstance(cell, dict)]
        inside = ((part, [cell.get(part.get("name")) for cell in structs]) for part in _parts(field))
        return any(_may_be_rounded(part, _column(part, ()), values) for part, values in inside)
    if column.type == "INT64":
        numbers = [cell for cell in cells if type(cell) in _NUMBERS]
        if not numbers or -EXACT < min(numbers) <= max(numbers) < EXACT:
            return False
        return any(abs(number) >= EXACT and float(number) == number for number in numbers)
    return any(type(cell) is float and len(_NO_DIGIT.sub("", repr(cell)).strip("0")) > _SURE for cell in cells)


def exact_cells(field: Mapping[str, Any], cells: Sequence[Any], before: Sequence[Any]) -> list[Any] | None:
    """A column's cells as BigQuery's client reads them, in our form; None when they are not those of `before`."""
    found = _convert_all(_converter(field, _column(field, cells)), [_as_sent(cell) for cell in cells])
    same = len(found) == len(before) and all(map(_agree, found, before))
    return found if same else None


def _as_sent(value: Any) -> Any:
    """A value of BigQuery's client as the service would send it, its numbers exactly."""
    if isinstance(value, Mapping):
        return {key: _as_sent(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_as_sent(item) for item in value]
    return value if value is None or isinstance(value, bool | int | float) else as_text(value)


def _agree(exact: Any, sent: Any) -> bool:
    """Whether a cell is the one that was sent, but for what a double loses."""
    if isinstance(exact, dict) and isinstance(sent, dict):
        return exact.keys() == sent.keys() and all(_agree(exact[key], sent[key]) for key in exact)
    if isinstance(exact, list) and isinstance(sent, list):
        return len(exact) == len(sent) and all(map(_agree, exact, sent))
    if isinstance(exact, int | float | Decimal) and isinstance(sent, int | float | Decimal):
        return float(exact) == float(sent) or (exact != exact and sent != sent)  # NaN
    return bool(exact == sent)


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


def _parts(field: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    return field.get("subfields") or field.get("fields") or []


def _struct(field: Mapping[str, Any]) -> Convert:
    converters = {part["name"]: _converter(part, _column(part, ())) for part in _parts(field) if part.get("name")}

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
