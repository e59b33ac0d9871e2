"""Ask the Conversational Analytics API one question and follow its reply."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from state_contracts import Answer, AnswerError, NoticeBlock

from ..errors import QueryLimitError
from ..settings import Settings
from .address import Address, address_of
from .answer import AnswerBuilder, Thought, error_of
from .costs import bill, byte_limit, how_to_go_on, unlimited_agent
from .history import to_messages
from .jobs import count_rows, read_rows
from .question import AgentContext, ConversationContext, Question, TablesContext
from .quota import quota_of
from .refusals import is_transient
from .stream import Failure, Message, Text
from .transport import CallError, Transport, transport_to
from .usage import add_bytes, is_counted, take_question

ATTEMPTS = 3
LONGEST_WAIT_SECONDS = 30.0
NOTICE_SECONDS = 3.0
MOST_EXACT_ROWS = 20_000
"""Results of more rows are not read again for their exact numbers; a notice tells."""

__all__ = ["AgentContext", "ConversationContext", "InsightsClient", "Question", "TablesContext", "Thought"]


class InsightsClient:
    """Asks at the address that the settings choose. It may be used from any event loop, and by many at once."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    async def ask(self, question: Question) -> AsyncGenerator[Thought | Answer]:
        """Yield the thoughts as they arrive, then the one Answer.

        Whatever the service does wrong is in the Answer, with what had arrived until then. Closing the iterator, or
        cancelling the task, ends the call. Raises UsageError when the settings or this machine are at fault, and
        QueryLimitError when the user's limit of the day is reached.
        """
        address = await address_of(self._settings)
        user = question.user or self._settings.user
        if is_counted(self._settings):
            await asyncio.to_thread(take_question, self._settings, user)
        builder = AnswerBuilder(question.original or question.text, question.text)
        request = chat_request(question, address, self._settings)
        error: AnswerError | None = None
        noticing = self._start_noticing(question, address)
        try:
            async with aclosing(self._messages(address, request, user)) as messages:
                async for message in messages:
                    thought = builder.add(message)
                    if thought is not None:
                        yield thought
        except CallError as failed:
            error = error_of(failed.failure)
        except BaseException:
            noticing.cancel()
            raise
        yield await self._finished(builder, error, question, address, noticing)

    def _start_noticing(self, question: Question, address: Address) -> asyncio.Task[str]:
        """Find out, while the question is answered, what must be said of the agent that is asked."""
        if isinstance(question.context, TablesContext) or self._settings.embedded or not byte_limit(self._settings):
            return asyncio.create_task(_nothing())
        agent = address.agent_name(question.context.agent)
        return asyncio.create_task(unlimited_agent(self._settings, address, agent))

    async def _finished(
        self,
        builder: AnswerBuilder,
        error: AnswerError | None,
        question: Question,
        address: Address,
        noticing: asyncio.Task[str],
    ) -> Answer:
        """The answer, with what its jobs tell beyond the reply."""
        for result in builder.nearly_full:
            count = await count_rows(self._settings, result.job) if result.job else None
            builder.set_row_count(result, count)
        for rounded in builder.rounded:
            job, size = rounded.result.job, len(rounded.result.rows)
            rows = await read_rows(self._settings, job, size) if job and size <= MOST_EXACT_ROWS else None
            builder.set_exact(rounded, rows)
        answer = builder.finish(ended=error is None, error=error)
        if not isinstance(question.context, TablesContext):
            answer.agent = address.agent_name(question.context.agent)
        await bill(answer, self._settings)
        if answer.cost.bytes_billed and is_counted(self._settings):
            user = question.user or self._settings.user
            await asyncio.to_thread(add_bytes, self._settings, user, answer.cost.bytes_billed)
        for failure in answer.errors:
            if failure.code == QueryLimitError.code and isinstance(question.context, TablesContext):
                failure.remedy = how_to_go_on(self._settings)
        if notice := await _noticed(noticing):
            answer.blocks.append(NoticeBlock(text=notice))
        return answer

    async def _wait_for_turn(self, user: str) -> AsyncGenerator[Message]:
        """Nothing where it is this user's turn to ask; else progress until it is."""
        limit = self._settings.chats_per_minute
        if self._settings.project is None or not limit:
            return
        async with aclosing(quota_of(self._settings.project, limit).turn(user)) as waiting:
            async for seconds in waiting:
                yield Text("progress", ("Waiting for the quota", f"about {math.ceil(seconds)} seconds"))

    async def _messages(self, address: Address, request: dict[str, Any], user: str) -> AsyncGenerator[Message]:
        """The reply's messages; the call is made again only while nothing of a reply has arrived."""
        ends: float | None = None
        for attempt in range(1, ATTEMPTS + 1):
            async with aclosing(self._wait_for_turn(user)) as waiting:
                async for message in waiting:
                    yield message
            ends = ends or asyncio.get_running_loop().time() + self._settings.reply_seconds
            transport = await transport_to(address, self._settings)
            started = False
            try:
                async for message in self._in_time(transport, request, ends):
                    started = True
                    yield message
                return
            except CallError as error:
                wait = _wait_before_retry(error.failure, attempt)
                if started or wait is None:
                    raise
            finally:
                await transport.close()
            await asyncio.sleep(wait)

    async def _in_time(self, transport: Transport, request: dict[str, Any], ends: float) -> AsyncGenerator[Message]:
        """The messages, while neither the silence nor the whole takes too long; `ends` is in the loop's time."""
        settings, loop = self._settings, asyncio.get_running_loop()
        async with aclosing(transport.chat(request)) as replies:
            while True:
                silent = loop.time() + settings.silence_seconds
                try:
                    async with asyncio.timeout_at(min(silent, ends)):
                        message = await anext(replies)
                except StopAsyncIteration:
                    return
                except TimeoutError as error:
                    said = f"it said nothing for {settings.silence_seconds:g} seconds"
                    if ends < silent:
                        said = f"its reply took longer than {settings.reply_seconds:g} seconds (ASKHOUSE_REPLY_SECONDS)"
                    raise CallError(Failure(said, "DEADLINE_EXCEEDED")) from error
                yield message


def chat_request(question: Question, address: Address, settings: Settings) -> dict[str, Any]:
    """The ChatRequest for a question, in the API's JSON form: exactly one context, and the history resent."""
    messages = [*to_messages(question.history), {"userMessage": {"text": question.text}}]
    request: dict[str, Any] = {"parent": address.parent, "messages": messages}
    match question.context:
        case TablesContext():
            request["inlineContext"] = _inline_context(question.context, settings)
        case AgentContext(agent):
            request["dataAgentContext"] = {"dataAgent": address.agent_name(agent)}
        case ConversationContext(conversation, agent):
            context = {"dataAgent": address.agent_name(agent)}
            request["conversationReference"] = {"conversation": conversation, "dataAgentContext": context}
    return request


def _inline_context(context: TablesContext, settings: Settings) -> dict[str, Any]:
    references = [
        {"projectId": table.project, "datasetId": table.dataset, "tableId": table.table} for table in context.tables
    ]
    inline: dict[str, Any] = {"datasourceReferences": {"bq": {"tableReferences": references}}}
    if limit := byte_limit(settings):
        inline["options"] = {"datasource": {"bigQueryMaxBilledBytes": str(limit)}}
    return inline


async def _nothing() -> str:
    return ""


async def _noticed(noticing: asyncio.Task[str]) -> str:
    """What there is to notice, where that is known by the time the answer is."""
    try:
        return await asyncio.wait_for(noticing, NOTICE_SECONDS)
    except TimeoutError:
        return ""


def _wait_before_retry(failure: Failure, attempt: int) -> float | None:
    """Seconds to wait before asking again, or None when asking again is of no use."""
    if attempt == ATTEMPTS or not is_transient(failure):
        return None
    wait = failure.retry_after if failure.retry_after is not None else 0.3 * 2**attempt * random.uniform(0.7, 1.3)
    return wait if wait <= LONGEST_WAIT_SECONDS else None
