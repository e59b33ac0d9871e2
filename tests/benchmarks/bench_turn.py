"""A whole turn on this machine: ADK, the embedded service, DuckDB, SQLite, and the chart's picture."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from statistics import median

from measure import Figure, Place, percentile, rounded
from talk import talking

from askhouse.settings import Settings

QUESTIONS = (
    "How many flights left each airport?",
    "What was the average departure delay by month?",
    "Which ten carriers had the most flights?",
    "How many flights were there per day in July 2013?",
    "What is the total revenue by category?",
    "How many users are there by country?",
)
ROUNDS = 5
LIMIT = 250.0


def figures(place: Place) -> Iterator[Figure]:
    """The median of warm turns, each round of questions in a session of its own."""
    turns, works, pictures = asyncio.run(_turns(place))
    slowest = f"slowest of 20: {percentile(turns, 0.95):.3g} ms"
    note = f"(work {median(works):.3g} ms; {len(turns)} turns, {pictures} pictures, {slowest})"
    yield Figure("a whole warm turn with ADK, SQLite and PNG", rounded(median(turns)), "ms", LIMIT, note)


async def _turns(place: Place) -> tuple[list[float], list[float], int]:
    turns: list[float] = []
    works: list[float] = []
    pictures = 0
    async with talking(Settings(home=place.home)) as talk:
        for round_ in range(ROUNDS + 1):
            await talk.begin()
            for question in QUESTIONS:
                start, work = time.perf_counter(), time.process_time()
                said = await talk.say(question)
                if round_:  # the first round warms up
                    turns.append((time.perf_counter() - start) * 1000)
                    works.append((time.process_time() - work) * 1000)
                    pictures += said.pictures
    if not pictures:
        raise RuntimeError("no turn drew a picture")
    return turns, works, pictures
