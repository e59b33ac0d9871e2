"""Cells as a table shows them: every value on one line, NULL and the empty text told apart."""

from __future__ import annotations

import base64
import json
from typing import Any

from state_contracts import Result

from .phrases import NO_VALUE, Writer, cut, one_line
from .roles import Role, roles_of
from .units import PLAIN

LONGEST_CELL = 80


def header_of(role: Role) -> str:
    """The column's own name, with its unit where the cells do not carry it."""
    name = cut(one_line(role.name), LONGEST_CELL)
    return f"{name} ({role.unit.name})" if role.unit.kind == "named" and role.unit.name not in name else name


def shown(value: Any) -> str:
    """A cell that is no measure: years, dates and keys as they are, long text cut with a mark."""
    if value is None:
        return NO_VALUE
    return '""' if value == "" else cut(one_line(plain(value)), LONGEST_CELL)


def plain(value: Any) -> str:
    """Any cell as text, exactly: ISO dates, base64 bytes, JSON for structures, nothing for NULL."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case bytes():
            return base64.b64encode(value).decode()
        case list() | dict() | tuple():
            return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def texts(result: Result, writer: Writer, *, rows: int, columns: int) -> tuple[list[Role], list[list[str]]]:
    """The first rows and columns of a result as texts, with the columns' roles."""
    roles = list(roles_of(result).all[:columns])
    first = result.rows[:rows]
    drawn = [_column([row[role.position] for row in first], role, writer) for role in roles]
    return roles, [list(row) for row in zip(*drawn, strict=True)]


def _column(values: list[Any], role: Role, writer: Writer) -> list[str]:
    if role.kind == "measure" and not role.is_code:
        return writer.column(values, PLAIN if role.unit.kind == "named" else role.unit)
    return [shown(value) for value in values]
