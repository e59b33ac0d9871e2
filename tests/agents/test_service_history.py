"""A saved agent's conversation that the service remembers, in the place of turns that are sent again."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from google.adk.cli.fast_api import get_fast_api_app
from google.adk.sessions.session import Session

from askhouse.emulator.local import Emulator
from askhouse.insights.conversations import forget
from askhouse.kept import Kept
from askhouse.settings import Settings
from state_contracts import SERVICE_CONVERSATION

from .conftest import Chat, chatting

DIALOGUE = ("How many flights by month?", "only JFK", "and for LGA?", "How many flights by carrier?")


@pytest.fixture
def remembering(settings: Settings) -> Settings:
    return settings.model_copy(update={"history": "service", "agent": "flights", "user": "ana"})


@asynccontextmanager
async def _conversation(settings: Settings) -> AsyncIterator[Chat]:
    async with chatting(settings) as chat:
        yield chat


def _kept(session: Session) -> str:
    found = SERVICE_CONVERSATION.read(session.state)
    assert found is not None
    return found.conversation


def _asked(service: Emulator, conversation: str) -> list[str] | None:
    """The person's words in a conversation, newest first, or None where there is none."""
    response = httpx.get(f"{service.rest}/v1/{conversation}/messages?pageSize=100", trust_env=False)
    if response.status_code == 404:
        return None
    messages: list[dict[str, Any]] = [item["message"] for item in response.json().get("messages", [])]
    return [message["userMessage"]["text"] for message in messages if "userMessage" in message]


async def _sql(settings: Settings) -> list[str]:
    said = []
    async with _conversation(settings) as chat:
        for words in DIALOGUE:
            message = (await chat.say(words)).message
            said.append(message.split("```sql")[1].split("```")[0] if "```sql" in message else message)
    return said


async def test_the_same_dialogue_gives_the_same_queries(remembering: Settings) -> None:
    resending = remembering.model_copy(update={"history": "resend"})
    by_service = await _sql(remembering)
    assert by_service == await _sql(resending)
    assert all("SELECT" in sql for sql in by_service) and "JFK" in by_service[1]


@pytest.mark.parametrize("transport", ["grpc", "rest"])
async def test_one_conversation_per_session_gets_each_message_once(
    remembering: Settings, service: Emulator, transport: str
) -> None:
    endpoint = service.grpc if transport == "grpc" else service.rest
    settings = remembering.model_copy(update={"transport": transport, "chat_endpoint": endpoint})
    async with _conversation(settings) as chat, _conversation(settings) as other:
        for words in DIALOGUE[:3]:
            await chat.say(words)
        await other.say("How many flights by carrier?")
        mine, theirs = _kept(await chat.stored()), _kept(await other.stored())
    assert _asked(service, mine) == list(reversed(DIALOGUE[:3]))
    assert _asked(service, theirs) == ["How many flights by carrier?"]


async def test_a_rewind_starts_a_new_one_with_the_turns_that_stand(remembering: Settings, service: Emulator) -> None:
    async with _conversation(remembering) as chat:
        await chat.say("How many flights by month?")
        turn = await chat.say("only JFK")
        before = _kept(await chat.stored())
        await chat.runner.rewind_async(
            user_id=chat.user, session_id=chat.session, rewind_before_invocation_id=turn.events[0].invocation_id
        )
        said = (await chat.say("only LGA")).message
        after = _kept(await chat.stored())
        await chat.say("only EWR")
        assert _kept(await chat.stored()) == after
    assert "LGA" in said and "JFK" not in said
    assert before != after
    assert _asked(service, after) == ["only EWR", "only LGA", "How many flights by month?"]


async def test_it_is_deleted_with_its_session(remembering: Settings, service: Emulator) -> None:
    async with _conversation(remembering) as chat:
        turn = await chat.say("How many flights by month?")
        first = _kept(await chat.stored())
        await chat.runner.rewind_async(
            user_id=chat.user, session_id=chat.session, rewind_before_invocation_id=turn.events[0].invocation_id
        )
        await chat.say("How many flights by carrier?")
        second = _kept(await chat.stored())
        assert first != second and _asked(service, first) and _asked(service, second)
        await Kept(chat.runner.session_service, remembering).delete(chat.session)
    assert (_asked(service, first), _asked(service, second)) == (None, None)


async def test_tables_are_asked_with_resent_turns(remembering: Settings) -> None:
    settings = remembering.model_copy(update={"agent": None})
    async with _conversation(settings) as chat:
        await chat.say("How many flights by month?")
        assert "JFK" in (await chat.say("only JFK")).message
        assert SERVICE_CONVERSATION.read((await chat.stored()).state) is None


async def test_a_conversation_that_is_gone_is_begun_again_by_the_next_question(remembering: Settings) -> None:
    async with _conversation(remembering) as chat:
        await chat.say("How many flights by month?")
        await forget(remembering, [_kept(await chat.stored())])
        lost = await chat.say("only JFK")
        assert "a new conversation begins" in lost.message
        again = await chat.say("only JFK")
    assert "JFK" in again.message and "```sql" in again.message


@pytest.mark.parametrize("reachable", [True, False])
async def test_it_is_deleted_with_the_session_in_the_chat_page_too(
    remembering: Settings, service: Emulator, repo: Path, monkeypatch: pytest.MonkeyPatch, reachable: bool
) -> None:
    async with _conversation(remembering) as chat:
        await chat.say("How many flights by month?")
        kept, address = _kept(await chat.stored()), f"/apps/data_analyst/users/ana/sessions/{chat.session}"
    monkeypatch.setenv("ASKHOUSE_HOME", str(remembering.home))
    monkeypatch.setenv("ASKHOUSE_CHAT_ENDPOINT", service.grpc if reachable else "http://127.0.0.1:9")
    app = get_fast_api_app(agents_dir=str(repo / "agents"), session_service_uri=remembering.sessions_uri, web=False)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://127.0.0.1") as page:
        deleted = await page.delete(address)
        left = await page.get(address)
    assert (_asked(service, kept) is None, left.status_code) == ((True, 404) if reachable else (False, 200))
    assert reachable or (deleted.status_code == 502 and "was not deleted" in deleted.json()["detail"])
