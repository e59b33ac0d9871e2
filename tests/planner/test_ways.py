"""Two keys lead from a flight to the airports: which one is meant is told by the words, also seen from afar."""

from __future__ import annotations

import pytest

from askhouse.emulator.planner import Planned, Planner
from askhouse.warehouse.duckdb import LocalWarehouse

FLEW = "SELECT {what} FROM `local.nycflights13.flights` WHERE dest = 'HNL'"


@pytest.mark.parametrize(
    ("question", "what"),
    [
        ("flights to Honolulu", "COUNT(*)"),
        ("How many carriers fly to Honolulu?", "COUNT(DISTINCT carrier)"),
    ],
)
def test_to_a_place_is_the_destination(flights: Planner, warehouse: LocalWarehouse, question: str, what: str) -> None:
    reading = flights.read(question)
    assert isinstance(reading, Planned), reading
    assert warehouse.query(reading.sql).rows == warehouse.query(FLEW.format(what=what)).rows
