"""The JSON object of a turn. It is stable: fields may be added, none changes its meaning."""

from __future__ import annotations

import base64
import math
from datetime import date
from decimal import Decimal
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from state_contracts import Block, ChartKind, ClaimKind, Job, Result, SqlOrigin, Summary

from .turned import Turned

LARGEST_EXACT = 2**53


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class ColumnRecord(_Part):
    """One column."""

    name: str
    type: str
    mode: Literal["NULLABLE", "REQUIRED", "REPEATED"]


class ResultRecord(_Part):
    """One result: rows are arrays in column order."""

    name: str
    columns: list[ColumnRecord]
    rows: list[list[Any]]
    """NULL is null; INT64 beyond 2^53, NUMERIC and BIGNUMERIC are strings, and so are NaN, Infinity and -Infinity."""
    row_count: int
    """Rows of the whole result, of which `rows` may be the first ones."""
    truncated: bool
    sql: str
    sql_origin: SqlOrigin
    read_as: str
    job: Job | None


class ClaimRecord(_Part):
    """One statement of the summary and the rows (from 0; none for all) that it follows from."""

    text: str
    value: Any
    result: str
    rows: list[int]
    kind: ClaimKind
    verified: bool


class SummaryRecord(_Part):
    """The summary; `removed` counts sentences that no fact supported."""

    text: str
    claims: list[ClaimRecord]
    removed: int


class ChartRecord(_Part):
    """The chart as Vega-Lite with its data inside. Kind `none` has a reason and no specification."""

    kind: ChartKind
    reason: str
    spec: dict[str, Any] | None
    alt: str
    file: str | None
    """The picture's file, where one was written."""


class ErrorRecord(_Part):
    """What stopped the answer, and what to do."""

    code: str
    message: str
    remedy: str


class CostRecord(_Part):
    """What the answer cost; null where the service did not say. The services on this machine bill nothing, and say
    what BigQuery would bill."""

    bytes_billed: int | None
    cache_hit: bool | None
    model_chars: int


class Record(_Part):
    """What `askhouse ask --format json` prints."""

    question: str
    standalone_question: str
    """The text that was sent."""
    complete: bool
    blocks: list[Block]
    results: list[ResultRecord]
    summary: SummaryRecord
    chart: ChartRecord | None
    follow_ups: list[str]
    assumptions: list[str]
    notices: list[str]
    error: ErrorRecord | None
    session: str
    turn: int | None = None
    """The position of this question in its session, from 1; null where it is not known."""
    place: str
    agent: str | None
    model: str | None = None
    """The model that chose the tools; null where it is not known."""
    clock: date | None
    """The day that counted as today, where it was not the real one."""
    cost: CostRecord
    timings_ms: dict[str, float] = Field(default_factory=dict)


def record_of(turned: Turned, *, chart_file: str | None = None) -> Record:
    """The record of a turn. `turn` and `model` are filled where the turn tells them."""
    answer, chart, failure = turned.answer, turned.chart, turned.answer.failure
    return Record(
        question=answer.question,
        standalone_question=answer.standalone_question or answer.question,
        complete=answer.complete,
        blocks=answer.blocks,
        results=[_result(result) for result in answer.results],
        summary=_summary(turned.summary or Summary(text="")),
        chart=chart and ChartRecord(**chart.model_dump(include={"kind", "reason", "spec", "alt"}), file=chart_file),
        follow_ups=answer.follow_ups,
        assumptions=answer.assumptions,
        notices=answer.notices,
        error=failure and ErrorRecord(**failure.model_dump(include={"code", "message", "remedy"})),
        session=turned.session_id,
        turn=getattr(turned, "turn", None),
        place=answer.place,
        agent=answer.agent,
        model=getattr(turned, "model", None),
        clock=answer.clock,
        cost=CostRecord(**answer.cost.model_dump()),
        timings_ms=dict(turned.timings_ms),
    )


def to_json(turned: Turned, *, chart_file: str | None = None) -> str:
    """The record as one indented JSON object."""
    return record_of(turned, chart_file=chart_file).model_dump_json(indent=2)


def _result(result: Result) -> ResultRecord:
    return ResultRecord(
        name=result.name,
        columns=[ColumnRecord(**column.model_dump(include={"name", "type", "mode"})) for column in result.columns],
        rows=[[json_cell(cell) for cell in row] for row in result.rows],
        row_count=result.row_count,
        truncated=result.truncated,
        sql=result.sql,
        sql_origin=result.sql_origin,
        read_as=result.read_as,
        job=result.job,
    )


def _summary(summary: Summary) -> SummaryRecord:
    claims = [
        ClaimRecord(
            text=claim.text, value=json_cell(claim.value), result=claim.result, rows=claim.rows,
            kind=claim.kind, verified=claim.verified,
        )
        for claim in summary.claims
    ]  # fmt: skip
    return SummaryRecord(text=summary.text, claims=claims, removed=summary.removed)


def json_cell(value: Any) -> Any:
    """A cell that any JSON reader keeps exactly."""
    match value:
        case bool() | None:
            return value
        case int():
            return value if abs(value) <= LARGEST_EXACT else str(value)
        case float():
            return value if math.isfinite(value) else _named(value)
        case Decimal():
            return f"{value:f}" if value.is_finite() else str(value)
        case bytes():
            return base64.b64encode(value).decode()
        case list() | tuple():
            return [json_cell(item) for item in value]
        case dict():
            return {str(key): json_cell(item) for key, item in value.items()}
    return str(value)


def _named(value: float) -> str:
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
