"""Vega-Lite v5 specifications with their data inside."""

from __future__ import annotations

from typing import Any

from state_contracts import Preferences, Result

from ..facts.compute import exact_sum
from ..facts.phrases import LONGEST_NAME, Writer, cut, one_line
from ..facts.roles import Role
from . import palette
from .draft import Draft
from .points import COLUMN, EXACT, ORDER, ROW, SERIES, Point, X, Y, is_temporal, points_of

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
Spec = dict[str, Any]
LABEL = "f4"
"""Field of the text that is drawn at a mark: the value as the reader writes it."""

_WIDTH = 520
_HEIGHT = 300
_BAR = 22
_MOST_LABELLED = 15
_MOST_DOTTED = 60
_DATE_FORMATS = {"year": "%Y", "month": "%b %Y", "week": "%-d %b %Y", "day": "%-d %b %Y"}
_CONFIG: Spec = {
    "view": {"stroke": None},
    "axis": {"labelColor": palette.TEXT, "titleColor": palette.TEXT, "gridColor": "#E5E5E5", "labelLimit": 260},
    "title": {"anchor": "start", "color": palette.TEXT, "subtitleColor": palette.TEXT, "fontSize": 14},
    "legend": {"labelColor": palette.TEXT, "titleColor": palette.TEXT, "labelLimit": 260},
    "range": {"category": list(palette.SERIES)},
}


def build(draft: Draft, result: Result) -> Spec:
    """The specification of a draft. It refers to nothing outside itself."""
    points = points_of(draft, result)
    spec: Spec = {
        "$schema": SCHEMA,
        "title": _title(draft),
        "background": "white",
        "padding": 12,
        "data": {"values": _labelled(draft, result, points)},
        **_body(draft, points),
        "config": _CONFIG,
        "usermeta": {"askhouse": {"result": result.name, "kind": draft.kind, "fields": _fields(draft)}},
    }
    return spec


def title_of(draft: Draft) -> str:
    """What the chart shows, in words."""
    measured = " and ".join(role.label for role in draft.y)
    if draft.kind == "card":
        return measured
    if draft.kind == "scatter":
        return f"{measured} against {draft.x[0].label}"
    by = " and ".join(role.label for role in (*draft.x, draft.series) if role is not None)
    return f"{measured} by {by}"


def _title(draft: Draft) -> Spec:
    text = cut(one_line(title_of(draft)), 90)
    title: Spec = {"text": text[:1].upper() + text[1:]}
    return {**title, "subtitle": [f"{note}." for note in draft.notes]} if draft.notes else title


def _fields(draft: Draft) -> dict[str, list[int]]:
    """Which columns of the result stand behind the drawn fields."""
    fields = {X: [role.position for role in draft.x], Y: [role.position for role in draft.y]}
    return {**fields, SERIES: [draft.series.position]} if draft.series is not None else fields


def _labelled(draft: Draft, result: Result, points: list[Point]) -> list[Point]:
    if not _is_labelled(draft, points):
        return points
    writer = Writer.of(Preferences())
    units = {role.position: role.unit for role in draft.y}
    whole = exact_sum(point[Y] for point in points if point[Y] is not None)

    def text(point: Point) -> str:
        if draft.kind == "card":
            return writer.cell(result.rows[0][draft.y[0].position], draft.y[0])
        if draft.kind == "pie":
            return writer.percent(point[Y] / whole)
        value = point[Y] if point[ROW] is None else result.rows[point[ROW]][point[COLUMN]]
        return writer.number(value, units[point[COLUMN]]) if point[Y] is not None else ""

    return [{**point, LABEL: text(point)} for point in points]


def _is_labelled(draft: Draft, points: list[Point]) -> bool:
    if draft.kind in ("card", "pie"):
        return True
    upward = all(point[Y] is None or point[Y] >= 0 for point in points)
    return draft.kind == "bar" and len(points) <= _MOST_LABELLED and upward


def _body(draft: Draft, points: list[Point]) -> Spec:
    match draft.kind:
        case "card":
            return _card(draft)
        case "pie":
            return _pie(draft, points)
        case "scatter":
            return _scatter(draft, points)
        case "line" | "multi_line":
            return _line(draft, points)
    return _bar(draft, points)


def _bar(draft: Draft, points: list[Point]) -> Spec:
    names = list(dict.fromkeys(point[X] for point in points))
    place = {
        "field": X,
        "type": "nominal",
        "sort": names,
        "title": _names(draft),
        "axis": {"labelAngle": _angle(names)},
    }
    if draft.horizontal:
        place["axis"] = {"labelAngle": 0}
    along, across = ("y", "x") if draft.horizontal else ("x", "y")
    encoding: Spec = {along: place, across: _measure(draft, points), "tooltip": _tooltip(draft, points)}
    encoding |= _colour(draft, points)
    if draft.kind == "grouped_bar":
        encoding["yOffset" if draft.horizontal else "xOffset"] = {"field": SERIES, "sort": encoding["color"]["sort"]}
    if draft.kind == "stacked_bar":
        encoding[across]["stack"] = "zero"
    size = _bar_size(draft, len(names), len(_series_names(points)) if draft.kind == "grouped_bar" else 1)
    if not _is_labelled(draft, points):
        return {**size, "mark": {"type": "bar"}, "encoding": encoding}
    return {**size, "encoding": encoding, "layer": [{"mark": {"type": "bar"}}, _bar_labels(draft)]}


def _bar_labels(draft: Draft) -> Spec:
    place = {"align": "left", "dx": 4} if draft.horizontal else {"baseline": "bottom", "dy": -4}
    return {
        "mark": {"type": "text", "fontSize": 11, **place},
        "encoding": {"text": {"field": LABEL, "type": "nominal"}, "color": {"value": palette.TEXT}},
    }


def _bar_size(draft: Draft, names: int, series: int) -> Spec:
    if draft.horizontal:
        return {"width": _WIDTH, "height": {"step": _BAR if series == 1 else max(10, _BAR // 2)}}
    return {"width": _WIDTH if names > 4 else 90 * max(names, 2) * (1 if series == 1 else 1.6), "height": _HEIGHT}


def _angle(names: list[str]) -> int:
    return 0 if max(map(len, names)) * len(names) <= 70 else -45


def _line(draft: Draft, points: list[Point]) -> Spec:
    mark: Spec = {"type": "line", "point": {"size": 40} if len(points) <= _MOST_DOTTED else len(points) == 1}
    encoding: Spec = {
        "x": _along(draft, points),
        "y": _measure(draft, points, zero=False),
        "tooltip": _tooltip(draft, points),
    }
    return {"width": _WIDTH, "height": _HEIGHT, "mark": mark, "encoding": encoding | _colour(draft, points)}


def _along(draft: Draft, points: list[Point]) -> Spec:
    title = _names(draft)
    if not is_temporal(draft):
        names = list(dict.fromkeys(point[X] for point in points))
        return {"field": X, "type": "ordinal", "sort": names, "title": title, "axis": {"labelAngle": _angle(names)}}
    axis: Spec = {"labelOverlap": True}
    grain = draft.x[0].grain or ""
    if grain in _DATE_FORMATS:
        axis["format"] = _DATE_FORMATS[grain]
    if grain in ("month", "year"):
        axis["tickCount"] = {"interval": grain, "step": max(1, -(-len({point[X] for point in points}) // 12))}
    return {"field": X, "type": "temporal", "scale": {"type": "utc"}, "title": title, "axis": axis}


def _scatter(draft: Draft, points: list[Point]) -> Spec:
    encoding: Spec = {
        "x": _quantity(X, draft.x[0], points, zero=False),
        "y": _measure(draft, points, zero=False),
        "tooltip": [_field(X, draft.x[0].label), _field(Y, draft.y[0].label)],
    }
    if draft.series is not None:
        encoding["color"] = {"field": SERIES, "type": "nominal", "title": _short(draft.series.label)}
    mark = {"type": "point", "filled": True, "size": 45, "opacity": 0.75, "color": palette.MARK}
    return {"width": _WIDTH, "height": _HEIGHT, "mark": mark, "encoding": encoding}


def _pie(draft: Draft, points: list[Point]) -> Spec:
    names = [point[X] for point in points]
    colours = [*palette.SERIES[: len(draft.rows)], *([palette.REST] if draft.rest else [])]
    encoding: Spec = {
        "theta": {"field": Y, "type": "quantitative", "stack": "zero"},
        "order": {"field": ORDER, "type": "quantitative"},
        "color": {
            "field": X, "type": "nominal", "sort": names, "title": _names(draft),
            "scale": {"domain": names, "range": colours},
        },
        "tooltip": _tooltip(draft, points),
    }  # fmt: skip
    slices = {"mark": {"type": "arc", "outerRadius": 120, "stroke": "white", "strokeWidth": 1}}
    labels = {
        "mark": {"type": "text", "radius": 146, "fontSize": 11},
        "encoding": {"text": {"field": LABEL, "type": "nominal"}, "color": {"value": palette.TEXT}},
    }
    return {"width": 320, "height": 320, "encoding": encoding, "layer": [slices, labels]}


def _card(draft: Draft) -> Spec:
    """One number, large, and under it what it is of."""
    text = {"text": {"field": LABEL, "type": "nominal"}}
    number = {"mark": {"type": "text", "fontSize": 44, "fontWeight": "bold", "color": palette.MARK}, "encoding": text}
    if not draft.x:
        return {"width": 360, "height": 90, **number}
    name = {"mark": {"type": "text", "fontSize": 16, "dy": 44}, "encoding": {"text": {"field": X, "type": "nominal"}}}
    return {"width": 360, "height": 130, "layer": [number, name]}


def _measure(draft: Draft, points: list[Point], *, zero: bool = True) -> Spec:
    measure = _quantity(Y, draft.y[0], points, zero=zero)
    return {**measure, "title": "value"} if len(draft.y) > 1 else measure


def _quantity(field: str, role: Role, points: list[Point], *, zero: bool) -> Spec:
    unit = role.unit
    suffix = {"percent": "%", "currency": unit.name, "named": unit.name}.get(unit.kind, "")
    name = _short(role.label)
    axis: Spec = {"format": "~%"} if unit.kind == "fraction" else {}
    if role.whole and (steps := _few_steps([point[field] for point in points], zero)):
        axis |= {"tickCount": steps, "format": "d"}
    named = f"{name} ({suffix})" if suffix and suffix not in name else name
    return {"field": field, "type": "quantitative", "title": named, "scale": {"zero": zero}, "axis": axis}


def _few_steps(values: list[float | None], zero: bool) -> int:
    """How many whole steps the axis has, where they are so few that halves would be marked; else none."""
    known = [value for value in values if value is not None]
    span = max(known, default=0) - (min(0, *known) if zero and known else min(known, default=0))
    return max(1, int(span)) if span <= 10 else 0


def _colour(draft: Draft, points: list[Point]) -> Spec:
    if draft.series is None and len(draft.y) < 2:
        if draft.rest is None:
            return {"color": {"value": palette.MARK}}
        condition = {"test": {"field": X, "equal": draft.rest.label}, "value": palette.REST}
        return {"color": {"condition": condition, "value": palette.MARK}}
    title = _short(draft.series.label) if draft.series is not None else None
    names = _series_names(points, by_size=draft.series is not None and draft.series.kind != "time")
    return {"color": {"field": SERIES, "type": "nominal", "sort": names, "title": title}}


def _series_names(points: list[Point], *, by_size: bool = False) -> list[str]:
    """The names of the series, in drawing order or the one with the highest value first."""
    named = [point for point in points if SERIES in point]
    if by_size:
        named.sort(key=lambda point: (point[Y] is None, -(point[Y] or 0), point[SERIES]))
    return list(dict.fromkeys(point[SERIES] for point in named))


def _tooltip(draft: Draft, points: list[Point]) -> list[Spec]:
    exact = any(EXACT in point for point in points)
    time = {"type": "temporal", "format": "%Y-%m-%d"} if is_temporal(draft) else {"type": "nominal"}
    shown = [{"field": X, "title": _names(draft), **time}]
    shown.append(_field(EXACT if exact else Y, "value" if len(draft.y) > 1 else draft.y[0].label))
    if any(SERIES in point for point in points):
        shown.append({"field": SERIES, "type": "nominal", "title": _short(draft.series.label) if draft.series else ""})
    return shown


def _field(field: str, title: str) -> Spec:
    return {"field": field, "type": "nominal" if field == EXACT else "quantitative", "title": _short(title)}


def _names(draft: Draft) -> str:
    return ", ".join(_short(role.label) for role in draft.x)


def _short(label: str) -> str:
    return cut(one_line(label), LONGEST_NAME)
