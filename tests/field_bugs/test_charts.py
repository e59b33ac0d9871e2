"""The chart shows the rows of the answer, in the form that was asked for where that is honest."""

from __future__ import annotations

import asyncio
import json
import re

import pytest

from askhouse.charts import choose
from askhouse.export import to_html, to_json
from askhouse.runtime import ask_once
from state_contracts import Column, Result

from .conftest import Desk, chart_of, picture_of, points_of, result_of, rows_of, table_in


def labels_of(svg: str) -> set[str]:
    return set(re.findall(r"<text[^>]*>([^<]+)</text>", svg))


def pairs(points: list[dict[str, object]]) -> list[tuple[object, object]]:
    return sorted(((point["f0"], point["f1"]) for point in points), key=str)


async def test_bug_22_the_axis_shows_the_values_and_not_their_count(desk: Desk) -> None:
    turned = await desk.ask("regions", "Total sales by region")
    assert pairs(points_of(turned)) == [("East", 60), ("North", 30), ("South", 10)]
    assert {"10", "30", "60"} <= labels_of(picture_of(turned))


async def test_bug_23_the_chart_of_any_table_shows_its_numbers(desk: Desk) -> None:
    for table, question in (("exam", "Average marks by name"), ("cafe", "Total price by item")):
        turned = await desk.ask(table, question)
        assert pairs(points_of(turned)) == sorted(rows_of(turned), key=str)


@pytest.mark.parametrize(
    ("words", "kind"), [("as a pie chart", "pie"), ("as a line chart", "line"), ("as bars", "bar")]
)
async def test_bug_25_the_kind_of_chart_that_was_asked_for_is_drawn(desk: Desk, words: str, kind: str) -> None:
    assert chart_of(await desk.ask("regions", f"Total sales by region {words}")).kind == kind


async def test_bug_25_a_kind_that_would_mislead_is_explained(desk: Desk) -> None:
    turned = await desk.ask("accounts", "Total balance by account as a pie chart")
    assert chart_of(turned).kind == "bar"
    assert "Not drawn as a pie chart: a slice cannot be negative" in turned.message.text


async def test_bug_26_a_session_that_is_reopened_shows_no_other_chart(desk: Desk) -> None:
    question = "Total sales by region"
    first, thanks, again = await desk.conversation("regions", question, "thanks", question)
    assert thanks.chart is None
    assert again.chart == first.chart


@pytest.mark.parametrize(
    "words",
    ["Total sales by region without a chart", "Total sales by region, no chart", "Total sales by region, table only",
     "without a chart", "no chart please"],
)  # fmt: skip
async def test_bug_26_a_chart_that_is_not_wanted_is_not_drawn(desk: Desk, words: str) -> None:
    first, without = await desk.conversation("regions", "Total sales by region", words)
    assert rows_of(without) == rows_of(first)
    assert without.chart is not None and without.chart.kind == "none"


async def test_bug_32_the_chart_has_the_rows_of_the_text(desk: Desk) -> None:
    turned = await desk.ask("exam", "The 3 names with the lowest average marks")
    assert sorted(rows_of(turned)) == [("Bob", 11), ("Dan", 11), ("Eve", 4)]
    assert pairs(points_of(turned)) == [("Bob", 11), ("Dan", 11), ("Eve", 4)]
    assert "Eve has the lowest" in turned.message.text


async def test_bug_34_people_who_ask_at_once_keep_their_charts(desk: Desk) -> None:
    ana, rui = (desk.settings(table, user=user) for table, user in (("regions", "ana"), ("exam", "rui")))
    hers, his = await asyncio.gather(
        ask_once(ana, "Total sales by region", picture=True), ask_once(rui, "Average marks by name", picture=True)
    )
    assert len(points_of(hers)) == 3 and len(points_of(his)) == 7
    kept = {user: [path.read_bytes() for path in (desk.home / "artifacts").rglob("*") if path.is_file()
                   and user in path.parts and path.read_bytes().startswith(b"\x89PNG")]
            for user in ("ana", "rui")}  # fmt: skip
    assert hers.chart is not None and his.chart is not None
    assert kept == {"ana": [hers.chart.png], "rui": [his.chart.png]}


async def test_bug_40_there_is_a_chart_by_rule_where_the_wanted_one_fails(desk: Desk) -> None:
    turned = await desk.ask("accounts", "Total balance by account as a pie chart")
    assert pairs(points_of(turned)) == [("a", 30), ("b", -10), ("c", 5)]
    assert picture_of(turned).count('aria-roledescription="bar"') == 3


async def test_bug_46_three_hundred_groups_are_cut_and_that_is_said(desk: Desk) -> None:
    turned = await desk.ask("tags", "Total uses by tag")
    rows = sorted((uses for _, uses in rows_of(turned)), reverse=True)
    assert len(rows) == 300
    rest = points_of(turned)[-1]
    assert (rest["f0"], rest["f1"]) == ("other (270)", sum(rows[30:]))
    assert any("30 largest of 300" in label for label in labels_of(picture_of(turned)))


@pytest.mark.parametrize("question", ["Total price by month", "Total price by item", "Average price by item by month"])
async def test_bug_47_every_point_of_the_chart_is_a_cell_of_the_table(desk: Desk, question: str) -> None:
    turned = await desk.ask("cafe", question)
    numbers = sorted(cell for row in rows_of(turned) for cell in row if isinstance(cell, float))
    drawn = sorted(v for point in points_of(turned) for v in point.values() if isinstance(v, float))
    assert drawn == numbers != []


async def test_bug_50_every_door_has_the_same_chart(desk: Desk) -> None:
    turned = await desk.ask("regions", "Total sales by region", picture=True)
    spec = chart_of(turned).spec
    assert json.loads(to_json(turned))["chart"]["spec"] == spec
    again = await desk.ask("regions", "Total sales by region")
    assert chart_of(again).spec == spec
    page = to_html(turned)
    assert "<svg" in page and {"60", "30", "10"} <= labels_of(page)


async def test_bug_51_the_second_question_has_its_own_query_and_chart(desk: Desk) -> None:
    first, second = await desk.conversation("regions exam", "Total sales by region", "Average marks by name")
    assert "regions" in result_of(first).sql and "exam" in result_of(second).sql
    assert "regions" not in result_of(second).sql
    assert pairs(points_of(second)) == sorted(rows_of(second)) != pairs(points_of(first))


async def test_bug_52_the_same_result_has_the_same_chart_twenty_times(desk: Desk) -> None:
    turns = [await desk.ask("regions", "Total sales by region") for _ in range(2)]
    assert turns[0].chart == turns[1].chart
    result = result_of(turns[0])
    charts = {choose("Total sales by region", result).model_dump_json() for _ in range(20)}
    assert charts == {chart_of(turns[0]).model_dump_json()}


async def test_bug_53_two_measures_per_product_and_month_are_all_drawn(desk: Desk) -> None:
    turned = await desk.ask("monthly", "Maximum and average amount by product by month")
    result = result_of(turned)
    assert len(result.rows) == 6 and len(result.columns) == 4
    sizes = [max(row) for row in ([cell for cell in row if isinstance(cell, int | float)] for row in result.rows)]
    assert sorted(sizes) == [4, 8, 12, 12, 24, 36]
    assert chart_of(turned).kind != "none"
    both = {result.columns[2].name, result.columns[3].name}
    text = " ".join(labels_of(picture_of(turned))) + turned.message.text
    assert all(name in text or name.replace("_", " ") in text for name in both)


async def test_bug_56_the_table_has_the_rows(desk: Desk) -> None:
    turned = await desk.ask("cafe", "Total price by item")
    shown = {row[0]: float(row[1]) for row in table_in(turned.message.text)[1:]}
    assert shown == dict(rows_of(turned)) == {"tea": 22.5, "coffee": 19.5, "cake": 12.0}


async def test_bug_59_a_missing_value_is_a_gap_and_not_zero(desk: Desk) -> None:
    turned = await desk.ask("readings", "Total level by day")
    assert [row[1] for row in sorted(rows_of(turned))] == [10, None, 20]
    assert [point["f1"] for point in points_of(turned)] == [10, None, 20]
    line = re.search(r'<path aria-label[^>]*aria-roledescription="line mark"[^>]*>', picture_of(turned))
    assert line is not None and line[0].count("M") == 2


async def test_bug_62_a_missing_value_has_no_label(desk: Desk) -> None:
    turned = await desk.ask("nullable", "Total weight by item")
    labels = labels_of(picture_of(turned))
    assert {"1.5", "2.5"} <= {label.rstrip("0") if "." in label else label for label in labels}
    bars = re.findall(r'aria-label="([^"]*)"[^>]*aria-roledescription="bar"', picture_of(turned))
    assert not [bar for bar in bars if re.search(r": 0(\.0+)?$", bar)]
    assert not labels & {"null", "NaN", "undefined"}


async def test_bug_73_a_chart_that_cannot_be_had_is_the_closest_with_the_reason(desk: Desk) -> None:
    first, second = await desk.conversation(
        "accounts", "Total balance by account", "Total balance by account as a pie chart"
    )
    assert chart_of(second).spec is not None and len(chart_of(second).reason) > 10
    assert second.message.text.count("pie chart") == 1 and first.answer.outcome == "answered"


@pytest.mark.parametrize(
    ("number", "name"), [(43, "a.b"), (43, "3pointplay"), (76, "y.1"), (76, "y[0]"), (77, "it's"), (77, "a:b")]
)
def test_bug_43_76_77_a_column_of_any_name_is_drawn(number: int, name: str) -> None:
    result = Result(
        name="r",
        columns=[Column(name=name, type="STRING"), Column(name=f"{name} total", type="INT64")],
        rows=[("a", 1), ("b", 2), ("c", 4)],
        row_count=3,
        sql=f"SELECT `{name}`, SUM(x) AS `{name} total` FROM `p.d.t` GROUP BY 1",
    )
    from askhouse.charts.render import svg

    spec = choose("", result).spec
    assert spec is not None and svg(spec).count('aria-roledescription="bar"') == 3


async def test_bug_80_a_line_of_one_month_is_a_point(desk: Desk) -> None:
    turned = await desk.ask("one_month", "Total amount by month as a line chart")
    assert [row[1] for row in rows_of(turned)] == [11]
    assert 'aria-roledescription="point"' in picture_of(turned)


@pytest.mark.xfail(strict=True, reason="until charts can be edited")
async def test_bug_92_a_follow_up_edits_the_chart(desk: Desk) -> None:
    first, second = await desk.conversation("regions", "Total sales by region", "use a line")
    assert rows_of(second) == rows_of(first)
    assert chart_of(first).kind == "bar" and chart_of(second).kind == "line"
