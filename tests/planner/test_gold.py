"""Questions over the samples, written with their SQL before the planner was; each is answered right, or not at all."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from same import same

from askhouse.emulator.planner import Clarification, Planned, Planner
from askhouse.warehouse.duckdb import LocalWarehouse

_DATASETS = {"nycflights13": "nycflights13", "thelook": "thelook_ecommerce"}


def _cases() -> list[Any]:
    return [
        pytest.param(_DATASETS[path.stem], case, id=f"{path.stem}: {case['question']}")
        for path in sorted((Path(__file__).parent / "gold").glob("*.toml"))
        for case in tomllib.loads(path.read_text("utf-8"))["case"]
    ]


@pytest.mark.parametrize("tables", ["its own", "all"])
@pytest.mark.parametrize(("dataset", "case"), _cases())
def test_gold(
    tables: str,
    dataset: str,
    case: dict[str, Any],
    planner_of: Callable[..., Planner],
    warehouse: LocalWarehouse,
    oracle: Callable[[str, str], list[tuple[Any, ...]]],
) -> None:
    reading = planner_of("all" if tables == "all" else dataset).read(case["question"])
    if case.get("refused"):
        assert not isinstance(reading, Planned), reading
        return
    if case.get("asked") and isinstance(reading, Clarification):
        return
    assert isinstance(reading, Planned), reading
    rows = warehouse.query(reading.sql).rows
    if "rows" in case:
        assert len(rows) == case["rows"]
        return
    golds = [oracle(dataset, sql) for sql in (case["sql"], *case.get("or_sql", ()))]
    assert any(same(gold, rows) for gold in golds), (reading.lead, reading.sql, rows[:3], golds[0][:3])
