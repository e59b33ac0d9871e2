"""The data agent: asks the service, shows its thoughts, and leaves the typed answer for the others."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable

from google.adk.agents.context import Context
from google.adk.events.event import Event
from google.genai import types
from pydantic import BaseModel, ConfigDict, Field

from askhouse.agent_tools.ask_data import ask
from askhouse.agent_tools.calls import call_of, words_of
from askhouse.settings import Settings
from state_contracts import ANSWER, CONVERSATION, LAST_RESULT, OFFERED, Answer, Conversation, LastResult, Offered, Turn

DataAgent = Callable[["Asked", Context], AsyncGenerator[Event, None]]
MAX_TURN_TEXT = 600
MAX_TURN_SQL = 1_600
MAX_OFFERED = 5


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
        async for part in ask(settings, question, history=conversation.turns):
            if isinstance(part, Answer):
                answer = part
            else:
                yield thought(part.text)
        # State is written after the last thought only: written earlier, it would ride on one to the client.
        if answer is not None:
            _leave(ctx, conversation, _in_their_words(answer, words_of(ctx, question), question))

    return data_agent


def thought(text: str) -> Event:
    """A line of progress: shown while it works, never stored."""
    return Event(partial=True, content=types.Content(role="model", parts=[types.Part(text=text + "\n", thought=True)]))


def _chosen(words: str, ctx: Context) -> str:
    offered = OFFERED.read(ctx.state)
    return (offered and offered.chosen_by(words)) or words


def _in_their_words(answer: Answer, words: str, sent: str) -> Answer:
    return answer.model_copy(update={"question": words, "standalone_question": "" if sent == words else sent})


def _leave(ctx: Context, conversation: Conversation, answer: Answer) -> None:
    ANSWER.write(ctx.state, call_of(ctx), answer)
    if answer.outcome == "failed":
        return  # nothing was said that a follow-up could build on
    CONVERSATION.write(ctx.state, conversation.with_turn(_turn(answer)))
    # A pending clarification takes the numbers: they go to the service, which knows what they choose.
    OFFERED.write(ctx.state, Offered(questions=[] if answer.outcome == "asked_back" else offered_by(answer)))
    if last := _last_result(answer):
        LAST_RESULT.write(ctx.state, last)


def offered_by(answer: Answer) -> list[str]:
    """The questions that the message shows with a number."""
    return answer.follow_ups[:MAX_OFFERED]


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
