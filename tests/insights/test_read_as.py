"""A query in plain words: right for any SELECT, or silent."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askhouse.insights.read_as import read_back

ITEMS = "`bigquery-public-data.thelook_ecommerce.order_items`"
PRODUCTS = "`bigquery-public-data.thelook_ecommerce.products`"


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        (
            "SELECT origin, COUNT(*) AS n FROM `l.d.flights` GROUP BY origin ORDER BY n DESC",
            "Number of rows of flights by origin, sorted by number of rows, highest first.",
        ),
        (
            "SELECT DATE_TRUNC(DATE(created_at), MONTH) AS month, SUM(sale_price) FROM t GROUP BY 1 ORDER BY 1",
            "Total sale_price of t by month of created_at, sorted by month of created_at.",
        ),
        (
            f"SELECT p.category, SUM(oi.sale_price) FROM {ITEMS} oi JOIN {PRODUCTS} p ON p.id = oi.product_id "
            "WHERE oi.created_at >= TIMESTAMP '2025-10-01' AND oi.created_at < TIMESTAMP '2026-01-01' GROUP BY 1",
            "Total order_items.sale_price of order_items with products by products.category, where "
            "order_items.created_at is in the fourth quarter of 2025.",
        ),
        (
            "SELECT COUNT(*) FROM (SELECT user_id FROM o GROUP BY user_id HAVING COUNT(*) > 3)",
            "Number of rows of (the groups of o by user_id, for groups whose number of rows is more than 3).",
        ),
        (
            "SELECT COUNTIF(dep_time IS NULL) / COUNT(*) AS share FROM flights",
            "(number of rows where dep_time is missing) divided by number of rows of flights.",
        ),
        ("SELECT * FROM t LIMIT 5", "Shows all columns of t, only the first 5 rows."),
        ("SELECT a FROM t ORDER BY a LIMIT 3 OFFSET 6", "Shows a of t, sorted by a, only 3 rows after the first 6."),
        ("SELECT DISTINCT carrier FROM t", "Distinct carrier of t."),
        (
            "SELECT x FROM t WHERE a IN ('r', 's') OR NOT b > 2",
            "Shows x of t, where (a is r or s or b is not more than 2).",
        ),
        ("SELECT x FROM t WHERE s = '' AND z = '7'", 'Shows x of t, where s is empty text and z is "7".'),
        ("SELECT x FROM t WHERE n LIKE '%ab%'", 'Shows x of t, where n contains "ab".'),
        ("SELECT x FROM t WHERE n LIKE 'a_b'", "Shows x of t, where `n LIKE 'a_b'`."),
        (
            "SELECT x FROM t WHERE d >= DATE '2024-02-01' AND d < DATE '2024-03-01'",
            "Shows x of t, where d is in February 2024.",
        ),
        ("SELECT x FROM t WHERE d > DATE '2024-02-29'", "Shows x of t, where d is after 29 February 2024."),
        (
            "SELECT x FROM t WHERE ts >= TIMESTAMP('2024-02-01', 'Asia/Tokyo')",
            "Shows x of t, where ts is at least `TIMESTAMP('2024-02-01', 'Asia/Tokyo')`.",
        ),
        (
            "SELECT x FROM t WHERE DATE(t.year, t.month, t.day) >= DATE(2013, 7, 1)"
            " AND DATE(t.year, t.month, t.day) < DATE(2013, 8, 1)",
            "Shows x of t, where the date (year, month, day) is in July 2013.",
        ),
        (
            "SELECT COUNT(*) FROM u WHERE id IN (SELECT user_id FROM o GROUP BY user_id HAVING COUNT(*) > 3)",
            "Number of rows of u, where id is among "
            "(the groups of o by user_id, for groups whose number of rows is more than 3).",
        ),
        ("SELECT a FROM t WHERE a > (SELECT AVG(a) FROM t)", "Shows a of t, where a is more than (average a of t)."),
        ("SELECT a FROM t LEFT JOIN u USING (k)", "Shows a of t with u (if any)."),
        ("SELECT `年` FROM t WHERE `a.b` = 3", "Shows 年 of t, where a.b is 3."),
        (
            "SELECT SUM(x) AS x FROM t GROUP BY y HAVING SUM(x) > 1",
            "Total x of t by y, for groups whose total x is more than 1.",
        ),
    ],
)
def test_words(sql: str, words: str) -> None:
    assert read_back(sql).text == words


@pytest.mark.parametrize(
    "sql",
    [
        "",
        "SELECT 1",
        "not sql (((",
        "DELETE FROM t WHERE TRUE",
        "SELECT x FROM t; SELECT y FROM u",
        "SELECT x FROM t WHERE a > (SELECT AVG(u.a) FROM u WHERE u.k = t.k)",
        "SELECT x FROM t, UNNEST(t.items) AS i",
        "SELECT x FROM t CROSS JOIN u",
        "SELECT x FROM t JOIN u ON t.a > u.b",
        "SELECT x FROM t FULL JOIN u USING (k)",
        "SELECT x FROM t TABLESAMPLE SYSTEM (10 PERCENT)",
        "SELECT x FROM t FOR SYSTEM_TIME AS OF TIMESTAMP '2024-01-01'",
        "SELECT * FROM t PIVOT(SUM(a) FOR b IN ('x'))",
        "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT n FROM r",
    ],
)
def test_silence_where_words_would_be_less_than_right(sql: str) -> None:
    assert read_back(sql).text == "" or "`" in read_back(sql).text


def test_missing_values_are_an_assumption_only_where_certain() -> None:
    sql = "SELECT AVG(delay), SUM(n) FROM t WHERE carrier <> 'DL' AND NOT origin IN ('JFK') AND (a <> 1 OR b = 2)"
    assert read_back(sql).assumptions == (
        "Rows without delay do not count in the average of delay.",
        "Rows without carrier are left out, too: a missing value is not taken as different.",
        "Rows without origin are left out, too: a missing value is not taken as different.",
    )
    assert read_back("SELECT AVG(IFNULL(delay, 0)) FROM t").assumptions == ()


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60) | st.text(alphabet="SELECTFROMWHERE abc*(),='`1", max_size=60))
def test_no_text_breaks_it(sql: str) -> None:
    assert isinstance(read_back(sql).text, str)


_CONDITIONS = {
    "a > 1": "a is more than 1",
    "b IS NULL": "b is missing",
    "c IN ('x', 'y')": "c is x or y",
    "d <> 'z'": "d is not z",
}


@given(st.lists(st.sampled_from(sorted(_CONDITIONS)), min_size=1, unique=True))
def test_every_filter_is_said(conditions: list[str]) -> None:
    text = read_back(f"SELECT COUNT(*) FROM t WHERE {' AND '.join(conditions)}").text
    assert text == f"Number of rows of t, where {' and '.join(_CONDITIONS[c] for c in conditions)}."
