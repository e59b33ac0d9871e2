"""What there is to ask about, told from the catalogue: tables, columns and what they mean, first rows, dates."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import cache
from typing import Literal

from google.adk.tools.tool_context import ToolContext

from state_contracts import ANSWER, MESSAGE, OFFERED, Answer, Offered

from ..errors import AskhouseError
from ..place import Place, place_of
from ..settings import Settings
from .agents import tables_of
from .ask_data import ask, failed
from .calls import call_of, words_of

Topic = Literal["overview", "tables", "columns", "rows", "column", "dates"]
DescribeData = Callable[..., Awaitable[str]]
MAX_OFFERED = 4


def build_describe_data(settings: Settings) -> DescribeData:
    """The tool `describe_data` of an agent with these settings."""

    async def describe_data(
        topic: Topic,
        tool_context: ToolContext,
        table: str | None = None,
        column: str | None = None,
        rows: int | None = None,
    ) -> str:
        """Tells what data there is, without computing anything from it; the person is shown the answer.

        Args:
          topic: overview (what one can ask here, for a greeting too), tables (which there are), columns (of a table),
            rows (the first rows of a table), column (what a column means), dates (which days the data covers).
          table: the table meant, as the person named it.
          column: the column meant, as the person named it.
          rows: how many rows to show.
        """
        question = words_of(tool_context)
        try:
            answer = await _described(settings, question, topic, table, column, rows)
        except AskhouseError as error:
            answer = failed(question, error)
        _leave(tool_context, answer)
        return ""

    return describe_data


def _leave(context: ToolContext, answer: Answer) -> None:
    from ..message import compose

    call = call_of(context)
    ANSWER.write(context.state, call, answer)
    MESSAGE.write(context.state, call, compose(answer, None, None))
    OFFERED.write(context.state, Offered(questions=answer.follow_ups))


async def _described(
    settings: Settings, question: str, topic: Topic, table: str | None, column: str | None, rows: int | None
) -> Answer:
    from .described import describe

    place = await _with_its_tables(await asyncio.to_thread(place_of, settings))
    told = await asyncio.to_thread(describe, place, topic, table, column, rows)
    return Answer(
        question=question,
        outcome="answered" if told.found else "refused",
        complete=True,
        blocks=told.blocks,
        results=told.results,
        follow_ups=[*told.certain, *await _answerable(place, tuple(told.offers))],
        place=place.name,
        agent=place.agent,
    )


async def _with_its_tables(place: Place) -> Place:
    """The place, with the tables that its data agent asks, where one was chosen."""
    if place.agent is None:
        return place
    from ..insights.agents import get

    return replace(place, tables=tuple(tables_of(await get(place.settings, place.agent))))


async def _answerable(place: Place, questions: tuple[str, ...]) -> tuple[str, ...]:
    """The first questions that the service answers with rows.

    On this machine each is tried, which takes milliseconds; elsewhere a trial would cost money, and they are offered
    as the catalogue suggests them.
    """
    if not place.settings.embedded:
        return questions[:MAX_OFFERED]
    good: list[str] = []
    for question in questions:
        if len(good) < MAX_OFFERED and await _returns_rows(place, question):
            good.append(question)
    return tuple(good)


async def _returns_rows(place: Place, question: str) -> bool:
    known = _tried(place.settings, place.tables)
    if question not in known:
        parts = [part async for part in ask(place.settings, question) if isinstance(part, Answer)]
        known[question] = any(result.row_count for result in parts[-1].results)
    return known[question]


@cache
def _tried(settings: Settings, tables: tuple[object, ...]) -> dict[str, bool]:
    """Which questions were tried over these tables, and whether they returned rows."""
    return {}
