"""A person's file becomes a table with the types that it has, or is refused in one sentence; nothing in between."""

from __future__ import annotations

import datetime
import resource
import signal
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

from askhouse.errors import FileError, StorageError, TableNotFoundError, UsageError
from askhouse.warehouse.base import Table
from askhouse.warehouse.duckdb import LocalWarehouse
from askhouse.warehouse.load import forget, load_file


def loaded(home: Path, path: Path) -> tuple[Table, list[tuple[Any, ...]]]:
    table = load_file(home, path)
    warehouse = LocalWarehouse(home)
    try:
        assert warehouse.table(table.ref) == table
        return table, warehouse.query(f"SELECT * FROM `{table.ref}`").rows
    finally:
        warehouse.close()


def column(home: Path, tmp_path: Path, *values: str) -> tuple[str, list[Any]]:
    """The type and the cells of a CSV column."""
    (tmp_path / "one.csv").write_text("\n".join(["n,v", *(f"{i},{value}" for i, value in enumerate(values))]) + "\n")
    table, rows = loaded(home, tmp_path / "one.csv")
    return table.columns[1].type, [row[1] for row in rows]


UTC = datetime.UTC
TYPES: list[tuple[list[str], str, list[Any]]] = [
    (["1", "", "-3"], "INT64", [1, None, -3]),
    (["9007199254740993"], "INT64", [9007199254740993]),
    (["12345678901234567890", "1"], "NUMERIC", [Decimal(12345678901234567890), Decimal(1)]),
    (["1.5", "2", ".5", "1e3"], "FLOAT64", [1.5, 2.0, 0.5, 1000.0]),
    (["007", "012"], "STRING", ["007", "012"]),
    (["+351912345678"], "STRING", ["+351912345678"]),
    (['"1,200"', "5"], "STRING", ["1,200", "5"]),
    (["true", "FALSE", ""], "BOOL", [True, False, None]),
    (["yes", "no"], "STRING", ["yes", "no"]),
    (["2024-02-29", ""], "DATE", [datetime.date(2024, 2, 29), None]),
    (["2024-02-30"], "STRING", ["2024-02-30"]),
    (["05/01/2024"], "STRING", ["05/01/2024"]),
    (["2024-01-05 10:00", "2024-01-05T10:00:01"], "DATETIME",
     [datetime.datetime(2024, 1, 5, 10), datetime.datetime(2024, 1, 5, 10, 0, 1)]),  # noqa: DTZ001
    (["2024-01-05T10:00:00Z", "2024-01-05 10:00:00+02:00"], "TIMESTAMP",
     [datetime.datetime(2024, 1, 5, 10, tzinfo=UTC), datetime.datetime(2024, 1, 5, 8, tzinfo=UTC)]),
    (["10:30:00"], "TIME", [datetime.time(10, 30)]),
    (["1", "NA", "NULL"], "INT64", [1, None, None]),
    (["NA", "Namibia"], "STRING", ["NA", "Namibia"]),
    (['""', "", "x"], "STRING", ["", None, "x"]),
    (['""', "", "1"], "STRING", ["", None, "1"]),
    (["", ""], "STRING", [None, None]),
    (['"a ""quoted"" line\nbreak"'], "STRING", ['a "quoted" line\nbreak']),
    (["日本", "é", "😀"], "STRING", ["日本", "é", "😀"]),
    (["inf", "1"], "STRING", ["inf", "1"]),
]  # fmt: skip


@pytest.mark.parametrize(("values", "kind", "cells"), TYPES)
def test_a_column_takes_the_type_that_every_value_has(
    home: Path, tmp_path: Path, values: list[str], kind: str, cells: list[Any]
) -> None:
    assert column(home, tmp_path, *values) == (kind, cells)


def test_a_late_value_decides_too(home: Path, tmp_path: Path) -> None:
    rows = [f"{i},,{i},2024-01-01" for i in range(3_000)]
    (tmp_path / "late.csv").write_text("\n".join(["a,b,c,d", *rows, "1.5,x,12345678901234567890,no day"]) + "\n")
    table, cells = loaded(home, tmp_path / "late.csv")
    assert [c.type for c in table.columns] == ["FLOAT64", "STRING", "NUMERIC", "STRING"]
    assert cells[-1] == (1.5, "x", Decimal(12345678901234567890), "no day")


def test_odd_column_names_are_kept_and_can_be_asked(home: Path, tmp_path: Path) -> None:
    names = ["a.b", "年", "from", "3pointplay", "it's", "y[0]", "a:b", "has space", "Select", ""]
    header = ",".join(names)
    (tmp_path / "odd.csv").write_text(f"{header},a,A\n" + ",".join(map(str, range(12))) + "\n")
    table, rows = loaded(home, tmp_path / "odd.csv")
    assert [c.name for c in table.columns] == [*names[:-1], "column_10", "a", "A_1"]
    warehouse = LocalWarehouse(home)
    for number, name in enumerate(c.name for c in table.columns):
        found = warehouse.query(f"SELECT SUM(`{name}`) AS `{name}` FROM `{table.ref}` AS t WHERE t.`{name}` >= 0")
        assert (found.rows, found.columns[0].name) == ([(number,)], name)
    warehouse.close()
    assert rows == [tuple(range(12))]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("semicolons.csv", "a;b\n1,5;x\n"),
        ("tabs.tsv", "a\tb\n1,5\tx\n"),
        ("pipes.txt", "a|b\n1,5|x\n"),
        ("windows.csv", '\ufeffa,b\r\n"1,5",x\r\n'),
    ],
)
def test_a_csv_may_be_of_any_house_style(home: Path, tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_bytes(text.encode())
    table, rows = loaded(home, tmp_path / name)
    assert ([c.name for c in table.columns], rows) == (["a", "b"], [("1,5", "x")])


def test_a_header_alone_is_a_table_without_rows(home: Path, tmp_path: Path) -> None:
    (tmp_path / "bare.csv").write_text("a,b\n")
    table, rows = loaded(home, tmp_path / "bare.csv")
    assert (table.row_count, rows, [c.type for c in table.columns]) == (0, [], ["STRING", "STRING"])


def test_json_keeps_its_structure(home: Path, tmp_path: Path) -> None:
    (tmp_path / "people.jsonl").write_text(
        '{"id": 1, "tags": ["x", "y"], "who": {"name": "é", "age": 3}, "code": "007", "at": "2024-01-05T10:00:00Z"}\n'
        '{"id": 2, "tags": [], "who": null, "code": "1", "at": null, "more": 1.5}\n'
    )
    table, rows = loaded(home, tmp_path / "people.jsonl")
    assert [(c.name, c.type, c.mode) for c in table.columns] == [
        ("id", "INT64", "NULLABLE"), ("tags", "STRING", "REPEATED"), ("who", "STRUCT", "NULLABLE"),
        ("code", "STRING", "NULLABLE"), ("at", "TIMESTAMP", "NULLABLE"), ("more", "FLOAT64", "NULLABLE"),
    ]  # fmt: skip
    assert rows[0][:4] == (1, ["x", "y"], {"name": "é", "age": 3}, "007")
    warehouse = LocalWarehouse(home)
    sql = f"SELECT p.who.name AS n, tag FROM `{table.ref}` AS p, UNNEST(tags) AS tag ORDER BY tag"
    assert warehouse.query(sql).rows == [("é", "x"), ("é", "y")]
    warehouse.close()


def test_parquet_keeps_its_types(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "typed.parquet"
    duckdb.sql(f"""COPY (SELECT 1::UTINYINT AS i, 1.25::DECIMAL(18, 3) AS d, 1.5::FLOAT AS f, 'x'::BLOB AS b,
        TIMESTAMP '2024-01-05 10:00:00' AS t, MAP {{'k': 1}} AS m, [1, 2] AS l, [[1]] AS ll) TO '{file}'""")
    table, rows = loaded(home, file)
    assert [(c.type, c.mode) for c in table.columns] == [
        ("INT64", "NULLABLE"), ("NUMERIC", "NULLABLE"), ("FLOAT64", "NULLABLE"), ("BYTES", "NULLABLE"),
        ("DATETIME", "NULLABLE"), ("JSON", "NULLABLE"), ("INT64", "REPEATED"), ("JSON", "NULLABLE"),
    ]  # fmt: skip
    assert rows == [
        (1, Decimal("1.25"), 1.5, b"x", datetime.datetime(2024, 1, 5, 10), '{"k":1}', [1, 2], "[[1]]")  # noqa: DTZ001
    ]


def test_nan_of_a_data_frame_is_a_missing_value(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "frame.parquet"
    duckdb.sql(f"COPY (SELECT unnest([1.5, 'nan'::DOUBLE, NULL]) AS x) TO '{file}'")
    assert loaded(home, file)[1] == [(1.5,), (None,), (None,)]


def files_below(folder: Path) -> set[Path]:
    return set(folder.rglob("*"))


REFUSED: list[tuple[str, bytes, str]] = [
    ("empty.csv", b"", "is empty"),
    ("blank.csv", b"\n \n", "is empty"),
    ("binary.csv", bytes(range(256)) * 16, "not UTF-8"),
    ("latin.csv", "a,b\nx,1\ncafé,1\n".encode("latin-1"), "line 3"),
    ("utf16.csv", "a,b\n1,2\n".encode("utf-16"), "not UTF-8"),
    ("long.csv", b"a,b\n1,2\n1,2,3\n", "line 3 has 3 values where the header has 2"),
    ("short.csv", b"a,b,c\n1,2\n", "line 2 has 2 values where the header has 3"),
    ("quote.csv", b'a,b\n"x,2\n3,4\n', "line 2 opens a quote"),
    ("wide.csv", b"x," * 600_000, "longer than a million bytes"),
    ("many.csv", ",".join(f"c{i}" for i in range(12_000)).encode() + b"\n", "12000 columns"),
    ("cut.json", b'{"a": 1', "cannot be read as JSON"),
    ("words.json", b"hello", "cannot be read as JSON"),
    ("bad.parquet", b"PAR1xxxxPAR1", "cannot be read as Parquet"),
    ("sheet.xlsx", b"PK", "no known kind"),
]


@pytest.mark.parametrize(("name", "content", "words"), REFUSED)
def test_what_is_no_table_is_refused_in_one_sentence(
    home: Path, tmp_path: Path, name: str, content: bytes, words: str
) -> None:
    (tmp_path / name).write_bytes(content)
    before = files_below(home)
    with pytest.raises(FileError) as caught:
        load_file(home, tmp_path / name)
    assert words in caught.value.message and name in caught.value.message
    assert "\n" not in str(caught.value) and caught.value.remedy
    assert files_below(home) == before


def test_what_is_no_file_is_refused(home: Path, tmp_path: Path) -> None:
    with pytest.raises(FileError, match="does not exist"):
        load_file(home, tmp_path / "nothing.csv")
    with pytest.raises(FileError, match="is a folder"):
        load_file(home, tmp_path)
    (tmp_path / "a.csv").write_text("a\n1\n")
    with pytest.raises(UsageError, match="cannot name a table"):
        load_file(home, tmp_path / "a.csv", "a.b")


def test_the_name_comes_from_the_file(home: Path, tmp_path: Path) -> None:
    (tmp_path / "Q1 sales (final).csv").write_text("a\n1\n")
    assert str(load_file(home, tmp_path / "Q1 sales (final).csv").ref) == "local.my_data.Q1_sales_final"
    (tmp_path / "販売.csv").write_text("a\n1\n")
    assert str(load_file(home, tmp_path / "販売.csv").ref) == "local.my_data.販売"


def test_a_table_is_replaced_as_a_whole_and_forgotten(home: Path, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n2\n")
    load_file(home, tmp_path / "a.csv")
    (tmp_path / "a.csv").write_text("b\nx\n")
    table, rows = loaded(home, tmp_path / "a.csv")
    assert ([c.name for c in table.columns], rows) == (["b"], [("x",)])
    assert len(list((home / "my_data").glob("*.parquet"))) == 1
    (tmp_path / "a.csv").write_bytes(b"\0")
    with pytest.raises(FileError):
        load_file(home, tmp_path / "a.csv")
    forget(home, "a")
    assert not list((home / "my_data").glob("*.parquet"))
    with pytest.raises(TableNotFoundError):
        forget(home, "a")


LOAD = """
import pathlib, sys
from askhouse.warehouse.load import load_file
for _ in range(5):
    load_file(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), "shared")
"""


def test_processes_load_at_once_while_another_asks(home: Path, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("v\n" + "1\n" * 1000)
    (tmp_path / "b.csv").write_text("v\n" + "2\n" * 2000)
    load_file(home, tmp_path / "a.csv", "shared")
    loaders = [subprocess.Popen([sys.executable, "-c", LOAD, str(home), str(tmp_path / f)]) for f in ("a.csv", "b.csv")]
    warehouse = LocalWarehouse(home)
    seen = set()
    while any(loader.poll() is None for loader in loaders):
        seen.add(warehouse.query("SELECT COUNT(*), SUM(v) FROM `local.my_data.shared`").rows[0])
    assert [loader.returncode for loader in loaders] == [0, 0]
    assert seen <= {(1000, 1000), (2000, 4000)}
    assert len(list((home / "my_data").glob("*.parquet"))) == len(list((home / "my_data").glob("*.json"))) == 1
    warehouse.close()


@pytest.mark.parametrize("folder", ["/dev/null/askhouse", "/proc/askhouse"])
def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path, folder: str) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n")
    with pytest.raises(StorageError, match="ASKHOUSE_HOME"):
        load_file(Path(folder), tmp_path / "a.csv")


FULL = """
import pathlib, sys
from askhouse.errors import StorageError
from askhouse.warehouse.load import load_file
try:
    load_file(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
except StorageError as error:
    print(error)
"""


def _small_files_only() -> None:
    """As on a disk that is full after 64 KiB."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (65_536, 65_536))


def test_a_full_disk_is_told_and_nothing_is_half_written(home: Path, tmp_path: Path) -> None:
    lines = (f"{i * 7919 % 1_000_003},{i * 104_729 % 999_983}" for i in range(100_000))
    (tmp_path / "big.csv").write_text("a,b\n" + "\n".join(lines) + "\n")
    before = files_below(home)
    command = [sys.executable, "-c", FULL, str(home), str(tmp_path / "big.csv")]
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=_small_files_only, check=False)
    assert "cannot be written" in done.stdout, done.stderr
    assert files_below(home) == before


@pytest.mark.parametrize("width", [1, 199, 200, 201, 1_000])
def test_a_wide_file_is_a_table_of_as_many_columns(tmp_path: Path, width: int) -> None:
    """The types of many columns are found in parts: none is lost, swapped or taken for its neighbour's."""
    kinds = [("INT64", "7"), ("STRING", "x"), ("FLOAT64", "1.5"), ("STRING", "")]
    wanted = [kinds[i % 4] for i in range(width)]
    header, line = ",".join(f"c{i}" for i in range(width)), ",".join(value for _, value in wanted)
    (tmp_path / "wide.csv").write_text(f"{header}\n{line}\n")
    table = load_file(tmp_path / "home", tmp_path / "wide.csv")
    assert [(column.name, column.type) for column in table.columns] == [
        (f"c{i}", kind) for i, (kind, _) in enumerate(wanted)
    ]
