"""The answer to one question: a document of ordered blocks, with its results typed and its SQL traced."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

SqlOrigin = Literal["generated", "matched_example", "exploratory", "user", "catalogue"]
Outcome = Literal["answered", "asked_back", "refused", "failed"]


class _Contract(BaseModel):
    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class Column(_Contract):
    """One column of a result."""

    name: str
    type: str
    """GoogleSQL name: STRING, INT64, NUMERIC, BIGNUMERIC, FLOAT64, BOOL, DATE, DATETIME, TIMESTAMP, TIME, BYTES, JSON,
    GEOGRAPHY, STRUCT, ARRAY."""
    mode: Literal["NULLABLE", "REQUIRED", "REPEATED"] = "NULLABLE"
    description: str = ""


class Job(_Contract):
    """The BigQuery job that computed a result; the whole result can be read back by it."""

    project: str
    job_id: str
    location: str = ""


class Result(_Contract):
    """Rows that a query returned, in column order.

    A cell is None (NULL), bool, int, float, Decimal (NUMERIC), str, or a list or dict of these. Dates and times are
    ISO 8601 text; a TIMESTAMP carries its zone.
    """

    name: str
    columns: list[Column]
    rows: list[tuple[Any, ...]]
    row_count: int
    """Rows of the whole result, of which `rows` may be a part."""
    truncated: bool = False
    sql: str = ""
    sql_origin: SqlOrigin = "generated"
    read_as: str = ""
    """The SQL read back in plain words."""
    job: Job | None = None

    def column(self, name: str) -> list[Any]:
        """The cells of one column, top to bottom. Raises KeyError when there is no such column."""
        position = next((i for i, column in enumerate(self.columns) if column.name == name), None)
        if position is None:
            raise KeyError(name)
        return [row[position] for row in self.rows]


class TextBlock(_Contract):
    """Words of the service, as it said them."""

    kind: Literal["text"] = "text"
    text: str


class TableBlock(_Contract):
    """The place of a result in the document."""

    kind: Literal["table"] = "table"
    result: str


class ChartBlock(_Contract):
    """A chart that the service drew: a Vega-Lite specification and the result that it shows."""

    kind: Literal["chart"] = "chart"
    result: str
    spec: dict[str, Any]


class NoticeBlock(_Contract):
    """Something that the reader must know about this answer: a limit, a repaired error, missing rows."""

    kind: Literal["notice"] = "notice"
    text: str


Block = Annotated[TextBlock | TableBlock | ChartBlock | NoticeBlock, Field(discriminator="kind")]


class AnswerError(_Contract):
    """What went wrong. A recovered error did not stop the answer."""

    code: str
    message: str
    remedy: str = ""
    recovered: bool = False


class Citation(_Contract):
    """What the service names as the source of some of its words."""

    text: str
    """The words; empty where they could not be found in the text."""
    source: str
    """The source's title, or its address where it has none."""
    uri: str = ""


class Cost(_Contract):
    """What the answer cost. `bytes_billed` is None where the service did not say; the services on this machine bill
    nothing and say what BigQuery would bill."""

    bytes_billed: int | None = None
    cache_hit: bool | None = None
    model_chars: int = 0
    """Characters of conversation and result text that were sent to models."""


class Answer(_Contract):
    """All that one question brought back."""

    question: str
    """The person's words."""
    standalone_question: str = ""
    """The text that was sent, where it differs (a number that chose a follow-up, a completed question)."""
    outcome: Outcome
    complete: bool
    """Whether the service's reply arrived whole."""
    blocks: list[Block] = Field(default_factory=list)
    results: list[Result] = Field(default_factory=list)
    citations: list[Citation] = Field(default_factory=list)
    follow_ups: list[str] = Field(default_factory=list)
    assumptions: list[str] = Field(default_factory=list)
    errors: list[AnswerError] = Field(default_factory=list)
    exploratory_sql: list[str] = Field(default_factory=list)
    """Queries that the service ran on its way, in order."""
    unrecognised: int = 0
    """Messages of a kind that this version does not know; they are counted, not lost silently."""
    place: str = ""
    """Where the answer was computed, for the reader: "sample data on this machine"."""
    agent: str | None = None
    """Resource name of the data agent that answered, or None for tables asked directly."""
    clock: date | None = None
    """The day that counted as today, where it is not the real one."""
    cost: Cost = Field(default_factory=Cost)

    def result(self, name: str) -> Result | None:
        """The result of that name."""
        return next((result for result in self.results if result.name == name), None)

    @property
    def notices(self) -> list[str]:
        """The texts of the notices, in order."""
        return [block.text for block in self.blocks if isinstance(block, NoticeBlock)]

    @property
    def texts(self) -> list[str]:
        """The service's words, in order."""
        return [block.text for block in self.blocks if isinstance(block, TextBlock)]

    @property
    def failure(self) -> AnswerError | None:
        """The error that stopped the answer, if one did."""
        return next((error for error in self.errors if not error.recovered), None)
