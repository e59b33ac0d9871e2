"""The one message that a person reads: the answer first, then the rows, how they came about, and what to ask next."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import sqlglot

from state_contracts import Answer, Chart, Cost, Message, Preferences, Result, Summary

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
    writer = Writer.of(preferences)
    parts = _told(answer, summary, writer) if summary and answer.results else _in_order(answer, writer)
    parts.append(_about_chart(answer, chart))
    parts += [_computation(result, answer) for result in answer.results]
    parts += [_notes([*notes(answer), *_boxes(chart)]), _next(answer), _place(answer)]
    return Message(text="\n\n".join(part for part in parts if part))


def _told(answer: Answer, summary: Summary, writer: Writer) -> list[str]:
    """The summary, the tables, then the service's words."""
    parts = [escape(summary.text)]
    for result in answer.results:
        parts += [f"**{escape(result.name)}**"] if len(answer.results) > 1 else []
        parts.append(result_table(result, writer))
    return [*parts, *(tame(text) for text in said_by(answer, summary))]


def _in_order(answer: Answer, writer: Writer) -> list[str]:
    """Words and tables as they came: a catalogue, a refusal, a question back, an answer without a summary."""
    parts = []
    for block in answer.blocks:
        if block.kind == "text":
            parts.append(tame(block.text.strip()))
        elif block.kind == "table" and (result := answer.result(block.result)):
            parts.append(result_table(result, writer))
    parts += [result_table(result, writer) for result in unplaced(answer)]
    failure = answer.failure
    if failure and not answer.texts:
        parts.append(escape(f"{failure.message} {failure.remedy}"))
    return parts or ["There is no answer to this question."]


def unplaced(answer: Answer) -> list[Result]:
    """The results that no block gives a place."""
    placed = {block.result for block in answer.blocks if block.kind == "table"}
    return [result for result in answer.results if result.name not in placed]


def result_table(result: Result, writer: Writer, *, rows: int = MOST_ROWS, columns: int = MOST_COLUMNS) -> str:
    """The first rows and columns as a table, and how many there are where some are left out."""
    if not result.rows:
        return ""
    roles, cells = texts(result, writer, rows=rows, columns=columns)
    drawn = table([header_of(role) for role in roles], cells, [role.kind == "measure" for role in roles])
    note = left_out(result, len(cells), len(roles), writer)
    return f"{drawn}\n\n*{note}*" if note else drawn


def left_out(result: Result, rows: int, columns: int, writer: Writer) -> str:
    """How many of the rows and columns a table shows; empty where it shows all."""
    parts = []
    if rows < result.row_count:
        parts.append(f"{writer.number(rows)} of {writer.number(result.row_count)} rows")
    if columns < len(result.columns):
        parts.append(f"{columns} of {len(result.columns)} columns")
    return " and ".join(parts)


def said_by(answer: Answer, summary: Summary | None) -> list[str]:
    """The service's words, without what the summary already says."""
    told = summary.text.strip() if summary else ""
    return [text.strip() for text in answer.texts if text.strip() and text.strip() != told]


def _about_chart(answer: Answer, chart: Chart | None) -> str:
    """Why there is no chart, or another one, where the person asked for one."""
    wanted = asked_for(answer.standalone_question or answer.question)
    if chart is None or wanted is None or wanted == chart.kind:
        return ""
    return escape(chart.reason)


def _computation(result: Result, answer: Answer) -> str:
    if not result.sql or result.sql_origin == "catalogue":
        return ""
    read_as = result.read_as.strip()
    said = any(_words_only(read_as) in _words_only(text) for text in answer.texts)
    caption = f"**What the SQL does:** {escape(read_as)}" if read_as and not said else "**SQL**"
    return f"{caption}\n\n{fenced(pretty(result.sql), 'sql')}"


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


def notes(answer: Answer) -> list[str]:
    """What the reader must know: assumptions, notices, errors, and what is missing."""
    said = _words_only(" ".join(answer.texts))
    told = [f"Assumed: {text}" for text in answer.assumptions if _words_only(text) not in said]
    told += answer.notices
    if any(map(_has_nul, answer.results)):
        told.append("A character that cannot be shown (NUL) is written as \N{REPLACEMENT CHARACTER}.")
    shown = answer.failure if answer.results or answer.texts else None
    told += [f"{error.message} {error.remedy}" for error in answer.errors if error.recovered or error is shown]
    if not answer.complete and answer.outcome != "failed":
        told.append("The reply broke off before its end, so parts of this answer may be missing.")
    if answer.unrecognised:
        told.append(f"Parts of the reply ({answer.unrecognised}) were of a kind that this version does not know.")
    return list(dict.fromkeys(note.strip() for note in told))


def _has_nul(result: Result) -> bool:
    return any("\0" in cell for row in result.rows[:MOST_ROWS] for cell in row if isinstance(cell, str))


def _boxes(chart: Chart | None) -> list[str]:
    """That the picture lacks characters, where there is a picture."""
    if chart is None or chart.png is None or chart.spec is None:
        return []
    from .charts.render import font_notice

    return [notice] if (notice := font_notice(chart.spec)) else []


def _notes(told: Sequence[str]) -> str:
    return "\n>\n".join(f"> {escape(note)}" for note in told)


def _next(answer: Answer) -> str:
    if not answer.follow_ups:
        return ""
    return f"{'**Ask next**' if answer.outcome == 'answered' else '**Try instead**'}\n\n{numbered(answer.follow_ups)}"


def place_words(answer: Answer) -> str:
    """Where the answer was computed, which day counted as today where it was not the real one, and what was billed."""
    place = answer.place.strip().rstrip(".")
    sentences = [f"{place[:1].upper()}{place[1:]}."] if place else []
    if answer.clock:
        sentences.append(f"Today is taken as {answer.clock.day} {answer.clock:%B %Y}.")
    if not place.endswith("on this machine") and (cost := _cost_words(answer.cost)):
        sentences.append(cost)
    return " ".join(sentences)


def _cost_words(cost: Cost) -> str:
    """What BigQuery billed, in the units of its bills; empty where that is not known."""
    if cost.cache_hit:
        return "From BigQuery's cache, nothing billed." if not cost.bytes_billed else ""
    if cost.bytes_billed is None:
        return ""
    size, unit = float(cost.bytes_billed), "MiB"
    size /= 2**20
    for larger in ("GiB", "TiB"):
        if size >= 1024:
            size, unit = size / 1024, larger
    return f"{size:,.{0 if size >= 100 or size.is_integer() else 1}f} {unit} billed."


def _place(answer: Answer) -> str:
    words = place_words(answer)
    return f"*{escape(words)}*" if words else ""
