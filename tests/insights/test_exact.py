"""Every type arrives exactly: as the emulator writes it, as doubles of protos lose it, and read again by its job."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from google.cloud import geminidataanalytics_v1 as api
from google.protobuf import json_format

from askhouse.emulator.jobs import JobStore, billed_bytes
from askhouse.emulator.local import Emulator
from askhouse.insights.client import AgentContext, InsightsClient, Question
from askhouse.settings import Settings, Transport
from state_contracts import Answer, Result

from .conftest import asked
from .test_faults import grpc_server

PARENT = "projects/local/locations/global"
BIG = 9007199254740993
DEEP = Decimal("123456789012345678.123456789")

# What a person may select, the column's type, and the cell that must arrive.
TYPES: list[tuple[str, str, str, Any]] = [
    (f"{BIG}", "INT64", "NULLABLE", BIG),
    ("-9223372036854775807", "INT64", "NULLABLE", -9223372036854775807),
    (f"NUMERIC '{DEEP}'", "NUMERIC", "NULLABLE", DEEP),
    ("1.5", "FLOAT64", "NULLABLE", 1.5),
    ("CAST('inf' AS FLOAT64)", "FLOAT64", "NULLABLE", math.inf),
    ("CAST('-inf' AS FLOAT64)", "FLOAT64", "NULLABLE", -math.inf),
    ("TRUE", "BOOL", "NULLABLE", True),
    ("''", "STRING", "NULLABLE", ""),
    ("CAST(NULL AS STRING)", "STRING", "NULLABLE", None),
    ("'年 \"quoted\" [x].y'", "STRING", "NULLABLE", '年 "quoted" [x].y'),
    ("b'\\xff\\x00'", "BYTES", "NULLABLE", "/wA="),
    ("DATE '1984-01-02'", "DATE", "NULLABLE", "1984-01-02"),
    ("DATETIME '1984-01-02 03:04:05'", "DATETIME", "NULLABLE", "1984-01-02T03:04:05"),
    ("TIMESTAMP '1984-01-02 03:04:05+00'", "TIMESTAMP", "NULLABLE", "1984-01-02T03:04:05+00:00"),
    ("TIME '03:04:05'", "TIME", "NULLABLE", "03:04:05"),
    ("[1, 2]", "INT64", "REPEATED", [1, 2]),
    (f"STRUCT({BIG} AS a, 'x' AS b)", "STRUCT", "NULLABLE", {"a": BIG, "b": "x"}),
]  # fmt: skip


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, sample_home: Path) -> Iterator[Emulator]:
    import os
    import shutil

    folder = tmp_path_factory.mktemp("typed") / "askhouse"
    shutil.copytree(sample_home, folder, copy_function=os.link)
    with Emulator(Settings(home=folder)) as running:
        yield running


async def _answered(service: Emulator, sql: str, transport: Transport = "grpc") -> Answer:
    """The answer of an agent whose one example is this query."""
    agent_id = f"typed-{uuid4().hex[:8]}"
    context = {
        "datasourceReferences": {"bq": {"tableReferences": [
            {"projectId": "local", "datasetId": "nycflights13", "tableId": "airlines"}
        ]}},
        "exampleQueries": [{"naturalLanguageQuestion": "Show me the odd values", "sqlQuery": sql}],
    }  # fmt: skip
    async with httpx.AsyncClient(base_url=service.rest, trust_env=False) as client:
        body = {"dataAnalyticsAgent": {"publishedContext": context}}
        made = await client.post(f"/v1/{PARENT}/dataAgents:createSync", params={"dataAgentId": agent_id}, json=body)
    assert made.status_code == 200, made.text
    settings = Settings(
        home=service.settings.home, transport=transport, bigquery_endpoint=service.rest,
        chat_endpoint=service.grpc if transport == "grpc" else service.rest,
    )  # fmt: skip
    _, answer = await asked(settings, Question("Show me the odd values", AgentContext(agent_id)))
    return answer


async def _result(service: Emulator, sql: str, transport: Transport) -> Result:
    answer = await _answered(service, sql, transport)
    assert answer.outcome == "answered", answer.errors
    assert answer.notices == []
    return answer.results[0]


@pytest.mark.parametrize("transport", ["grpc", "rest"])
async def test_every_type_arrives_as_it_is(service: Emulator, transport: Transport) -> None:
    select = ", ".join(f"{sql} AS c{number}" for number, (sql, *_) in enumerate(TYPES))
    result = await _result(service, f"SELECT {select}", transport)
    assert [(column.type, column.mode) for column in result.columns] == [(type_, mode) for _, type_, mode, _ in TYPES]
    expected = [value for *_, value in TYPES]
    assert list(result.rows[0]) == expected
    assert [type(cell) for cell in result.rows[0]] == [type(cell) for cell in expected]


@pytest.mark.parametrize("transport", ["grpc", "rest"])
async def test_not_a_number_arrives(service: Emulator, transport: Transport) -> None:
    result = await _result(service, "SELECT CAST('nan' AS FLOAT64) AS x", transport)
    assert math.isnan(result.rows[0][0])


@pytest.mark.parametrize("transport", ["grpc", "rest"])
async def test_odd_column_names_stay(service: Emulator, transport: Transport) -> None:
    result = await _result(service, "SELECT 1 AS `年`, 2 AS `a b`, 3 AS `x-y`, 4 AS `A`", transport)
    assert [column.name for column in result.columns] == ["年", "a b", "x-y", "A"]
    assert result.rows == [(1, 2, 3, 4)]


async def test_the_cost_of_a_job_is_told(service: Emulator) -> None:
    answer = await _answered(service, "SELECT carrier FROM `local.nycflights13.airlines`")
    assert (answer.cost.bytes_billed, answer.cost.cache_hit) == (billed_bytes(1), False)


def _field(name: str, type_: str, mode: str = "NULLABLE", *parts: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "type": type_, "mode": mode, **({"subfields": list(parts)} if parts else {})}


FIELDS = [
    _field("big", "INTEGER"), _field("deep", "NUMERIC"), _field("list", "INTEGER", "REPEATED"),
    _field("part", "RECORD", "NULLABLE", _field("id", "INTEGER"), _field("name", "STRING")), _field("s", "STRING"),
]  # fmt: skip
LOST = {"big": float(BIG), "deep": float(DEEP), "list": [1.0, float(BIG)], "part": {"id": float(BIG), "name": "x"},
        "s": "a\0b"}  # fmt: skip
SELECT = f"SELECT {BIG} AS big, NUMERIC '{DEEP}' AS deep, [1, {BIG}] AS list, STRUCT({BIG} AS id, 'x' AS name) AS part"


async def _lossy(service: Emulator, sql: str, tmp_path: Path, row: dict[str, Any] = LOST) -> Answer:
    """The answer of a service that sends doubles, beside BigQuery with the job."""
    job_id = JobStore(service.settings.home).record(sql, datetime.now(UTC), "local")

    def data(**kind: Any) -> dict[str, Any]:
        return {"systemMessage": {"data": kind}}

    raw = [
        {"systemMessage": {"text": {"parts": ["See."], "textType": "FINAL_RESPONSE"}}},
        data(generatedSql=sql),
        data(bigQueryJob={"projectId": "local", "jobId": job_id, "location": "US"}),
        data(result={"name": "r", "schema": {"fields": FIELDS}, "data": [row]}),
    ]

    async def reply(_: Any, __: Any) -> AsyncIterator[Any]:
        for message in raw:
            yield json_format.ParseDict(message, api.Message.pb()())

    async with grpc_server(reply) as url:
        settings = Settings(home=tmp_path, chat_endpoint=url, bigquery_endpoint=service.rest)
        (answer,) = [
            part
            async for part in InsightsClient(settings).ask(Question("q", AgentContext("a")))
            if isinstance(part, Answer)
        ]
    return answer


async def test_what_doubles_lost_is_read_again_by_the_job(service: Emulator, tmp_path: Path) -> None:
    answer = await _lossy(service, f"{SELECT}, 'x' AS s", tmp_path)
    assert answer.results[0].rows == [(BIG, DEEP, [1, BIG], {"id": BIG, "name": "x"}, "a\0b")]
    assert answer.notices == []


async def test_rows_of_another_result_are_not_taken(service: Emulator, tmp_path: Path) -> None:
    for sql in (SELECT.replace(f"{BIG} AS big", "1 AS big"), f"{SELECT} UNION ALL {SELECT}".replace("[1,", "[2,")):
        answer = await _lossy(service, sql, tmp_path)
        assert answer.results[0].rows[0][0] == float(BIG)
        assert any("more than 15 digits in big, deep, list, part were rounded" in notice for notice in answer.notices)


async def test_what_a_double_holds_is_not_read_again(service: Emulator, tmp_path: Path) -> None:
    row = {"big": 5.0, "deep": 0.25, "list": [1.0], "part": {"id": 7.0, "name": "x"}, "s": None}
    answer = await _lossy(service, "SELECT 'no such result' AS other", tmp_path, row)
    assert answer.results[0].rows == [(5, Decimal("0.25"), [1], {"id": 7, "name": "x"}, None)]
    assert answer.notices == []
