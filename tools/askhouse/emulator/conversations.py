"""Conversations that the service itself remembers: made, found, listed, read and deleted as DataChatService does."""

from __future__ import annotations

import builtins
import operator
import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from google.cloud import geminidataanalytics_v1 as api
from google.protobuf import json_format

from .agents import check_id, check_parent, merge, offset
from .errors import ApiError, invalid, not_found
from .store import Store

Conversation: type[Any] = api.Conversation.pb()
_Listed: type[Any] = api.ListConversationsResponse.pb()
_Messages: type[Any] = api.ListMessagesResponse.pb()
_Message: type[Any] = api.Message.pb()

_PAGE_SIZE = 50
_MAX_PAGE_SIZE = 100
_BY_AGENT = re.compile(r'\s*agents\s*:\s*"?([^"\s]+)"?\s*')
_BY_LABEL = re.compile(r'\s*labels\.([\w-]+)\s*[:=]\s*"?([^"\s]*)"?\s*')
_BY_TIME = re.compile(r'\s*(?:createTime|create_time)\s*(<=|>=|<|>|=)\s*"([^"]+)"\s*')
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq,
}  # fmt: skip


class Conversations:
    """The conversations of every project, with their messages."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def create(self, request: Any) -> Any:
        """A new conversation. Raises INVALID_ARGUMENT without exactly one agent, ALREADY_EXISTS."""
        check_parent(request.parent)
        given = request.conversation
        if len(given.agents) != 1:
            raise invalid("A conversation has exactly one agent: give its name in `agents`.")
        conversation_id = request.conversation_id or f"conversation-{uuid4()}"
        check_id("conversation_id", conversation_id)
        conversation = Conversation()
        conversation.CopyFrom(given)
        conversation.name = f"{request.parent}/conversations/{conversation_id}"
        now = datetime.now(UTC)
        conversation.create_time.FromDatetime(now)
        conversation.last_used_time.FromDatetime(now)
        if not self._store.add(
            "conversations", conversation.name, json_format.MessageToJson(conversation, indent=None)
        ):
            raise ApiError("ALREADY_EXISTS", f"Resource '{conversation.name}' already exists")
        return conversation

    def get(self, name: str) -> Any:
        """The conversation of that name. Raises NOT_FOUND."""
        body = self._store.get("conversations", name)
        if body is None:
            raise not_found(name)
        return _read(body)

    def list(self, request: Any) -> Any:
        """One page of a project's conversations, last used first."""
        check_parent(request.parent)
        kept = self._store.list("conversations", f"{request.parent}/conversations/").values()
        fits = _conversation_filter(request.filter)
        found = sorted(
            filter(fits, map(_read, kept)), key=lambda item: item.last_used_time.ToNanoseconds(), reverse=True
        )
        page, token = _page(found, request)
        return _Listed(conversations=page, next_page_token=token)

    def update(self, request: Any) -> Any:
        """Change the masked fields of a conversation, or every field that is given where there is no mask."""
        conversation = self.get(request.conversation.name)
        if request.HasField("update_mask") and request.update_mask.paths:
            merge(request.update_mask, request.conversation, conversation)
        else:
            conversation.MergeFrom(request.conversation)
        self._keep(conversation)
        return conversation

    def delete(self, name: str) -> Any:
        """Delete a conversation with its messages, for good; what it was."""
        conversation = self.get(name)
        self._store.delete_conversation(name)
        return conversation

    def history(self, reference: Any) -> builtins.list[Any]:
        """The messages of the conversation that a chat refers to. Raises NOT_FOUND, INVALID_ARGUMENT."""
        conversation = self.get(reference.conversation)
        if reference.data_agent_context.data_agent not in conversation.agents:
            agents = ", ".join(conversation.agents)
            raise invalid(f"The conversation belongs to {agents}: name that in dataAgentContext.dataAgent.")
        return self.messages(conversation.name)

    def messages(self, name: str) -> builtins.list[Any]:
        """The messages of a conversation, oldest first. Raises NOT_FOUND."""
        self.get(name)
        return [json_format.Parse(body, _Message()) for _, body in self._store.messages(name)]

    def add_messages(self, name: str, messages: Iterable[Any]) -> None:
        """Remember what was said. Nothing is kept for a conversation that was deleted meanwhile."""
        now = datetime.now(UTC)
        kept = map(stamped, messages)
        bodies = [(message.message_id, json_format.MessageToJson(message, indent=None)) for message in kept]
        self._store.add_messages(name, bodies)
        try:
            conversation = self.get(name)
        except ApiError:
            return
        conversation.last_used_time.FromDatetime(now)
        self._keep(conversation)

    def list_messages(self, request: Any) -> Any:
        """One page of a conversation's messages, newest first."""
        fits = _message_filter(request.filter)
        found = [message for message in reversed(self.messages(request.parent)) if fits(message)]
        page, token = _page(found, request)
        reply = _Messages(next_page_token=token)
        for message in page:
            reply.messages.add(message_id=message.message_id).message.CopyFrom(message)
        return reply

    def _keep(self, conversation: Any) -> None:
        self._store.put("conversations", conversation.name, json_format.MessageToJson(conversation, indent=None))


def stamped(message: Any) -> Any:
    """The message as it is stored: with an id and the time at which it came."""
    kept = _Message()
    kept.CopyFrom(message)
    kept.message_id = kept.message_id or uuid4().hex
    if not kept.HasField("timestamp"):
        kept.timestamp.FromDatetime(datetime.now(UTC))
    return kept


def _read(body: str) -> Any:
    return json_format.Parse(body, Conversation(), ignore_unknown_fields=True)


def _page(found: list[Any], request: Any) -> tuple[list[Any], str]:
    start = offset(request.page_token)
    end = start + min(request.page_size or _PAGE_SIZE, _MAX_PAGE_SIZE)
    return found[start:end], str(end) if end < len(found) else ""


def _conversation_filter(text: str) -> Callable[[Any], bool]:
    if not text.strip():
        return lambda _: True
    if by_agent := _BY_AGENT.fullmatch(text):
        return lambda conversation: by_agent[1] in conversation.agents
    if by_label := _BY_LABEL.fullmatch(text):
        return lambda conversation: conversation.labels.get(by_label[1]) == by_label[2]
    raise invalid(f'Invalid filter \'{text}\': write agents:"NAME" or labels.KEY="VALUE".')


def _message_filter(text: str) -> Callable[[Any], bool]:
    if not text.strip():
        return lambda _: True
    match = _BY_TIME.fullmatch(text)
    try:
        moment = datetime.fromisoformat(match[2]).astimezone(UTC) if match else None
    except ValueError:
        moment = None
    if match is None or moment is None:
        raise invalid(f"Invalid filter '{text}': write createTime > \"2026-01-31T00:00:00Z\".")
    compare = _COMPARE[match[1]]
    return lambda message: compare(message.timestamp.ToDatetime(UTC), moment)
