"""Whether a chart is sound: it refers to nothing outside itself, and what it draws is what the result says.

`check` is fast and runs on every chart of our own. `schema_problems` reads the schema that Altair carries, without
importing Altair, and takes a third of a second the first time: it is for specifications that somebody else wrote, and
for tests.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from state_contracts import Chart, Result

from ..errors import MissingPartError
from ..facts.compute import exact_sum, number
from .points import COLUMN, ROW, SERIES, X, Y, json_number

_ACTIVE = frozenset(
    ("url", "href", "expr", "signal", "params", "transform", "calculate", "filter", "labelExpr", "datasets",
     "sequence", "sphere", "graticule", "embedOptions", "formatType", "lookup", "aggregate", "bin")
)  # fmt: skip
"""Keys that load something, run something or change the numbers on the way."""


def check(chart: Chart, result: Result) -> list[str]:
    """What is wrong with a chart, in sentences; empty when it is sound or when nothing is drawn."""
    if chart.kind == "none":
        return []
    if chart.spec is None:
        return ["There is no specification."]
    data = chart.spec.get("data", {}).get("values")
    if not isinstance(data, list) or not all(isinstance(point, dict) for point in data):
        return ["The data is not inside the specification."]
    return [*_active(chart.spec), *_lost_fields(chart.spec, data), *_false_values(chart, data, result)]


def schema_problems(spec: Mapping[str, Any]) -> list[str]:
    """Where a specification is no Vega-Lite. Raises MissingPartError where Altair is not installed."""
    errors = _validator().iter_errors(json.loads(json.dumps(spec)))
    return [
        f"{'/'.join(map(str, error.absolute_path)) or 'the specification'}: {error.message[:200]}" for error in errors
    ]


@lru_cache(maxsize=1)
def _validator() -> Any:
    altair = find_spec("altair")
    if altair is None or altair.origin is None:
        raise MissingPartError("Checking a chart needs the package altair.", "`pip install altair`")
    import jsonschema  # type: ignore[import-untyped]

    schema = next(Path(altair.origin).parent.glob("vegalite/v*/schema/vega-lite-schema.json"))
    return jsonschema.Draft7Validator(json.loads(schema.read_text(encoding="utf-8")))


def _active(spec: Mapping[str, Any]) -> list[str]:
    drawn = {key: value for key, value in spec.items() if key != "data"}
    found = sorted({key for key, value in _walk(drawn) if key in _ACTIVE or (key == "test" and isinstance(value, str))})
    images = [value for key, value in _walk(drawn) if key in ("mark", "type") and value == "image"]
    extra = sorted(set(spec["data"]) - {"values"})
    return [f"It holds {name!r}, which is not allowed." for name in (*found, *images, *extra)]


def _walk(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield str(key), inner
            yield from _walk(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _walk(inner)


def _lost_fields(spec: Mapping[str, Any], data: list[dict[str, Any]]) -> list[str]:
    known = {key for point in data for key in point}
    used = {value for key, value in _walk(spec.get("encoding", {})) if key == "field"}
    used |= {value for key, value in _walk(spec.get("layer", [])) if key == "field"}
    return [f"It draws the field {name!r}, which the data does not have." for name in sorted(map(str, used - known))]


def _false_values(chart: Chart, data: list[dict[str, Any]], result: Result) -> list[str]:
    assert chart.spec is not None
    told = chart.spec.get("usermeta", {}).get("askhouse")
    if not isinstance(told, dict):
        return ["It does not say which columns it draws."]
    fields: dict[str, list[int]] = told["fields"]
    problems = []
    for point in data:
        problems += _false_point(point, fields, result) if point[ROW] is not None else _false_rest(point, data, result)
    if chart.kind != "card":
        problems += _ambiguous(X, fields[X], data, result)
        problems += _ambiguous(SERIES, fields[SERIES], data, result) if SERIES in fields else []
    return [*problems, *_silent_omission(chart.spec, data, result)]


def _false_point(point: dict[str, Any], fields: dict[str, list[int]], result: Result) -> list[str]:
    row, column = point[ROW], point[COLUMN]
    if column not in fields[Y] or not 0 <= row < len(result.rows):
        return [f"A point stands for row {row}, column {column}, which it does not draw."]
    told = json_number(result.rows[row][column])
    return [] if point[Y] == told else [f"Row {row} is drawn as {point[Y]} and is {told}."]


def _false_rest(point: dict[str, Any], data: list[dict[str, Any]], result: Result) -> list[str]:
    """A point that stands for all rows that are not drawn must be their sum."""
    drawn = {other[ROW] for other in data}
    cells = [row[point[COLUMN]] for i, row in enumerate(result.rows) if i not in drawn]
    told = json_number(exact_sum(found for cell in cells if (found := number(cell)) is not None))
    return [] if point[Y] == told else [f"The others are drawn as {point[Y]} and make {told}."]


def _ambiguous(field: str, columns: list[int], data: list[dict[str, Any]], result: Result) -> list[str]:
    """Two groups under one label, or one group under two, would mix or split their numbers."""
    pairs = {
        (str(point[field]), repr([result.rows[point[ROW]][column] for column in columns]))
        for point in data
        if point[ROW] is not None
    }
    labels, cells = {label for label, _ in pairs}, {cell for _, cell in pairs}
    return [] if len(labels) == len(pairs) == len(cells) else [f"Two groups share a place on {field!r}."]


def _silent_omission(spec: Mapping[str, Any], data: list[dict[str, Any]], result: Result) -> list[str]:
    drawn = len({point[ROW] for point in data if point[ROW] is not None})
    left_out = drawn < len(result.rows) or len(result.rows) < result.row_count
    said = isinstance(spec.get("title"), Mapping) and bool(spec["title"].get("subtitle"))
    return ["It leaves rows out and does not say so."] if left_out and not said else []
