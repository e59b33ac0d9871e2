"""From the moment in which the service says its first thought to the moment in which the person can see it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from statistics import median
from typing import Any

from measure import Figure, Place, percentile, rounded
from talk import talking

from askhouse.emulator.local import Emulator
from askhouse.settings import Settings, Transport

TURNS = 25
LIMIT = 20.0
QUESTION = "How many flights left each airport?"


class StampedEmulator(Emulator):
    """Notes when it hands its first thought to the wire."""

    first_thoughts: list[float]

    async def _serve(self, core: Any) -> None:
        self.first_thoughts = []
        core.chat = StampedChat(core.chat, self.first_thoughts)
        await super()._serve(core)


class StampedChat:
    """A chat whose replies note the time of their first message."""

    def __init__(self, chat: Any, times: list[float]) -> None:
        self._chat = chat
        self._times = times

    async def reply(self, request: Any) -> AsyncIterator[Any]:
        """The same messages."""
        first = True
        async for message in self._chat.reply(request):
            if first:
                self._times.append(time.perf_counter())
                first = False
            yield message


def figures(place: Place) -> Iterator[Figure]:
    """Over gRPC, which is usual, and over REST."""
    with StampedEmulator(Settings(home=place.home)) as emulator:
        for transport in ("grpc", "rest"):
            waits = asyncio.run(_waits(place, emulator, transport))
            note = f"slowest of 20: {percentile(waits, 0.95):.3g} ms"
            name = f"first progress after the first thought is sent ({transport})"
            yield Figure(name, rounded(median(waits)), "ms", LIMIT, note)


async def _waits(place: Place, emulator: StampedEmulator, transport: Transport) -> list[float]:
    address = emulator.grpc if transport == "grpc" else emulator.rest
    settings = Settings(home=place.home, transport=transport, chat_endpoint=address)
    waits = []
    async with talking(settings) as talk:
        for turn in range(TURNS + 1):
            await talk.begin()
            said = await talk.say(QUESTION)
            if said.first_thought is None:
                raise RuntimeError("no progress came")
            if turn:  # the first one warms up
                waits.append((said.first_thought - emulator.first_thoughts[-1]) * 1000)
    return waits
