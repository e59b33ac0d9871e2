"""What is damaged on the disk stops nothing but itself, and is told with its remedy."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from askhouse.doctor import examine
from askhouse.errors import TableNotFoundError
from askhouse.warehouse.base import TableRef
from askhouse.warehouse.duckdb import open_warehouse
from askhouse.warehouse.load import damaged_tables, load_file, tables_folder

GOOD, BAD = TableRef("local", "my_data", "good"), TableRef("local", "my_data", "bad")


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _spoil_footer(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[:4] + b"\xff" * (len(content) - 8) + content[-4:])


def _empty(path: Path) -> None:
    path.write_bytes(b"")


DAMAGE: list[tuple[str, Callable[[Path], None]]] = [
    ("bad-*.parquet", _empty),
    ("bad-*.parquet", _cut),
    ("bad-*.parquet", _spoil_footer),
    ("bad-*.parquet", Path.unlink),
    ("bad.json", _empty),
    ("bad.json", _cut),
    ("bad.json", lambda path: path.write_text("{}") and None),
    ("bad.json", lambda path: path.write_text("[1]") and None),
    ("bad.json", lambda path: path.write_bytes(b"\xff\xfe") and None),
    ("bad.json", lambda path: path.write_text('{"name": 1, "file": "../x", "columns": 3}') and None),
]


@pytest.fixture
def two_tables(home: Path, tmp_path: Path) -> Path:
    for name in ("good", "bad"):
        (tmp_path / f"{name}.csv").write_text("n,word\n1,one\n2,two\n")
        load_file(home, tmp_path / f"{name}.csv")
    return home


@pytest.mark.parametrize(("pattern", "damage"), DAMAGE)
def test_a_damaged_table_is_left_out(
    pattern: str, damage: Callable[[Path], None], two_tables: Path, tmp_path: Path
) -> None:
    warehouse = open_warehouse(two_tables)
    before = warehouse.version()
    assert BAD in warehouse.table_refs()
    (file,) = tables_folder(two_tables).glob(pattern)
    damage(file)
    assert warehouse.version() != before
    assert BAD not in warehouse.table_refs() and GOOD in warehouse.table_refs()
    assert warehouse.query(f"SELECT SUM(n) FROM `{GOOD}`").rows == [(3,)]
    with pytest.raises(TableNotFoundError):
        warehouse.table(BAD)
    told = [check for check in examine({"ASKHOUSE_HOME": str(two_tables)}).checks if check.name == "your tables"]
    assert [check.state for check in told] == ["broken"]
    assert "local.my_data.bad cannot be read" in told[0].detail and "--name bad" in told[0].remedy
    load_file(two_tables, tmp_path / "bad.csv")
    assert warehouse.query(f"SELECT SUM(n) FROM `{BAD}`").rows == [(3,)]
    assert damaged_tables(two_tables, thoroughly=True) == []
    warehouse.close()


def test_loading_another_table_keeps_the_rows_of_a_damaged_catalogue_entry(two_tables: Path, tmp_path: Path) -> None:
    _empty(tables_folder(two_tables) / "bad.json")
    load_file(two_tables, tmp_path / "good.csv", "other")
    assert len(list(tables_folder(two_tables).glob("bad-*.parquet"))) == 1


def test_what_a_killed_load_left_is_removed_at_the_next(two_tables: Path, tmp_path: Path) -> None:
    old, young = (tables_folder(two_tables) / f".{name}.tmp" for name in ("old", "young"))
    for file in (old, young):
        file.write_bytes(b"half")
    os.utime(old, (time.time() - 7200,) * 2)
    load_file(two_tables, tmp_path / "good.csv")
    assert not old.exists() and young.exists()
