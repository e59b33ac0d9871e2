"""What an earlier version, or a newer one, left behind costs a sentence, never the session."""

from __future__ import annotations

from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions

from .conftest import Chat


async def leave(chat: Chat, **delta: object) -> None:
    session = await chat.stored()
    event = Event(author="somebody", actions=EventActions(state_delta=delta))
    await chat.runner.session_service.append_event(session, event)


async def test_unreadable_preferences_are_left_out_and_said(chat: Chat) -> None:
    await leave(chat, **{"user:preferences": {"colour": "blue"}})
    message = (await chat.say("How many flights by carrier?")).message
    assert "336,776" in message
    assert "Your preferences could not be read and were left out" in message


async def test_preferences_are_obeyed_by_summary_and_table(chat: Chat) -> None:
    await leave(chat, **{"user:preferences": {"locale": "de_DE"}})
    message = (await chat.say("How many flights by carrier?")).message
    assert "336.776" in message and "58.665" in message
    assert "58,665" not in message


async def test_a_newer_conversation_is_refused_in_a_sentence(chat: Chat) -> None:
    await leave(chat, conversation={"contract_version": 2, "value": {}})
    message = (await chat.say("How many flights by carrier?")).message
    assert message == (
        "State key 'conversation': was written by version 2, newer than this one, 1. "
        "Update askhouse, or start a new conversation."
    )


async def test_unreadable_offers_are_forgotten(chat: Chat) -> None:
    await leave(chat, offered={"questions": 3})
    assert "336,776" in (await chat.say("How many flights by carrier?")).message
