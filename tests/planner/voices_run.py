"""Judges the planner on questions in many voices (`voices/*.toml`), over the samples and two schemas of its own."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
from same import same
from scratch import ScratchWarehouse

from askhouse.emulator.planner import Clarification, Planned, Planner, Reading, build_layer

FOLDER = Path(__file__).parent / "voices"
Rows = list[tuple[Any, ...]]


def cases(name: str) -> list[tuple[str, tuple[str, ...]]]:
    """The questions of a file, each with what counts as right."""
    found = tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8"))["cases"]
    return [(case[0], tuple(case[1:])) for case in found]


def own_schema(name: str) -> tuple[Planner, ScratchWarehouse, Callable[[str], Rows]]:
    """A planner over one of the schemas, its warehouse, and a way to ask DuckDB itself."""
    about = tomllib.loads((FOLDER / "schemas.toml").read_text("utf-8"))[name]
    connection = duckdb.connect()
    connection.execute(about["sql"])
    warehouse = ScratchWarehouse(
        connection, dataset=name, descriptions=about["descriptions"], keys=about["keys"], foreign_keys=about["foreign"]
    )
    layer = build_layer(warehouse, warehouse.table_refs())
    return Planner(layer), warehouse, lambda sql: connection.execute(sql).fetchall()


def verdict(reading: Reading, right: Sequence[str], run: Callable[[str], Rows], oracle: Callable[[str], Rows]) -> str:
    """right, wrong, refused or asked; a refusal or a question back that is right says so: "right (refused)"."""
    if not isinstance(reading, Planned):
        kind = "asked" if isinstance(reading, Clarification) else "refused"
        wanted = "ASK" in right if kind == "asked" else "REFUSE" in right
        return f"right ({kind})" if wanted or (kind == "asked" and "REFUSE" in right) else kind
    golds = [text for text in right if text not in ("ASK", "REFUSE", "TIES")]
    rows = run(reading.sql)
    if any(same(oracle(gold), rows) for gold in golds):
        return "right"
    if "TIES" in right and len(rows) == len(oracle(golds[0])):
        return "right"
    return "wrong"
