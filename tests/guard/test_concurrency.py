"""Two at once lose nothing; a turn that is killed at any point leaves a session that takes the next one."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.sessions.base_session_service import BaseSessionService

from state_contracts import DATA_AGENT, SavedAgent

WHO = {"app_name": "data_analyst", "user_id": "ana"}
KILL_AFTER_LINES = [0, 1, 2, 3, 4, 5]
"""Lines of progress after which the turn is killed: before it begins, while it asks, while it draws."""


async def save(sessions: BaseSessionService, slug: str) -> None:
    session = await sessions.create_session(**WHO)
    delta: dict[str, object] = {}
    DATA_AGENT.write(delta, slug, SavedAgent(label=slug, agent=f"projects/p/locations/l/dataAgents/{slug}"))
    await asyncio.sleep(0)
    await sessions.append_event(session, Event(author="data_analyst", actions=EventActions(state_delta=delta)))


async def test_agents_saved_at_the_same_moment_all_survive(sessions: BaseSessionService) -> None:
    slugs = [f"agent-{number}" for number in range(12)]
    await asyncio.gather(*(save(sessions, slug) for slug in slugs))
    later = await sessions.create_session(**WHO)
    assert [slug for slug, _ in DATA_AGENT.items(later.state)] == sorted(slugs)


class TestKilled:
    """`askhouse ask` in a process of its own, killed in the middle of a turn."""

    ask = (sys.executable, "-m", "askhouse", "ask", "--progress")

    def kill_in_a_turn(self, session: str, lines: int) -> None:
        turn = subprocess.Popen(
            [*self.ask, "--session", session, "How many flights by carrier?"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert turn.stderr is not None
        for _ in range(lines):
            turn.stderr.readline()
        turn.send_signal(signal.SIGKILL)
        turn.stderr.close()
        turn.wait()

    def answer(self, *options: str) -> dict[str, object]:
        done = subprocess.run(
            [*self.ask, "--format", "json", *options, "How many flights by origin?"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return dict(json.loads(done.stdout))

    @pytest.mark.usefixtures("home")
    def test_the_session_takes_the_next_turn(self, tmp_path: Path) -> None:
        session = str(self.answer()["session"])
        for lines in KILL_AFTER_LINES:
            self.kill_in_a_turn(session, lines)
            answered = self.answer("--session", session)
            rows = dict(answered["results"][0]["rows"])
            assert rows == {"EWR": 120835, "JFK": 111279, "LGA": 104662}, f"killed after {lines} lines"
