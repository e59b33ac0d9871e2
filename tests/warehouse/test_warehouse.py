"""The embedded warehouse as its users need it: read-only, many readers, limits, the clock."""

from __future__ import annotations

import datetime
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from askhouse.errors import QueryLimitError, TableNotFoundError
from askhouse.warehouse.base import TableRef
from askhouse.warehouse.duckdb import LocalWarehouse
from askhouse.warehouse.load import load_file

FLIGHTS = "`local.nycflights13.flights`"


def test_the_first_rows_are_kept_and_all_are_counted(warehouse: LocalWarehouse) -> None:
    some = warehouse.query(f"SELECT flight FROM {FLIGHTS} ORDER BY time_hour, flight", max_rows=3)
    assert (len(some.rows), some.total_rows) == (3, 336_776)
    exact = warehouse.query("SELECT carrier FROM `local.nycflights13.airlines`", max_rows=16)
    assert (len(exact.rows), exact.total_rows) == (16, 16)
    none = warehouse.query("SELECT carrier FROM `local.nycflights13.airlines`", max_rows=0)
    assert (none.rows, none.total_rows, none.columns[0].name) == ([], 16, "carrier")
    assert warehouse.query("SELECT carrier FROM `local.nycflights13.airlines` WHERE FALSE").rows == []


def test_cells_are_python_values(warehouse: LocalWarehouse) -> None:
    (row,) = warehouse.query(f"SELECT MIN(time_hour), COUNT(*), AVG(distance), MIN(carrier) FROM {FLIGHTS}").rows
    assert row[0] == datetime.datetime(2013, 1, 1, 10, tzinfo=datetime.UTC)
    assert [type(cell) for cell in row[1:]] == [int, float, str]


def test_the_clock_is_the_one_that_is_given(warehouse: LocalWarehouse) -> None:
    sql = "SELECT CURRENT_DATE() AS d, CURRENT_DATE('America/Los_Angeles') AS p, CURRENT_TIMESTAMP() AS t"
    moment = datetime.datetime(2013, 12, 31, 1, 13, tzinfo=datetime.UTC)
    assert warehouse.query(sql, today=moment).rows == [(moment.date(), datetime.date(2013, 12, 30), moment)]
    naive = datetime.datetime(2013, 12, 31, 1, 13)  # noqa: DTZ001
    assert warehouse.query(sql, today=naive).rows == [(moment.date(), datetime.date(2013, 12, 30), moment)]
    elsewhere = moment.astimezone(datetime.timezone(datetime.timedelta(hours=9)))
    assert warehouse.query(sql, today=elsewhere).rows == [(moment.date(), datetime.date(2013, 12, 30), moment)]
    assert warehouse.query("SELECT CURRENT_DATE()").rows == [(datetime.datetime.now(datetime.UTC).date(),)]


def test_a_query_that_takes_too_long_is_stopped(sample_home: Path) -> None:
    hasty = LocalWarehouse(sample_home, query_seconds=0.2)
    with pytest.raises(QueryLimitError, match=r"longer than 0\.2 seconds"):
        hasty.query(f"SELECT COUNT(*) FROM {FLIGHTS} AS a JOIN {FLIGHTS} AS b ON a.distance < b.air_time")
    assert hasty.query("SELECT 1").rows == [(1,)]
    hasty.close()


def test_a_query_that_needs_too_much_memory_is_stopped(sample_home: Path) -> None:
    sql = (
        f"SELECT ARRAY_AGG(CONCAT(a.tailnum, b.name)) FROM {FLIGHTS} AS a CROSS JOIN `local.nycflights13.airlines` AS b"
    )
    warehouse = LocalWarehouse(sample_home, memory="100MB")
    with pytest.raises(QueryLimitError, match="Resources exceeded"):
        warehouse.query(sql)
    warehouse.close()


def test_threads_ask_at_once(warehouse: LocalWarehouse) -> None:
    def ask(month: int) -> int:
        return int(warehouse.query(f"SELECT COUNT(*) FROM {FLIGHTS} WHERE month = {month}").rows[0][0])

    with ThreadPoolExecutor(8) as pool:
        counts = list(pool.map(ask, [*range(1, 13)] * 4))
    assert sum(counts) == 4 * 336_776
    assert counts[:12] == counts[12:24]


ASK = """
import json, pathlib, sys
from askhouse.warehouse.duckdb import open_warehouse
warehouse = open_warehouse(pathlib.Path(sys.argv[1]))
for line in sys.stdin:
    print(json.dumps([list(row) for row in warehouse.query(line).rows]), flush=True)
"""


class _Reader:
    """Another process that asks the same warehouse."""

    def __init__(self, home: Path) -> None:
        command = [sys.executable, "-c", ASK, str(home)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, sql: str) -> list[list[object]]:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(f"{sql}\n")
        self.process.stdin.flush()
        answer: list[list[object]] = json.loads(self.process.stdout.readline())
        return answer

    def close(self) -> None:
        self.process.communicate()
        assert self.process.returncode == 0


def test_processes_read_at_once_and_see_a_new_table_at_their_next_question(home: Path, tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("city,amount\nPorto,1\nFaro,2\n")
    readers = [_Reader(home) for _ in range(2)]
    assert [reader.ask(f"SELECT COUNT(*) FROM {FLIGHTS}") for reader in readers] == [[[336_776]]] * 2
    load_file(home, tmp_path / "sales.csv")
    assert [reader.ask("SELECT SUM(amount) FROM `local.my_data.sales`") for reader in readers] == [[[3]]] * 2
    (tmp_path / "sales.csv").write_text("city,amount\nPorto,10\n")
    load_file(home, tmp_path / "sales.csv")
    assert [reader.ask("SELECT SUM(amount) FROM `local.my_data.sales`") for reader in readers] == [[[10]]] * 2
    for reader in readers:
        reader.close()


def test_the_version_changes_with_the_tables_only(home: Path, tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("city,amount\nPorto,1\n")
    warehouse = LocalWarehouse(home)
    first = warehouse.version()
    warehouse.query("SELECT 1")
    assert warehouse.version() == first
    load_file(home, tmp_path / "sales.csv")
    second = warehouse.version()
    load_file(home, tmp_path / "sales.csv")
    assert len({first, second, warehouse.version()}) == 3
    warehouse.close()


def test_an_unknown_table_names_the_nearest(warehouse: LocalWarehouse) -> None:
    with pytest.raises(TableNotFoundError, match=r"Did you mean local\.nycflights13\.flights\?"):
        warehouse.table(TableRef.parse("local.nycflights13.flihgts"))


def test_the_same_query_gives_the_same_digits_and_breaks_ties_alike(warehouse: LocalWarehouse) -> None:
    sql = f"SELECT dest, COUNT(DISTINCT carrier) AS n, SUM(distance / 7) AS d FROM {FLIGHTS} GROUP BY dest ORDER BY n"
    assert len({repr(warehouse.query(sql).rows) for _ in range(5)}) == 1


def test_files_of_the_machine_cannot_be_read_even_past_the_guard(warehouse: LocalWarehouse) -> None:
    with warehouse._cursor() as cursor:
        for sql in (
            "FROM read_text('/etc/passwd')",
            "ATTACH '/tmp/x.db'",
            "COPY (SELECT 1) TO '/tmp/x.csv'",
            "SET enable_external_access = true",
            "INSTALL httpfs",
            "CREATE TABLE samples.main.x (a INT)",
        ):
            with pytest.raises(Exception, match=r"Permission|configuration|read-only|disabled"):
                cursor.execute(sql)
