"""Data agents: made, found, listed and deleted as DataAgentService does."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from typing import Any
from uuid import uuid4

from google.cloud import geminidataanalytics_v1 as api
from google.longrunning import operations_pb2
from google.protobuf import json_format

from .errors import ApiError, invalid, not_found
from .names import LOCAL_PARENT
from .store import Store

DataAgent: type[Any] = api.DataAgent.pb()
_Metadata: type[Any] = api.OperationMetadata.pb()

_ID = re.compile(r"[a-z]([a-z0-9-]{0,61}[a-z0-9])?")
_PARENT = re.compile(r"projects/[^/]+/locations/[^/]+")
_PAGE_SIZE = 50
_MAX_PAGE_SIZE = 100
_RESERVED = timedelta(days=30)
_LIMITS = {"display_name": 256, "description": 1024}


class Agents:
    """The data agents of every project. Two come with the product and exist without being created."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._shipped = {agent.name: agent for agent in _read_shipped()}

    def get(self, name: str) -> Any:
        """The agent of that name, deleted ones too. Raises NOT_FOUND."""
        body = self._store.get("data_agents", name)
        if body is not None:
            return json_format.Parse(body, DataAgent(), ignore_unknown_fields=True)
        if name in self._shipped:
            return self._shipped[name]
        raise not_found(name)

    def live(self, name: str) -> Any:
        """The agent of that name. Raises NOT_FOUND for a deleted one."""
        agent = self.get(name)
        if agent.HasField("delete_time"):
            raise not_found(name)
        return agent

    def list(self, request: Any) -> tuple[list[Any], str]:
        """One page of a project's agents, newest first, and the token of the next page."""
        check_parent(request.parent)
        prefix = f"{request.parent}/dataAgents/"
        agents = {name: agent for name, agent in self._shipped.items() if name.startswith(prefix)}
        for name, body in self._store.list("data_agents", prefix).items():
            agents[name] = json_format.Parse(body, DataAgent(), ignore_unknown_fields=True)
        shown = [agent for agent in agents.values() if request.show_deleted or not agent.HasField("delete_time")]
        shown.sort(key=lambda agent: agent.create_time.ToNanoseconds(), reverse=True)
        start = offset(request.page_token)
        end = start + min(request.page_size or _PAGE_SIZE, _MAX_PAGE_SIZE)
        return shown[start:end], str(end) if end < len(shown) else ""

    def create(self, request: Any) -> Any:
        """A new agent. Raises INVALID_ARGUMENT for an id or a text against the rules, ALREADY_EXISTS."""
        check_parent(request.parent)
        agent = DataAgent()
        agent.CopyFrom(request.data_agent)
        agent_id = request.data_agent_id or f"agent-{uuid4()}"
        check_id("data_agent_id", agent_id)
        _check(agent)
        agent.name = f"{request.parent}/dataAgents/{agent_id}"
        now = datetime.now(UTC)
        agent.create_time.FromDatetime(now)
        agent.update_time.FromDatetime(now)
        exists = agent.name in self._shipped
        if exists or not self._store.add("data_agents", agent.name, json_format.MessageToJson(agent, indent=None)):
            raise ApiError("ALREADY_EXISTS", f"Resource '{agent.name}' already exists")
        return agent

    def update(self, request: Any) -> Any:
        """Change the masked fields of an agent, or every field that is given where there is no mask."""
        agent = DataAgent()
        agent.CopyFrom(self.live(request.data_agent.name))
        if request.HasField("update_mask") and request.update_mask.paths:
            merge(request.update_mask, request.data_agent, agent)
        else:
            agent.MergeFrom(request.data_agent)
        _check(agent)
        agent.update_time.FromDatetime(datetime.now(UTC))
        self._keep(agent)
        return agent

    def delete(self, name: str) -> Any:
        """Hide an agent; its id stays taken until it is purged."""
        agent = DataAgent()
        agent.CopyFrom(self.live(name))
        now = datetime.now(UTC)
        agent.delete_time.FromDatetime(now)
        agent.purge_time.FromDatetime(now + _RESERVED)
        self._keep(agent)
        return agent

    def _keep(self, agent: Any) -> None:
        self._store.put("data_agents", agent.name, json_format.MessageToJson(agent, indent=None))

    def operation(self, verb: str, target: str, work: Callable[[], Any]) -> Any:
        """Do `work` at once and report it as a long-running operation that is done."""
        parent = target.split("/dataAgents/")[0]
        created = datetime.now(UTC)
        outcome = work()
        operation = operations_pb2.Operation(name=f"{parent}/operations/operation-{uuid4()}", done=True)
        operation.response.Pack(outcome)
        metadata = _Metadata(target=getattr(outcome, "name", target), verb=verb, api_version="v1")
        metadata.create_time.FromDatetime(created)
        metadata.end_time.FromDatetime(datetime.now(UTC))
        operation.metadata.Pack(metadata)
        self._store.put("operations", operation.name, operation.SerializeToString().hex())
        return operation

    def get_operation(self, name: str) -> Any:
        """An operation that was started earlier. Raises NOT_FOUND."""
        body = self._store.get("operations", name)
        if body is None:
            raise not_found(name)
        return operations_pb2.Operation.FromString(bytes.fromhex(body))


def _read_shipped() -> list[Any]:
    folder = files(__package__) / "shipped"
    bodies = [json.loads(path.read_text("utf-8")) for path in folder.iterdir() if path.name.endswith(".json")]
    agents = [json_format.ParseDict(body, DataAgent()) for body in bodies]
    for agent in agents:
        agent.name = f"{LOCAL_PARENT}/dataAgents/{agent.name}"
    return agents


def merge(mask: Any, given: Any, resource: Any) -> None:
    """Take the masked fields of `given` into a resource of the same type. Raises INVALID_ARGUMENT."""
    if not mask.IsValidForDescriptor(resource.DESCRIPTOR):
        raise invalid(f"Invalid update_mask '{','.join(mask.paths)}': name fields of {resource.DESCRIPTOR.name}.")
    mask.MergeMessage(given, resource, replace_message_field=True, replace_repeated_field=True)


def check_id(field: str, value: str) -> None:
    """Raises INVALID_ARGUMENT for an id against the rules."""
    if not _ID.fullmatch(value):
        raise invalid(
            f"Invalid {field} '{value}': start with a lower-case letter; then up to 62 lower-case "
            "letters, digits and hyphens, not ending in a hyphen."
        )


def check_parent(parent: str) -> None:
    """Raises INVALID_ARGUMENT for what is not projects/P/locations/L."""
    if not _PARENT.fullmatch(parent):
        raise invalid(f"Invalid parent '{parent}': write projects/PROJECT/locations/LOCATION.")


def _check(agent: Any) -> None:
    for field, limit in _LIMITS.items():
        if len(getattr(agent, field)) > limit:
            raise invalid(f"{field} is longer than {limit} characters.")
    analytics = agent.data_analytics_agent
    for context in (analytics.staging_context, analytics.published_context):
        if len(context.system_instruction.encode()) > 250_000:
            raise invalid("system_instruction is longer than 250000 bytes.")


def offset(token: str) -> int:
    """Where the page of a token begins. Raises INVALID_ARGUMENT."""
    if token and not token.isdecimal():
        raise invalid(f"Invalid page_token '{token}': pass on next_page_token as it came.")
    return int(token or 0)
