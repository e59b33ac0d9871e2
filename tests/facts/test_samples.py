"""Summaries of the sample tables against queries that ask for the same number in another way."""

from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest

from askhouse.facts import summarize
from askhouse.warehouse.duckdb import LocalWarehouse, open_warehouse
from state_contracts import Answer, Claim, Column, Result

FLIGHTS = "`local.nycflights13.flights`"
ITEMS = "`bigquery-public-data.thelook_ecommerce.order_items`"


@pytest.fixture(scope="module")
def warehouse(sample_home: Path) -> LocalWarehouse:
    return open_warehouse(sample_home)


def claims_of(warehouse: LocalWarehouse, sql: str) -> list[Claim]:
    rows = warehouse.query(sql)
    columns = [Column(name=column.name, type=column.type) for column in rows.columns]
    cells = [tuple(plain(cell) for cell in row) for row in rows.rows]
    result = Result(name="r", columns=columns, rows=cells, row_count=rows.total_rows, sql=sql)
    return summarize(Answer(question="", outcome="answered", complete=True, results=[result])).claims


def plain(cell: Any) -> Any:
    return cell.isoformat() if isinstance(cell, date | datetime) else cell


def one(warehouse: LocalWarehouse, sql: str) -> Any:
    return warehouse.query(sql).rows[0][0]


@pytest.mark.parametrize(
    ("sql", "total"),
    [
        (f"SELECT origin, COUNT(*) AS n FROM {FLIGHTS} GROUP BY origin", f"SELECT COUNT(*) FROM {FLIGHTS}"),
        (f"SELECT dest, SUM(distance) AS d FROM {FLIGHTS} GROUP BY dest", f"SELECT SUM(distance) FROM {FLIGHTS}"),
        (f"SELECT status, SUM(sale_price) AS v FROM {ITEMS} GROUP BY status", f"SELECT SUM(sale_price) FROM {ITEMS}"),
    ],
)
def test_the_total_is_what_the_query_without_groups_gives(warehouse: LocalWarehouse, sql: str, total: str) -> None:
    told = [claim.value for claim in claims_of(warehouse, sql) if claim.kind == "total"]

    assert [float(value) for value in told] == [pytest.approx(float(one(warehouse, total)))]


def test_the_leader_is_what_an_ordered_query_gives(warehouse: LocalWarehouse) -> None:
    by_dest = f"SELECT dest, AVG(arr_delay) AS v FROM {FLIGHTS} GROUP BY dest"
    top = f"SELECT MAX(v) FROM ({by_dest})"
    told = next(claim for claim in claims_of(warehouse, by_dest) if claim.kind == "extreme")

    assert told.value == pytest.approx(one(warehouse, top))
    assert not [claim for claim in claims_of(warehouse, by_dest) if claim.kind in ("total", "share")]


def test_the_change_over_the_year_is_from_its_first_to_its_last_month(warehouse: LocalWarehouse) -> None:
    month = "DATE_TRUNC(DATE(year, month, day), MONTH)"
    claims = claims_of(warehouse, f"SELECT {month} AS m, COUNT(*) AS n FROM {FLIGHTS} GROUP BY m ORDER BY m")
    january, december = (one(warehouse, f"SELECT COUNT(*) FROM {FLIGHTS} WHERE month = {m}") for m in (1, 12))

    assert [claim.value for claim in claims if claim.kind == "value"] == [january, december]
    assert december - january in [claim.value for claim in claims if claim.kind == "change"]
