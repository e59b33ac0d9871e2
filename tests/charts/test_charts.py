"""Charts that are drawn, and that show what the rows say."""

import json
import math
import os
import re
import subprocess
import sys
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askhouse.charts import choose
from askhouse.charts.check import check, schema_problems
from askhouse.charts.render import font_notice, svg, undrawable
from state_contracts import Chart, Column, Result

T = "`p.d.sales`"
AVERAGE = f"SELECT k, AVG(x) AS v FROM {T} GROUP BY k"
TOTAL = f"SELECT k, SUM(x) AS v FROM {T} GROUP BY k"
BY_MONTH = f"SELECT DATE_TRUNC(d, MONTH) AS month, SUM(x) AS v FROM {T} GROUP BY month ORDER BY month"


def result_of(sql: str, columns: dict[str, str], rows: list[tuple[Any, ...]], **more: Any) -> Result:
    more.setdefault("row_count", len(rows))
    return Result(name="r", columns=[Column(name=n, type=t) for n, t in columns.items()], rows=rows, sql=sql, **more)


def groups(rows: list[tuple[Any, ...]], sql: str = TOTAL, kind: str = "INT64", **more: Any) -> Result:
    return result_of(sql, {"k": "STRING", "v": kind}, rows, **more)


def drawn(question: str, result: Result) -> Chart:
    """The chart, after it has passed every check and the renderer."""
    chart = choose(question, result)
    if chart.kind != "none":
        assert chart.spec is not None
        assert check(chart, result) == []
        assert schema_problems(chart.spec) == []
        assert svg(chart.spec).startswith("<svg")
        assert chart.alt
    return chart


def picture_of(chart: Chart) -> str:
    assert chart.spec is not None
    return svg(chart.spec)


def texts_of(chart: Chart) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]+)</text>", picture_of(chart))


def points_of(chart: Chart) -> list[dict[str, Any]]:
    assert chart.spec is not None
    points: list[dict[str, Any]] = chart.spec["data"]["values"]
    return points


def pairs_of(chart: Chart) -> list[tuple[Any, Any]]:
    return [(point["f0"], point["f1"]) for point in points_of(chart)]


def bars_of(chart: Chart) -> int:
    return picture_of(chart).count('aria-roledescription="bar"')


def test_groups_become_bars_whose_length_is_the_value() -> None:
    """Bugs 22, 23, 56: the axis counts 0, 1, 2 instead of showing the values."""
    chart = drawn("", groups([("EWR", 120835), ("JFK", 111279), ("LGA", 104662)]))

    assert chart.kind == "bar"
    assert pairs_of(chart) == [
        ("EWR", 120835),
        ("JFK", 111279),
        ("LGA", 104662),
    ]
    assert bars_of(chart) == 3
    assert {"120,835", "111,279", "104,662"} <= set(texts_of(chart))


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Revenue by region as a pie chart", "pie"),
        ("show revenue by region as a pie", "pie"),
        ("Revenue by region, draw a line", "line"),
        ("bar chart of revenue by region", "bar"),
        ("revenue by region without a chart", "none"),
        ("What share of revenue has each region?", "pie"),
        ("revenue of each product line by region", "bar"),
    ],
)
def test_bug_25_the_word_of_the_person_wins(question: str, kind: str) -> None:
    assert drawn(question, groups([("North", 30), ("South", 10), ("East", 60)])).kind == kind


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (groups([("a", 3), ("b", -1)]), "cannot be negative"),
        (groups([("a", 3), ("b", 1)], AVERAGE), "do not add up to a whole"),
        (groups([("a", 3), ("b", 1)], TOTAL + " ORDER BY v DESC LIMIT 2"), "not the whole"),
        (groups([("a", 3), ("b", None)]), "no slice"),
        (groups([("a", 0), ("b", 0)]), "all parts are zero"),
    ],
)
def test_a_pie_that_would_lie_becomes_bars_with_the_reason(result: Result, words: str) -> None:
    chart = drawn("as a pie chart", result)

    assert chart.kind == "bar"
    assert chart.reason.startswith("Not drawn as a pie chart:") and words in chart.reason


def test_bug_32_the_chart_shows_the_rows_of_the_table() -> None:
    sql = f"SELECT k, marks AS v FROM {T} ORDER BY v LIMIT 3"
    chart = drawn("bottom 3", groups([("Eve", 4), ("Bob", 11), ("Dan", 11)], sql))

    assert pairs_of(chart) == [("Eve", 4), ("Bob", 11), ("Dan", 11)]


@pytest.mark.parametrize(
    "name", ["年", "3pointplay", "a.b", "y.1", "y[0]", "it's", "a:b", 'q"q', "a\\b", "from", "f0", "{x}"]
)
def test_bugs_41_43_76_77_any_column_name_is_drawn(name: str) -> None:
    sql = f"SELECT `{name}`, SUM(x) AS `v.{name}` FROM {T} GROUP BY 1"
    chart = drawn("", result_of(sql, {name: "STRING", f"v.{name}": "INT64"}, [("a", 1), ("b", 2), ("c", 4)]))

    assert chart.kind == "bar"
    assert bars_of(chart) == 3


def test_a_column_that_the_query_does_not_name_is_read_by_its_position() -> None:
    result = result_of(f"SELECT k, COUNT(*) FROM {T} GROUP BY 1", {"k": "STRING", "f0_": "INT64"}, [("a", 1), ("b", 2)])

    assert drawn("", result).alt.startswith("Bar chart: number of sales by k, 2 bars.")


def test_bug_46_many_groups_are_cut_and_the_rest_added_up() -> None:
    rows = [(f"group {i}", 100_000 // (i + 1) ** 2) for i in range(300)]
    chart = drawn("", groups(rows))
    points = points_of(chart)

    assert len(points) == 31
    assert points[-1]["f0"] == "other (270)"
    assert points[-1]["f1"] == sum(value for _, value in rows[30:])
    assert any("30 largest of 300" in text for text in texts_of(chart))


def test_bug_46_a_rest_that_would_dwarf_the_groups_is_told_and_not_drawn() -> None:
    rows = [(f"group {i}", 1000 - i) for i in range(300)]
    chart = drawn("", groups(rows))

    assert len(points_of(chart)) == 30
    together = f"{sum(value for _, value in rows[30:]):,}"
    assert any(f"the other 270 together make {together}" in text for text in texts_of(chart))


def test_bug_46_averages_are_cut_but_not_added_up() -> None:
    chart = drawn("", groups([(f"group {i}", float(i)) for i in range(300)], AVERAGE, "FLOAT64"))

    assert [point["f1"] for point in points_of(chart)] == [float(i) for i in range(299, 269, -1)]
    assert any("30 largest of 300" in text for text in texts_of(chart))


def test_bug_52_the_same_question_gives_the_same_chart() -> None:
    result = groups([("North", 30), ("South", 10), ("East", 60)])

    assert len({choose("revenue by region", result).model_dump_json() for _ in range(20)}) == 1


def test_bug_53_two_measures_side_by_side() -> None:
    sql = f"SELECT product, MAX(x) AS max_sales, AVG(x) AS avg_sales FROM {T} GROUP BY product"
    columns = {"product": "STRING", "max_sales": "INT64", "avg_sales": "FLOAT64"}
    chart = drawn("max and average sales per product", result_of(sql, columns, [("a", 10, 4.5), ("b", 8, 6.0)]))

    assert chart.kind == "grouped_bar"
    assert bars_of(chart) == 4
    assert {"max sales", "avg sales"} <= set(texts_of(chart))


def test_measures_of_another_size_are_left_out_and_that_is_said() -> None:
    sql = f"SELECT k, SUM(x) AS revenue, COUNT(*) AS orders FROM {T} GROUP BY k"
    rows = [("a", 1_000_000.0, 3), ("b", 2_000_000.0, 4)]
    chart = drawn("", result_of(sql, {"k": "STRING", "revenue": "FLOAT64", "orders": "INT64"}, rows))

    assert chart.kind == "bar"
    assert any("Without number of orders" in text for text in texts_of(chart))


def test_bug_59_a_missing_value_is_a_gap_and_not_zero() -> None:
    rows = [("2025-01-01", 10), ("2025-02-01", None), ("2025-03-01", 20)]
    chart = drawn("trend", result_of(BY_MONTH, {"month": "DATE", "v": "INT64"}, rows))

    assert [point["f1"] for point in points_of(chart)] == [10, None, 20]
    path = re.search(r'<path aria-label[^>]*aria-roledescription="line mark"[^>]*>', picture_of(chart))
    assert path is not None
    assert path[0].count("M") == 2


def test_bug_61_null_and_the_empty_text_stay_two_groups() -> None:
    chart = drawn("", groups([("", 3), (None, 20), ("google", 7), ("(no value)", 1)]))

    assert len({point["f0"] for point in points_of(chart)}) == 4
    assert bars_of(chart) == 4


@pytest.mark.parametrize("wanted", ["as a line chart", "as a bar chart"])
def test_bug_64_year_is_not_printed_with_separator(wanted: str) -> None:
    sql = f"SELECT EXTRACT(YEAR FROM d) AS year, SUM(x) AS v FROM {T} GROUP BY year ORDER BY year"
    rows = [(year, year - 2000) for year in range(2019, 2025)]
    texts = texts_of(drawn(wanted, result_of(sql, {"year": "INT64", "v": "INT64"}, rows)))

    assert {"2019", "2020", "2024"} <= set(texts)
    assert not [text for text in texts if "2,0" in text or re.fullmatch(r"20\d\d\.\d", text)]


def test_bug_65_large_whole_numbers_keep_their_digits() -> None:
    by_id = groups([("a", 356206305582642177), ("b", 356206305582642178)])
    chart = drawn("", by_id)
    assert {"356,206,305,582,642,177", "356,206,305,582,642,178"} <= set(texts_of(chart))
    assert [point["f3"] for point in points_of(chart)] == ["356206305582642178", "356206305582642177"]

    sql = f"SELECT id, COUNT(*) AS n FROM {T} GROUP BY id"
    keyed = drawn("", result_of(sql, {"id": "INT64", "n": "INT64"}, [(356206305582642177, 1), (356206305582642178, 2)]))
    assert {"356206305582642177", "356206305582642178"} <= set(texts_of(keyed))


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_bugs_79_82_nan_and_infinity_are_no_value(bad: float) -> None:
    chart = drawn("", groups([("a", 1.5), ("b", bad), ("c", 2.5)], TOTAL, "FLOAT64"))

    assert {point["f0"]: point["f1"] for point in points_of(chart)} == {"a": 1.5, "b": None, "c": 2.5}
    assert not [text for text in texts_of(chart) if "NaN" in text or "Infinity" in text]


def test_bug_80_a_line_of_one_row_is_a_point() -> None:
    chart = drawn("as a line chart", result_of(BY_MONTH, {"month": "DATE", "v": "INT64"}, [("2025-01-01", 7)]))

    assert chart.kind == "line"
    assert 'aria-roledescription="point"' in picture_of(chart)
    assert "Jan 2025" in texts_of(chart)


def test_bug_83_decimals_are_numbers() -> None:
    chart = drawn("", groups([("a", Decimal("1.50")), ("b", Decimal("2"))], TOTAL, "NUMERIC"))

    assert [point["f1"] for point in points_of(chart)] == [2, 1.5]
    assert '"quantitative"' in json.dumps(chart.spec)


@pytest.mark.parametrize("zone", ["America/Los_Angeles", "Pacific/Auckland", "UTC"])
def test_a_day_is_the_same_day_in_every_time_zone(zone: str) -> None:
    """The renderer reads the zone once per process, so each zone has its own."""
    sql = f"SELECT d AS day, SUM(x) AS v FROM {T} GROUP BY day ORDER BY day"
    days = result_of(sql, {"day": "DATE", "v": "INT64"}, [("2025-03-09", 1), ("2025-03-10", 2), ("2025-03-11", 3)])
    months = result_of(BY_MONTH, {"month": "DATE", "v": "INT64"}, [(f"2025-{m:02d}-01", m) for m in range(1, 5)])
    specs = [choose("trend", days).spec, choose("trend", months).spec]
    script = "import json, sys; from askhouse.charts.render import svg; [print(svg(s)) for s in json.load(sys.stdin)]"
    done = subprocess.run(
        [sys.executable, "-c", script], input=json.dumps(specs), env={**os.environ, "TZ": zone},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    texts = re.findall(r"<text[^>]*>([^<]+)</text>", done.stdout)

    assert {"9 Mar 2025", "10 Mar 2025", "11 Mar 2025", "Jan 2025", "Feb 2025", "Mar 2025", "Apr 2025"} <= set(texts)
    assert not {"8 Mar 2025", "12 Mar 2025", "Dec 2024", "May 2025"} & set(texts)


def test_months_and_weekdays_stand_in_calendar_order() -> None:
    sql = f"SELECT FORMAT_DATE('%B', d) AS k, COUNT(*) AS v FROM {T} GROUP BY k"
    chart = drawn("", groups([("March", 3), ("January", 1), ("April", 4), ("February", 2)], sql))
    assert [point["f0"] for point in points_of(chart)] == ["January", "February", "March", "April"]
    axis = [text for text in texts_of(chart) if text in ("January", "February", "March", "April")]
    assert axis == ["January", "February", "March", "April"]

    numbers = f"SELECT EXTRACT(DAYOFWEEK FROM d) AS k, COUNT(*) AS v FROM {T} GROUP BY k"
    week = drawn("", result_of(numbers, {"k": "INT64", "v": "INT64"}, [(7, 1), (1, 2), (2, 3)]))
    assert [point["f0"] for point in points_of(week)] == ["Sun", "Mon", "Sat"]


def test_a_missing_month_leaves_a_gap_on_the_axis() -> None:
    rows = [("2025-01-01", 1), ("2025-02-01", 2), ("2025-06-01", 3)]
    texts = texts_of(drawn("", result_of(BY_MONTH, {"month": "DATE", "v": "INT64"}, rows)))

    assert {"Jan 2025", "Feb 2025", "Jun 2025"} <= set(texts)
    assert "Apr 2025" in texts or "May 2025" in texts


def two_keys(pairs: list[tuple[Any, ...]], measure: str = "SUM(x)") -> Result:
    sql = f"SELECT DATE_TRUNC(d, MONTH) AS month, country, {measure} AS v FROM {T} GROUP BY 1, 2 ORDER BY 1"
    return result_of(sql, {"month": "DATE", "country": "STRING", "v": "INT64"}, pairs)


def test_a_group_over_time_is_a_line_each() -> None:
    pairs = [(f"2025-{m:02d}-01", c, m * n) for m in range(1, 5) for n, c in enumerate(("Brasil", "China"), 1)]
    chart = drawn("", two_keys(pairs))

    assert chart.kind == "multi_line"
    assert picture_of(chart).count('aria-roledescription="line mark"') == 2
    assert {"Brasil", "China"} <= set(texts_of(chart))


def test_more_lines_than_colours_are_cut_and_that_is_said() -> None:
    pairs = [(f"2025-{m:02d}-01", f"c{n:02d}", n) for m in range(1, 5) for n in range(20)]
    chart = drawn("", two_keys(pairs))

    assert {point["f2"] for point in points_of(chart)} == {f"c{n:02d}" for n in range(12, 20)}
    assert any("8 of 20" in text for text in texts_of(chart))


def test_two_groupings_are_stacked_where_they_add_up_and_side_by_side_where_not() -> None:
    rows = [(a, b, i + 1) for i, (a, b) in enumerate((a, b) for a in ("x", "y", "z") for b in ("m", "f"))]

    def chart(measure: str, question: str = "") -> Chart:
        sql = f"SELECT a, b, {measure} AS v FROM {T} GROUP BY a, b"
        return drawn(question, result_of(sql, {"a": "STRING", "b": "STRING", "v": "INT64"}, rows))

    assert chart("SUM(x)").kind == "stacked_bar"
    assert chart("AVG(x)").kind == "grouped_bar"
    assert chart("SUM(x)", "Compare a by b").kind == "grouped_bar"
    refused = chart("AVG(x)", "as a stacked bar chart")
    assert refused.kind == "grouped_bar" and "do not add up" in refused.reason
    assert bars_of(chart("SUM(x)")) == 6
    assert list(dict.fromkeys(point["f0"] for point in points_of(chart("SUM(x)")))) == ["z", "y", "x"]


def test_a_pie_shows_percentages_and_the_rest_last() -> None:
    chart = drawn("as a pie chart", groups([(f"g{i}", 1) for i in range(6)] + [("big", 10), ("h", 2), ("i", 2)]))
    texts = texts_of(chart)

    assert [point["f0"] for point in points_of(chart)][-1] == "other (2)"
    assert (texts.count("50%"), texts.count("10%"), texts.count("5%")) == (1, 3, 4)


def test_two_numbers_a_row_are_points() -> None:
    rows = [(float(i), float(i * i)) for i in range(20)]
    result = result_of(f"SELECT dep_delay, arr_delay FROM {T}", {"dep_delay": "FLOAT64", "arr_delay": "FLOAT64"}, rows)
    chart = drawn("Is departure delay related to arrival delay?", result)

    assert chart.kind == "scatter"
    assert pairs_of(chart) == rows


def test_numbers_that_name_things_are_drawn_only_where_the_person_wants_them_drawn() -> None:
    rows = [(4, 0.563), (3, 0.625), (2, 0.813)]
    result = result_of(f"SELECT team_id, score FROM {T}", {"team_id": "INT64", "score": "FLOAT64"}, rows)

    assert drawn("What is the relationship between team id and score?", result).kind == "scatter"
    assert drawn("score of each team", result).kind == "bar"
    ids = result_of(f"SELECT name, team_id FROM {T}", {"name": "STRING", "team_id": "INT64"}, [("a", 4), ("b", 3)])
    assert drawn("bar chart of team id by name", ids).kind == "bar"
    assert drawn("names and ids", ids).kind == "none"


def test_more_points_than_can_be_drawn_are_cut_and_that_is_said() -> None:
    rows = [(float(i), float(i * i)) for i in range(6_000)]
    chart = choose("", result_of(f"SELECT a, b FROM {T}", {"a": "FLOAT64", "b": "FLOAT64"}, rows))

    assert len(points_of(chart)) == 5_000
    assert chart.spec is not None and "5,000 of 6,000" in str(chart.spec["title"])


def test_one_number_is_a_card() -> None:
    chart = drawn("How many?", result_of(f"SELECT COUNT(*) AS n FROM {T}", {"n": "INT64"}, [(336776,)]))

    assert chart.kind == "card"
    assert "336,776" in texts_of(chart)


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (groups([]), "No rows match"),
        (groups([("a", "b"), ("c", "d")], f"SELECT k, v FROM {T}", "STRING"), "no number"),
        (groups([("a", 1)], TOTAL, sql_origin="catalogue"), "describes tables"),
        (result_of(f"SELECT AVG(x) AS v FROM {T}", {"v": "FLOAT64"}, [(None,)]), "no value"),
    ],
)
def test_where_nothing_can_be_compared_there_is_no_chart_but_a_reason(result: Result, reason: str) -> None:
    chart = drawn("", result)

    assert chart.kind == "none" and reason in chart.reason


def test_missing_rows_are_said_on_the_chart() -> None:
    chart = drawn("", groups([("a", 1), ("b", 2)], row_count=900, truncated=True))

    assert any("Only 2 of 900 rows" in text for text in texts_of(chart))


@pytest.mark.parametrize(
    "hostile",
    [
        "![x](http://evil.example/p.png)",
        "<image href='http://evil.example'/>",
        "</script>",
        "data.url",
        "=1+1",
        "a\nb|c`",
        "x" * 9_000,
    ],
)
def test_bug_88_text_in_cells_and_names_only_shows(hostile: str) -> None:
    sql = f"SELECT a, SUM(x) AS v FROM {T} GROUP BY a"
    chart = drawn("", result_of(sql, {hostile: "STRING", "v": "INT64"}, [(hostile, 1), (hostile + "!", 2), ("b", 3)]))
    picture = picture_of(chart)

    assert bars_of(chart) == 3
    assert "<image" not in picture and "<script" not in picture
    assert not re.search(r'(?:href|src)="', picture)


def test_characters_that_no_font_draws_are_named() -> None:
    chart = drawn("", groups([("a", 1), ("\U0010fff0", 2), ("é Ж Ω – …", 3)]))

    assert chart.spec is not None
    assert undrawable(chart.spec) == "\U0010fff0"
    assert "\U0010fff0" in font_notice(chart.spec) and "fonts-noto" in font_notice(chart.spec)
    assert font_notice(drawn("", groups([("é Ж Ω – …", 3), ("b", 4)])).spec or {}) == ""


def test_names_that_are_alike_once_cut_stay_apart() -> None:
    chart = drawn("", groups([("x" * 60 + "a", 1), ("x" * 60 + "b", 2)]))

    assert len({point["f0"] for point in points_of(chart)}) == 2


names = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), max_size=30)
cells = st.one_of(st.none(), st.integers(), st.floats(), st.decimals(allow_nan=False, allow_infinity=False, places=2))


rows_of_groups = st.dictionaries(st.one_of(st.none(), names), cells, min_size=1, max_size=40)
questions = st.sampled_from(["", "as a pie chart", "as a line chart", "as a bar chart", "what share of each"])


@settings(max_examples=200, deadline=None)
@given(rows_of_groups, st.sampled_from([TOTAL, AVERAGE, ""]), questions)
def test_whatever_the_rows_hold_the_chart_is_sound(groups_: dict[str | None, Any], sql: str, question: str) -> None:
    result = groups(list(groups_.items()), sql, "NUMERIC")
    chart = choose(question, result)

    if chart.spec is not None:
        assert check(chart, result) == []
        json.dumps(chart.spec, allow_nan=False)
    assert "held back" not in chart.reason
