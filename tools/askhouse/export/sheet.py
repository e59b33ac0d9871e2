"""Results as CSV that a spreadsheet opens without running anything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from state_contracts import Result

from ..facts.cells import plain
from ..facts.roles import NUMBERS
from .turned import Turned

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def to_csv(turned: Turned) -> str:
    """Every result of a turn as CSV: one after the other, an empty line between two, each with its own header.

    A turn without a result gives no text.
    """
    return "\n".join(csv_of(result) for result in turned.answer.results)


def csv_of(result: Result) -> str:
    """One result with a header (RFC 4180, lines end in a newline).

    Values are exact. NULL is nothing and the empty text is a pair of quotation marks. A text that a spreadsheet would
    take for a formula has an apostrophe before it; numbers never have.
    """
    numeric = [column.type in NUMBERS and column.mode != "REPEATED" for column in result.columns]
    lines = [_line([_text(column.name) for column in result.columns])]
    lines += [
        _line([_field(cell, is_number) for cell, is_number in zip(row, numeric, strict=True)]) for row in result.rows
    ]
    return "".join(lines)


def _line(fields: Sequence[str]) -> str:
    # A line of one empty field would be taken for no line at all.
    return (",".join(fields) if len(fields) != 1 or fields[0] else '""') + "\n"


def _field(cell: Any, is_number: bool) -> str:
    if cell is None:
        return ""
    return plain(cell) if is_number else _text(plain(cell))


def _text(text: str) -> str:
    text = text.replace("\0", "\ufffd")
    text = f"'{text}" if text.startswith(_FORMULA) else text
    needs_quotes = not text or text != text.strip() or any(character in text for character in ',"\r\n')
    quoted = text.replace('"', '""')
    return f'"{quoted}"' if needs_quotes else text
