"""`askhouse sessions`, `askhouse state`, `askhouse preferences`: what is kept, seen from the terminal."""

from __future__ import annotations

import asyncio
import json

import pytest
from click.testing import CliRunner
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.genai import types

from askhouse.cli import main
from askhouse.guard.sessions import guarded_session_service
from askhouse.settings import load_settings
from state_contracts import OFFERED, Offered

WHO = {"app_name": "data_analyst", "user_id": "user"}


def run(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, words)
    return result.exit_code, result.output


@pytest.fixture
def session() -> str:
    """A conversation in which `offered` was written twice."""

    async def write() -> str:
        settings = load_settings().settings
        settings.home.mkdir(parents=True)
        service = guarded_session_service(settings.sessions_uri)
        session = await service.create_session(**WHO)
        question = types.Content(role="user", parts=[types.Part(text="How many orders?")])
        await service.append_event(session, Event(author="user", content=question))
        for asked in ("one", "two"):
            delta: dict[str, object] = {}
            OFFERED.write(delta, Offered(questions=[asked]))
            event = Event(
                author="data_analyst",
                actions=EventActions(state_delta=delta),
                custom_metadata={"askhouse_writers": {"offered": "data_agent"}},
            )
            await service.append_event(session, event)
        return session.id

    return asyncio.run(write())


def test_state_table_lists_every_key() -> None:
    code, printed = run("state", "table")
    assert code == 0
    assert "temp:answer.<call>  (Answer, version 1)" in printed
    assert "data_agent -> root, data_agent" in printed


def test_state_check_proves_the_contracts_and_draws_the_steps() -> None:
    code, printed = run("state", "check")
    assert code == 0, printed
    assert "data_agent --> summarizer" in printed
    assert "every reader of a temp: key has a writer before it" in printed


def test_trace_tells_who_changed_what_from_what_to_what(session: str) -> None:
    code, printed = run("state", "trace", session, "--key", "offered", "--format", "json")
    assert code == 0
    first, second = json.loads(printed)
    assert (first["writer"], first["old"], first["new"]) == ("data_agent", None, {"questions": ["one"]})
    assert (second["old"], second["new"]) == (first["new"], {"questions": ["two"]})
    assert run("state", "trace", "last")[1].count("data_agent   offered:") == 2


def test_sessions_are_listed_shown_and_deleted(session: str) -> None:
    assert session in run("sessions", "list")[1]
    code, shown = run("sessions", "show", session)
    assert code == 0
    assert "user           complete text            How many orders?" in shown
    assert "state or artifact change" in shown
    assert run("sessions", "delete", session) == (0, f"Deleted {session}.\n")
    assert run("sessions", "list") == (0, "")


def test_sessions_expire_by_their_age(session: str) -> None:
    assert run("sessions", "expire", "--older-than", "1d") == (0, "Deleted 0 sessions.\n")
    assert run("sessions", "expire", "--older-than", "0m") == (0, "Deleted 1 session.\n")
    code, printed = run("sessions", "expire", "--older-than", "soon")
    assert code == 1
    assert "'soon' is not an age" in printed


def test_unknown_session_is_one_sentence() -> None:
    assert run("sessions", "show", "nope") == (
        1,
        "Error: There is no session 'nope' here. `askhouse sessions list` lists them.\n",
    )


def test_preferences_are_set_shown_and_reset() -> None:
    assert run("preferences", "set", "fiscal_year_start", "4")[0] == 0
    assert run("preferences", "set", "language", "pt")[0] == 0
    assert "fiscal_year_start  4" in run("preferences", "show")[1]
    assert run("preferences", "reset", "language")[0] == 0
    shown = run("preferences", "show")[1]
    assert "language           not set" in shown
    assert "fiscal_year_start  4" in shown
    assert run("sessions", "list") == (0, ""), "setting a preference leaves no conversation behind"


@pytest.mark.parametrize(
    ("name", "value", "used"),
    [
        ("locale", "pt_BR", True), ("currency", "EUR", False), ("week_start", "sunday", False),
        ("time_zone", "Asia/Tokyo", False), ("fiscal_year_start", "4", False), ("default_agent", "flights", False),
    ],
)  # fmt: skip
def test_a_preference_that_answers_do_not_follow_yet_says_so(name: str, value: str, used: bool) -> None:
    code, printed = run("preferences", "set", name, value)
    assert code == 0
    assert ("from your next question on" in printed) == used
    assert ("kept; answers do not use it yet" in printed) != used


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("fiscal_year_start", "13"), ("time_zone", "Mars/Olympus"), ("currency", "euro"), ("chart", "3d"),
        ("locale", "xx_YY"), ("currency", "ZZZ"), ("default_agent", "../x"), ("default_agent", "a b"),
    ],
)  # fmt: skip
def test_a_bad_preference_is_refused_and_changes_nothing(name: str, value: str) -> None:
    code, printed = run("preferences", "set", name, value)
    assert code == 1
    assert printed.startswith(f"Error: Invalid value: '{value}' does not fit {name}: ")
    assert f"{name:<18} not set" in run("preferences", "show")[1]
