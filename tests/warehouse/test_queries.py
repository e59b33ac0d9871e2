"""Whole queries: clauses, names, order and errors as in BigQuery.

The rows were confirmed with Google's own reference evaluator (ZetaSQL).
"""

from __future__ import annotations

from typing import Any

import pytest

from askhouse.errors import InvalidQueryError, TableNotFoundError, UnsupportedError
from askhouse.warehouse.duckdb import LocalWarehouse

ROWS = "UNNEST([STRUCT('a' AS g, 1 AS x, 10 AS y), ('a', 2, 20), ('b', 3, NULL), ('b', NULL, 5), (NULL, 4, 7)])"
FLIGHTS = "`local.nycflights13.flights`"

ANSWERS: list[tuple[str, list[Any]]] = [
    ("SELECT g, SUM(x) AS s FROM {t} GROUP BY g ORDER BY g", [(None, 4), ("a", 3), ("b", 3)]),
    ("SELECT g, SUM(x) AS s FROM {t} GROUP BY g ORDER BY g DESC", [("b", 3), ("a", 3), (None, 4)]),
    ("SELECT g, SUM(x) AS s FROM {t} GROUP BY 1 HAVING s > 3 ORDER BY 1", [(None, 4)]),
    ("SELECT UPPER(g) AS g, SUM(x) AS s FROM {t} GROUP BY g ORDER BY g", [(None, 4), ("A", 3), ("B", 3)]),
    ("SELECT x + 1 AS x FROM {t} WHERE x > 2 ORDER BY x", [(4,), (5,)]),
    ("SELECT -x AS x FROM {t} ORDER BY x * 1", [(None,), (-4,), (-3,), (-2,), (-1,)]),
    ("SELECT MOD(x, 2) AS x, COUNT(*) AS c FROM {t} GROUP BY x ORDER BY x", [(None, 1), (0, 2), (1, 2)]),
    ("SELECT g, SUM(x) AS x FROM {t} GROUP BY g HAVING x > 3 ORDER BY g", [(None, 4)]),
    ("SELECT x, COUNT(*) AS c FROM {t} GROUP BY x ORDER BY x DESC NULLS FIRST LIMIT 2", [(None, 1), (4, 1)]),
    ("SELECT g, x FROM {t} WHERE g != 'a' ORDER BY x", [("b", None), ("b", 3)]),
    ("SELECT x FROM {t} WHERE g NOT IN ('a', NULL)", []),
    ("SELECT DISTINCT g FROM {t} ORDER BY g", [(None,), ("a",), ("b",)]),
    ("SELECT COUNT(*) AS n, COUNT(g) AS g, COUNT(DISTINCT g) AS d, AVG(y) AS a FROM {t}", [(5, 4, 2, 10.5)]),
    ("SELECT MAX(x) AS m FROM {t} WHERE FALSE", [(None,)]),
    ("SELECT COUNT(*) AS n FROM {t} HAVING COUNT(*) > 100", []),
    ("SELECT g, SUM(SUM(x)) OVER () AS t, SUM(x) AS s FROM {t} GROUP BY g ORDER BY g",
     [(None, 10, 4), ("a", 10, 3), ("b", 10, 3)]),
    ("SELECT g, x, SUM(x) OVER (PARTITION BY g ORDER BY x) AS c, LAG(x) OVER (ORDER BY y) AS l FROM {t} ORDER BY g, x",
     [(None, 4, 4, None), ("a", 1, 1, 4), ("a", 2, 3, 1), ("b", None, None, 3), ("b", 3, 3, None)]),
    ("SELECT g, x AS k FROM {t} WHERE x >= 1 QUALIFY RANK() OVER (ORDER BY k DESC) = 1", [(None, 4)]),
    ("SELECT SUM(x) OVER w AS s FROM {t} WINDOW w AS (ORDER BY y ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) ORDER BY s",
     [(3,), (3,), (3,), (4,), (5,)]),
    ("SELECT g, PERCENTILE_CONT(x, 0.5) OVER (PARTITION BY g) AS m FROM {t} ORDER BY g, m",
     [(None, 4.0), ("a", 1.5), ("a", 1.5), ("b", 3.0), ("b", 3.0)]),
    ("SELECT g, ARRAY_AGG(x IGNORE NULLS ORDER BY x) AS xs FROM {t} GROUP BY g ORDER BY g",
     [(None, [4]), ("a", [1, 2]), ("b", [3])]),
    ("SELECT g, COUNT(*) AS c FROM {t} GROUP BY ROLLUP(g) ORDER BY c, g", [(None, 1), ("a", 2), ("b", 2), (None, 5)]),
    ("WITH t AS (SELECT g, SUM(x) AS s FROM {t} GROUP BY g) SELECT t.g, u.s FROM t JOIN t AS u USING (g) ORDER BY g",
     [("a", 3), ("b", 3)]),
    ("WITH t AS (SELECT * FROM {t}), u AS (SELECT 'z' AS g, 99 AS z)"
     " SELECT * FROM t FULL JOIN u USING (g) ORDER BY g, x",
     [(None, 4, 7, None), ("a", 1, 10, None), ("a", 2, 20, None), ("b", None, 5, None), ("b", 3, None, None),
      ("z", None, None, 99)]),
    ("SELECT 1 AS a UNION ALL SELECT 2.5 ORDER BY a DESC", [(2.5,), (1.0,)]),
    ("SELECT g AS a FROM {t} EXCEPT DISTINCT SELECT 'a' ORDER BY a", [(None,), ("b",)]),
    ("SELECT * EXCEPT (y) REPLACE (x * 2 AS x) FROM {t} ORDER BY x",
     [("b", None), ("a", 2), ("a", 4), ("b", 6), (None, 8)]),
    ("SELECT g, (SELECT MAX(v) FROM UNNEST([x, y]) AS v) AS m FROM {t} ORDER BY y",
     [("b", 3), ("b", 5), (None, 7), ("a", 10), ("a", 20)]),
    ("SELECT g, x FROM {t} AS t WHERE EXISTS (SELECT 1 FROM UNNEST([1, 3]) AS v WHERE v = t.x) ORDER BY x",
     [("a", 1), ("b", 3)]),
    ("SELECT g, x FROM {t} AS t WHERE t.x IN (SELECT v FROM UNNEST([1, 3]) AS v) ORDER BY x", [("a", 1), ("b", 3)]),
    ("SELECT w, o FROM UNNEST(['p', 'q']) AS w WITH OFFSET AS o ORDER BY o", [("p", 0), ("q", 1)]),
    ("SELECT a.v, b FROM (SELECT [1, 2] AS arr, 'k' AS v) AS a, a.arr AS b ORDER BY b", [("k", 1), ("k", 2)]),
    ("SELECT a.v, b FROM (SELECT CAST([] AS ARRAY<INT64>) AS arr, 'k' AS v) AS a LEFT JOIN UNNEST(a.arr) AS b",
     [("k", None)]),
    ("SELECT 5 AS k, SUM(x) AS s FROM {t} GROUP BY k", [(5, 10)]),
    ("SELECT STRUCT(g, x) AS st FROM {t} WHERE x = 1", [({"g": "a", "x": 1},)]),
    ("FROM {t} |> WHERE x > 1 |> AGGREGATE SUM(x) AS s GROUP BY g |> ORDER BY g", [(None, 4), ("a", 2), ("b", 3)]),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "rows"), ANSWERS)
def test_a_query_returns_the_rows_of_bigquery(warehouse: LocalWarehouse, sql: str, rows: list[Any]) -> None:
    assert warehouse.query(sql.replace("{t}", ROWS)).rows == rows


REFUSALS: list[tuple[str, type[Exception], str]] = [
    ("SELECT carier FROM {f}", InvalidQueryError, "Unrecognized name: carier; Did you mean carrier? at [1:8]"),
    ("SELECT f.carier FROM {f} AS f", InvalidQueryError, "Name carier not found inside f; Did you mean carrier?"),
    ("SELECT 1\nFROM {f}\nWHERE nothing_like_it = 1", InvalidQueryError, "Unrecognized name: nothing_like_it at [3:7]"),
    ("SELECT dest FROM {f} GROUP BY carrier", InvalidQueryError,
     "SELECT list expression references column dest which is neither grouped nor aggregated"),
    ("SELECT carrier FROM {f} WHERE COUNT(*) > 1", InvalidQueryError, "Aggregate function not allowed in WHERE clause"),
    ("SELECT SUM(COUNT(*)) FROM {f}", InvalidQueryError, "Aggregations of aggregations are not allowed"),
    ("SELECT ROW_NUMBER() AS r FROM {f}", InvalidQueryError, "cannot be called without an OVER clause"),
    ("SELECT carrier, carrier FROM {f}", InvalidQueryError, "Duplicate column names"),
    ("SELECT name FROM {f} AS a JOIN `local.nycflights13.airlines` AS b USING (carrier) JOIN"
     " `local.nycflights13.airports` AS c ON c.faa = a.dest", InvalidQueryError, "Column name name is ambiguous"),
    ("SELECT a.year FROM {f} AS a JOIN {f} AS a ON TRUE", InvalidQueryError, "Duplicate table alias a"),
    ("SELECT carrier FROM {f} WHERE dep_delay", InvalidQueryError, "WHERE clause should return type BOOL"),
    ("SELECT carrier FROM {f} WHERE dep_delay = 'late'", InvalidQueryError, "No matching signature for operator ="),
    ("SELECT SUM(carrier) FROM {f}", InvalidQueryError, "No matching signature for aggregate function SUM"),
    ("SELECT (SELECT carrier FROM {f})", InvalidQueryError, "Scalar subquery produced more than one element"),
    ("SELECT x FROM `local.nycflights13.flight`", TableNotFoundError,
     "local.nycflights13.flight. Did you mean local.nycflights13.flights?"),
    ("SELECT f FROM {f} AS f", UnsupportedError, "whole row f"),
    ("SELECT x FROM flights", InvalidQueryError, "must be qualified with a dataset"),
    ("SELECT * FROM `local.nycflights13.fl*`", UnsupportedError, "Wildcard tables"),
    ("SELECT * FROM local.nycflights13.INFORMATION_SCHEMA.TABLES", TableNotFoundError, "INFORMATION_SCHEMA"),
    ("SELECT * FROM {f} TABLESAMPLE SYSTEM (10 PERCENT)", UnsupportedError, "SAMPLE"),
    ("SELECT * FROM {f} FOR SYSTEM_TIME AS OF CURRENT_TIMESTAMP()", UnsupportedError, "VERSION"),
    ("WITH RECURSIVE a AS (SELECT 1 AS x) SELECT x FROM a", UnsupportedError, "RECURSIVE"),
    ("SELECT * FROM {f} PIVOT (COUNT(*) FOR origin IN ('JFK'))", UnsupportedError, "PIVOT"),
    ("SELECT @p", UnsupportedError, "not supported"),
    ("SELECT @@version", UnsupportedError, "not supported"),
    ("SELECT", InvalidQueryError, "SELECT list is empty"),
    ("SELECT FROM {f}", InvalidQueryError, "SELECT list is empty"),
    ("SELECT a b c", InvalidQueryError, 'Syntax error: Unexpected "c" at [1:12]'),
    ("SELECT IF(NULL, , 2)", InvalidQueryError, "."),
    ("SELECT SUM(DISTINCT ) FROM {f}", InvalidQueryError, "."),
    ("SELECT 'a", InvalidQueryError, "Syntax error"),
    ("", InvalidQueryError, "found no statement"),
    ("-- nothing", InvalidQueryError, "found no statement"),
    ("SELECT 1; DROP TABLE x", InvalidQueryError, "found 2 statements"),
    ("SELECT " + "(" * 3000 + "1" + ")" * 3000, InvalidQueryError, "."),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "error", "words"), REFUSALS)
def test_a_query_is_refused_in_bigquery_s_words(
    warehouse: LocalWarehouse, sql: str, error: type[Exception], words: str
) -> None:
    with pytest.raises(error) as caught:
        warehouse.query(sql.replace("{f}", FLIGHTS))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM {f} WHERE TRUE",
        "INSERT INTO {f} (year) VALUES (1)",
        "UPDATE {f} SET year = 1 WHERE TRUE",
        "MERGE {f} USING {f} ON FALSE WHEN MATCHED THEN DELETE",
        "CREATE TABLE `local.my_data.x` AS SELECT 1 AS a",
        "DROP TABLE {f}",
        "TRUNCATE TABLE {f}",
        "ALTER TABLE {f} ADD COLUMN x INT64",
        "GRANT `roles/x` ON TABLE {f} TO 'a'",
        "CALL x()",
        "DECLARE x INT64",
        "SET x = 1",
        "BEGIN SELECT 1; END",
        "EXECUTE IMMEDIATE 'SELECT 1'",
        "EXPORT DATA OPTIONS(uri='gs://x/*') AS SELECT 1",
        "ATTACH '/tmp/x.db'",
        "COPY {f} TO '/tmp/x.csv'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "PRAGMA database_list",
        "EXPLAIN SELECT 1",
        "DESCRIBE {f}",
        "SHOW TABLES",
        "VALUES (1)",
        "FROM read_csv('/etc/passwd')",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM `/etc/passwd`",
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM duckdb_settings()",
        "SELECT * FROM range(10)",
        "SELECT * FROM main.measured",
        "SELECT * FROM samples.main.measured",
        "SELECT * FROM sqlite_master",
        "SELECT * FROM information_schema.tables",
        "SELECT * FROM (VALUES (1))",
        "SELECT x FROM (DELETE FROM {f} WHERE TRUE RETURNING 1 AS x)",
        "WITH a AS (DELETE FROM {f} WHERE TRUE) SELECT 1",
        "SELECT * INTO x FROM {f}",
        "SELECT * FROM {f} FOR UPDATE",
    ],
)
def test_nothing_but_a_select_of_known_tables_runs(warehouse: LocalWarehouse, sql: str) -> None:
    with pytest.raises((InvalidQueryError, UnsupportedError, TableNotFoundError)):
        warehouse.query(sql.replace("{f}", FLIGHTS))
    assert warehouse.query(f"SELECT COUNT(*) FROM {FLIGHTS}").rows == [(336_776,)]


def test_columns_are_named_and_typed_as_in_bigquery(warehouse: LocalWarehouse) -> None:
    sql = f"""SELECT Carrier, COUNT(*), AVG(dep_delay) AS Mean, MAX(time_hour), ARRAY_AGG(DISTINCT origin) AS a,
        f.dest AS `to`, STRUCT(1 AS n) AS s FROM {FLIGHTS} AS f WHERE dest = 'ABQ' GROUP BY carrier, dest"""
    columns = warehouse.query(sql).columns
    assert [(c.name, c.type, c.mode) for c in columns] == [
        ("Carrier", "STRING", "NULLABLE"), ("f0_", "INT64", "NULLABLE"), ("Mean", "FLOAT64", "NULLABLE"),
        ("f1_", "TIMESTAMP", "NULLABLE"), ("a", "STRING", "REPEATED"), ("to", "STRING", "NULLABLE"),
        ("s", "STRUCT", "NULLABLE"),
    ]  # fmt: skip
    assert warehouse.dry_run(sql).columns == columns


def test_a_geography_keeps_its_type(warehouse: LocalWarehouse) -> None:
    rows = warehouse.query("SELECT user_geom FROM `bigquery-public-data.thelook_ecommerce.users` LIMIT 1")
    assert rows.columns[0].type == "GEOGRAPHY"
    assert str(rows.rows[0][0]).startswith("POINT(")


@pytest.mark.parametrize(
    ("sql", "columns"),
    [
        ("SELECT COUNT(*) FROM {f}", {}),
        ("SELECT month FROM {f}", {"month": 8 * 336_776}),
        ("SELECT 1 FROM {f} WHERE month = 1 AND day = 2", {"month": 8 * 336_776, "day": 8 * 336_776}),
        ("SELECT dep_delay FROM {f}", {"dep_delay": 8 * 328_521}),
        ("SELECT carrier FROM {f}", {"carrier": 4 * 336_776}),
        ("WITH t AS (SELECT * FROM {f}) SELECT month FROM t", {"month": 8 * 336_776}),
        ("SELECT month FROM (SELECT * FROM {f}) ORDER BY day", {"month": 8 * 336_776, "day": 8 * 336_776}),
        ("SELECT COUNT(*) FROM {f} AS a JOIN {f} AS b USING (month) WHERE FALSE", {"month": 8 * 336_776}),
    ],
)
def test_a_query_costs_the_columns_that_it_reads(warehouse: LocalWarehouse, sql: str, columns: dict[str, int]) -> None:
    assert warehouse.dry_run(sql.replace("{f}", FLIGHTS)).bytes_processed == sum(columns.values())
