"""The one message that a person reads: the answer first, then the rows, how they came about, and what to ask next."""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache

import sqlglot

from state_contracts import Answer, Chart, Message, Preferences, Result, Summary

from .charts.asked import asked_for
from .facts.cells import header_of, texts
from .facts.phrases import Writer
from .markdown import escape, fenced, numbered, table, tame

MOST_ROWS = 20
MOST_COLUMNS = 12


def compose(
    answer: Answer, summary: Summary | None, chart: Chart | None, preferences: Preferences | None = None
) -> Message:
    """The message of an answer, in Markdown. Summary or chart may be missing: one failing does not cost the other."""
    parts = _answered(answer, summary, chart, Writer.of(preferences)) if answer.results else _unanswered(answer)
    parts += [*_notes(answer), *_next(answer), place_line(answer)]
    return Message(text="\n\n".join(part for part in parts if part))


def _answered(answer: Answer, summary: Summary | None, chart: Chart | None, writer: Writer) -> list[str]:
    parts = [escape(summary.text) if summary else ""]
    for result in answer.results:
        parts += [f"**{escape(result.name)}**"] if len(answer.results) > 1 else []
        parts.append(result_table(result, writer))
    parts += [_about_chart(answer, chart), *_words(answer, summary)]
    for result in answer.results:
        parts += _computation(result, answer)
    return parts


def _unanswered(answer: Answer) -> list[str]:
    failure = answer.failure
    if failure and not answer.texts:
        return [tame(f"{failure.message} {failure.remedy}".strip())]
    return _words(answer, None) or ["There is no answer to this question."]


def result_table(result: Result, writer: Writer, *, rows: int = MOST_ROWS, columns: int = MOST_COLUMNS) -> str:
    """The first rows and columns as a table, and how many there are where some are left out."""
    if not result.rows:
        return ""
    kept, cells = texts(result, writer, rows=rows, columns=columns)
    drawn = table([header_of(role) for role in kept], cells, [role.kind == "measure" for role in kept])
    left_out = []
    if len(cells) < result.row_count:
        left_out.append(f"{writer.number(len(cells))} of {writer.number(result.row_count)} rows")
    if len(kept) < len(result.columns):
        left_out.append(f"{len(kept)} of {len(result.columns)} columns")
    return f"{drawn}\n\n*{' and '.join(left_out)}*" if left_out else drawn


def _about_chart(answer: Answer, chart: Chart | None) -> str:
    """Why there is no chart, or another one, where the person asked for one."""
    wanted = asked_for(answer.question)
    if chart is None or wanted is None or wanted == chart.kind:
        return ""
    return escape(chart.reason)


def _words(answer: Answer, summary: Summary | None) -> list[str]:
    told = summary.text.strip() if summary else ""
    return [tame(text.strip()) for text in answer.texts if text.strip() and text.strip() != told]


def _computation(result: Result, answer: Answer) -> list[str]:
    if not result.sql or result.sql_origin == "catalogue":
        return []
    read_as = result.read_as.strip()
    said = read_as and any(_same_words(read_as, text) for text in answer.texts)
    caption = f"**What the SQL does:** {escape(read_as)}" if read_as and not said else "**SQL**"
    return [f"{caption}\n\n{fenced(pretty(result.sql), 'sql')}"]


def _same_words(part: str, text: str) -> bool:
    return _words_only(part) in _words_only(text)


def _words_only(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


@lru_cache(maxsize=64)
def pretty(sql: str) -> str:
    """A query laid out for reading; as it is where that would change or lose anything."""
    if "\n" in sql.strip() or "--" in sql or "/*" in sql:
        return sql.strip()
    try:
        tree = sqlglot.parse_one(sql, read="bigquery")
        drawn = tree.sql("bigquery", pretty=True)
        return drawn if sqlglot.parse_one(drawn, read="bigquery") == tree else sql.strip()
    except (sqlglot.errors.SqlglotError, RecursionError):
        return sql.strip()


def _notes(answer: Answer) -> list[str]:
    said = _words_only(" ".join(answer.texts))
    notes = [*(f"Assumed: {text}" for text in answer.assumptions if _words_only(text) not in said), *answer.notices]
    notes += [
        f"{error.message} {error.remedy}".strip() for error in answer.errors if _worth_saying(error.recovered, answer)
    ]
    if not answer.complete and answer.outcome != "failed":
        notes.append("The reply broke off before its end, so parts of this answer may be missing.")
    if answer.unrecognised:
        notes.append(f"{answer.unrecognised} parts of the reply were of a kind that this version does not know.")
    return ["\n".join(f"> {escape(note)}  " for note in dict.fromkeys(notes)).rstrip()] if notes else []


def _worth_saying(recovered: bool, answer: Answer) -> bool:
    """A failure is the message itself where nothing else was said."""
    return not recovered and bool(answer.results or answer.texts)


def _next(answer: Answer) -> list[str]:
    said = " ".join(answer.texts)
    questions = [question for question in answer.follow_ups if question not in said]
    if not questions:
        return []
    return [f"{'**Ask next**' if answer.outcome == 'answered' else '**Try instead**'}\n\n{numbered(questions)}"]


def place_line(answer: Answer) -> str:
    """Where the answer was computed and which day counted as today, in italics."""
    place = answer.place.strip().rstrip(".")
    sentences = [f"{place[:1].upper()}{place[1:]}."] if place else []
    if answer.clock:
        sentences.append(f"Today is taken as {_day(answer.clock)}.")
    return f"*{escape(' '.join(sentences))}*" if sentences else ""


def _day(day: date) -> str:
    return f"{day.day} {day:%B %Y}"
