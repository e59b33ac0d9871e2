"""Read a person's file as a table: which columns, of which types, and nothing guessed that the file does not say."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import FileError
from .base import Column
from .kinds import (
    BOOL,
    BYTES,
    DATE,
    DATETIME,
    FLOAT64,
    INT64,
    JSON,
    NUMERIC,
    STRING,
    TIME,
    TIMESTAMP,
    Kind,
    array_of,
    column_of,
    duckdb_type,
    quoted,
    text,
)

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MAX_COLUMNS = 10_000
"""BigQuery's limit of columns in a table."""

_LONGEST_HEADER = 1_000_000
_LONGEST_LINE = 16_000_000
_DELIMITERS = (",", ";", "\t", "|")
_FORMATS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".parquet": "parquet",
}


@dataclass(frozen=True)
class Reading:
    """A file as a table: DuckDB's query for its rows, and its columns."""

    sql: str
    columns: tuple[Column, ...]


def read_file(connection: DuckDBPyConnection, path: Path) -> Reading:
    """Find the columns of a file and their types, reading all of it. Raises FileError in one sentence."""
    import duckdb

    form = _FORMATS.get(path.suffix.lower())
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "is not a regular file" if path.exists() else "does not exist"
        raise FileError(f"{path} {what}.", "Name a CSV, Parquet or JSON file.")
    if form is None:
        raise FileError(f"{path} is of no known kind.", f"Files may end with {', '.join(_FORMATS)}.")
    try:
        if path.stat().st_size == 0:
            raise FileError(f"{path} is empty.", "Choose a file that holds a table.")
        return _READERS[form](connection, path)
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror}.", "Check the file and your rights.") from error
    except duckdb.Error as error:
        raise FileError(f"{path} cannot be read as {_TITLES[form]}: {_said(str(error))}.", _ADVICE[form]) from error


_TITLES = {"csv": "CSV", "json": "JSON", "parquet": "Parquet"}
_ADVICE = {
    "csv": "Check that line in the file.",
    "json": "One object per line, or one list of objects, is expected.",
    "parquet": "Write the file again.",
}


def _said(message: str) -> str:
    """What DuckDB complains of, as one clause."""
    line = re.search(r"CSV Error on Line: (\d+)", message)
    counts = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", message)
    if line and counts:
        return f"line {line.group(1)} has {counts.group(2)} values where the header has {counts.group(1)}"
    if line and "unterminated quote" in message:
        return f"line {line.group(1)} opens a quote that is never closed"
    if line:
        detail = re.search(r"Original Line:.*\n(.+)", message)
        return f"line {line.group(1)}: {detail.group(1).strip().rstrip('.') if detail else 'it is malformed'}"
    first = re.sub(r"^[\w ]*?Error: ", "", message.strip().splitlines()[0])
    return re.sub(r"\s+", " ", first.replace('"', "'")).strip().rstrip(".!")[:200]


# CSV: every value is read as text first, and a column takes a type only when every value is of it.


def _read_csv(connection: DuckDBPyConnection, path: Path) -> Reading:
    _check_text(path)
    delimiter, names = _header(path)
    if len(names) > MAX_COLUMNS:
        raise FileError(f"{path} has {len(names)} columns.", f"A table may have {MAX_COLUMNS}.")
    source = _csv_source(path, delimiter, names)
    counted = ", ".join(f"COUNT({quoted(name)})" for name in names)
    connection.execute(f"SELECT {counted} FROM {source}")  # every line is read, so that a malformed one is found here
    kinds = _csv_kinds(connection, source, names)
    listed = ", ".join(f"{_csv_cast(name, kind)} AS {quoted(name)}" for name, kind in zip(names, kinds, strict=True))
    columns = tuple(column_of(name, kind) for name, kind in zip(names, kinds, strict=True))
    return Reading(f"SELECT {listed} FROM {source}", columns)


def _check_text(path: Path) -> None:
    """Refuse what is no UTF-8 text, or has no first line of a bearable length."""
    with path.open("rb") as file:
        head = file.read(_LONGEST_HEADER)
        if head.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in head:
            raise FileError(f"{path} is not UTF-8 text.", "Save it in UTF-8.")
        if len(head) == _LONGEST_HEADER and b"\n" not in head and b"\r" not in head:
            raise FileError(f"The first line of {path} is longer than a million bytes.", "Check that it is a table.")
        if not head.strip():
            raise FileError(f"{path} is empty.", "Choose a file that holds a table.")
        file.seek(0)
        for number, line in enumerate(file, 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                raise FileError(f"{path} is not UTF-8 text: see line {number}.", "Save it in UTF-8.") from error


def _header(path: Path) -> tuple[str, list[str]]:
    """The delimiter and the column names: the first line always names the columns, as nothing else could."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        line = next(line for line in file if line.strip())
        file.seek(0)
        unquoted = re.sub('"[^"]*"', "", line)
        tabs = path.suffix.lower() == ".tsv"
        delimiter = (
            "\t" if tabs else max(_DELIMITERS, key=lambda each: (unquoted.count(each), -_DELIMITERS.index(each)))
        )
        names = next(row for row in csv.reader(file, delimiter=delimiter) if row)
    return delimiter, _unlike(names)


def _unlike(names: Sequence[str]) -> list[str]:
    """The names, told apart: column names ignore case, and each column has one."""
    taken: set[str] = set()
    made = []
    for number, name in enumerate(names, 1):
        name = plain = name.strip() or f"column_{number}"
        count = 1
        while name.casefold() in taken:
            name, count = f"{plain}_{count}", count + 1
        taken.add(name.casefold())
        made.append(name)
    return made


def _csv_source(path: Path, delimiter: str, names: Sequence[str]) -> str:
    """The file read strictly, every value as text; `""` is an empty text and nothing at all is NULL."""
    columns = ", ".join(f"{text(name)}: 'VARCHAR'" for name in names)
    options = f"delim = {text(delimiter)}, quote = '\"', escape = '\"', max_line_size = {_LONGEST_LINE}"
    options += ", hive_partitioning = false"  # a folder `year=2024` above the file is no column of it
    strict = "auto_detect = false, header = true, skip = 0, strict_mode = true, allow_quoted_nulls = false"
    return f"read_csv({text(str(path))}, columns = {{{columns}}}, {options}, {strict})"


_MISSING = ("NA", "N/A", "NULL", "null", "NaN", "nan", "None")
"""Words for a missing value; they count as such only in columns that hold no other text."""

_FIRST_ROWS = 1_000
_COLUMNS_AT_ONCE = 200
"""Of a query: DuckDB plans one of thousands of terms for minutes."""
_WHOLE = "-?(0|[1-9][0-9]{0,18})"
_ZONE = "(Z|z| ?UTC|[+-][0-9]{2}(:?[0-9]{2})?)"
_DAY, _CLOCK = "[0-9]{4}-[0-9]{2}-[0-9]{2}", r"[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?"
_PATTERNS: tuple[tuple[Kind, str], ...] = (
    (INT64, _WHOLE),
    (NUMERIC, "-?(0|[1-9][0-9]{0,28})"),
    # Digits after a leading zero are a code, not a number.
    (FLOAT64, r"-?(0|[1-9][0-9]*)(\.[0-9]*)?([eE][+-]?[0-9]+)?|-?\.[0-9]+"),
    (BOOL, "(?i:true|false)"),
    (DATE, _DAY),
    (TIMESTAMP, f"{_DAY}[T ]{_CLOCK}{_ZONE}"),
    (DATETIME, f"{_DAY}[T ]{_CLOCK}"),
    (TIME, "[0-9]{2}:[0-9]{2}:[0-9]{2}"),
)


_Candidate = tuple[Kind, str]


def _csv_kinds(connection: DuckDBPyConnection, source: str, names: Sequence[str]) -> list[Kind]:
    """The first type of each column that all its values are of; STRING where none is, or where there is no value.

    The first rows rule out most types; what is left is tried on the whole file, one type of each column at a time.
    """
    first = _first_answers(connection, f"(FROM {source} LIMIT {_FIRST_ROWS})", names)
    left = [[c for c, yes in zip(_PATTERNS, row, strict=True) if yes is not False] for row in first]
    kinds = {i: STRING for i, candidates in enumerate(left) if not candidates}
    while pending := [i for i in range(len(names)) if i not in kinds]:
        answers = _answers(connection, source, [names[i] for i in pending], [left[i][0] for i in pending])
        for i, yes in zip(pending, answers, strict=True):
            (kind, _), *left[i] = left[i]
            if yes or yes is None or not left[i]:
                kinds[i] = kind if yes else STRING
    return [kinds[i] for i in range(len(names))]


def _first_answers(connection: DuckDBPyConnection, source: str, names: Sequence[str]) -> list[list[bool | None]]:
    """For each column, whether its values are of each type; None where it has no value.

    One row a value, so that the query has as many terms for a thousand columns as for one.
    """
    columns = ", ".join(f"{quoted(name)} AS c{i}" for i, name in enumerate(names))
    values = f"UNPIVOT (SELECT {columns} FROM {source}) ON COLUMNS(*) INTO NAME key VALUE value"
    tests = ", ".join(_csv_test("value", kind, pattern) for kind, pattern in _PATTERNS)
    rows = connection.execute(f"SELECT key, {tests} FROM ({values}) GROUP BY key").fetchall()
    answers = {key: list(row) for key, *row in rows}
    return [answers.get(f"c{i}", [None] * len(_PATTERNS)) for i in range(len(names))]


def _answers(
    connection: DuckDBPyConnection, source: str, names: Sequence[str], candidates: Sequence[_Candidate]
) -> list[bool | None]:
    """For each column, whether its values are of its candidate type; None where it has no value."""
    answers: list[bool | None] = []
    for start in range(0, len(names), _COLUMNS_AT_ONCE):
        few = slice(start, start + _COLUMNS_AT_ONCE)
        tests = [_csv_test(name, *candidate) for name, candidate in zip(names[few], candidates[few], strict=True)]
        answers += connection.execute(f"SELECT {', '.join(tests)} FROM {source}").fetchone() or ()
    return answers


def _csv_test(name: str, kind: Kind, pattern: str) -> str:
    """Whether every value of a column is of a type; NULL where there is no value."""
    value, missing = quoted(name), ", ".join(text(word) for word in _MISSING)
    fits = f"regexp_full_match({value}, {text(pattern)}) AND TRY_CAST({value} AS {duckdb_type(kind)}) IS NOT NULL"
    return f"bool_and({fits}) FILTER (WHERE {value} NOT IN ({missing}))"


def _csv_cast(name: str, kind: Kind) -> str:
    if kind == STRING:
        return quoted(name)
    missing = ", ".join(text(word) for word in _MISSING)
    value = f"CASE WHEN {quoted(name)} NOT IN ({missing}) THEN {quoted(name)} END"
    return f"CAST({value} AS {duckdb_type(kind)})"


# JSON and Parquet: the file has types of its own.


def _read_json(connection: DuckDBPyConnection, path: Path) -> Reading:
    _check_text(path)
    options = "sample_size = -1, map_inference_threshold = -1, union_by_name = true, hive_partitioning = false"
    source = f"read_json({text(str(path))}, {options})"
    return _read_typed(connection, path, source)


def _read_parquet(connection: DuckDBPyConnection, path: Path) -> Reading:
    return _read_typed(connection, path, f"read_parquet({text(str(path))}, hive_partitioning = false)")


def _read_typed(connection: DuckDBPyConnection, path: Path, source: str) -> Reading:
    relation = connection.sql(f"FROM {source}")
    pairs = list(zip(relation.columns, relation.types, strict=True))
    if len(pairs) > MAX_COLUMNS:
        raise FileError(f"{path} has {len(pairs)} columns.", f"A table may have {MAX_COLUMNS}.")
    kinds = [_kind(path, name, kind) for name, kind in pairs]
    listed = ", ".join(_typed_cast(name, kind) for name, kind in zip(relation.columns, kinds, strict=True))
    sql = f"SELECT {listed} FROM {source}"
    connection.execute(
        f"SELECT COUNT(*), {', '.join(f'COUNT({quoted(name)})' for name in relation.columns)} FROM ({sql})"
    )
    return Reading(sql, tuple(column_of(name, k) for name, k in zip(relation.columns, kinds, strict=True)))


def _typed_cast(name: str, kind: Kind) -> str:
    if kind == JSON:
        return f"CAST(to_json({quoted(name)}) AS VARCHAR) AS {quoted(name)}"
    if (
        kind == FLOAT64
    ):  # NaN stands for a missing value, as data frames use it; DuckDB and BigQuery order it differently
        return f"CASE WHEN NOT isnan({quoted(name)}) THEN CAST({quoted(name)} AS DOUBLE) END AS {quoted(name)}"
    return f"CAST({quoted(name)} AS {duckdb_type(kind)}) AS {quoted(name)}"


_SIMPLE = {
    "boolean": BOOL,
    **dict.fromkeys(("tinyint", "smallint", "integer", "bigint", "utinyint", "usmallint", "uinteger"), INT64),
    **dict.fromkeys(("ubigint", "hugeint", "uhugeint"), NUMERIC),
    **dict.fromkeys(("float", "double"), FLOAT64),
    **dict.fromkeys(("varchar", "uuid", "enum", "interval", "bit", "time with time zone"), STRING),
    "blob": BYTES,
    "date": DATE,
    "time": TIME,
    **dict.fromkeys(("timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns"), DATETIME),
    "timestamp with time zone": TIMESTAMP,
    "json": JSON,
}


def _kind(path: Path, name: str, given: Any, *, inside_list: bool = False) -> Kind:
    """The GoogleSQL type for a type of DuckDB's; what has none becomes JSON."""
    written = str(given).lower()
    if written == "json":
        return JSON
    if given.id == "decimal":
        scale = dict(given.children)["scale"]
        if scale > 9:
            message = f"Column {name} of {path} has {scale} digits after the point, and NUMERIC holds 9."
            raise FileError(message, "Round the column, or store it as floating point.")
        return NUMERIC
    if given.id == "list" and not inside_list:
        inner = _kind(path, name, given.children[0][1], inside_list=True)
        return JSON if inner == JSON else array_of(inner)
    if given.id == "struct":
        fields = tuple((part, _kind(path, name, kind)) for part, kind in given.children)
        return JSON if any(_holds_json(kind) for _, kind in fields) else Kind("STRUCT", fields=fields)
    return _SIMPLE.get(written, _SIMPLE.get(given.id, JSON))


def _holds_json(kind: Kind) -> bool:
    inner = [kind.element] if kind.element else [part for _, part in kind.fields]
    return kind == JSON or any(_holds_json(part) for part in inner)


_READERS: dict[str, Callable[[DuckDBPyConnection, Path], Reading]] = {
    "csv": _read_csv,
    "json": _read_json,
    "parquet": _read_parquet,
}
