"""Conversations that the service remembers, through Google's own clients."""

from __future__ import annotations

from uuid import uuid4

import httpx
import pytest
from google.api_core.exceptions import AlreadyExists, InvalidArgument, NotFound
from google.cloud import geminidataanalytics_v1 as api
from google.protobuf import field_mask_pb2

from askhouse.emulator.local import Emulator

from .conftest import PARENT, chat, clients, kinds, request, rest_options, rows, texts

AGENT = f"{PARENT}/dataAgents/flights"


def _new(**fields: object) -> api.CreateConversationRequest:
    return api.CreateConversationRequest(parent=PARENT, conversation=api.Conversation(agents=[AGENT], **fields))


def _reference(name: str, agent: str = AGENT) -> api.ConversationReference:
    return api.ConversationReference(conversation=name, data_agent_context=api.DataAgentContext(data_agent=agent))


async def test_only_the_new_message_is_sent(emulator: Emulator) -> None:
    async with clients(emulator) as (client, _):
        conversation = await client.create_conversation(request=_new())
        reference = _reference(conversation.name)
        first = await chat(client, request("Average departure delay by month", conversation_reference=reference))
        second = await chat(client, request("only JFK", conversation_reference=reference))
        used = await client.get_conversation(name=conversation.name)
    assert len(rows(first)) == len(rows(second)) == 12
    assert rows(first) != rows(second) and "JFK" in texts(second)
    assert used.last_used_time > conversation.last_used_time == conversation.create_time


async def test_messages_are_listed_newest_first_in_pages(emulator: Emulator) -> None:
    async with clients(emulator) as (client, _):
        conversation = await client.create_conversation(request=_new())
        said = await chat(client, request("How many flights?", conversation_reference=_reference(conversation.name)))
        asked = api.ListMessagesRequest(parent=conversation.name, page_size=2)
        listed = [item async for item in await client.list_messages(request=asked)]
        newest = listed[0].message.timestamp.isoformat()
        none = api.ListMessagesRequest(parent=conversation.name, filter=f'createTime > "{newest}"')
        assert [item async for item in await client.list_messages(request=none)] == []
        with pytest.raises(InvalidArgument, match="createTime"):
            await client.list_messages(request=api.ListMessagesRequest(parent=conversation.name, filter="odd"))
    assert kinds([item.message for item in reversed(listed)][1:]) == kinds(said)
    assert listed[-1].message.user_message.text == "How many flights?"
    assert len({item.message_id for item in listed}) == len(said) + 1


async def test_conversations_are_made_found_renamed_and_deleted(emulator: Emulator) -> None:
    conversation_id = f"c-{uuid4().hex[:8]}"
    made = _new(labels={"test": conversation_id})
    made.conversation_id = conversation_id
    async with clients(emulator) as (client, _):
        conversation = await client.create_conversation(request=made)
        with pytest.raises(AlreadyExists):
            await client.create_conversation(request=made)
        filtered = api.ListConversationsRequest(parent=PARENT, filter=f'labels.test = "{conversation_id}"')
        assert [item.name async for item in await client.list_conversations(request=filtered)] == [conversation.name]
        conversation.title = "Delays"
        mask = field_mask_pb2.FieldMask(paths=["title"])
        renamed = await client.update_conversation(conversation=conversation, update_mask=mask)
        assert renamed.title == "Delays"
        await client.delete_conversation(name=conversation.name)
        for gone in (client.get_conversation(name=conversation.name), client.list_messages(parent=conversation.name)):
            with pytest.raises(NotFound):
                await gone


async def test_the_last_used_comes_first(emulator: Emulator) -> None:
    async with clients(emulator) as (client, _):
        older = await client.create_conversation(request=_new())
        newer = await client.create_conversation(request=_new())
        await chat(client, request("How many flights?", conversation_reference=_reference(older.name)))
        filtered = api.ListConversationsRequest(parent=PARENT, filter=f'agents:"{AGENT}"')
        names = [item.name async for item in await client.list_conversations(request=filtered)]
    assert names.index(older.name) < names.index(newer.name)


async def test_a_conversation_has_one_agent_and_keeps_to_it(emulator: Emulator) -> None:
    async with clients(emulator) as (client, _):
        for agents in ([], [AGENT, f"{PARENT}/dataAgents/thelook"]):
            with pytest.raises(InvalidArgument, match="exactly one agent"):
                await client.create_conversation(parent=PARENT, conversation=api.Conversation(agents=agents))
        conversation = await client.create_conversation(request=_new())
        other = _reference(conversation.name, f"{PARENT}/dataAgents/thelook")
        with pytest.raises(InvalidArgument, match="belongs to"):
            await chat(client, request("How many flights?", conversation_reference=other))


def test_googles_rest_client_gets_the_same(emulator: Emulator) -> None:
    client = api.DataChatServiceClient(**rest_options(emulator))
    conversation = client.create_conversation(request=_new())
    reference = _reference(conversation.name)
    for question in ("Average departure delay by month", "only JFK"):
        said = list(client.chat(request=request(question, conversation_reference=reference)))
    assert "JFK" in texts(said)
    assert conversation.name in [item.name for item in client.list_conversations(parent=PARENT)]
    listed = list(client.list_messages(parent=conversation.name))
    asked = [item.message.user_message.text for item in listed if item.message.user_message.text]
    assert asked == ["only JFK", "Average departure delay by month"]
    client.delete_conversation(name=conversation.name)
    with pytest.raises(NotFound):
        client.get_conversation(name=conversation.name)


@pytest.mark.parametrize("version", ["v1", "v1beta"])
def test_both_versions_share_conversations(emulator: Emulator, version: str) -> None:
    with httpx.Client(base_url=f"{emulator.rest}/{version}", trust_env=False) as client:
        made = client.post(f"/{PARENT}/conversations", json={"agents": [AGENT]}).json()
        two = {
            "messages": [{"userMessage": {"text": "How many flights?"}}],
            "conversationReference": {"conversation": made["name"], "dataAgentContext": {"dataAgent": AGENT}},
            "dataAgentContext": {"dataAgent": AGENT},
        }
        refused = client.post(f"/{PARENT}:chat", json=two)
        assert client.get(f"/{made['name']}/messages").json() == {}
    assert refused.status_code == 400 and "context_provider" in refused.json()["error"]["message"]
