"""Columns and cells keep what the service sent, exactly and in the schema's order."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pytest

from askhouse.insights.cells import table_of


def _cell(type_: str, value: Any) -> Any:
    table = table_of([{"name": "x", "type": type_}], [{"x": value}])
    return table.rows[0][0]


@pytest.mark.parametrize(
    ("type_", "sent", "kept"),
    [
        ("INTEGER", 9007199254740993, 9007199254740993),
        ("INTEGER", "356206305582642177", 356206305582642177),
        ("INTEGER", 5.0, 5),
        ("FLOAT", 8, 8.0),
        ("FLOAT", "4716.017964071853", 4716.017964071853),
        ("FLOAT64", "Infinity", math.inf),
        ("NUMERIC", "123456789012345678.123456789", Decimal("123456789012345678.123456789")),
        ("NUMERIC", 5.0, Decimal(5)),
        ("BIGNUMERIC", "0.12345678901234567890123456789012345678", Decimal("0.12345678901234567890123456789012345678")),
        ("DATE", "2008-02-01", "2008-02-01"),
        ("TIME", "03:04:05.5", "03:04:05.5"),
        ("GEOGRAPHY", "POINT(1 2)", "POINT(1 2)"),
        ("INTERVAL", "1-2 3 4:5:6", "1-2 3 4:5:6"),
        ("NUMERIC", 0.1, Decimal("0.1")),
        ("BOOLEAN", "true", True),
        ("TIMESTAMP", "1984-01-01 00:00:00", "1984-01-01T00:00:00+00:00"),
        ("TIMESTAMP", "1984-01-01 00:00:00.5 UTC", "1984-01-01T00:00:00.5+00:00"),
        ("TIMESTAMP", "1984-01-01T00:00:00-03:00", "1984-01-01T00:00:00-03:00"),
        ("TIMESTAMP", 0, "1970-01-01T00:00:00+00:00"),
        ("DATETIME", "1996-11-02 00:00:00", "1996-11-02T00:00:00"),
        ("STRING", "", ""),
        ("STRING", None, None),
        ("STRING", "a\u0000b", "a\u0000b"),
        ("STRING", "007", "007"),
        ("BYTES", "_wA=", "_wA="),
        ("JSON", {"a": [1]}, '{"a": [1]}'),
        ("INTEGER", "odd", "odd"),
    ],
)
def test_cell(type_: str, sent: Any, kept: Any) -> None:
    value = _cell(type_, sent)
    assert (value, type(value)) == (kept, type(kept))


def test_nan_is_a_number() -> None:
    assert math.isnan(_cell("FLOAT", "NaN"))


def test_order_is_the_schemas() -> None:
    fields = [{"name": "b", "type": "STRING"}, {"name": "a", "type": "INTEGER"}]
    table = table_of(fields, [{"a": 1, "b": "x"}, {"b": "y", "a": 2}, {"b": "z"}])
    assert table.rows == [("x", 1), ("y", 2), ("z", None)]


def test_odd_and_repeated_names() -> None:
    fields = [{"name": name, "type": "STRING"} for name in ("a.b", "y[0]", "it's", "年", "x", "x", "")]
    table = table_of(fields, [{"a.b": "1", "y[0]": "2", "it's": "3", "年": "4", "x": "5", "": "6"}])
    assert [column.name for column in table.columns] == ["a.b", "y[0]", "it's", "年", "x", "x_1", ""]
    assert table.rows == [("1", "2", "3", "4", "5", "5", "6")]


def test_without_a_schema_the_rows_tell() -> None:
    table = table_of([], [{"n": 1, "s": "x"}, {"n": 2.5, "s": None, "b": True}])
    assert [(column.name, column.type) for column in table.columns] == [
        ("n", "FLOAT64"),
        ("s", "STRING"),
        ("b", "BOOL"),
    ]
    assert table.rows == [(1.0, "x", None), (2.5, None, True)]


def test_nested_cells_are_typed_too() -> None:
    parts = [{"name": "at", "type": "TIMESTAMP"}, {"name": "n", "type": "NUMERIC"}]
    fields = [{"name": "s", "type": "RECORD", "mode": "REPEATED", "subfields": parts}]
    table = table_of(fields, [{"s": [{"n": "1.10", "at": "2026-01-31 00:00:00"}, {"n": None}]}, {"s": None}])
    assert table.rows == [([{"at": "2026-01-31T00:00:00+00:00", "n": Decimal("1.10")}, {"n": None}],), (None,)]
    assert (table.columns[0].type, table.columns[0].mode) == ("STRUCT", "REPEATED")


def test_rounded_integers_are_named() -> None:
    table = table_of([{"name": "id", "type": "INTEGER"}, {"name": "n", "type": "INTEGER"}], [{"id": 2.0**60, "n": 1.0}])
    assert table.rounded == ("id",)
