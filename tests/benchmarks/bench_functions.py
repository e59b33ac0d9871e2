"""What our own functions take of a question: from the service's messages to the message that the person reads."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Iterator
from statistics import median
from typing import Any

from measure import Figure, Place, rounded
from served import delays, others_of, protos, running

from askhouse.charts.choose import choose
from askhouse.facts.narrate import summarize
from askhouse.insights.answer import AnswerBuilder
from askhouse.insights.stream import from_proto
from askhouse.message import compose
from state_contracts import (
    ANSWER,
    CHART,
    CONTRACTS,
    CONVERSATION,
    LAST_RESULT,
    MESSAGE,
    SUMMARY,
    Answer,
    Conversation,
    LastResult,
    Preferences,
    Turn,
    check_delta,
)

QUESTION = "Average departure delay by day and carrier"
LIMITS = {50: 40.0, 4_000: 120.0}
TIMES = 15
CALL = "call-1"


def figures(place: Place) -> Iterator[Figure]:
    """At 50 and at 4,000 rows of a time, a name and two measures."""
    with running(place.home) as emulator:
        replies = {rows: asyncio.run(protos(emulator, delays(rows))) for rows in LIMITS}
    for rows, limit in LIMITS.items():
        turns, works = zip(*[_turn(messages) for messages in others_of(replies[rows], TIMES + 1)][1:], strict=True)
        parts = {part: median(turn[part] for turn in turns) for part in turns[0]}
        total = median(sum(turn.values()) for turn in turns)
        note = ", ".join(f"{part} {milliseconds:.2g}" for part, milliseconds in parts.items())
        note = f"(work {median(works):.3g} ms: {note})"
        yield Figure(f"our functions for a question of {rows:,} rows", rounded(total), "ms", limit, note)


def _turn(messages: list[Any]) -> tuple[dict[str, float], float]:
    """Milliseconds of each part by the clock, and of work in all."""
    gc.collect()
    watch, work = _Watch(), time.process_time()
    answer = watch("parse", lambda: _parsed(messages))
    state: dict[str, Any] = {}
    watch("contracts", lambda: _contracts(state, answer))
    summary = watch("facts", lambda: summarize(answer, Preferences()))
    chart = watch("chart", lambda: choose(QUESTION, answer.results[-1]))
    message = watch("message", lambda: compose(answer, summary, chart))
    if not (summary.text and chart.spec and message.text):
        raise RuntimeError("a summary, a chart and a message were expected")
    watch("contracts", lambda: _later_contracts(state, summary, chart, message))
    return watch.ms, (time.process_time() - work) * 1000


class _Watch:
    def __init__(self) -> None:
        self.ms: dict[str, float] = {}

    def __call__(self, part: str, run: Any) -> Any:
        start = time.perf_counter()
        done = run()
        self.ms[part] = self.ms.get(part, 0.0) + (time.perf_counter() - start) * 1000
        return done


def _parsed(messages: list[Any]) -> Answer:
    builder = AnswerBuilder(QUESTION)
    for message in messages:
        builder.add(from_proto(message))
    return builder.finish(ended=True)


def _contracts(state: dict[str, Any], answer: Answer) -> None:
    """What the data agent writes, and the check of it, as in a turn."""
    result = answer.results[-1]
    conversation = CONVERSATION.read(state) or Conversation()
    ANSWER.write(state, CALL, answer)
    CONVERSATION.write(
        state, conversation.with_turn(Turn(question=QUESTION, sql=result.sql, text="\n".join(answer.texts)))
    )
    LAST_RESULT.write(
        state, LastResult(sql=result.sql, job=result.job, columns=result.columns, row_count=result.row_count)
    )
    _check(state, "data_agent")


def _later_contracts(state: dict[str, Any], summary: Any, chart: Any, message: Any) -> None:
    for family, value, writer in (
        (SUMMARY, summary, "summarizer"), (CHART, chart, "chart_agent"), (MESSAGE, message, "finish"),
    ):  # fmt: skip
        family.write(state, CALL, value)
        _check({family.key_of(CALL): state[family.key_of(CALL)]}, writer)
    ANSWER.read(state, CALL)


def _check(delta: dict[str, Any], writer: str) -> None:
    if violations := check_delta(delta, writer, CONTRACTS):
        raise RuntimeError(str(violations[0]))
