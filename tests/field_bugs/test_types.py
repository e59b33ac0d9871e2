"""Values keep their type and their digits on the whole way: warehouse, service, session, message, export."""

from __future__ import annotations

import json
import math
import re
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest
from google.adk.runners import Runner
from google.adk.sessions.base_session_service import BaseSessionService
from google.genai import types

from askhouse.export import to_csv, to_html, to_json
from askhouse.guard.sessions import guarded_session_service
from data_analyst.agent import build_app

from .conftest import FULLTEXT, Desk, chart_of, picture_of, points_of, result_of, rows_of, table_in

WHO = {"app_name": "data_analyst", "user_id": "ana"}


async def stored_after(desk: Desk, sessions: BaseSessionService, table: str, question: str) -> tuple[str, str]:
    """Ask on a session store: what was said, and the whole session as it is read back, as JSON."""
    app = build_app(desk.settings(table))
    runner = Runner(app=app, session_service=sessions)
    session = await sessions.create_session(**WHO)
    message = types.Content(role="user", parts=[types.Part(text=question)])
    said = [
        part.text
        async for event in runner.run_async(user_id="ana", session_id=session.id, new_message=message)
        if event.content and not event.partial
        for part in event.content.parts or []
        if part.text
    ]
    await runner.close()
    read = await sessions.get_session(**WHO, session_id=session.id)
    assert read is not None
    return "\n".join(said), read.model_dump_json()


@pytest.mark.parametrize("store", ["memory://", "sqlite"])
async def test_bug_01_timestamps_are_iso_with_zone_in_rows_events_and_export(
    desk: Desk, store: str, tmp_path: Any
) -> None:
    turned = await desk.ask("cafe", "Show me 5 rows")
    moments = result_of(turned).column("sold_at")
    assert all(datetime.fromisoformat(moment).tzinfo is not None for moment in moments)
    assert "2025-01-01T16:30:00+00:00" in moments
    assert moments[0] in turned.message.text
    assert moments[0] in to_csv(turned)
    assert json.loads(to_json(turned))["results"][0]["rows"][0][1] == moments[0]

    sessions = guarded_session_service(store if "://" in store else f"sqlite:///{tmp_path / 'sessions.db'}")
    said, session = await stored_after(desk, sessions, "cafe", "Show me 5 rows")
    assert moments[0] in said and moments[0] in session


async def test_bug_02_the_date_with_the_highest_total_is_told(desk: Desk) -> None:
    turned = await desk.ask("cafe", "Which date had the highest total price?")
    day, total = rows_of(turned)[0]
    assert (day, total) == ("2025-01-01", 9.75)
    assert "1 January 2025" in turned.message.text and "| 2025-01-01 | 9.75 |" in turned.message.text


async def test_bug_04_bytes_are_labelled_base64(desk: Desk) -> None:
    turned = await desk.ask("blobs", "Show me 5 rows")
    assert rows_of(turned) == [("a", b"\xff\x00"), ("b", None)]
    assert table_in(turned.message.text)[:2] == [["label", "payload (base64)"], ["a", "/wA="]]
    exported = json.loads(to_json(turned))["results"][0]
    assert (exported["columns"][1]["type"], exported["rows"][0][1]) == ("BYTES", "/wA=")


async def test_bug_05_long_text_reaches_the_answer_and_is_cut_with_a_mark(desk: Desk) -> None:
    turned = await desk.ask("articles", "Show fulltext of articles where title is Microsoft")
    wanted = [text.strip() for text in FULLTEXT if text.startswith("Microsoft")]
    assert [text.strip() for (text, *_) in rows_of(turned)] == wanted
    shown = [row[0] for row in table_in(turned.message.text)[1:]]
    assert all(cell.endswith("…") and text.startswith(cell.removesuffix("…").rstrip()) for cell, text
               in zip(shown, wanted, strict=True))  # fmt: skip
    assert [row[0].strip() for row in json.loads(to_json(turned))["results"][0]["rows"]] == wanted


@pytest.mark.parametrize("store", ["sqlite", "postgres"])
async def test_bug_19_a_nul_in_a_cell_costs_no_event(
    desk: Desk, store: str, tmp_path: Any, request: pytest.FixtureRequest
) -> None:
    postgres = request.getfixturevalue("postgres_url") if store == "postgres" else ""
    sessions = guarded_session_service(postgres or f"sqlite:///{tmp_path / 'sessions.db'}")
    said, session = await stored_after(desk, sessions, "nul", "Total amount by label")
    assert "a\N{REPLACEMENT CHARACTER}b" in said and "\\u0000" not in session
    assert "a\N{REPLACEMENT CHARACTER}b" in session
    assert re.search("> .*\N{REPLACEMENT CHARACTER}", said), "the replacement is not explained"
    if hasattr(sessions, "db_engine"):
        await sessions.db_engine.dispose()


async def test_bug_55_a_date_is_shown_as_iso(desk: Desk) -> None:
    turned = await desk.ask("cafe", "Total price by sold_on")
    days = [row[0] for row in table_in(turned.message.text)[1:]]
    assert sorted(days) == [f"2025-{m:02d}-{d:02d}" for m in (1, 2, 3) for d in (1, 2, 3)]


async def test_bug_61_null_and_the_empty_text_are_two_groups(desk: Desk) -> None:
    turned = await desk.ask("visits", "How many visits by source?")
    assert sorted(rows_of(turned), key=str) == sorted([("", 3), (None, 20), ("google", 7)], key=str)
    assert len({tuple(row) for row in table_in(turned.message.text)[1:]}) == 3
    assert picture_of(turned).count('aria-roledescription="bar"') == 3
    assert len({line.split(",")[0] for line in to_csv(turned).splitlines()[1:]}) == 3, to_csv(turned)


async def test_bug_64_a_year_is_2022_and_not_2002_with_a_comma(desk: Desk) -> None:
    turned = await desk.ask("yearly", "Total revenue by year as a line chart")
    assert sorted(row[0] for row in rows_of(turned)) == list(range(2019, 2025))
    labels = re.findall(r"<text[^>]*>([^<]+)</text>", picture_of(turned))
    assert {"2019", "2024"} <= set(labels)
    for text in (*labels, turned.message.text, to_html(turned)):
        assert not re.search(r"\b2,0[12]\d\b(?!,)", text) or "3,0" in text, text


async def test_bug_65_a_large_whole_number_keeps_its_digits(desk: Desk) -> None:
    turned = await desk.ask("ids", "Total hits by visitor_id")
    wanted = {"356206305582642177", "356206305582642178"}
    assert {row[0] for row in rows_of(turned)} == {int(digits) for digits in wanted}
    assert {row[0] for row in table_in(turned.message.text)[1:]} == wanted
    assert {row[0] for row in json.loads(to_json(turned))["results"][0]["rows"]} == wanted
    assert wanted <= set(re.findall(r"<text[^>]*>([^<]+)</text>", picture_of(turned)))
    assert all(digits in to_csv(turned) for digits in wanted)


@pytest.mark.parametrize("number", [79, 82])
async def test_bug_79_82_nan_and_infinity_are_null_in_json_and_chart(desk: Desk, number: int) -> None:
    turned = await desk.ask("floats", "Total weight by item")
    rows = dict(rows_of(turned))
    assert rows["b"] is None and rows["c"] == math.inf and rows["e"] == -math.inf  # a file's NaN is a missing value
    drawn = {point["f0"]: point["f1"] for point in points_of(turned)}
    assert {key: drawn[key] for key in "abcd"} == {"a": 1.5, "b": None, "c": None, "d": 2.5}
    json.loads(to_json(turned), parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    assert "Together" not in turned.message.text, "a total was given that leaves infinity out"
    assert "highest total weight: 2.5" not in turned.message.text, "infinity is higher"


async def test_bug_83_a_decimal_is_a_number_and_exact(desk: Desk) -> None:
    turned = await desk.ask("goods", "Total price by item")
    assert sorted(rows_of(turned)) == [("a", Decimal("1.5")), ("b", Decimal("2.25")), ("c", Decimal("0.1"))]
    assert {type(point["f1"]) for point in points_of(turned)} <= {int, float}
    assert '"quantitative"' in json.dumps(chart_of(turned).spec)
    exported = dict(json.loads(to_json(turned))["results"][0]["rows"])
    assert {key: Decimal(value) for key, value in exported.items()} == dict(rows_of(turned))
    assert all(isinstance(value, str) for value in exported.values())


async def test_bug_85_a_column_with_missing_values_keeps_its_type(desk: Desk) -> None:
    turned = await desk.ask("nullable", "Total pieces by item")
    assert result_of(turned).columns[1].type == "INT64"
    assert dict(rows_of(turned)) == {"a": 1, "b": None, "c": 3}
    assert {type(value) for _, value in rows_of(turned)} == {int, type(None)}
    assert picture_of(turned).count('aria-roledescription="bar"') >= 2
