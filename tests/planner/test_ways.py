"""Two keys lead from a flight to the airports: which one is meant is told by the words, also seen from afar."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path

import pytest

from askhouse.emulator.planner import Clarification, PastTurn, Planned, Planner, build_layer
from askhouse.warehouse.duckdb import LocalWarehouse, open_warehouse
from askhouse.warehouse.load import load_file

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


def test_all_that_is_left_out_together_is_left_out(shop: Planner, warehouse: LocalWarehouse) -> None:
    reading = shop.read("revenue without returned and cancelled items in 2025")
    assert isinstance(reading, Planned), reading
    gold = """
    SELECT SUM(sale_price) FROM `bigquery-public-data.thelook_ecommerce.order_items`
    WHERE status NOT IN ('Returned', 'Cancelled') AND EXTRACT(YEAR FROM created_at) = 2025
    """
    (right,), (found,) = warehouse.query(gold).rows[0], warehouse.query(reading.sql).rows[0]
    assert found == pytest.approx(right)


def test_two_tables_of_one_name_are_told_apart(sample_home: Path, tmp_path: Path) -> None:
    home, file = tmp_path / "askhouse", tmp_path / "flights.csv"
    shutil.copytree(sample_home, home)
    file.write_text("flight,seats\nA1,10\nB2,20\n")
    load_file(home, file)
    with closing(open_warehouse(home)) as warehouse:
        planner = Planner(build_layer(warehouse, list(warehouse.table_refs())))
        asked = planner.read("How many flights are there?")
        assert isinstance(asked, Clarification) and asked.options == ("my_data.flights", "nycflights13.flights")
        answered = planner.read("2", [PastTurn("How many flights are there?", "", asked.text)])
        assert isinstance(answered, Planned)
        assert warehouse.query(answered.sql).rows == [(336776,)]
