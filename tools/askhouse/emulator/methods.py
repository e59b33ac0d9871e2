"""The unary methods of the API: what each takes and does, for whichever door calls it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from google.cloud import geminidataanalytics_v1 as api
from google.longrunning import operations_pb2
from google.protobuf import empty_pb2

from .agents import Agents
from .conversations import Conversations


@dataclass(frozen=True)
class Method:
    """One method: the protobuf class of its request, and the work that turns a request into a reply."""

    request: type[Any]
    work: Callable[[Any], Any]


def agent_methods(agents: Agents) -> Mapping[str, Method]:
    """DataAgentService, by method name."""
    create, delete = _type("CreateDataAgentRequest"), _type("DeleteDataAgentRequest")
    update = _type("UpdateDataAgentRequest")
    return {
        "GetDataAgent": Method(_type("GetDataAgentRequest"), lambda r: agents.get(r.name)),
        "ListDataAgents": _listing(agents, "ListDataAgents"),
        "ListAccessibleDataAgents": _listing(agents, "ListAccessibleDataAgents"),
        "CreateDataAgent": Method(create, lambda r: agents.operation("create", r.parent, lambda: agents.create(r))),
        "CreateDataAgentSync": Method(create, agents.create),
        "UpdateDataAgent": Method(
            update, lambda r: agents.operation("update", r.data_agent.name, lambda: agents.update(r))
        ),
        "UpdateDataAgentSync": Method(update, agents.update),
        "DeleteDataAgent": Method(
            delete, lambda r: agents.operation("delete", r.name, lambda: _empty(agents.delete(r.name)))
        ),
        "DeleteDataAgentSync": Method(delete, lambda r: _empty(agents.delete(r.name))),
    }


def conversation_methods(conversations: Conversations) -> Mapping[str, Method]:
    """What DataChatService does beside chats, by method name."""
    return {
        "CreateConversation": Method(_type("CreateConversationRequest"), conversations.create),
        "GetConversation": Method(_type("GetConversationRequest"), lambda r: conversations.get(r.name)),
        "ListConversations": Method(_type("ListConversationsRequest"), conversations.list),
        "UpdateConversation": Method(_type("UpdateConversationRequest"), conversations.update),
        "DeleteConversation": Method(
            _type("DeleteConversationRequest"), lambda r: _empty(conversations.delete(r.name))
        ),
        "ListMessages": Method(_type("ListMessagesRequest"), conversations.list_messages),
    }


def operation_methods(agents: Agents) -> Mapping[str, Method]:
    """google.longrunning.Operations, by method name."""
    return {"GetOperation": Method(operations_pb2.GetOperationRequest, lambda r: agents.get_operation(r.name))}


def _listing(agents: Agents, name: str) -> Method:
    response = _type(f"{name}Response")

    def work(request: Any) -> Any:
        page, token = agents.list(request)
        return response(data_agents=page, next_page_token=token)

    return Method(_type(f"{name}Request"), work)


def _empty(_: Any) -> Any:
    return empty_pb2.Empty()


def _type(name: str) -> type[Any]:
    return getattr(api, name).pb()  # type: ignore[no-any-return]
