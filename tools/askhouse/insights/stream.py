"""The service's messages in one form, whichever way they came: protocol buffers over gRPC, or JSON over REST.

What this version does not know becomes `Unknown` and is kept raw; nothing is fatal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from state_contracts import Citation, Job, SqlOrigin

TextKind = Literal["final", "thought", "progress", "follow_ups", "untyped"]

_TEXT_KINDS: Mapping[Any, TextKind] = {
    None: "untyped", 0: "untyped", "TEXT_TYPE_UNSPECIFIED": "untyped",
    1: "final", "FINAL_RESPONSE": "final",
    2: "thought", "THOUGHT": "thought",
    3: "progress", "PROGRESS": "progress",
    4: "follow_ups", "FOLLOWUP_QUESTIONS": "follow_ups",
}  # fmt: skip


@dataclass(frozen=True)
class Text:
    """Words: part of the answer, a thought on the way to it, or questions that may follow."""

    kind: TextKind
    parts: tuple[str, ...]
    citations: tuple[Citation, ...] = ()


@dataclass(frozen=True)
class Query:
    """A query is about to be reported. `name` is empty in the service's newer replies."""

    name: str = ""


@dataclass(frozen=True)
class Sql:
    """The query that gave the next result."""

    text: str
    origin: SqlOrigin


@dataclass(frozen=True)
class JobRun:
    """The job that ran the query."""

    job: Job


@dataclass(frozen=True)
class Rows:
    """A result: its fields as the service names them, its rows by column name."""

    name: str
    fields: list[dict[str, Any]]
    rows: list[dict[str, Any]]


@dataclass(frozen=True)
class ChartQuery:
    """Which result the next chart shows."""

    result: str


@dataclass(frozen=True)
class ChartDrawn:
    """A Vega-Lite specification."""

    spec: dict[str, Any]


@dataclass(frozen=True)
class Failure:
    """Something went wrong. `status` is Google's code where the service gave one, and then the reply ends here."""

    message: str
    status: str = ""
    retry_after: float | None = None


@dataclass(frozen=True)
class AskedBack:
    """Questions to the person, each with its options."""

    questions: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class Described:
    """The service looked at, or showed, what tables hold."""

    tables: tuple[str, ...] = ()


@dataclass(frozen=True)
class Silent:
    """A message that is understood and has nothing for the reader."""


@dataclass(frozen=True)
class Unknown:
    """A message of a kind that this version does not know."""

    raw: Any = field(repr=False)


Message = (
    Text | Query | Sql | JobRun | Rows | ChartQuery | ChartDrawn | Failure | AskedBack | Described | Silent | Unknown
)


def from_json(raw: Any) -> Message:
    """Read one element of a REST reply."""
    if not isinstance(raw, dict):
        return Unknown(raw)
    if isinstance(raw.get("error"), dict):
        return failure_of(raw["error"])
    if "userMessage" in raw:
        return Silent()
    system = raw.get("systemMessage")
    if not isinstance(system, dict):
        return Unknown(raw)
    try:
        return _read(system) or Unknown(raw)
    except (AttributeError, TypeError, KeyError, ValueError):
        return Unknown(raw)


def from_proto(message: Any) -> Message:
    """Read one message of a gRPC reply, given as the raw protocol buffer."""
    from google.protobuf.json_format import MessageToDict

    data = message.system_message.data
    if data.WhichOneof("kind") != "result":
        return from_json(MessageToDict(message))
    result = data.result
    fields = MessageToDict(result.schema).get("fields", [])
    return Rows(result.name, fields, [_struct(row) for row in result.data])


def failure_of(error: Mapping[str, Any]) -> Failure:
    """Read Google's JSON form of an error."""
    delays = [
        _seconds(detail["retryDelay"])
        for detail in error.get("details") or []
        if isinstance(detail, dict) and "retryDelay" in detail
    ]
    status = str(error.get("status") or error.get("code") or "UNKNOWN")
    return Failure(str(error.get("message") or "no reason was given"), status, next(iter(delays), None))


def _read(system: dict[str, Any]) -> Message | None:
    for kind, read in _READERS.items():
        if kind in system:
            message = read(system[kind])
            if isinstance(message, Text) and "citation" in system:
                return replace(message, citations=_citations(message.parts, system["citation"]))
            return message
    return None


def _text(text: dict[str, Any]) -> Message | None:
    kind = _TEXT_KINDS.get(text.get("textType"))
    return Text(kind, tuple(map(str, text.get("parts", ())))) if kind else None


def _citations(parts: Sequence[str], citation: Any) -> tuple[Citation, ...]:
    """The cited words with their sources; of a form that is not known, none: the text itself stays."""
    try:
        return tuple(_cited(parts, citation))
    except (AttributeError, TypeError, KeyError, ValueError):
        return ()


def _cited(parts: Sequence[str], citation: dict[str, Any]) -> Iterator[Citation]:
    """Offsets count bytes of a part's UTF-8."""
    sources = {source["id"]: source for source in citation.get("sources") or ()}
    for anchor in (found.get("textMessageAnchor") or {} for found in citation.get("anchors") or ()):
        position = int(anchor.get("partIndex") or 0)
        part = parts[position].encode() if position < len(parts) else b""
        span = part[int(anchor.get("startOffsetBytes") or 0) : int(anchor.get("endOffsetBytes") or 0)]
        text = span.decode("utf-8", "ignore").strip()
        for source in filter(None, map(sources.get, anchor.get("sourceIds") or ())):
            uri = source.get("uri") or ""
            yield Citation(text=text, source=source.get("title") or uri or source["id"], uri=uri)


def _data(data: dict[str, Any]) -> Message | None:
    if "result" in data:
        result = data["result"]
        fields = (result.get("schema") or {}).get("fields") or []
        return Rows(result.get("name") or "", fields, result.get("data") or [])
    if "generatedSql" in data:
        return Sql(data["generatedSql"], "generated")
    if "matchedQuery" in data:
        return Sql(data["matchedQuery"]["exampleQuery"]["sqlQuery"], "matched_example")
    if "bigQueryJob" in data:
        job = data["bigQueryJob"]
        return JobRun(Job(project=job["projectId"], job_id=job["jobId"], location=job.get("location") or ""))
    return Query(data["query"].get("name") or "") if "query" in data else None


def _chart(chart: dict[str, Any]) -> Message | None:
    if "query" in chart:
        return ChartQuery(chart["query"].get("dataResultName") or "")
    spec = chart["result"].get("vegaConfig") if "result" in chart else None
    return ChartDrawn(spec) if spec else None


def _error(error: dict[str, Any]) -> Message:
    return Failure(error.get("text") or "no reason was given")


def _schema(schema: dict[str, Any]) -> Message:
    sources = (schema.get("result") or {}).get("datasources") or []
    tables = (source.get("bigqueryTableReference") for source in sources)
    return Described(tuple(f"{t['projectId']}.{t['datasetId']}.{t['tableId']}" for t in tables if t))


def _clarification(clarification: dict[str, Any]) -> Message:
    questions = clarification.get("questions") or []
    return AskedBack(tuple((q.get("question") or "", tuple(q.get("options") or ())) for q in questions))


def _analysis(analysis: dict[str, Any]) -> Message | None:
    event = analysis.get("progressEvent") or {}
    if "error" in event:
        return Failure(event["error"])
    if "resultNaturalLanguage" in event:
        return Text("final", (event["resultNaturalLanguage"],))
    if "plannerReasoning" in event:
        return Text("thought", (event["plannerReasoning"],))
    return Silent()


def _silent(_: Any) -> Message:
    return Silent()


_READERS: Mapping[str, Callable[[Any], Message | None]] = {
    "text": _text,
    "data": _data,
    "chart": _chart,
    "error": _error,
    "schema": _schema,
    "analysis": _analysis,
    "clarification": _clarification,
    "exampleQueries": _silent,
}


def _struct(struct: Any) -> dict[str, Any]:
    return {key: _value(value) for key, value in struct.fields.items()}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("kind")
    if kind is None or kind == "null_value":
        return None
    if kind == "struct_value":
        return _struct(value.struct_value)
    if kind == "list_value":
        return [_value(item) for item in value.list_value.values]
    return getattr(value, kind)


def _seconds(duration: Any) -> float | None:
    try:
        return float(str(duration).removesuffix("s"))
    except ValueError:
        return None
