"""What is damaged on the disk stops nothing but itself, and is told with its remedy."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from askhouse.doctor import examine
from askhouse.errors import TableNotFoundError
from askhouse.warehouse.base import TableRef
from askhouse.warehouse.duckdb import open_warehouse
from askhouse.warehouse.load import damaged_tables, load_file, tables_folder
from askhouse.warehouse.samples import sample_file

GOOD, BAD = TableRef("local", "my_data", "good"), TableRef("local", "my_data", "bad")


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _spoil_footer(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[:4] + b"\xff" * (len(content) - 8) + content[-4:])


def _empty(path: Path) -> None:
    path.write_bytes(b"")


DAMAGE: list[tuple[str, Callable[[Path], object]]] = [
    ("bad-*.parquet", _empty),
    ("bad-*.parquet", _cut),
    ("bad-*.parquet", _spoil_footer),
    ("bad-*.parquet", Path.unlink),
    ("bad.json", _empty),
    ("bad.json", _cut),
    ("bad.json", lambda path: path.write_text("{}")),
    ("bad.json", lambda path: path.write_text("[1]")),
    ("bad.json", lambda path: path.write_bytes(b"\xff\xfe")),
    ("bad.json", lambda path: path.write_text('{"name": 1, "file": "../x", "columns": 3}')),
]


@pytest.fixture
def two_tables(home: Path, tmp_path: Path) -> Path:
    for name in ("good", "bad"):
        (tmp_path / f"{name}.csv").write_text("n,word\n1,one\n2,two\n")
        load_file(home, tmp_path / f"{name}.csv")
    return home


@pytest.mark.parametrize(("pattern", "damage"), DAMAGE)
def test_a_damaged_table_is_left_out(
    pattern: str, damage: Callable[[Path], object], two_tables: Path, tmp_path: Path
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


def _garbage(path: Path) -> None:
    path.write_bytes(b"x" * 50_000)


def _shorten(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 300_000)


@pytest.fixture
def own_samples(home: Path) -> Path:
    """The sample file, this test's alone: elsewhere it is linked."""
    path = sample_file(home)
    content = path.read_bytes()
    path.unlink()
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("damage", [_empty, _garbage, _cut, _shorten])
def test_a_damaged_sample_is_built_anew(damage: Callable[[Path], object], own_samples: Path) -> None:
    damage(own_samples)
    warehouse = open_warehouse(own_samples.parent)
    assert warehouse.query("SELECT COUNT(*) FROM `local.nycflights13.flights`").rows == [(336_776,)]
    warehouse.check()
    warehouse.close()


def test_a_sample_whose_inside_is_damaged_is_told_with_the_remedy(own_samples: Path) -> None:
    content = own_samples.read_bytes()
    part = slice(len(content) * 6 // 10, len(content) * 7 // 10)
    own_samples.write_bytes(content[: part.start] + bytes(part.stop - part.start) + content[part.stop :])
    told = {check.name: check for check in examine({"ASKHOUSE_HOME": str(own_samples.parent)}).checks}
    sample = told["sample warehouse"]
    assert sample.state == "broken" and f"{own_samples} is damaged" in sample.detail
    assert "Remove that file" in sample.remedy


FULL = """
import sys, pathlib
from askhouse.errors import StorageError
from askhouse.home import prepare_home
from askhouse.warehouse.duckdb import open_warehouse
for make in (prepare_home, open_warehouse):
    try:
        make(pathlib.Path(sys.argv[1]))
    except StorageError as error:
        print(make.__name__, error.message, error.remedy)
"""


@pytest.mark.parametrize(
    ("size", "failing"), [(4_096, ["prepare_home", "open_warehouse"]), (1 << 20, ["open_warehouse"])]
)
def test_a_full_disk_is_told(size: int, failing: list[str], tmp_path: Path) -> None:
    def small_files_only() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    command = [sys.executable, "-c", FULL, str(tmp_path / "full")]
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=small_files_only, check=False)
    assert [line.split()[0] for line in done.stdout.splitlines()] == failing, done.stderr
    assert all("Free some space" in line for line in done.stdout.splitlines())
    assert not list((tmp_path / "full").glob("samples-*"))
