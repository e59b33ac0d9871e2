"""`askhouse load`: a person's file becomes a table that the next question can ask."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

Askhouse = Callable[..., subprocess.CompletedProcess[str]]
ROWS = "city,sold_on,amount\nPorto,2024-01-05,10.5\nFaro,2024-01-06,4\nPorto,2024-02-07,1.5\n"


@pytest.mark.parametrize("suffix", ["csv", "json", "parquet"])
def test_a_file_can_be_asked(askhouse: Askhouse, home: Path, tmp_path: Path, suffix: str) -> None:
    (tmp_path / "city_sales.csv").write_text(ROWS)
    file = tmp_path / f"city_sales.{suffix}"
    if suffix != "csv":
        duckdb.sql(f"COPY (FROM '{tmp_path}/city_sales.csv') TO '{file}'")
    done = askhouse("load", file)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "local.my_data.city_sales: 3 rows, 3 columns\n"
    asked = ("ask", "Total amount by city", "--table", "local.my_data.city_sales", "--format", "json")
    answer = json.loads(askhouse(*asked).stdout)
    assert {row[0]: float(row[1]) for row in answer["results"][0]["rows"]} == {"Porto": 12.0, "Faro": 4.0}
    assert answer["place"] == "your data on this machine"


def test_a_name_may_be_given(askhouse: Askhouse, home: Path, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(ROWS)
    done = askhouse("load", tmp_path / "a.csv", "--name", "sales")
    assert done.stdout.startswith("local.my_data.sales: ")


def test_a_file_loaded_again_replaces_its_table(askhouse: Askhouse, home: Path, tmp_path: Path) -> None:
    file = tmp_path / "sales.csv"
    for rows, count in ((ROWS, 3), (ROWS + "Faro,2024-03-01,2\n", 4)):
        file.write_text(rows)
        assert askhouse("load", file).stdout == f"local.my_data.sales: {count} rows, 3 columns\n"
