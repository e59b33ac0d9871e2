"""Cells of a result as the service writes them into JSON.

Numbers travel as doubles there, so an integer beyond 2^53 and every NUMERIC is written as text: nothing is lost.
"""

from __future__ import annotations

import math
from base64 import b64encode
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

EXACT = 2**53


def to_wire(target: Any, value: Any) -> None:
    """Write a cell into a `google.protobuf.Value`."""
    if value is None:
        target.null_value = 0
    elif isinstance(value, bool):
        target.bool_value = value
    elif isinstance(value, int | float):
        _number(target, value)
    elif isinstance(value, list | tuple):
        target.list_value.SetInParent()
        for item in value:
            to_wire(target.list_value.values.add(), item)
    elif isinstance(value, dict):
        target.struct_value.SetInParent()
        for key, item in value.items():
            to_wire(target.struct_value.fields[key], item)
    else:
        target.string_value = as_text(value)


def as_text(value: Any) -> str:
    """A cell that is neither a number nor nested, as the service prints it."""
    if isinstance(value, datetime):
        if value.tzinfo is None:
            return value.isoformat()
        return value.astimezone(UTC).replace(tzinfo=None).isoformat(sep=" ")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, bytes):
        return b64encode(value).decode()
    return str(value)


def _number(target: Any, value: int | float) -> None:
    if isinstance(value, int) and abs(value) >= EXACT:
        target.string_value = str(value)
    elif math.isfinite(value):
        target.number_value = value
    elif math.isnan(value):
        target.string_value = "NaN"
    else:
        target.string_value = "Infinity" if value > 0 else "-Infinity"
