"""A turn as plain text for a terminal: aligned tables, no colours, nothing that could steer the terminal."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Sequence

from state_contracts import Answer, Preferences, Result, Summary

from ..facts.cells import header_of, texts
from ..facts.phrases import Writer, harmless, one_line
from ..message import MOST_COLUMNS, MOST_ROWS, left_out, notes, place_words, pretty, said_by
from .turned import Turned

_WIDTH = 100
_LONGEST = 40


def to_text(turned: Turned, preferences: Preferences | None = None) -> str:
    """The answer as a person reads it in a terminal, in the order of the message in the chat."""
    answer, writer = turned.answer, Writer.of(preferences)
    parts = _told(answer, turned.summary, writer) if turned.summary and answer.results else _in_order(answer, writer)
    parts += [_computation(result, answer) for result in answer.results]
    parts += ["\n".join(_wrapped(f"! {one_line(note)}") for note in notes(answer))]
    parts += [_asking(answer), one_line(place_words(answer))]
    return "\n\n".join(part for part in parts if part) + "\n"


def _told(answer: Answer, summary: Summary, writer: Writer) -> list[str]:
    parts = [_wrapped(summary.text)]
    for result in answer.results:
        parts += [one_line(result.name)] if len(answer.results) > 1 else []
        parts.append(table_of(result, writer))
    return [*parts, *(harmless(text) for text in said_by(answer, summary))]


def _in_order(answer: Answer, writer: Writer) -> list[str]:
    parts = []
    for block in answer.blocks:
        if block.kind == "text":
            parts.append(harmless(block.text.strip()))
        elif block.kind == "table" and (result := answer.result(block.result)):
            parts.append(table_of(result, writer))
    failure = answer.failure
    if failure and not answer.texts:
        parts.append(_wrapped(f"{failure.message} {failure.remedy}".strip()))
    return parts


def table_of(result: Result, writer: Writer, *, rows: int = MOST_ROWS, columns: int = MOST_COLUMNS) -> str:
    """The first rows and columns, aligned: numbers to the right; wide characters count as two."""
    if not result.rows:
        return ""
    roles, cells = texts(result, writer, rows=rows, columns=columns)
    grid = [[_cut(header_of(role)) for role in roles], *([_cut(cell) for cell in row] for row in cells)]
    widths = [max(width(row[i]) for row in grid) for i in range(len(roles))]
    right = [role.kind == "measure" for role in roles]
    lines = [_aligned(row, widths, right) for row in grid]
    lines.insert(1, "  ".join("-" * size for size in widths))
    return "\n".join([*lines, *([f"({note})"] if (note := left_out(result, len(cells), len(roles), writer)) else [])])


def _aligned(row: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    cells = []
    for text, size, to_right in zip(row, widths, right, strict=True):
        space = " " * (size - width(text))
        cells.append(space + text if to_right else text + space)
    return "  ".join(cells).rstrip()


def _cut(text: str) -> str:
    while width(text) > _LONGEST:
        text = text[:-2].rstrip() + "…"
    return text


def width(text: str) -> int:
    """How many places a text takes in a terminal.

    >>> width("abc"), width("日本"), width("é")
    (3, 4, 1)
    """
    return sum(_width(character) for character in text)


def _width(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def _computation(result: Result, answer: Answer) -> str:
    if not result.sql or result.sql_origin == "catalogue":
        return ""
    caption = f"What the SQL does: {one_line(result.read_as)}\n" if result.read_as else ""
    return f"{caption}{textwrap.indent(harmless(pretty(result.sql)), '    ')}"


def _asking(answer: Answer) -> str:
    if not answer.follow_ups:
        return ""
    lines = [f"  {i}. {one_line(question)}" for i, question in enumerate(answer.follow_ups, 1)]
    return "\n".join(["Ask next:" if answer.outcome == "answered" else "Try instead:", *lines])


def _wrapped(text: str) -> str:
    return textwrap.fill(one_line(text), _WIDTH, break_long_words=False, break_on_hyphens=False)
