"""What a chart's check finds, and that nothing outside is loaded to draw one."""

import json
from typing import Any

import pytest

from askhouse.charts import choose
from askhouse.charts.check import check, schema_problems
from askhouse.charts.render import png
from state_contracts import Chart, Column, Result


def sound() -> tuple[Chart, Result]:
    columns = [Column(name="k", type="STRING"), Column(name="v", type="INT64")]
    rows = [("a", 1), ("b", 2), ("c", 3)]
    sql = "SELECT k, SUM(x) AS v FROM `p.d.sales` AS t GROUP BY k"
    result = Result(name="r", columns=columns, rows=rows, row_count=3, sql=sql)
    return choose("", result), result


def points_of(chart: Chart) -> list[dict[str, Any]]:
    assert chart.spec is not None
    points: list[dict[str, Any]] = chart.spec["data"]["values"]
    return points


def changed(chart: Chart, **spec: Any) -> Chart:
    assert chart.spec is not None
    return chart.model_copy(update={"spec": {**json.loads(json.dumps(chart.spec)), **spec}})


def test_check_finds_a_number_that_is_not_the_row_s() -> None:
    chart, result = sound()
    points = [{**point, "f1": point["f1"] + 1} for point in points_of(chart)]

    assert "drawn as" in check(changed(chart, data={"values": points}), result)[0]


def test_check_finds_a_row_left_out_silently() -> None:
    chart, result = sound()

    assert check(changed(chart, data={"values": points_of(chart)[:2]}), result) == [
        "It leaves rows out and does not say so."
    ]


def test_check_finds_two_groups_under_one_name() -> None:
    chart, result = sound()
    points = [{**point, "f0": "a"} for point in points_of(chart)]

    assert "Two groups share a place" in check(changed(chart, data={"values": points}), result)[0]


def test_check_finds_a_field_that_the_data_does_not_have() -> None:
    chart, result = sound()
    encoding = {"x": {"field": "missing", "type": "nominal"}}

    assert "'missing'" in check(changed(chart, encoding=encoding), result)[0]


@pytest.mark.parametrize(
    "spec",
    [
        {"data": {"values": [], "url": "http://127.0.0.1/x.json"}},
        {"transform": [{"calculate": "1", "as": "f1"}]},
        {"params": [{"name": "p", "expr": "1"}]},
        {"encoding": {"href": {"field": "f0"}}},
        {"encoding": {"y": {"field": "f1", "aggregate": "mean"}}},
        {"layer": [{"mark": {"type": "image"}, "encoding": {"url": {"field": "f0"}}}]},
        {"usermeta": {"embedOptions": {"loader": {}}}},
    ],
)
def test_check_finds_what_loads_runs_or_recounts(spec: dict[str, Any]) -> None:
    chart, result = sound()

    assert any("not allowed" in problem for problem in check(changed(chart, **spec), result))


def test_the_renderer_loads_nothing_from_outside() -> None:
    chart, _ = sound()
    with pytest.raises(Exception, match="cannot be drawn"):
        png(changed(chart, data={"url": "http://127.0.0.1:9/x.json"}).spec or {})


def test_schema_problems_are_named() -> None:
    assert schema_problems({"mark": "barr", "data": {"values": []}, "encoding": {}})
