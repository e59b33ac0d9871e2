"""A turn as plain text for a terminal: aligned tables, no colours, nothing that could steer the terminal."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Sequence

from state_contracts import Answer, Preferences, Result, Summary

from ..facts.cells import LONGEST_CELL, header_of, texts
from ..facts.phrases import Writer, harmless, one_line
from ..markdown import unescaped
from ..message import MOST_COLUMNS, MOST_ROWS, left_out, notes, place_words, pretty, said_by, unplaced
from .turned import Turned

_WIDTH = 110
_SHORTEST = 16


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
    return [*parts, *(_paragraphs(text) for text in said_by(answer, summary))]


def _in_order(answer: Answer, writer: Writer) -> list[str]:
    parts = []
    for block in answer.blocks:
        if block.kind == "text":
            parts.append(_paragraphs(block.text.strip()))
        elif block.kind == "table" and (result := answer.result(block.result)):
            parts.append(table_of(result, writer))
    parts += [table_of(result, writer) for result in unplaced(answer)]
    failure = answer.failure
    if failure and not answer.texts:
        parts.append(_wrapped(f"{failure.message} {failure.remedy}".strip()))
    return parts


def table_of(result: Result, writer: Writer, *, rows: int = MOST_ROWS, columns: int = MOST_COLUMNS) -> str:
    """The first rows and columns, aligned: numbers to the right; wide characters count as two."""
    if not result.rows:
        return ""
    roles, cells = texts(result, writer, rows=rows, columns=columns)
    grid = _fitted([[header_of(role) for role in roles], *cells])
    widths = [max(width(row[i]) for row in grid) for i in range(len(roles))]
    right = [role.kind == "measure" for role in roles]
    lines = [_aligned(row, widths, right) for row in grid]
    lines.insert(1, "  ".join("-" * size for size in widths))
    return "\n".join([*lines, *([f"({note})"] if (note := left_out(result, len(cells), len(roles), writer)) else [])])


def _fitted(grid: list[list[str]]) -> list[list[str]]:
    """The cells, the widest column cut until the table fits; the first column, which names the rows, is cut last."""
    widths = [min(max(map(width, column)), LONGEST_CELL) for column in zip(*grid, strict=True)]
    while sum(widths) + 2 * len(widths) > _WIDTH + 2:
        wide = [i for i, size in enumerate(widths) if size > _SHORTEST]
        if not wide:
            break
        widths[max(wide, key=lambda i: (i > 0, widths[i]))] -= 1
    return [[_cut(cell, size) for cell, size in zip(row, widths, strict=True)] for row in grid]


def _aligned(row: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    cells = []
    for text, size, to_right in zip(row, widths, right, strict=True):
        space = " " * (size - width(text))
        cells.append(space + text if to_right else text + space)
    return "  ".join(cells).rstrip()


def _cut(text: str, longest: int) -> str:
    while width(text) > longest:
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
    caption = _wrapped(f"What the SQL does: {result.read_as}") + "\n" if result.read_as else ""
    return f"{caption}{textwrap.indent(harmless(pretty(result.sql)), '    ')}"


def _asking(answer: Answer) -> str:
    if not answer.follow_ups:
        return ""
    lines = [f"  {i}. {one_line(question)}" for i, question in enumerate(answer.follow_ups, 1)]
    return "\n".join(["Ask next:" if answer.outcome == "answered" else "Try instead:", *lines])


def _wrapped(text: str) -> str:
    return textwrap.fill(one_line(text), _WIDTH, break_long_words=False, break_on_hyphens=False)


def _paragraphs(text: str) -> str:
    """Somebody's words, long lines broken between words."""
    lines = []
    for line in unescaped(harmless(text)).splitlines():
        indent = " " * (len(line) - len(line.lstrip()) + (2 if line.lstrip().startswith(("- ", "* ")) else 0))
        lines.append(textwrap.fill(line, _WIDTH, subsequent_indent=indent, break_on_hyphens=False) if line else "")
    return "\n".join(lines)
