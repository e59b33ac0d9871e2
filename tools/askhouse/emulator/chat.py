"""A chat: the question is planned, the query runs, and the reply comes in the order in which the service sends it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator
from datetime import UTC, datetime, time
from typing import Any, Protocol

from google.protobuf.message import Message as Proto

from ..errors import DataError, QueryLimitError, TableNotFoundError
from ..warehouse.base import Rows, Table, TableRef, Warehouse
from ..warehouse.stopping import in_thread
from . import wire
from .agents import Agents
from .context import ChatContext, context_of
from .conversations import Conversations, stamped
from .errors import invalid
from .planner import Planner, build_layer
from .planner.clock import Clock
from .planner.readings import Clarification, PastTurn, Planned, Reading, Refusal

_FINAL_RESPONSE = 1
_USUAL_ROWS = 20_000
"""Rows that are fetched at first; they fill a reply nearly always."""


class Jobs(Protocol):
    """Where a query is noted so that its rows can be read again by the job's id."""

    def record(self, sql: str, today: datetime | None, project: str) -> str:
        """Note a query and give its job id."""

    def note_bytes(self, job_id: str, processed: int) -> None:
        """Note what a query read."""


class Chat:
    """DataChatService.Chat, for every door. Planning and querying happen off the event loop."""

    def __init__(
        self,
        warehouse: Warehouse,
        jobs: Jobs,
        agents: Agents,
        conversations: Conversations,
        clock: Clock,
    ) -> None:
        self._warehouse = warehouse
        self._jobs = jobs
        self._agents = agents
        self._conversations = conversations
        self._clock = clock

    async def reply(self, request: Any) -> AsyncIterator[Proto]:
        """The messages that answer a ChatRequest. Raises ApiError before the first of them when it is refused."""
        named = request.conversation_reference.conversation
        if request.WhichOneof("context_provider") != "conversation_reference":
            async for message in self._reply(request, request.messages):
                yield message
            return
        before = await asyncio.to_thread(self._conversations.history, request.conversation_reference)
        said: list[Proto] = [stamped(message) for message in request.messages]
        try:
            async for message in self._reply(request, [*before, *request.messages]):
                said.append(message)
                yield message
        finally:
            await asyncio.shield(asyncio.to_thread(self._conversations.add_messages, named, said))

    async def _reply(self, request: Any, messages: Iterable[Any]) -> AsyncIterator[Proto]:
        project = _project(request.parent)
        question, history = _conversation(messages)
        context = await in_thread(context_of, request, self._agents)
        try:
            tables = await in_thread(self._tables, context.refs)
        except TableNotFoundError as error:
            yield wire.thought("Analyzing context", "Retrieving the context of the tables.")
            yield wire.error(str(error))
            return
        yield wire.thought("Analyzing context", f"Retrieved context for {_count(len(tables), 'table')}.")
        reading = await in_thread(self._read, context, question, history)
        if not isinstance(reading, Planned):
            for message in _words(reading):
                yield message
            return
        async for message in self._answer(reading, context, tables, project):
            yield message

    async def _answer(
        self, planned: Planned, context: ChatContext, tables: list[Table], project: str
    ) -> AsyncIterator[Proto]:
        yield wire.thought("Planning the query", planned.lead)
        yield wire.thought("Running a query", f"Executing: {planned.sql}")
        moment = self._moment(planned, tables)
        try:
            await in_thread(self._check_bytes, planned, context.max_billed_bytes, tables, moment)
            job_id, rows = await in_thread(self._run, planned.sql, moment, project)
        except DataError as error:
            yield wire.error(str(error))
            return
        yield wire.thought("Reporting the result", f"The query returned {_count(rows.total_rows, 'row')}.")
        for message in await in_thread(_burst, planned, context, rows, project, job_id, self._clock):
            yield message

    def _tables(self, refs: Iterable[TableRef]) -> list[Table]:
        return [self._table(ref) for ref in refs]

    def _table(self, ref: TableRef) -> Table:
        try:
            return self._warehouse.table(ref)
        except TableNotFoundError as error:
            name = f"{ref.project}:{ref.dataset}.{ref.table}"
            sentence = f"Not found: Table {name} was not found in location {wire.JOB_LOCATION}."
            raise TableNotFoundError(sentence, error.remedy) from error

    def _read(self, context: ChatContext, question: str, history: list[PastTurn]) -> Reading:
        layer = build_layer(self._warehouse, context.refs, context.authored)
        return Planner(layer, self._clock, returns_rows=self._returns_rows).read(question, history)

    def _returns_rows(self, sql: str) -> bool:
        try:
            return self._warehouse.query(sql, max_rows=1, today=self._clock.now).total_rows > 0
        except DataError:
            return False

    def _check_bytes(self, planned: Planned, limit: int | None, tables: list[Table], moment: datetime | None) -> None:
        """Refuse a query that would bill more than `limit`. Whole tables bound what a planned query reads of them."""
        most = sum(table.size_bytes for table in tables) if planned.origin == "generated" else None
        if not limit or (most is not None and most <= limit):
            return
        needed = self._warehouse.dry_run(planned.sql, today=moment).bytes_processed
        if needed > limit:
            raise QueryLimitError(
                f"Query exceeded limit for bytes billed: {limit}. {needed} or higher required.",
                "Ask a narrower question, or raise bigQueryMaxBilledBytes.",
            )

    def _run(self, sql: str, moment: datetime | None, project: str) -> tuple[str, Rows]:
        rows = self._warehouse.query(sql, max_rows=_USUAL_ROWS, today=moment)
        if rows.total_rows > len(rows.rows) and not wire.fills_a_result(rows):
            rows = self._warehouse.query(sql, max_rows=wire.MAX_RESULT_ROWS, today=moment)
        job_id = self._jobs.record(sql, moment, project)
        self._jobs.note_bytes(job_id, rows.bytes_processed)
        return job_id, rows

    def _moment(self, planned: Planned, tables: list[Table]) -> datetime | None:
        """The moment of CURRENT_DATE and its kin, where it is not the real one."""
        ends = [table.sample_end for table in tables if table.sample_end]
        day = planned.today or (max(ends) if ends else None)
        if self._clock.now is not None or day is None:
            return self._clock.now
        return datetime.combine(day, time(12), UTC)


def _burst(planned: Planned, context: ChatContext, rows: Rows, project: str, job_id: str, clock: Clock) -> list[Proto]:
    """Everything after the thoughts, which the service sends at once."""
    sql = planned.sql
    matched = planned.origin == "matched_example"
    messages = [
        wire.final_response(_introduction(planned, clock)),
        wire.query([ref for ref in context.refs if str(ref) in sql.replace("`", "")] or context.refs),
        wire.matched_query(context.example_question(sql), sql) if matched else wire.generated_sql(sql),
        wire.job(project, job_id),
        wire.result(wire.result_name(rows.columns), rows),
    ]
    return [*messages, wire.follow_ups(planned.follow_ups)] if planned.follow_ups else messages


def _introduction(planned: Planned, clock: Clock) -> str:
    """How the question was read. It states no number of the result: those are in the result alone."""
    sentences = [planned.lead, *planned.assumptions]
    if planned.today is not None:
        day = f"Today is taken as {planned.today.day} {planned.today:%B %Y}"
        sentences.append(f"{day}, the day on which the sample ends." if clock.now is None else f"{day}.")
    return " ".join(sentences)


def _words(reading: Clarification | Refusal) -> Iterator[Proto]:
    if isinstance(reading, Clarification):
        options = [f"{number}. {option}" for number, option in enumerate(reading.options, 1)]
        yield wire.thought("Asking back", "The question can be read in more than one way.")
        yield wire.final_response("\n".join([reading.text, "", *options]) if options else reading.text)
        return
    yield wire.thought("Checking the question", "The data does not answer it as it is put.")
    yield wire.final_response(reading.text)
    if reading.nearby:
        yield wire.follow_ups(reading.nearby)


def _conversation(messages: Iterable[Any]) -> tuple[str, list[PastTurn]]:
    """The question, which is the last user message, and the turns before it."""
    turns: list[PastTurn] = []
    last = None
    for message in messages:
        last = message.WhichOneof("kind")
        if last == "user_message":
            turns.append(PastTurn(message.user_message.text))
        elif last == "system_message" and turns:
            turns[-1] = _with_reply(turns[-1], message.system_message)
    if last != "user_message":
        raise invalid("The last of `messages` is the question: it must be a userMessage.")
    return turns[-1].question, turns[:-1]


def _with_reply(turn: PastTurn, reply: Any) -> PastTurn:
    kind = reply.WhichOneof("kind")
    if kind == "text" and reply.text.text_type in (0, _FINAL_RESPONSE):
        return PastTurn(turn.question, turn.sql, "\n".join(filter(None, [turn.text, *reply.text.parts])))
    if kind == "data":
        sql = reply.data.generated_sql or reply.data.matched_query.example_query.sql_query
        return PastTurn(turn.question, sql or turn.sql, turn.text)
    return turn


def _project(parent: str) -> str:
    parts = parent.split("/")
    if len(parts) != 4 or parts[::2] != ["projects", "locations"] or not all(parts):
        raise invalid(f"Invalid parent '{parent}': write projects/PROJECT/locations/LOCATION.")
    return parts[1]


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
