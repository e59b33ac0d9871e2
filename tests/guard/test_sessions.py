"""What comes from outside a run: refused unless a contract lets clients write it, and nothing changes."""

from __future__ import annotations

import pytest
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.sessions.base_session_service import BaseSessionService
from google.adk.sessions.session import Session

from askhouse.guard.sessions import StateRefusedError
from state_contracts import OFFERED, PREFERENCES, Offered, Preferences

KEYS = ["offered", "surprise", "user:preferences", "user:data_agent.sales", "app:config", "temp:answer.c1", "_adk_x"]
WHO = {"app_name": "data_analyst", "user_id": "ana"}


async def state_of(sessions: BaseSessionService, session: Session) -> dict[str, object]:
    stored = await sessions.get_session(**WHO, session_id=session.id)
    assert stored is not None
    return stored.state


def patch(delta: dict[str, object], **actions: object) -> Event:
    return Event(author="user", invocation_id="p-1", actions=EventActions(state_delta=delta, **actions))


def inside(delta: dict[str, object]) -> Event:
    return Event(author="data_analyst", invocation_id="i-1", actions=EventActions(state_delta=delta))


@pytest.mark.parametrize("key", KEYS)
async def test_session_creation_may_not_set_state(sessions: BaseSessionService, key: str) -> None:
    with pytest.raises(StateRefusedError) as refused:
        await sessions.create_session(**WHO, state={key: 1}, session_id="s1")
    assert refused.value.status_code == 400
    assert key in str(refused.value)
    assert await sessions.get_session(**WHO, session_id="s1") is None
    assert (await sessions.create_session(**WHO)).state == {}


@pytest.mark.parametrize("key", KEYS)
async def test_a_patch_may_not_set_state(sessions: BaseSessionService, key: str) -> None:
    session = await sessions.create_session(**WHO)
    with pytest.raises(StateRefusedError):
        await sessions.append_event(session, patch({key: 1}))
    assert await state_of(sessions, session) == {}
    assert session.state == {}


async def test_a_rename_changes_the_name_only(sessions: BaseSessionService) -> None:
    session = await sessions.create_session(**WHO)
    old: dict[str, object] = {}
    PREFERENCES.write(old, Preferences(language="pt"))
    await sessions.append_event(session, inside(dict(old)))
    new: dict[str, object] = {}
    PREFERENCES.write(new, Preferences(language="id"))
    await sessions.append_event(session, inside(dict(new)))

    page = await sessions.get_session(**WHO, session_id=session.id)
    assert page is not None
    await sessions.append_event(page, patch({**old, "__session_metadata__": {"displayName": "Sales"}}))

    state = await state_of(sessions, session)
    assert state["__session_metadata__"] == {"displayName": "Sales"}
    assert PREFERENCES.read(state) == Preferences(language="id")


async def test_a_rewind_may_restore_what_keeps_its_contract(sessions: BaseSessionService) -> None:
    session = await sessions.create_session(**WHO)
    delta: dict[str, object] = {}
    OFFERED.write(delta, Offered(questions=["How many orders?"]))
    await sessions.append_event(session, patch(delta, rewind_before_invocation_id="i-0"))
    assert OFFERED.read(await state_of(sessions, session)) == Offered(questions=["How many orders?"])
    with pytest.raises(StateRefusedError):
        await sessions.append_event(session, patch({"surprise": 1}, rewind_before_invocation_id="i-0"))


async def test_what_a_run_writes_passes(sessions: BaseSessionService) -> None:
    session = await sessions.create_session(**WHO)
    delta: dict[str, object] = {}
    OFFERED.write(delta, Offered(questions=["1"]))
    await sessions.append_event(session, inside(delta))
    assert OFFERED.read(await state_of(sessions, session)) == Offered(questions=["1"])
