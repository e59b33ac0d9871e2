"""A reply's bytes into an Answer, beside `json.loads` and beside ADK's own parser on the same bytes."""

from __future__ import annotations

import asyncio
import io
import itertools
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import requests
from google.adk.tools._gda_stream_util import get_stream
from measure import Figure, Place, ratio, rounded, spent
from requests.adapters import BaseAdapter
from served import others_of, protos, readings, rest_body, running
from urllib3 import HTTPResponse

from askhouse.insights.answer import AnswerBuilder
from askhouse.insights.rest import messages_of
from askhouse.insights.stream import from_proto
from state_contracts import Answer

CHUNK = 16_384
"""Bytes, about what one read of a socket brings."""
ADK_ROWS = 50
"""How many rows ADK's tools keep by default."""
_loop = asyncio.new_event_loop()


def figures(place: Place) -> Iterator[Figure]:
    """At 100, 1,000 and 4,000 rows; 16,000 for the growth."""
    with running(place.home) as emulator:
        bodies = {rows: rest_body(emulator, readings(rows)) for rows in (100, 1_000, 4_000, 16_000)}
        messages = asyncio.run(protos(emulator, readings(4_000)))
    ours = {}
    for rows, body in bodies.items():
        _check(parsed(body), rows)
        ours[rows] = spent(_parsing(body), 9)
        plain = spent(lambda body=body: json.loads(body), 9)
        name = f"parse a reply of {rows:,} rows"
        yield Figure(name, rounded(ours[rows].clock), "ms", note=f"{len(body):,} bytes {ours[rows].note}")
        times = ratio(_parsing(body), lambda body=body: json.loads(body), 15)
        budget = 3.0 if rows == 4_000 else None
        yield Figure(f"{name}, against json.loads", rounded(times), "×", budget, f"json.loads {plain.clock:.3g} ms")
    growth = ratio(_parsing(bodies[16_000]), _parsing(bodies[4_000]), 9)
    yield Figure("parse four times the rows (16,000 against 4,000)", rounded(growth), "×", 5.0, "linear is 4")
    _check(from_protos(messages), 4_000)
    others = iter(others_of(messages, 12))
    grpc = spent(lambda: from_protos(next(others)), 9)
    yield Figure("parse a reply of 4,000 rows from gRPC's messages", rounded(grpc.clock), "ms", note=grpc.note)
    for rows in (100, 1_000, *((4_000,) if place.slow else ())):
        start, work = time.perf_counter(), time.process_time()
        adk(bodies[rows])
        milliseconds, worked = (time.perf_counter() - start) * 1000, (time.process_time() - work) * 1000
        note = f"(work {worked:,.1f} ms: {worked / ours[rows].work:,.0f} times ours)"
        yield Figure(f"ADK's get_stream on the same {rows:,} rows", rounded(milliseconds), "ms", note=note)


def _parsing(body: bytes) -> Callable[[], Answer]:
    """Parse the body, each time with another query: one that was read before would be remembered."""
    count = itertools.count(10)
    return lambda: parsed(body.replace(b"ORDER BY reading LIMIT", b"ORDER BY %d, reading LIMIT" % next(count), 1))


def parsed(body: bytes) -> Answer:
    """The answer that a REST reply gives."""
    # Not asyncio.run: when it puts the handler of Ctrl-C back, Python writes out the repr of what the task returned.
    return _loop.run_until_complete(_parsed(body))


async def _parsed(body: bytes) -> Answer:
    builder = AnswerBuilder("Which readings are there?")
    async for message in messages_of(_chunks(body)):
        builder.add(message)
    return builder.finish(ended=True)


async def _chunks(body: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(body), CHUNK):
        yield body[start : start + CHUNK]


def from_protos(messages: list[Any]) -> Answer:
    """The answer that a gRPC reply gives."""
    builder = AnswerBuilder("Which readings are there?")
    for message in messages:
        builder.add(from_proto(message))
    return builder.finish(ended=True)


def adk(body: bytes) -> list[dict[str, Any]]:
    """What ADK's parser makes of the same bytes."""
    with requests.Session() as session:
        session.mount("http://", _Stored(body))
        return get_stream(session, "http://stored.invalid/", {}, {}, ADK_ROWS)


class _Stored(BaseAdapter):
    """Answers every request with these bytes, without a network."""

    def __init__(self, body: bytes) -> None:
        super().__init__()
        self._body = body

    def send(self, request: requests.PreparedRequest, **_: Any) -> requests.Response:
        response = requests.Response()
        response.status_code, response.url, response.request = 200, str(request.url), request
        response.raw = HTTPResponse(io.BytesIO(self._body), status=200, preload_content=False)
        return response

    def close(self) -> None:
        """Nothing is open."""


def _check(answer: Answer, rows: int) -> None:
    counted = [len(result.rows) for result in answer.results]
    if counted != [rows] or not answer.complete:
        raise RuntimeError(f"{rows} rows were sent, {counted} came")
