"""`askhouse ask`: the answer in each form, its exit code, its progress; one conversation over several commands."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

Askhouse = Callable[..., subprocess.CompletedProcess[str]]
BY_AIRPORT = "How many flights left each airport?"


@pytest.fixture
def by_airport(home: Path) -> dict[str, int]:
    """Flights of each airport, counted without any of our code but the file."""
    (file,) = home.glob("samples*.duckdb")
    with duckdb.connect(str(file), read_only=True) as database:
        tables = database.execute("SELECT schema_name, table_name FROM duckdb_tables()").fetchall()
        (name,) = [f'"{schema}"."{table}"' for schema, table in tables if table.endswith("flights")]
        return dict(database.execute(f"SELECT origin, count(*) FROM {name} GROUP BY 1").fetchall())


def test_text(askhouse: Askhouse, by_airport: dict[str, int]) -> None:
    done = askhouse("ask", BY_AIRPORT)
    assert (done.returncode, done.stderr) == (0, "")
    for airport, flights in by_airport.items():
        assert airport in done.stdout and f"{flights:,}" in done.stdout
    assert "SELECT" in done.stdout
    assert done.stdout.splitlines()[-1] == "Sample data on this machine."


def test_json_is_one_object_with_the_documented_keys(askhouse: Askhouse, by_airport: dict[str, int]) -> None:
    done = askhouse("ask", BY_AIRPORT, "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    answer: dict[str, Any] = json.loads(done.stdout)
    assert set(answer) == {
        "question", "standalone_question", "complete", "blocks", "results", "summary", "chart", "follow_ups",
        "assumptions", "notices", "error", "session", "turn", "place", "agent", "model", "clock", "cost", "timings_ms",
    }  # fmt: skip
    (result,) = answer["results"]
    assert {row[0]: row[1] for row in result["rows"]} == by_airport
    assert answer["error"] is None and answer["question"] == BY_AIRPORT


def test_csv_holds_the_rows_and_nothing_else(askhouse: Askhouse, by_airport: dict[str, int]) -> None:
    done = askhouse("ask", BY_AIRPORT, "--format", "csv")
    assert (done.returncode, done.stderr) == (0, "")
    _, *rows = csv.reader(io.StringIO(done.stdout))
    assert {airport: int(flights) for airport, flights in rows} == by_airport


def test_html_is_a_page_of_its_own(askhouse: Askhouse, by_airport: dict[str, int]) -> None:
    done = askhouse("ask", BY_AIRPORT, "--format", "html")
    assert done.returncode == 0
    page = done.stdout.lower()
    assert page.startswith("<!doctype html>") and page.rstrip().endswith("</html>")
    assert 'src="http' not in page and 'href="http' not in page
    assert all(airport.lower() in page for airport in by_airport)


def test_files(askhouse: Askhouse, by_airport: dict[str, int], tmp_path: Path) -> None:
    done = askhouse("ask", BY_AIRPORT, "--out", tmp_path / "out/deep")
    assert done.returncode == 0, done.stderr
    files = {file.suffix: file for file in (tmp_path / "out/deep").iterdir()}
    assert files[".png"].read_bytes().startswith(b"\x89PNG")
    _, *rows = csv.reader(io.StringIO(files[".csv"].read_text("utf-8")))
    assert {airport: int(flights) for airport, flights in rows} == by_airport
    assert all(str(file) in done.stderr for file in files.values())


def test_the_question_may_be_piped_in(askhouse: Askhouse, by_airport: dict[str, int]) -> None:
    for arguments in (("ask",), ("ask", "-")):
        done = askhouse(*arguments, "--format", "csv", stdin=f"{BY_AIRPORT}\n")
        assert done.returncode == 0, done.stderr
        assert len(done.stdout.splitlines()) == 1 + len(by_airport)


def test_a_conversation_continues(askhouse: Askhouse, home: Path) -> None:
    first = json.loads(askhouse("ask", "Average departure delay by month", "--format", "json").stdout)
    second = json.loads(askhouse("ask", "-c", "only JFK", "--format", "json").stdout)
    assert second["session"] == first["session"]
    assert "JFK" in second["results"][0]["sql"]
    assert (first["turn"], second["turn"]) == (1, 2)
    apart = json.loads(askhouse("ask", BY_AIRPORT, "--format", "json").stdout)
    assert apart["session"] != first["session"]
    named = json.loads(askhouse("ask", "--session", first["session"], "only LGA", "--format", "json").stdout)
    assert named["session"] == first["session"]
    assert "LGA" in named["results"][0]["sql"] and named["turn"] == 3


def test_a_number_asks_the_follow_up_that_was_shown(askhouse: Askhouse, home: Path) -> None:
    first = json.loads(askhouse("ask", BY_AIRPORT, "--format", "json").stdout)
    second = json.loads(askhouse("ask", "-c", "2", "--format", "json").stdout)
    assert second["standalone_question"] == first["follow_ups"][1]


def test_an_agent_may_be_asked(askhouse: Askhouse, by_airport: dict[str, int]) -> None:
    answer = json.loads(askhouse("ask", "--agent", "flights", BY_AIRPORT, "--format", "json").stdout)
    assert answer["agent"].endswith("/dataAgents/flights")
    assert {row[0]: row[1] for row in answer["results"][0]["rows"]} == by_airport


def test_only_the_chosen_table_is_asked(askhouse: Askhouse, home: Path) -> None:
    done = askhouse("ask", "--table", "local.nycflights13.planes", "How many orders are there?")
    assert done.returncode == 2, done.stdout


@pytest.mark.parametrize("question", ["What is the meaning of life?", "delete all orders"])
def test_a_refusal_is_said_on_stdout_with_exit_code_2(askhouse: Askhouse, home: Path, question: str) -> None:
    done = askhouse("ask", question)
    assert (done.returncode, done.stderr) == (2, "")
    assert len(done.stdout) > 20
    assert json.loads(askhouse("ask", question, "--format", "json").stdout)["results"] == []


def test_today_decides_a_relative_period_and_is_said(askhouse: Askhouse, home: Path) -> None:
    asked = ("ask", "How many flights last month?", "--table", "local.nycflights13.flights", "--format", "json")
    usual, other = (json.loads(askhouse(*asked, *more).stdout) for more in ((), ("--today", "2013-03-15")))
    assert (usual["clock"], other["clock"]) == ("2013-12-31", "2013-03-15")
    assert usual["results"][0]["rows"] != other["results"][0]["rows"]


def test_a_service_that_is_away_is_exit_code_3(askhouse: Askhouse, home: Path) -> None:
    nobody = "http://127.0.0.1:9"
    cloud = {"ASKHOUSE_PROJECT": "my-project", "ASKHOUSE_TABLES": "my-project.sales.orders"}
    for form in ("text", "json"):
        done = askhouse(
            "ask", "How many orders?", "--format", form,
            ASKHOUSE_CHAT_ENDPOINT=nobody, ASKHOUSE_BIGQUERY_ENDPOINT=nobody, **cloud,
        )  # fmt: skip
        assert done.returncode == 3, done.stderr
        assert "Traceback" not in done.stderr
        if form == "json":
            assert json.loads(done.stdout)["error"]["code"] == "unreachable"
        else:
            (line,) = done.stderr.splitlines()
            assert line.startswith("Error: ")


def test_progress_is_shown_on_stderr_where_wanted(askhouse: Askhouse, home: Path) -> None:
    done = askhouse("ask", BY_AIRPORT, "--progress")
    assert done.returncode == 0
    assert done.stderr.strip()
    assert done.stdout.strip()


def test_progress_is_shown_to_a_person_without_being_asked_for(home: Path) -> None:
    """On a terminal. The reading end is the person's screen."""
    screen, terminal = pty.openpty()
    command = [sys.executable, "-m", "askhouse", "ask", BY_AIRPORT]
    process = subprocess.Popen(command, stdin=terminal, stdout=subprocess.PIPE, stderr=terminal, text=True)
    os.close(terminal)
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    assert out.strip()
    assert os.read(screen, 100_000).strip()
    os.close(screen)


@pytest.mark.parametrize("transport", ["grpc", "rest"])
def test_an_interrupt_ends_quietly(home: Path, transport: str) -> None:
    """While it waits for a service that took the call and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        cloud = {
            "ASKHOUSE_PROJECT": "my-project", "ASKHOUSE_TABLES": "my-project.sales.orders",
            "ASKHOUSE_CHAT_ENDPOINT": address, "ASKHOUSE_TRANSPORT": transport,
        }  # fmt: skip
        process = subprocess.Popen(
            [sys.executable, "-m", "askhouse", "ask", "How many orders?"],
            env={**os.environ, **cloud}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        silent.settimeout(60)
        call, _ = silent.accept()
        with call:
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err.strip()) == (130, "", "")


def test_a_reader_that_leaves_is_no_error(home: Path) -> None:
    command = f'{sys.executable} -m askhouse ask "{BY_AIRPORT}" --format json | head -c 1'
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("{", "")
