"""The service's messages, built as it sends them; and the bytes of its REST replies."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from google.cloud import geminidataanalytics_v1 as api
from google.protobuf import json_format

from ..warehouse.base import Column, Rows, TableRef
from .cells import to_wire

MAX_RESULT_BYTES = 3_000_000
MAX_RESULT_ROWS = 300_000
JOB_LOCATION = "US"
RESULTS_DATASET = "_results"

_LEGACY_TYPES = {"INT64": "INTEGER", "FLOAT64": "FLOAT", "BOOL": "BOOLEAN", "STRUCT": "RECORD"}

Message: type[Any] = api.Message.pb()
ChatRequest: type[Any] = api.ChatRequest.pb()
_TextType = api.TextMessage.TextType


def thought(title: str, text: str) -> Any:
    """What the service says while it works."""
    return _text(_TextType.THOUGHT, [title, text])


def final_response(text: str) -> Any:
    """Words of the answer."""
    return _text(_TextType.FINAL_RESPONSE, [text])


def follow_ups(questions: Sequence[str]) -> Any:
    """Questions that may come next."""
    return _text(_TextType.FOLLOWUP_QUESTIONS, questions)


def error(text: str) -> Any:
    """Something that went wrong while the reply was already under way."""
    message = _message()
    message.system_message.error.text = text
    return message


def query(refs: Iterable[TableRef]) -> Any:
    """Which tables are about to be asked."""
    message = _message()
    datasources = message.system_message.data.query.datasources
    for ref in refs:
        _refer(datasources.add().bigquery_table_reference, ref)
    return message


def generated_sql(sql: str) -> Any:
    """The query that answers."""
    message = _message()
    message.system_message.data.generated_sql = sql
    return message


def matched_query(question: str, sql: str) -> Any:
    """The authored example that answers."""
    message = _message()
    example = message.system_message.data.matched_query.example_query
    example.natural_language_question, example.sql_query = question, sql
    return message


def job(project: str, job_id: str) -> Any:
    """The job that ran the query, and the hidden table that holds its rows."""
    message = _message()
    job = message.system_message.data.big_query_job
    job.project_id, job.job_id, job.location = project, job_id, JOB_LOCATION
    _refer(job.destination_table, destination(project, job_id))
    job.schema.SetInParent()
    return message


def destination(project: str, job_id: str) -> TableRef:
    """The hidden table of a job's rows, under the name by which BigQuery's interface here serves it."""
    return TableRef(project, RESULTS_DATASET, job_id)


def result(name: str, rows: Rows) -> Any:
    """The rows, as many whole ones as fit the service's limit; without a `data` key when there are none."""
    message = _message()
    result = message.system_message.data.result
    result.name = name
    for column in rows.columns:
        _field(result.schema.fields.add(), column)
    size = 0
    for row in rows.rows:
        struct = result.data.add()
        for column, value in zip(rows.columns, row, strict=True):
            to_wire(struct.fields[column.name], value)
        size += struct.ByteSize()
        if size > MAX_RESULT_BYTES:
            del result.data[-1]
            break
    return message


def fills_a_result(rows: Rows) -> bool:
    """Whether these rows alone reach the service's limit."""
    return bool(result("", rows).ByteSize() >= MAX_RESULT_BYTES * 0.99)


def result_name(columns: Sequence[Column]) -> str:
    """A name for a result, from what it shows: `average_delay_by_month`."""
    if len(columns) > 4:
        return "result"
    words = [re.sub(r"[^a-z0-9]+", "_", column.name.casefold()).strip("_") for column in columns]
    name = words[0] if len(words) == 1 else f"{words[-1]}_by_{'_and_'.join(words[:-1])}"
    return name[:63].strip("_") or "result"


def to_json(message: Any) -> dict[str, Any]:
    """The REST form of a message."""
    return json_format.MessageToDict(message)


def body_chunk(message: dict[str, Any], *, first: bool) -> bytes:
    """One message in the recorded layout of a streamed array."""
    text = json.dumps(message, indent=2, ensure_ascii=False)
    return f"{'[' if first else chr(10) + ',' + chr(10)}{text}".encode()


def body_end(*, empty: bool) -> bytes:
    """The end of a streamed array."""
    return b"[]" if empty else b"\n]"


def _message() -> Any:
    message = Message()
    message.timestamp.FromDatetime(datetime.now(UTC))
    return message


def _text(kind: Any, parts: Sequence[str]) -> Any:
    message = _message()
    message.system_message.text.parts.extend(parts)
    message.system_message.text.text_type = kind
    return message


def _refer(reference: Any, ref: TableRef) -> None:
    reference.project_id, reference.dataset_id, reference.table_id = ref.project, ref.dataset, ref.table


def _field(field: Any, column: Column) -> None:
    field.name, field.mode = column.name, column.mode
    field.type_ = _LEGACY_TYPES.get(column.type, column.type)
    field.description = column.description
    for part in column.fields:
        _field(field.subfields.add(), part)
