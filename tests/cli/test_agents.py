"""`askhouse agents`: what ships ready can be listed, shown and asked."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

Askhouse = Callable[..., subprocess.CompletedProcess[str]]


def test_the_two_that_ship_are_listed_with_what_they_are_for(askhouse: Askhouse, home: Path) -> None:
    done = askhouse("agents", "list")
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(line.split()[0] for line in done.stdout.splitlines()) == ["flights", "thelook"]
    assert all(len(line.split()) > 3 for line in done.stdout.splitlines())


def test_one_is_shown_with_its_tables(askhouse: Askhouse, home: Path) -> None:
    done = askhouse("agents", "show", "flights")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0].endswith("/dataAgents/flights")
    assert "  local.nycflights13.flights" in done.stdout.splitlines()


def test_an_unknown_one_is_an_error_with_a_remedy(askhouse: Askhouse, home: Path) -> None:
    done = askhouse("agents", "show", "nosuchagent")
    assert done.returncode == 3
    (line,) = done.stderr.splitlines()
    assert "nosuchagent" in line and "askhouse agents list" in line
