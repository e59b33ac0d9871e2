"""The contracts at run time: nothing that an agent or tool writes reaches the session unless a contract allows it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext

from state_contracts import ANSWER, CONTRACTS, Contract, NoticeBlock, Violation, check_delta

from ..agent_tools.calls import item_of

FOREIGN = ("_adk", "temp:_adk", "__")
"""Prefixes of ADK's own keys, which are let through."""
ROOT = "root"
WRITERS = "askhouse_writers"
"""Key of an event's metadata under which the writer of each changed key is kept."""
MAX_TURNS = 256

_REMEDY = "Register askhouse.guard.sessions in a services.py beside the agents."
_log = logging.getLogger(__name__)


class ContractViolationError(Exception):
    """Somebody wrote a key against its contract; raised in strict mode only."""


class ContractsGuard(BasePlugin):
    """Checks the state change of every event.

    In serve mode a bad write is undone, in the store and in the running session, reported in the log and noticed in
    the answer of its call; the turn goes on. In strict mode it raises, which ADK wraps in a RuntimeError.

    A partial event carries no state at all: it is streamed, but never stored.
    """

    def __init__(self, *, strict: bool = False, contracts: Sequence[Contract] = CONTRACTS) -> None:
        super().__init__(name="contracts_guard")
        self._contracts = contracts
        self._strict = strict
        self._turns: dict[str, _Turn] = {}

    async def before_run_callback(self, *, invocation_context: InvocationContext) -> None:
        _warn_when_unguarded(type(invocation_context.session_service))
        while len(self._turns) >= MAX_TURNS:  # a cancelled run never says that it ended
            self._turns.pop(next(iter(self._turns)))
        self._turns[invocation_context.invocation_id] = _Turn(dict(invocation_context.session.state))

    async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:
        self._turns.pop(invocation_context.invocation_id, None)

    async def on_run_error_callback(self, *, invocation_context: InvocationContext, error: Exception) -> None:
        self._turns.pop(invocation_context.invocation_id, None)

    async def on_tool_error_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, error: Exception
    ) -> None:
        # From here on it is the root, not the failed tool, that writes in the tool's name.
        self._turn(tool_context.invocation_id).failed.add(tool_context.function_call_id)

    async def after_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, result: dict[str, Any]
    ) -> None:
        # Parallel calls merge into one event; only here is a change still one tool's.
        turn = self._turn(tool_context.invocation_id)
        writer = ROOT if tool_context.function_call_id in turn.failed else tool.name
        turn.tools.update(dict.fromkeys(tool_context.actions.state_delta, writer))

    async def on_event_callback(self, *, invocation_context: InvocationContext, event: Event) -> None:
        delta = event.actions.state_delta
        if event.partial:
            delta.clear()
            return
        writers = {key: self._writer(invocation_context, event, key) for key in delta}
        for violation in self._violations(delta, writers):
            self._undo(violation, invocation_context, event)
        self._turn(invocation_context.invocation_id).known.update(delta)
        if kept := {key: writers[key] for key in delta if not key.startswith("temp:") and key in writers}:
            event.custom_metadata = {**(event.custom_metadata or {}), WRITERS: kept}

    def _writer(self, context: InvocationContext, event: Event, key: str) -> str:
        """The tool or node that wrote a key; the root's own callbacks write as `root`."""
        if tool := self._turn(context.invocation_id).tools.get(key):
            return tool
        node = event.node_info.name
        return ROOT if node in ("", getattr(context.agent, "name", "")) else node

    def _turn(self, invocation_id: str) -> _Turn:
        return self._turns.setdefault(invocation_id, _Turn({}))

    def _violations(self, delta: dict[str, Any], writers: dict[str, str]) -> list[Violation]:
        return [
            violation
            for key, value in delta.items()
            for violation in check_delta({key: value}, writers[key], self._contracts, foreign=FOREIGN)
        ]

    def _undo(self, violation: Violation, context: InvocationContext, event: Event) -> None:
        if self._strict:
            raise ContractViolationError(str(violation))
        _log.error("State change undone: %s", violation)
        key, known, state = violation.key, self._turn(context.invocation_id).known, context.session.state
        del event.actions.state_delta[key]
        if key in known:
            state[key] = known[key]
        else:
            state.pop(key, None)
        _notice(violation, event, state)


@cache
def _warn_when_unguarded(service: type[object]) -> None:
    """Say, once a process, that clients can write state past the contracts."""
    if not getattr(service, "guarded", False):
        _log.warning("%s keeps the sessions unguarded: clients can write any state. %s", service.__name__, _REMEDY)


@dataclass
class _Turn:
    """One invocation under way."""

    known: dict[str, Any]
    """The state as its contracts last allowed it."""
    tools: dict[str, str] = field(default_factory=dict)
    """The tool that wrote a key."""
    failed: set[str | None] = field(default_factory=set)
    """Calls whose tool failed."""


def _notice(violation: Violation, event: Event, state: dict[str, Any]) -> None:
    """Tell the reader of the answer that was under way, where there is one."""
    steps = {item_of(step.rpartition("@")[2]) for step in event.node_info.path.split("/")}
    for call, answer in ANSWER.items(state):
        if call in steps:
            answer.blocks.append(NoticeBlock(text=f"Something was not remembered: {violation}"))
