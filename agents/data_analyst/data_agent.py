"""The data agent: asks the service, shows its thoughts, and leaves the typed answer for the others."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable

from google.adk.agents.context import Context
from google.adk.events.event import Event
from google.genai import types
from pydantic import BaseModel, ConfigDict, Field

from askhouse.agent_tools.ask_data import ask, failed
from askhouse.agent_tools.calls import call_of, words_of
from askhouse.errors import AskhouseError
from askhouse.settings import Settings
from state_contracts import (
    ANSWER,
    CONVERSATION,
    LAST_RESULT,
    OFFERED,
    Answer,
    Conversation,
    LastResult,
    Offered,
    ServiceConversation,
    Turn,
)

from .remembered import remembered
from .service_memory import continued, remember

DataAgent = Callable[["Asked", Context], AsyncGenerator[Event, None]]
MAX_TURN_TEXT = 600
MAX_TURN_SQL = 1_600
MAX_OFFERED = {"refused": 3, "answered": 5}
MAX_PROGRESS = 160


class Asked(BaseModel):
    """What the root passes on."""

    model_config = ConfigDict(extra="ignore")

    question: str = Field(
        description="The person's question in their own words, completed only where it could not be understood alone."
    )


def build_data_agent(settings: Settings) -> DataAgent:
    """The node that asks."""

    async def data_agent(node_input: Asked, ctx: Context) -> AsyncGenerator[Event, None]:
        conversation = CONVERSATION.read(ctx.state) or Conversation()
        question = _chosen(node_input.question, ctx)
        answer: Answer | None = None
        words = words_of(ctx, otherwise=question)
        service: ServiceConversation | None = None
        try:
            service, new = await continued(settings, ctx)
            turns = conversation.turns if new else []
            async for part in ask(
                settings, question, words=words, history=turns, conversation=service, user=ctx.user_id
            ):
                if isinstance(part, Answer):
                    answer = part
                else:
                    yield thought(progress_line(part.title, part.text))
        except AskhouseError as error:
            answer = failed(words, error)
        # State is written after the last thought only: written earlier, it would ride on one to the client.
        if answer is not None:
            remember(ctx, service, failed=answer.outcome == "failed")
            _leave(ctx, conversation, answer.model_copy(update={"follow_ups": offered_by(answer)}))

    return data_agent


def thought(text: str) -> Event:
    """A line of progress, in Markdown: shown while it works, never stored."""
    return Event(
        partial=True, content=types.Content(role="model", parts=[types.Part(text=f"{text}  \n", thought=True)])
    )


def progress_line(title: str, text: str) -> str:
    """A thought as one line; the SQL of a query is shown with the answer, not here."""
    said = "" if text.startswith("Executing:") else " ".join(text.split())
    line = ": ".join(filter(None, [title, said]))
    return line if len(line) <= MAX_PROGRESS else line[: MAX_PROGRESS - 1] + "…"


def _chosen(words: str, ctx: Context) -> str:
    offered = remembered(OFFERED, ctx.state)
    return (offered and offered.chosen_by(words)) or words


def _leave(ctx: Context, conversation: Conversation, answer: Answer) -> None:
    ANSWER.write(ctx.state, call_of(ctx), answer)
    if answer.outcome == "failed":
        return  # nothing was said that a follow-up could build on
    CONVERSATION.write(ctx.state, conversation.with_turn(_turn(answer)))
    OFFERED.write(ctx.state, Offered(questions=answer.follow_ups))
    if last := _last_result(answer):
        LAST_RESULT.write(ctx.state, last)


def offered_by(answer: Answer) -> list[str]:
    """The questions that the message numbers, and that a number then asks.

    None beside a clarification: there a number goes to the service, which knows what it chooses.
    """
    said = "\n".join(answer.texts)
    questions = [question for question in answer.follow_ups if question not in said]
    return questions[: MAX_OFFERED.get(answer.outcome, 0)]


def _turn(answer: Answer) -> Turn:
    sql = answer.results[-1].sql if answer.results else ""
    text = "\n".join(answer.texts)
    return Turn(
        question=(answer.standalone_question or answer.question)[:MAX_TURN_TEXT],
        sql=sql if len(sql) <= MAX_TURN_SQL else "",
        text=text[:MAX_TURN_TEXT],
    )


def _last_result(answer: Answer) -> LastResult | None:
    if not answer.results:
        return None
    result = answer.results[-1]
    last = LastResult(sql=result.sql, job=result.job, columns=result.columns, row_count=result.row_count)
    small = len(last.model_dump_json()) < LAST_RESULT.max_bytes - 256
    return last if small else last.model_copy(update={"columns": [], "sql": result.sql[:4_000]})
