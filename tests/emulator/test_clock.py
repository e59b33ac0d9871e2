"""The day that counts as today: the sample's last one, or the one that was given."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path

import pytest

from askhouse.emulator.local import Emulator
from askhouse.insights.client import InsightsClient, Question, TablesContext
from askhouse.settings import Settings
from askhouse.warehouse.base import TableRef
from askhouse.warehouse.duckdb import open_warehouse
from state_contracts import Answer, Turn

ITEMS = TableRef("bigquery-public-data", "thelook_ecommerce", "order_items")


async def _ask(emulator: Emulator, question: str, history: Sequence[Turn] = ()) -> Answer:
    settings = Settings(home=emulator.settings.home, chat_endpoint=emulator.grpc)
    asked = Question(question, TablesContext((ITEMS,)), history)
    answer = [part async for part in InsightsClient(settings).ask(asked)][-1]
    assert isinstance(answer, Answer)
    return answer


def _revenue(home: Path, first: str, end: str) -> float:
    period = f"created_at >= TIMESTAMP '{first}' AND created_at < TIMESTAMP '{end}'"
    sql = f"SELECT SUM(sale_price) FROM `{ITEMS}` WHERE {period}"
    value = open_warehouse(home).query(sql).rows[0][0]
    assert isinstance(value, float)
    return value


async def test_over_a_sample_it_is_the_samples_last_day_and_said(emulator: Emulator) -> None:
    answer = await _ask(emulator, "What was the revenue last month?")
    assert answer.clock == date(2025, 12, 31)
    assert "31 December 2025, the day on which the sample ends" in "".join(answer.texts)
    expected = _revenue(emulator.settings.home, "2025-11-01", "2025-12-01")
    assert answer.results[0].rows[0][-1] == pytest.approx(expected)


async def test_a_given_day_takes_its_place(home: Path) -> None:
    with Emulator(Settings(home=home, today=date(2025, 3, 15))) as emulator:
        answer = await _ask(emulator, "What was the revenue last month?")
    assert answer.clock == date(2025, 3, 15)
    assert "sample ends" not in "".join(answer.texts)
    assert answer.results[0].rows[0][-1] == pytest.approx(_revenue(home, "2025-02-01", "2025-03-01"))


async def test_no_clock_is_named_where_none_was_used(emulator: Emulator) -> None:
    answer = await _ask(emulator, "What was the revenue in 2025?")
    assert (answer.clock, answer.outcome) == (None, "answered")


async def test_a_follow_up_of_our_own_client(emulator: Emulator) -> None:
    first = await _ask(emulator, "Revenue by status in 2025")
    turn = Turn(question="Revenue by status in 2025", sql=first.results[0].sql, text="\n".join(first.texts))
    second = await _ask(emulator, "only Complete", [turn])
    assert [row[0] for row in second.results[0].rows] == ["Complete"]
    whole = dict((row[0], row[-1]) for row in first.results[0].rows)
    assert second.results[0].rows[0][-1] == pytest.approx(whole["Complete"])
