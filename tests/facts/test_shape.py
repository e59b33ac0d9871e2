"""What a query's tree tells about its columns."""

import pytest

from askhouse.facts.shape import Shape, output_named, shape_of

T = "`p.d.t`"


@pytest.mark.parametrize(
    ("projection", "additive"),
    [
        ("COUNT(*)", True),
        ("COUNTIF(x > 1)", True),
        ("SUM(price)", True),
        ("ROUND(SUM(price), 2)", True),
        ("COALESCE(SUM(price), 0)", True),
        ("SUM(price) / 100", True),
        ("SUM(price) - SUM(cost)", True),
        ("COUNT(DISTINCT user_id)", False),
        ("SUM(DISTINCT price)", False),
        ("APPROX_COUNT_DISTINCT(user_id)", False),
        ("AVG(price)", False),
        ("MAX(price)", False),
        ("SUM(price) / COUNT(*)", False),
        ("SAFE_DIVIDE(SUM(price), SUM(cost))", False),
        ("SUM(price) - AVG(price)", False),
        ("SUM(SUM(price)) OVER ()", False),
        ("SUM(user_id)", False),
        ("SUM(birth_year)", False),
        ("price", False),
    ],
)
def test_only_sums_and_counts_by_group_add_up(projection: str, additive: bool) -> None:
    shape = shape_of(f"SELECT region, {projection} AS v FROM {T} GROUP BY region")

    assert shape.output("v").additive is additive


@pytest.mark.parametrize(
    ("sql", "additive"),
    [
        (f"WITH m AS (SELECT r, SUM(x) AS v FROM {T} GROUP BY r) SELECT r, v FROM m", True),
        (f"WITH m AS (SELECT r, AVG(x) AS v FROM {T} GROUP BY r) SELECT r, ROUND(v, 1) AS v FROM m", False),
        (f"SELECT r, q.v AS v FROM (SELECT r, COUNT(*) AS v FROM {T} GROUP BY r) AS q", True),
        (f"SELECT r, SUM(x) AS v FROM {T} GROUP BY ROLLUP(r)", False),
        (f"SELECT r, SUM(x) AS share_pct FROM {T} GROUP BY r", False),
    ],
)
def test_additivity_is_followed_through_subqueries_and_stops_at_subtotals(sql: str, additive: bool) -> None:
    column = "share_pct" if "share_pct" in sql else "v"

    assert shape_of(sql).output(column).additive is additive


@pytest.mark.parametrize(
    ("expression", "grain"),
    [
        ("DATE_TRUNC(d, MONTH)", "month"),
        ("TIMESTAMP_TRUNC(d, WEEK(MONDAY))", "week"),
        ("EXTRACT(YEAR FROM d)", "year"),
        ("EXTRACT(MONTH FROM d)", "month_of_year"),
        ("EXTRACT(DAYOFWEEK FROM d)", "day_of_week"),
        ("FORMAT_DATE('%Y-%m', d)", "month"),
        ("d", None),
    ],
)
def test_the_grain_of_a_period_comes_from_the_query(expression: str, grain: str | None) -> None:
    assert shape_of(f"SELECT {expression} AS p, COUNT(*) AS n FROM {T} GROUP BY p").output("p").grain == grain


@pytest.mark.parametrize(
    ("name", "aggregate", "additive"),
    [
        ("COUNT(Rank)", "count", True),
        ("sum(price)", "sum", True),
        ("SUM(user_id)", "sum", False),
        ("count(DISTINCT city)", "distinct", False),
        ("avg(T1.price)", "average", False),
        ("total", None, False),
    ],
)
def test_without_a_query_a_column_named_by_a_function_tells_as_much(
    name: str, aggregate: str | None, additive: bool
) -> None:
    assert (output_named(name).aggregate, output_named(name).additive) == (aggregate, additive)


def test_order_and_limit_are_read() -> None:
    shape = shape_of(f"SELECT a, SUM(b) AS s FROM {T} GROUP BY a ORDER BY s DESC, a LIMIT 7")

    assert (shape.order, shape.limit, shape.grouped, shape.table) == ((("s", True), ("a", False)), 7, True, "t")
    assert shape_of(f"SELECT a, SUM(b) AS s FROM {T} GROUP BY a ORDER BY SUM(b)").order == (("s", False),)
    assert shape_of(f"SELECT a, SUM(b) AS s FROM {T} GROUP BY a ORDER BY 2 DESC").order == (("s", True),)


@pytest.mark.parametrize("sql", ["", "SELEC a FROM", "DELETE FROM t WHERE TRUE", "(" * 500])
def test_what_cannot_be_read_is_no_error(sql: str) -> None:
    assert shape_of(sql) == Shape()
