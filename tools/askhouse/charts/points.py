"""The data of a chart: generated field names, values that JSON and Vega keep exactly, and where each came from."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from state_contracts import Result

from ..facts.moments import MONTHS, PARTS, WEEKDAYS, said
from ..facts.roles import Role
from .draft import Draft, label_of

X, Y, SERIES, EXACT, ORDER = "f0", "f1", "f2", "f3", "f5"
"""Field names: a column's own name may hold dots, brackets, quotes or colons, which Vega-Lite reads as paths."""
ROW, COLUMN = "row", "column"
"""Fields that are not drawn: the row and the measure's column that a point came from."""
LARGEST_EXACT = 2**53
Point = dict[str, Any]


def points_of(draft: Draft, result: Result) -> list[Point]:
    """One point for each drawn row and measure, in drawing order."""
    names = unique_labels([[result.rows[i][role.position] for role in draft.x] for i in draft.rows])
    points = []
    for i, name in zip(draft.rows, names, strict=True):
        row = result.rows[i]
        for measure in draft.y:
            point = {
                X: x_value(row, draft, name),
                Y: json_number(row[measure.position]),
                ROW: i,
                COLUMN: measure.position,
            }
            points.append({**point, **_series(row, draft, measure), **_exact(row[measure.position])})
    if draft.rest is not None:
        points.append({X: draft.rest.label, Y: json_number(draft.rest.value), ROW: None, COLUMN: draft.y[0].position})
    return [{**point, ORDER: i} for i, point in enumerate(points)] if draft.kind == "pie" else points


def _series(row: Sequence[Any], draft: Draft, measure: Role) -> Point:
    if draft.series is not None:
        return {SERIES: axis_label(row[draft.series.position], draft.series)}
    return {SERIES: measure.label} if len(draft.y) > 1 else {}


def _exact(value: Any) -> Point:
    """The digits of a whole number that a float cannot hold."""
    return {EXACT: str(value)} if isinstance(value, int) and abs(value) > LARGEST_EXACT else {}


def x_value(row: Sequence[Any], draft: Draft, name: str) -> Any:
    """What stands on the x axis: a moment, a number for a scatter plot, or a name."""
    if not draft.x:
        return name
    role = draft.x[0]
    if draft.kind == "scatter" and role.kind == "measure":
        return json_number(row[role.position])
    if is_temporal(draft):
        return utc(str(row[role.position]))
    return axis_label(row[role.position], role) if len(draft.x) == 1 and role.kind == "time" else name


def is_temporal(draft: Draft) -> bool:
    """Whether the x axis is a time scale, on which a missing period leaves a gap."""
    role = draft.x[0]
    if draft.kind not in ("line", "multi_line") or len(draft.x) != 1 or role.kind != "time":
        return False
    return role.grain not in PARTS and not role.whole and role.grain != "quarter"


def utc(text: str) -> str:
    """An ISO date or time as Vega must read it to show the same day everywhere: in UTC.

    >>> utc("2025-01-31"), utc("2025-01"), utc("2025-01-31T10:00:00"), utc("2025-01-31T10:00:00+02:00")
    ('2025-01-31T00:00:00Z', '2025-01-01T00:00:00Z', '2025-01-31T10:00:00Z', '2025-01-31T10:00:00+02:00')
    """
    text = text.strip().replace(" ", "T", 1)
    if re.fullmatch(r"\d{4}", text):
        text += "-01-01"
    if re.fullmatch(r"\d{4}-\d\d", text):
        text += "-01"
    if len(text) == 10:
        return f"{text}T00:00:00Z"
    return text if re.search(r"(Z|[+-]\d\d:?\d\d)$", text) else f"{text}Z"


def axis_label(cell: Any, role: Role) -> str:
    """A cell on an axis or in a legend: short months and weekdays, years without separators."""
    if cell is None or role.kind != "time":
        return label_of([cell])
    text = said(cell, role.grain)
    if role.grain == "month" or (role.grain in PARTS and not isinstance(cell, str)):
        for name in (*MONTHS, *WEEKDAYS):
            text = re.sub(rf"\b{name}\b", name[:3], text)
    return text if role.grain in PARTS or role.grain in ("year", "quarter", "month") else label_of([cell])


def unique_labels(cells: Sequence[Sequence[Any]]) -> list[str]:
    """A label for each row, never one for two: names that are alike once cut are numbered."""
    labels: list[str] = []
    known: dict[str, str] = {}
    for row in cells:
        label = label_of(row)
        while known.setdefault(label, repr(row)) != repr(row):
            label = _next(label)
        labels.append(label)
    return labels


def _next(label: str) -> str:
    numbered = re.fullmatch(r"(.*) \((\d+)\)", label)
    return f"{numbered[1]} ({int(numbered[2]) + 1})" if numbered else f"{label} (2)"


def json_number(value: Any) -> int | float | None:
    """A number that JSON can hold; None for NULL, NaN and infinity."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal) or not math.isfinite(value):
        return None
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() and abs(value) <= LARGEST_EXACT else float(value)
    return value if isinstance(value, float) or abs(value) <= LARGEST_EXACT else float(value)
