"""The messages of one reply, in their order, into one `Answer`."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from state_contracts import (
    Answer,
    AnswerError,
    ChartBlock,
    Job,
    NoticeBlock,
    Outcome,
    Result,
    SqlOrigin,
    TableBlock,
    TextBlock,
)

from .cells import exact_cells, table_of
from .read_as import read_back
from .stream import (
    AskedBack,
    ChartDrawn,
    ChartQuery,
    Described,
    Failure,
    JobRun,
    Message,
    Query,
    Rows,
    Silent,
    Sql,
    Text,
    Unknown,
)

NEARLY_FULL_BYTES = 2_500_000
"""The service cuts results at 3,000,000 bytes of its own counting and does not say so."""

_SAMPLE = 200

_EXECUTING = "Executing:"
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
_OPTION = re.compile(r"^\s*1[.)]\s+\S.*^\s*2[.)]\s+\S", re.MULTILINE | re.DOTALL)
_CLOCK = re.compile(r"Today is taken as (\d{1,2} [A-Z][a-z]+ \d{4})")


@dataclass(frozen=True)
class Thought:
    """What the service says while it works: progress for the person, never part of the answer."""

    title: str
    text: str = ""


@dataclass(frozen=True)
class Rounded:
    """A result and those of its columns whose numbers may have lost digits on their way."""

    result: Result
    fields: list[dict[str, Any]]
    columns: tuple[str, ...]

    @property
    def notice(self) -> str:
        """What the reader is told while they stay so."""
        names = ", ".join(self.columns)
        return f"Numbers of more than 15 digits in {names} were rounded on their way; their job holds them exactly."

    def take(self, rows: list[dict[str, Any]]) -> bool:
        """Put the exact values in; False, with nothing changed, where the rows are not those that were sent."""
        columns: list[Sequence[Any]] = list(zip(*self.result.rows, strict=True))
        for position, column in enumerate(self.result.columns):
            if column.name in self.columns:
                field = self.fields[position] if self.fields else {"name": column.name}
                cells = exact_cells(field, [row.get(field["name"]) for row in rows], columns[position])
                if cells is None:
                    return False
                columns[position] = cells
        self.result.rows = list(zip(*columns, strict=True))
        return True


class AnswerBuilder:
    """Takes a reply's messages one by one; thoughts come back at once, the answer at the end."""

    def __init__(self, question: str, standalone_question: str = "") -> None:
        self._answer = Answer(question=question, outcome="failed", complete=False)
        if standalone_question != question:
            self._answer.standalone_question = standalone_question
        self._finals = 0
        self._untyped: list[str] = []
        self._executed: list[str] = []
        self._sql: Sql | None = None
        self._name = ""
        self._chart_of = ""
        self._job: Job | None = None
        self._rounded: dict[str, Rounded] = {}
        self._asked = False
        self._described = False
        self.unrecognised: list[object] = []
        """The messages that were not understood, as they came."""

    def add(self, message: Message) -> Thought | None:
        """Take the next message; a thought is returned for showing."""
        match message:
            case Text():
                return self._text(message)
            case Rows():
                self._rows(message)
            case Query(name):
                self._name, self._sql, self._job = name, None, None
            case Sql():
                self._sql = message
            case JobRun(job):
                self._job = job
            case ChartQuery(result):
                self._chart_of = result
            case ChartDrawn(spec):
                self._chart(spec)
            case AskedBack():
                self._ask_back(message)
            case _:
                self._rest(message)
        return None

    @property
    def nearly_full(self) -> list[Result]:
        """Results so large that the service may have cut them without saying so."""
        return [result for result in self._answer.results if result.truncated]

    @property
    def rounded(self) -> list[Rounded]:
        """Results some of whose numbers may have lost digits on their way."""
        return list(self._rounded.values())

    def set_exact(self, rounded: Rounded, rows: list[dict[str, Any]] | None) -> None:
        """Take the exact values from the rows of the result's job, where they are the same rows."""
        if rows is not None and rounded.take(rows):
            del self._rounded[rounded.result.name]

    def set_row_count(self, result: Result, count: int | None) -> None:
        """Say how many rows a result has in truth, where that is known."""
        if count is not None:
            result.row_count, result.truncated = count, count > len(result.rows)

    def finish(self, *, ended: bool, error: AnswerError | None = None) -> Answer:
        """The answer, once the reply has ended or broken off.

        Args:
            ended: whether the service closed its reply.
            error: what broke it off, where something did.
        """
        answer = self._answer
        self._take_untyped()
        closed = ended and error is None
        answer.complete = closed and (self._finals > 0 or self._asked)
        answer.errors = [e.model_copy(update={"recovered": answer.complete}) for e in answer.errors]
        if error is not None:
            answer.errors.append(error)
        elif not answer.complete and not answer.errors:
            answer.errors.append(_unfinished(ended))
        published = {_squeeze(result.sql) for result in answer.results}
        answer.exploratory_sql = [sql for sql in self._executed if _squeeze(sql) not in published]
        answer.unrecognised = len(self.unrecognised)
        answer.outcome = self._outcome()
        answer.clock = _clock(answer.texts)
        self._notices()
        return answer

    def _text(self, message: Text) -> Thought | None:
        text = "".join(message.parts)
        if message.kind in ("thought", "progress"):
            return self._thought(message.parts)
        if message.kind == "follow_ups":
            lines = (line for part in message.parts for line in part.splitlines())
            self._answer.follow_ups += [_BULLET.sub("", line).strip() for line in lines if line.strip()]
        elif message.kind == "untyped":
            self._untyped.append(text)
            self._answer.blocks.append(TextBlock(text=text))
        else:
            self._finals += 1
            self._say(text)
            self._answer.citations += message.citations
        return None

    def _thought(self, parts: tuple[str, ...]) -> Thought:
        title, text = (parts[0], "\n".join(parts[1:])) if len(parts) > 1 else ("", "".join(parts))
        if text.startswith(_EXECUTING):
            self._executed.append(text.removeprefix(_EXECUTING).strip())
        return Thought(title, text)

    def _say(self, text: str) -> None:
        """Text that follows text continues it: the service sends long words in pieces."""
        blocks = self._answer.blocks
        last = blocks[-1] if blocks else None
        if not isinstance(last, TextBlock):
            blocks.append(TextBlock(text=text))
        else:
            last.text += text if last.text[-1:].isspace() or text[:1].isspace() else f"\n\n{text}"

    def _rows(self, message: Rows) -> None:
        if self._job is not None and any(result.job == self._job for result in self._answer.results):
            return  # the service sent the rows of this job before
        table = table_of(message.fields, message.rows)
        sql, origin = (self._sql.text, self._sql.origin) if self._sql else ("", "generated")
        result = self._result(message.name or self._name, sql, origin)
        result.columns, result.rows, result.row_count = table.columns, table.rows, len(table.rows)
        result.truncated = _size(message.rows) >= NEARLY_FULL_BYTES
        self._answer.results.append(result)
        self._answer.blocks.append(TableBlock(result=result.name))
        if table.rounded:
            self._rounded[result.name] = Rounded(result, message.fields, table.rounded)

    def _result(self, name: str, sql: str, origin: SqlOrigin) -> Result:
        taken = {result.name for result in self._answer.results}
        name = name or "result"
        distinct = next(n for n in (name, *(f"{name}_{i}" for i in range(2, len(taken) + 3))) if n not in taken)
        result = Result(name=distinct, columns=[], rows=[], row_count=0, sql=sql, sql_origin=origin, job=self._job)
        if sql:
            read = read_back(sql)
            result.read_as = read.text
            known = self._answer.assumptions
            known += [assumption for assumption in read.assumptions if assumption not in known]
        return result

    def _chart(self, spec: dict[str, object]) -> None:
        meta = spec.get("usermeta")
        named = str(meta.get("data_result_name") or "") if isinstance(meta, dict) else ""
        last = self._answer.results[-1].name if self._answer.results else ""
        self._answer.blocks.append(ChartBlock(result=self._chart_of or named or last, spec=spec))
        self._chart_of = ""

    def _ask_back(self, message: AskedBack) -> None:
        self._asked = True
        for question, options in message.questions:
            self._say("\n".join([question, "", *(f"{n}. {option}" for n, option in enumerate(options, 1))]).strip())

    def _rest(self, message: Message) -> None:
        match message:
            case Failure():
                self._answer.errors.append(error_of(message))
            case Described(tables):
                self._described = self._described or bool(tables)
            case Unknown(raw):
                self.unrecognised.append(raw)
            case Silent():
                pass

    def _take_untyped(self) -> None:
        """Replies of 2025 give no text types: there, untyped words are the answer. Elsewhere they are unknown."""
        if self._finals == 0:
            self._finals = len(self._untyped)
            return
        unknown = set(self._untyped)
        self._answer.blocks = [
            block for block in self._answer.blocks if not (isinstance(block, TextBlock) and block.text in unknown)
        ]
        self.unrecognised += self._untyped

    def _outcome(self) -> Outcome:
        answer = self._answer
        if answer.results:
            return "answered"
        if not answer.complete:
            return "failed"
        text = "\n\n".join(answer.texts).strip()
        if self._asked or text.endswith(("?", "？", "؟")) or _OPTION.search(text):
            return "asked_back"
        return "answered" if self._described else "refused"

    def _notices(self) -> None:
        answer = self._answer
        notices = [
            f"The service corrected an error on its way: {error.message}" for error in answer.errors if error.recovered
        ]
        if answer.results and not answer.complete:
            notices.append("The reply broke off; what had arrived is shown, and more may belong to it.")
        notices += [rounded.notice for rounded in self.rounded]
        notices += [_cut(result) for result in answer.results if result.truncated]
        if answer.unrecognised:
            notices.append(f"{answer.unrecognised} part(s) of the reply are of a kind that this version does not know.")
        answer.blocks += [NoticeBlock(text=notice) for notice in notices]


def _size(rows: list[dict[str, Any]]) -> int:
    """About how many bytes the rows had on their way."""
    if len(rows) <= _SAMPLE:
        return len(json.dumps(rows, ensure_ascii=False, default=str))
    sample = rows[:: len(rows) // _SAMPLE]
    return len(json.dumps(sample, ensure_ascii=False, default=str)) * len(rows) // len(sample)


def _cut(result: Result) -> str:
    shown = len(result.rows)
    if result.row_count > shown:
        return f"The service returned the first {shown:,} of {result.row_count:,} rows of {result.name}."
    return (
        f"The service returns about 3 MB of a result: after the {shown:,} rows of {result.name}, more may be missing."
    )


def error_of(failure: Failure) -> AnswerError:
    """What the service said went wrong, with a remedy where there is one."""
    from .refusals import translated

    error = translated(failure)
    return AnswerError(code=error.code, message=error.message, remedy=error.remedy)


def _unfinished(ended: bool) -> AnswerError:
    if ended:
        return AnswerError(
            code="service", message="The service ended its reply without an answer.", remedy="Ask again."
        )
    return AnswerError(code="unreachable", message="The service's reply broke off.", remedy="Ask again.")


def _clock(texts: list[str]) -> date | None:
    match = _CLOCK.search("\n".join(texts))
    try:
        return datetime.strptime(match[1], "%d %B %Y").date() if match else None  # noqa: DTZ007
    except ValueError:
        return None


def _squeeze(sql: str) -> str:
    return " ".join(sql.split()).rstrip("; ").casefold()
