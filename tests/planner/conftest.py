"""Planners over the sample tables, and the same tables for independent queries."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest

from askhouse.emulator.planner import Clock, Planner, build_layer
from askhouse.warehouse.duckdb import LocalWarehouse, open_warehouse
from askhouse.warehouse.samples import sample_file

sys.path.insert(0, str(Path(__file__).parent))  # scratch.py and same.py, shared with evaluate.py


@pytest.fixture(scope="session")
def warehouse(sample_home: Path) -> Iterator[LocalWarehouse]:
    """The embedded warehouse over the samples."""
    opened = open_warehouse(sample_home)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def planner_of(warehouse: LocalWarehouse) -> Callable[..., Planner]:
    """Makes planners over one sample dataset, or over all."""

    def planner(dataset: str, clock: Clock | None = None) -> Planner:
        refs = [ref for ref in warehouse.table_refs() if dataset in (ref.dataset, "all")]
        layer = build_layer(warehouse, refs)
        return Planner(layer, clock, returns_rows=lambda sql: warehouse.query(sql, max_rows=1).total_rows > 0)

    return planner


@pytest.fixture(scope="session")
def flights(planner_of: Callable[..., Planner]) -> Planner:
    """A planner over nycflights13."""
    return planner_of("nycflights13")


@pytest.fixture(scope="session")
def shop(planner_of: Callable[..., Planner]) -> Planner:
    """A planner over thelook_ecommerce."""
    return planner_of("thelook_ecommerce")


@pytest.fixture(scope="session")
def oracle(sample_home: Path) -> Iterator[Callable[[str, str], list[tuple[object, ...]]]]:
    """Runs DuckDB SQL over the bare sample tables of a dataset, past the product's dialect."""
    connection = duckdb.connect(str(sample_file(sample_home)), read_only=True)
    connection.execute("SET TimeZone = 'UTC'")

    def run(dataset: str, sql: str) -> list[tuple[object, ...]]:
        connection.execute(f"SET search_path = '{dataset}'")
        return connection.execute(sql).fetchall()

    yield run
    connection.close()
