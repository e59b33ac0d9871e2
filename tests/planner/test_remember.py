"""What was measured once is not measured again by the next process, and never outlives the data."""

from __future__ import annotations

import shutil
from pathlib import Path

from askhouse.emulator.planner import Planned, Planner, build_layer
from askhouse.warehouse.duckdb import open_warehouse


def test_the_next_process_reads_what_was_measured(home: Path) -> None:
    shutil.rmtree(home / "measured", ignore_errors=True)
    first = open_warehouse(home)
    layer = build_layer(first, first.table_refs())
    (kept,) = (home / "measured").glob("measured-*.json")
    written = kept.read_bytes()
    second = open_warehouse(home)
    again = build_layer(second, second.table_refs())
    assert kept.read_bytes() == written
    assert again is not layer
    assert {key: one.fields for key, one in again.entities.items()} == {
        key: one.fields for key, one in layer.entities.items()
    }
    assert again.links == layer.links
    question = "Which carrier had the worst average arrival delay in July?"
    one, two = Planner(layer).read(question), Planner(again).read(question)
    assert isinstance(one, Planned) and isinstance(two, Planned) and one.sql == two.sql


def test_a_broken_file_costs_time_only(home: Path) -> None:
    shutil.rmtree(home / "measured", ignore_errors=True)
    first = open_warehouse(home)
    build_layer(first, first.table_refs())
    (kept,) = (home / "measured").glob("measured-*.json")
    kept.unlink()
    kept.write_text("{broken", "utf-8")
    second = open_warehouse(home)
    assert build_layer(second, second.table_refs()).entities
