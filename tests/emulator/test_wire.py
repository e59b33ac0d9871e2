"""What the emulator writes, our client reads back without loss."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askhouse.emulator import wire
from askhouse.insights.cells import table_of
from askhouse.insights.stream import Rows as Received
from askhouse.insights.stream import from_json, from_proto
from askhouse.warehouse.base import Column, Rows

NUMERIC = st.decimals(allow_nan=False, allow_infinity=False, places=9, min_value=-(10**28), max_value=10**28)
CELLS: dict[str, st.SearchStrategy[Any]] = {
    "INT64": st.integers(-(2**63), 2**63 - 1),
    "FLOAT64": st.floats(),
    "NUMERIC": NUMERIC,
    "STRING": st.text(),
    "BOOL": st.booleans(),
    "DATE": st.dates(),
    "DATETIME": st.datetimes(),
    "TIMESTAMP": st.datetimes(min_value=datetime(1000, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
    "TIME": st.times(),
}


def _kept(type_: str, value: Any) -> Any:
    """The value as `Result` promises it."""
    return value.isoformat() if isinstance(value, date | time | datetime) else value


@pytest.mark.parametrize("type_", sorted(CELLS))
def test_every_value_arrives(type_: str) -> None:
    columns = (Column("x.y", type_), Column("年", type_, "REPEATED"))

    @given(st.lists(st.tuples(st.none() | CELLS[type_], st.lists(CELLS[type_], max_size=3)), max_size=4))
    def arrives(rows: list[tuple[Any, list[Any]]]) -> None:
        message = wire.result("r", Rows(columns, list(rows), len(rows)))
        for received in (from_proto(message), from_json(wire.to_json(message))):
            assert isinstance(received, Received)
            table = table_of(received.fields, received.rows)
            assert [(column.type, column.mode) for column in table.columns] == [(c.type, c.mode) for c in columns]
            expected = [(_kept(type_, one), [_kept(type_, cell) for cell in many]) for one, many in rows]
            assert _comparable(table.rows) == _comparable(expected)
            assert table.rounded == ()

    arrives()


def _comparable(rows: list[Any]) -> str:
    return repr([[_plain(cell) for cell in row] for row in rows])


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, Decimal):
        return value.normalize()
    return "NaN" if isinstance(value, float) and math.isnan(value) else value


def test_results_are_named_after_what_they_show() -> None:
    names = [("month", "Average Delay"), ("n",), ("a", "b", "c", "d", "e"), ("年",)]
    assert [wire.result_name([Column(name, "STRING") for name in columns]) for columns in names] == [
        "average_delay_by_month",
        "n",
        "result",
        "result",
    ]
