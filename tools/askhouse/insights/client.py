"""Ask the Conversational Analytics API one question and follow its reply."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from state_contracts import Answer, AnswerError

from ..settings import Settings
from .address import Address, address_of
from .answer import AnswerBuilder, Thought, error_of
from .history import to_messages
from .jobs import count_rows
from .question import AgentContext, ConversationContext, Question, TablesContext
from .refusals import is_transient
from .stream import Failure, Message
from .transport import CallError, Transport, transport_to

ATTEMPTS = 3
LONGEST_WAIT_SECONDS = 30.0

__all__ = ["AgentContext", "ConversationContext", "InsightsClient", "Question", "TablesContext", "Thought"]


class InsightsClient:
    """Asks at the address that the settings choose. It may be used from any event loop, and by many at once."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    async def ask(self, question: Question) -> AsyncGenerator[Thought | Answer]:
        """Yield the thoughts as they arrive, then the one Answer.

        Whatever the service does wrong is in the Answer, with what had arrived until then. Closing the iterator, or
        cancelling the task, ends the call. Raises UsageError when the settings or this machine are at fault.
        """
        address = await address_of(self._settings)
        builder = AnswerBuilder(question.original or question.text, question.text)
        request = chat_request(question, address, self._settings)
        error: AnswerError | None = None
        try:
            async with aclosing(self._messages(address, request)) as messages:
                async for message in messages:
                    thought = builder.add(message)
                    if thought is not None:
                        yield thought
        except CallError as failed:
            error = error_of(failed.failure)
        for result in builder.nearly_full:
            count = await count_rows(self._settings, result.job) if result.job else None
            builder.set_row_count(result, count)
        answer = builder.finish(ended=error is None, error=error)
        if not isinstance(question.context, TablesContext):
            answer.agent = address.agent_name(question.context.agent)
        yield answer

    async def _messages(self, address: Address, request: dict[str, Any]) -> AsyncGenerator[Message]:
        """The reply's messages; the call is made again only while nothing of a reply has arrived."""
        for attempt in range(1, ATTEMPTS + 1):
            transport = await transport_to(address, self._settings)
            started = False
            try:
                async for message in self._unless_silent(transport, request):
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

    async def _unless_silent(self, transport: Transport, request: dict[str, Any]) -> AsyncGenerator[Message]:
        limit = self._settings.silence_seconds
        async with aclosing(transport.chat(request)) as replies:
            while True:
                try:
                    async with asyncio.timeout(limit):
                        message = await anext(replies)
                except StopAsyncIteration:
                    return
                except TimeoutError as error:
                    silence = Failure(f"it said nothing for {limit:g} seconds", "DEADLINE_EXCEEDED")
                    raise CallError(silence) from error
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
    if settings.max_billed_bytes:
        inline["options"] = {"datasource": {"bigQueryMaxBilledBytes": str(settings.max_billed_bytes)}}
    return inline


def _wait_before_retry(failure: Failure, attempt: int) -> float | None:
    """Seconds to wait before asking again, or None when asking again is of no use."""
    if attempt == ATTEMPTS or not is_transient(failure):
        return None
    wait = failure.retry_after if failure.retry_after is not None else 0.3 * 2**attempt * random.uniform(0.7, 1.3)
    return wait if wait <= LONGEST_WAIT_SECONDS else None
