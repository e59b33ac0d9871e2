"""Execution match over a suite in defog's form: SUITE/databases/DB/DB.sql and .json, SUITE/questions/*.csv.

The last line is JSON: answerable and unanswerable questions, answered, right, refused, and latency. Gold SQL may hold
alternatives after ";"; an answer is right when it holds all columns of one alternative with the same rows. Order
counts only where the question asks for it and the gold has it.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import sys
import time
import warnings
from collections import Counter, defaultdict
from pathlib import Path
from statistics import median
from typing import Any

import click
import duckdb
import sqlglot

sys.path.insert(0, str(Path(__file__).parent))
from same import same
from scratch import ScratchWarehouse

from askhouse.emulator.planner import AuthoredContext, Clarification, Clock, GlossaryTerm, Planned, Planner, build_layer

warnings.filterwarnings("ignore")

_TO_CHAR = """CREATE MACRO to_char(moment, form) AS strftime(moment, CASE WHEN form ILIKE '%month%' THEN '%B'
WHEN form ILIKE 'day%' THEN '%A' ELSE '%Y%m%d %H:%M:%S' END)"""


def load(connection: duckdb.DuckDBPyConnection, folder: Path) -> tuple[dict[str, str], str]:
    """Create the database's tables in a schema of its name; its column descriptions and its glossary."""
    name = folder.name
    connection.execute(f'CREATE SCHEMA "{name}"')
    connection.execute(f"SET schema = '{name}'")
    text = re.sub(r"--[^\n']*$", "", (folder / f"{name}.sql").read_text("utf-8"), flags=re.MULTILINE)
    for statement in _statements(text):
        _run(connection, statement)
    about = json.loads((folder / f"{name}.json").read_text("utf-8"))
    described = {
        f"{table}.{column['column_name']}": column["column_description"]
        for table, columns in about["table_metadata"].items()
        for column in columns
    }
    return described, about.get("glossary", "")


def _statements(text: str) -> list[str]:
    found, current, quoted = [], [], False
    for letter in text:
        quoted = quoted != (letter == "'")
        if letter == ";" and not quoted:
            found.append("".join(current))
            current = []
        else:
            current.append(letter)
    return [one.strip() for one in found if one.strip()]


def _run(connection: duckdb.DuckDBPyConnection, statement: str) -> None:
    statement = (
        statement.replace("public.", "").replace("TO_CHAR(", "memory.main.to_char(").replace("DEFAULT ''::text", "")
    )
    statement = re.sub(r"\b(big)?serial\b", "INTEGER", statement, flags=re.IGNORECASE)
    statement = re.sub(r"\bREFERENCES\s+\w+\s*\(\w+\)", "", statement, flags=re.IGNORECASE)
    if not re.match(r"(CREATE TABLE|INSERT)", statement, re.IGNORECASE):
        return
    if match := re.match(r"INSERT INTO (\w+)\s*\(([^)]*)\)\s*VALUES(.*)", statement, re.IGNORECASE | re.DOTALL):
        table, columns, rows = match.groups()
        known = [row[0] for row in connection.execute(f'DESCRIBE "{table}"').fetchall()]
        if known[0] == "id" and "id" not in [one.strip() for one in columns.split(",")]:
            connection.execute(
                f"INSERT INTO {table} (id, {columns}) SELECT row_number() OVER (), * FROM (VALUES {rows})"
            )
            return
    connection.execute(statement)


def gold_rows(connection: Any, warehouse: ScratchWarehouse, query: str) -> list[list[tuple[Any, ...]]]:
    """The rows of each alternative, by the product's dialect where it takes the query, else as sqlglot translates."""
    found = []
    for tree in sqlglot.parse(query, read="bigquery"):
        if tree is None:
            continue
        named = tree.copy()
        for table in named.find_all(sqlglot.exp.Table):
            if table.db:
                table.set("catalog", sqlglot.exp.to_identifier("local"))
        try:
            found.append(warehouse.query(named.sql(dialect="bigquery")).rows)
        except Exception:
            found.append(connection.execute(tree.sql(dialect="duckdb")).fetchall())
    return found


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("suite", type=Path)
    options.add_argument("-v", "--verbose", action="store_true")
    options.add_argument("--database")
    arguments = options.parse_args()
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute(_TO_CHAR)
    connection.execute("SET default_null_order = 'NULLS_FIRST_ON_ASC_LAST_ON_DESC'")
    planners: dict[str, tuple[Planner, ScratchWarehouse]] = {}
    for folder in sorted((arguments.suite / "databases").iterdir()):
        described, glossary = load(connection, folder)
        warehouse = ScratchWarehouse(connection, folder.name, descriptions=described)
        context = AuthoredContext(
            glossary=tuple(GlossaryTerm(line.split("=")[0].strip("- `"), line) for line in glossary.splitlines())
        )
        planners[folder.name] = (Planner(build_layer(warehouse, warehouse.table_refs(), context), Clock()), warehouse)
    score: dict[str, Counter[str]] = defaultdict(Counter)
    latencies = []
    for path in sorted((arguments.suite / "questions").glob("*.csv")):
        for row in csv.DictReader(path.open(encoding="utf-8")):
            if arguments.database and row["db_name"] != arguments.database:
                continue
            planner, warehouse = planners[row["db_name"]]
            answerable = not path.name.startswith("idk")
            began = time.perf_counter()
            try:
                reading = planner.read(row["question"])
            except Exception as error:
                click.echo(f"CRASH {row['question']} {error!r:.200}")
                score[row["db_name"]]["crash"] += 1
                continue
            latencies.append(1000 * (time.perf_counter() - began))
            verdict, detail = _judge(connection, warehouse, reading, row, answerable)
            score[row["db_name"]][("" if answerable else "unanswerable ") + verdict] += 1
            if arguments.verbose:
                click.echo(f"{verdict.upper()} [{row['db_name']}] {row['question']}\n    {detail}")
    _report(score, latencies)


def _judge(
    connection: Any, warehouse: ScratchWarehouse, reading: Any, row: dict[str, str], answerable: bool
) -> tuple[str, str]:
    if not isinstance(reading, Planned):
        verdict = "asked" if isinstance(reading, Clarification) else "refused"
        return verdict, f"{reading.text} {getattr(reading, 'options', '')}"
    if not answerable:
        return "wrong", reading.lead
    try:
        got = warehouse.query(reading.sql).rows
    except Exception as error:
        return "failed", f"{reading.lead}\n{reading.sql}\n{error!r}"
    try:
        golds = gold_rows(connection, warehouse, row["query"])
    except Exception as error:
        return "gold_failed", repr(error)[:300]
    if any(same(gold, got) for gold in golds):
        return "right", reading.lead
    return "wrong", f"{reading.lead}\n    {' '.join(reading.sql.split())}\n    got {got[:3]} gold {golds[0][:3]}"


def _report(score: dict[str, Counter[str]], latencies: list[float]) -> None:
    total: Counter[str] = Counter()
    for name, counts in sorted(score.items()):
        click.echo(f"{name:16} {dict(sorted(counts.items()))}")
        total += counts
    answerable = sum(count for name, count in total.items() if not name.startswith("unanswerable"))
    answered = total["right"] + total["wrong"] + total["failed"]
    idk = {name: count for name, count in total.items() if name.startswith("unanswerable")}
    figures = {
        "answerable": {
            "total": answerable,
            "answered": answered,
            "right": total["right"],
            "gold_failed": total["gold_failed"],
        },
        "unanswerable": {"total": sum(idk.values()), "refused": sum(idk.values()) - idk.get("unanswerable wrong", 0)},
        "latency_ms": {"median": round(median(latencies), 1), "max": round(max(latencies), 1)},
    }
    click.echo(json.dumps(figures))


if __name__ == "__main__":
    main()
