"""What a conversation costs as it grows: bytes in the store of sessions, and characters sent to the model.

Beside it: what ADK's stock tool puts before the model of the same reply.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence

import counting
from bench_parser import adk
from bench_turn import QUESTIONS
from measure import Figure, Place
from served import AGENT, LOADED_ROWS, TURNS, readings, rest_body, running
from stored import stored_bytes
from talk import talking

from askhouse.settings import Settings

MAX_STORED = 10_240
MAX_SENT = 4_000


def figures(place: Place) -> Iterator[Figure]:
    """Twenty turns: over the sample with follow-ups on offer, and of stored rows, the first and last turn large."""
    counting.register()
    with running(place.home) as emulator:
        settings = Settings(home=place.home, chat_endpoint=emulator.grpc, model=counting.NAME)
        over_sample = [QUESTIONS[turn % len(QUESTIONS)] for turn in range(TURNS)]
        yield from _conversation(settings, over_sample, "the sample's groups")
        settings = settings.model_copy(update={"agent": AGENT})
        for rows in (10, LOADED_ROWS):
            sizes = [rows, *[10] * (TURNS - 2), rows]
            questions = [readings(size, turn) for turn, size in enumerate(sizes, 1)]
            yield from _conversation(settings, questions, f"{rows:,} rows")
        bodies = {rows: rest_body(emulator, readings(rows)) for rows in (10, 1_000)}
    for rows, body in bodies.items():
        length = len(json.dumps(adk(body), ensure_ascii=False))
        note = f"again in each later turn: {length * TURNS:,} in turn {TURNS}"
        yield Figure(f"sent to the model by ADK's stock tool, one result of {rows:,} rows", length, "chars", note=note)


def _conversation(settings: Settings, questions: Sequence[str], what: str) -> Iterator[Figure]:
    stored, sent = asyncio.run(_costs(settings, questions))
    for turn in (1, TURNS):
        yield Figure(f"stored by turn {turn}, {what}", stored[turn - 1], "bytes", MAX_STORED)
    for turn in (1, TURNS):
        yield Figure(f"sent to the model in turn {turn}, {what}", sent[turn - 1], "chars", MAX_SENT)
    yield Figure(f"sent to the model, the most in any turn, {what}", max(sent), "chars", MAX_SENT)


async def _costs(settings: Settings, questions: Sequence[str]) -> tuple[list[int], list[int]]:
    """Of each turn: bytes stored, and characters sent: the contents of its requests, and how much the instruction
    says of the conversation."""
    stored, sent = [], []
    store = settings.home / "sessions.db"
    instruction = None
    async with talking(settings) as talk:
        before = stored_bytes(store)
        for question in questions:
            counting.counted.clear()
            said = await talk.say(question)
            if "SELECT" not in said.text:
                raise RuntimeError(f"no rows came for {question!r}: {said.text}")
            instruction = instruction or counting.counted[0][1]
            sent.append(sum(contents + length - instruction for contents, length in counting.counted))
            stored.append(stored_bytes(store) - before)
            before += stored[-1]
    return stored, sent
